"""`gongfu commands`: which commands a prompt may start with, and what one tells the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, flag
from gongfu.surfaces.cli.options import Opening, places_options
from gongfu.surfaces.cli.style import clean, one_line

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.plugins.commands import Command as Template


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    where: list[click.Parameter] = [flag(cli, "--json", "as_json", key="json"), *places_options(cli)]

    def every(**values: Any) -> int:
        return list_commands(cli, **values)

    def one(**values: Any) -> int:
        return show_command(cli, **values)

    name = click.Argument(["name"], metavar="NAME")
    loaders: dict[str, Callable[[], click.Command]] = {
        "list": lambda: Command(cli, "list", every, where, key="commands_list"),
        "show": lambda: Command(cli, "show", one, [name, *where], key="commands_show"),
    }
    return Group(cli, "commands", loaders, where, alone=every)


def list_commands(cli: Cli, *, as_json: bool, config: str | None, root: str | None) -> int:
    """One line a command; one whose file is wrong says so."""
    from gongfu.surfaces.cli.opening import with_app
    from gongfu.surfaces.cli.width import pad, width

    def work(app: App) -> list[tuple[str, Template | None, str]]:
        rows: list[tuple[str, Template | None, str]] = []
        for name in app.command_files.found():
            try:
                command = app.command_files.get(name)
                rows.append((command.usage, command, ""))
            except UserError as error:
                rows.append((f"/{name}", None, cli.say.told(error.key, error.values)))
        return rows

    rows = with_app(cli, Opening(config=config or "", root=root), work)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        fields = [_fields(c) if c else {"usage": usage, "problem": problem} for usage, c, problem in rows]
        cli.out.line(to_json({"type": "commands", "commands": fields}))
        return 0
    longest = min(40, max(width(usage) for usage, _, _ in rows))
    for usage, command, problem in rows:
        told = cli.out_style.red(clean(problem)) if command is None else one_line(clean(_told(cli, command)), 300)
        own = command is None or command.source == "built-in"
        source = "" if own or command is None else f"  ({cli.say(f'modes.of_{command.source}')})"
        cli.out.line(f"{pad(clean(usage), longest)}  {told}{cli.out_style.dim(source)}")
    cli.note(cli.say("modes.how_commands"))
    return 0


def show_command(cli: Cli, *, name: str, as_json: bool, config: str | None, root: str | None) -> int:
    """How a command is typed, what holds for its turn, and its text."""
    from gongfu.surfaces.cli.opening import with_app

    bare = name.removeprefix("/")
    command = with_app(cli, Opening(config=config or "", root=root), lambda app: app.command_files.get(bare))
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json({"type": "command", **_fields(command), "text": command.body}))
        return 0
    cli.out.line(f"{cli.out_style.bold(clean(command.usage))}  {clean(_told(cli, command))}")
    rows = (("mode", command.mode), ("model", command.model), ("allowed-tools", ", ".join(command.tools)))
    for key, value in rows:
        if value:
            cli.out.line(f"  {key}: {clean(value)}")
    cli.out.line("")
    cli.out.line(clean(command.body))
    return 0


def _told(cli: Cli, command: Template) -> str:
    return command.zh if cli.say.language == "zh" and command.zh else command.description


def _fields(command: Template) -> dict[str, Any]:
    import msgspec

    return {
        "name": command.name,
        "usage": command.usage,
        "description": command.description,
        "zh": command.zh,
        "arguments": msgspec.to_builtins(command.arguments),
        "mode": command.mode,
        "model": command.model,
        "allowed_tools": list(command.tools),
        "source": command.source,
    }
