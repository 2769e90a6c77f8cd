"""What is left behind when a bug ends the program: a file for the report, a sentence for the person."""

from __future__ import annotations

import os
import platform
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from gongfu.config.paths import places
from gongfu.core.errors import UserError
from gongfu.core.version import __version__
from gongfu.surfaces.cli.cli import Cli

_KEPT = 20  # reports


def report(cli: Cli, error: BaseException) -> str:
    """Write the traceback to a file of mode 0600 in the folder of logs; the sentence that names it.

    With --verbose or GONGFU_DEBUG the traceback is shown as well. Secrets are left out of all three: reports are passed
    on.
    """
    without_secrets = _redactor(cli)
    trace = without_secrets("".join(traceback.format_exception(error)))
    if cli.verbose:
        cli.err.write(trace)
    short = without_secrets(f"{type(error).__name__}: {error}").splitlines()[0][:300]
    where = _write(cli, trace)
    return cli.say("crashed", error=short, path=where) if where else cli.say("crashed_nowhere", error=short)


def _redactor(cli: Cli) -> Callable[[str], str]:
    from gongfu.app.faults import redactor  # the app may not even have been loaded
    from gongfu.core.secrets import redact

    try:
        return redactor(cli.env, places(cli.env), cli.settings)
    except UserError:  # nobody knows where the files of the user are
        return redact


def _write(cli: Cli, trace: str) -> Path | None:
    """Write the file; None when there is no place for it."""
    header = f"gongfu {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    try:
        found = places(cli.env)
        path = found.ensure(found.logs) / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{header}session: {cli.session or '-'}\n\n{trace}")
        _forget_old(path.parent)
    except (OSError, UserError):
        return None
    return path


def _forget_old(folder: Path) -> None:
    """Delete all reports but the newest ones; their names tell when they were made."""
    for path in sorted(folder.glob("crash-*.txt"))[:-_KEPT]:
        path.unlink(missing_ok=True)
