"""The reference of the command line as Markdown, made from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from gongfu.core.events import TurnFinished
from gongfu.core.words import Language
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.result import result_fields
from gongfu.surfaces.cli.root import Root


def render_cli(language: Language) -> str:
    """Every command with its usage, its help and its options, in `language`."""
    cli = Cli(["--lang", language], {"TERM": "dumb"}, stdin=None, stdout=None, stderr=None)
    shared = {name for option in Root(cli).common for name in option.opts}
    parts = [f"# {cli.say('setup.reference_title')}", cli.say("setup.reference_intro")]
    for path, command, context in _walk(Root(cli), "gongfu", None):
        own = [p for p in command.params if isinstance(p, click.Option) and not shared & set(p.opts)]
        parts += _section(cli, path, command, context, own)
    rows = _rows(cli, Root(cli).common, click.Context(Root(cli), info_name="gongfu"))
    parts += [f"## {cli.say('setup.reference_shared')}", rows, f"## {cli.say('setup.reference_exit')}"]
    codes = (0, 1, 2, 3, 4, 130)
    table = "\n".join(f"| {code} | {cli.say(f'setup.exit_{code}')} |" for code in codes)
    parts.append(f"| {cli.say('setup.reference_code')} | |\n|---|---|\n{table}")
    parts += [f"## {cli.say('setup.reference_json')}", cli.say("setup.reference_json_intro"), _fields(cli)]
    return "\n\n".join(parts) + "\n"


def _fields(cli: Cli) -> str:
    """The fields of the result object; made from a result, so that none can be missing."""
    names = result_fields(TurnFinished(turn="", status="done", text="1"), "", cli.say, structured=True)
    lines = [f"| `{name}` | {_cell(cli.say(f'cli_help.field_{name}'))} |" for name in names]
    return "\n".join(["| | |", "|---|---|", *lines])


def _walk(
    command: click.Command, path: str, parent: click.Context | None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
    yield path, command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, f"{path} {name}", context)


def _section(
    cli: Cli, path: str, command: click.Command, context: click.Context, options: list[click.Option]
) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"{'##' if path.count(' ') < 2 else '###'} {path}"
    yield f"```text\n{path} {usage}\n```"
    yield command.help or ""
    if options and path != "gongfu":
        yield _rows(cli, options, context)


def _rows(cli: Cli, options: list[click.Option], context: click.Context) -> str:
    records = [record for record in (option.get_help_record(context) for option in options) if record]
    lines = [f"| `{_cell(term)}` | {_cell(text)} |" for term, text in records]
    return "\n".join([f"| {cli.say('options')} | |", "|---|---|", *lines])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
