"""The way in and the way out: every error ends in a sentence and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

import click

from gongfu.core.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    ProviderFault,
    UserError,
    root_of,
)
from gongfu.surfaces.cli.cli import Cli


def main() -> int:
    """Run the program with the arguments and streams of this process; the exit code."""
    gc.disable()  # nothing made during start-up is garbage; `drive.collect_again` switches it on
    code = invoke(sys.argv[1:], os.environ, sys.stdin, sys.stdout, sys.stderr)
    return max(code, _flush())


def invoke(
    args: Sequence[str],
    env: Mapping[str, str],
    stdin: TextIO | None,
    stdout: TextIO | None,
    stderr: TextIO | None,
) -> int:
    """Run one command line. Never raises, whatever happens: problems are told on `stderr`."""
    cli = Cli(list(args), env, stdin=stdin, stdout=stdout, stderr=stderr)
    try:
        from gongfu.surfaces.cli.root import Root

        code = Root(cli).main(list(args), prog_name="gongfu", standalone_mode=False)
        cli.out.flush()
    except BaseException as error:  # noqa: BLE001 - the edge of the process
        return _ended(cli, error)
    return code if isinstance(code, int) else EXIT_DONE


def _ended(cli: Cli, error: BaseException) -> int:
    """Tell how it ended and give the exit code. Telling may fail too (a closed pipe): then quietly."""
    error = root_of(error)
    try:
        return _tell(cli, error)
    except OSError:
        return EXIT_FAILED


def _tell(cli: Cli, error: BaseException) -> int:
    match error:
        case UserError():
            return _complain(cli, cli.say.told(error.key, error.values), error.key, error.code)
        case ProviderFault():
            return _complain(cli, str(error), f"fault.{error.kind}", EXIT_FAILED)
        case click.ClickException():
            from gongfu.surfaces.cli.usage import usage_hint, usage_message

            text = usage_message(error, cli.say)
            hint = f"\n{usage_hint(error, cli.say)}" if isinstance(error, click.UsageError) else ""
            return _complain(cli, text + hint, "cli.usage_error", EXIT_USAGE)
        case click.exceptions.Exit():
            return error.exit_code
        case SystemExit():
            return error.code if isinstance(error.code, int) else EXIT_FAILED
        case KeyboardInterrupt() | click.Abort():
            return EXIT_INTERRUPTED
        case BrokenPipeError():
            return EXIT_FAILED
        case _:
            from gongfu.surfaces.cli.crash import report

            return _complain(cli, report(cli, error), "cli.crashed", EXIT_FAILED)


def _complain(cli: Cli, text: str, key: str, code: int) -> int:
    cli.complain(text)
    if cli.form:
        from gongfu.surfaces.cli.result import error_fields, to_json

        cli.out.line(to_json(error_fields(text, key, code, cli.session)))
    return code


def _flush() -> int:
    """Push out what is buffered; the exit code that this alone would give."""
    from gongfu.surfaces.cli.output import silence

    code = EXIT_DONE
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            silence(stream)
            code = EXIT_FAILED
    return code
