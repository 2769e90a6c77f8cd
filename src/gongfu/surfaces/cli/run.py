"""`gongfu run`: one task, then exit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import click

from gongfu.core.base import Base
from gongfu.core.errors import UsageError, UserError
from gongfu.surfaces.cli.bare import check_bare
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag, option
from gongfu.surfaces.cli.options import Opening, opening_of, run_options
from gongfu.surfaces.cli.stdin import piped_text


class Asked(Base, frozen=True):
    """What the command line asks for, checked as far as it can be without the app."""

    text: str
    images: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    session: str = ""
    latest: bool = False
    form: str = ""
    quiet: bool = False
    compact: bool = False


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return run(cli, values)

    return Command(cli, "run", callback, params(cli))


def params(cli: Cli) -> list[click.Parameter]:
    """Its arguments and options; the bare `gongfu` takes the same."""
    return [
        click.Argument(["words"], nargs=-1, metavar="[TASK]"),
        option(cli, "-p", "--prompt", metavar="[TASK]", is_flag=False, flag_value=""),
        flag(cli, "-i", "--interactive"),
        flag(cli, "-c", "--continue", "latest"),
        option(cli, "-s", "--session", metavar="ID"),
        flag(cli, "--json", "as_json"),
        flag(cli, "--stream-json"),
        option(cli, "--output-schema", metavar="FILE"),
        option(cli, "--image", metavar="FILE", multiple=True),
        flag(cli, "-q", "--quiet"),
        flag(cli, "--compact"),
        *run_options(cli),
    ]


def run(cli: Cli, values: dict[str, Any]) -> int:
    """Run the task of a parsed command line; the exit code."""
    form = "json" if values.pop("as_json") else "stream" if values["stream_json"] else ""
    cli.form = form
    asked = _asked(cli, values, form)
    bare = cli.bare and not asked.text and values["prompt"] is None and at_terminal(cli)
    if values["interactive"] or (bare and not form and asked.schema is None):
        return converse(cli, values, asked)
    if not asked.text and not asked.latest and not asked.session:
        raise UsageError("cli.no_task")
    from gongfu.surfaces.cli.turn import run_turn  # the app loads only when there is something to do

    return run_turn(cli, asked, _opening(cli, values, form))


def converse(cli: Cli, values: dict[str, Any], asked: Asked | None = None) -> int:
    """Open a conversation as the options say, with what was `asked` as its first words.

    UsageError where nobody can hold one, or for a form that belongs to a single task.
    """
    asked = asked or Asked(text="")
    if not at_terminal(cli):
        raise UsageError("cli.no_conversation")
    if asked.form or asked.schema is not None:
        other = "--output-schema" if asked.schema is not None else "--json" if asked.form == "json" else "--stream-json"
        raise UsageError("cli.exclusive", one="--interactive", other=other)
    from gongfu.surfaces.cli.talk.opening import Wanted  # loads only what the first screen needs
    from gongfu.surfaces.cli.talk.opening import converse as talk

    wanted = Wanted(
        opening=opening_of(values, answers="no" if values["yes"] else "ask"),
        session=asked.session,
        latest=asked.latest,
        text=asked.text,
        images=asked.images,
        compact=asked.compact,
    )
    return talk(cli, wanted)


def at_terminal(cli: Cli) -> bool:
    """Whether somebody types and sees what is written."""
    return cli.out.tty and cli.stdin is not None and cli.stdin.isatty()


def _asked(cli: Cli, values: dict[str, Any], form: str) -> Asked:
    if values["latest"] and values["session"]:
        raise UsageError("cli.exclusive", one="--continue", other="--session")
    if form == "json" and values["stream_json"]:
        raise UsageError("cli.exclusive", one="--json", other="--stream-json")
    schema = _schema(values["output_schema"]) if values["output_schema"] else None
    return Asked(
        text=_text(cli, values),
        images=values["image"],
        schema=schema,
        session=values["session"] or "",
        latest=values["latest"],
        form=form,
        quiet=values["quiet"],
        compact=values["compact"],
    )


def _text(cli: Cli, values: dict[str, Any]) -> str:
    """The task: the words or `-p`, with piped text added below; a task "-" waits for the piped text and is it."""
    if cli.bare and values["prompt"] is None and not values["interactive"]:
        check_bare(values["words"])
    words = " ".join(values["words"])
    given = "\n\n".join(part for part in (values["prompt"] or "", words) if part).strip()
    explicit = given == "-"
    piped = piped_text(cli, optional=bool(given or values["latest"] or values["session"]) and not explicit).strip()
    if explicit or not given:
        return piped
    return f"{given}\n\n<piped_input>\n{piped}\n</piped_input>" if piped else given


def _opening(cli: Cli, values: dict[str, Any], form: str) -> Opening:
    if not form and not values["yes"] and (cli.out.tty or cli.err.tty):
        from gongfu.surfaces.cli.ask import somebody

        cli.person = somebody(cli)
    return opening_of(values, answers="ask" if cli.person else "no")


def _schema(name: str) -> dict[str, Any]:
    """The JSON Schema in a file. Raises UserError for a file that cannot be read or is no schema of an object."""
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("cli.file_unreadable", path=name, reason=getattr(error, "strerror", "") or error) from error
    try:
        value = cast("object", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError("cli.schema_no_json", path=name, reason=error) from error
    if not isinstance(value, dict):
        raise UsageError("cli.schema_no_object", path=name)
    from gongfu.engine.answer import check_schema  # only when a schema is given

    schema = cast("dict[str, Any]", value)
    if reason := check_schema(schema):
        raise UsageError("cli.schema_bad", path=name, reason=reason)
    return schema
