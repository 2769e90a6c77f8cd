"""`gongfu modes`: which work modes there are, and what one says and holds."""

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
    from gongfu.core.modes import Floor, WorkMode


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    where: list[click.Parameter] = [flag(cli, "--json", "as_json", key="json"), *places_options(cli)]

    def every(**values: Any) -> int:
        return list_modes(cli, **values)

    def one(**values: Any) -> int:
        return show_mode(cli, **values)

    name = click.Argument(["name"], metavar="NAME")
    loaders: dict[str, Callable[[], click.Command]] = {
        "list": lambda: Command(cli, "list", every, where, key="modes_list"),
        "show": lambda: Command(cli, "show", one, [name, *where], key="modes_show"),
    }
    return Group(cli, "modes", loaders, where, alone=every)


def list_modes(cli: Cli, *, as_json: bool, config: str | None, root: str | None) -> int:
    """One line a mode; one whose file is wrong says so."""
    from gongfu.surfaces.cli.opening import with_app
    from gongfu.surfaces.cli.width import pad, width

    def work(app: App) -> list[tuple[str, WorkMode | None, str]]:
        rows: list[tuple[str, WorkMode | None, str]] = []
        for name in app.modes.names():
            try:
                rows.append((name, app.modes.get(name), ""))
            except UserError as error:
                rows.append((name, None, cli.say.told(error.key, error.values)))
        return rows

    rows = with_app(cli, Opening(config=config or "", root=root), work)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        fields = [{"name": n, **(_fields(m) if m else {}), **({"problem": p} if p else {})} for n, m, p in rows]
        cli.out.line(to_json({"type": "modes", "modes": fields}))
        return 0
    longest = max(width(name) for name, _, _ in rows)
    for name, mode, problem in rows:
        about = cli.out_style.red(clean(problem)) if mode is None else one_line(clean(told(cli, mode)), 300)
        source = "" if mode is None or mode.source == "built-in" else f"  ({cli.say(f'modes.of_{mode.source}')})"
        cli.out.line(f"{pad(name, longest)}  {about}{cli.out_style.dim(source)}")
    cli.note(cli.say("modes.how"))
    return 0


def show_mode(cli: Cli, *, name: str, as_json: bool, config: str | None, root: str | None) -> int:
    """All that a mode lays over a session."""
    from gongfu.surfaces.cli.opening import with_app

    def work(app: App) -> tuple[WorkMode, list[str]]:
        return app.modes.get(name), [str(found.path) for found in app.modes.files(name)]

    mode, files = with_app(cli, Opening(config=config or "", root=root), work)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json({"type": "mode", **_fields(mode), "text": mode.text, "files": files}))
        return 0
    style = cli.out_style
    cli.out.line(f"{style.bold(mode.name)}  {clean(told(cli, mode))}")
    for line in holds(cli, mode):
        cli.out.line(f"  {line}")
    cli.out.line("")
    cli.out.line(clean(mode.text))
    for file in files:
        cli.out.line(style.dim(clean(file)))
    return 0


def told(cli: Cli, mode: WorkMode) -> str:
    """What it is for, in the language of the screen."""
    return mode.zh if cli.say.language == "zh" and mode.zh else mode.description


def holds(cli: Cli, mode: WorkMode) -> list[str]:
    """What a mode offers and what it keeps from running, in lines."""
    lines = [line for floor in mode.floors for line in _floor(cli, floor)]
    for key, names in (("tools", mode.tools), ("without", mode.without), ("pin", mode.pin)):
        if names:
            lines.append(cli.say(f"modes.holds_{key}", names=", ".join(names)))
    if mode.reasoning:
        lines.append(cli.say("modes.reasoning_now", effort=mode.reasoning))
    return lines or [cli.say("modes.holds_nothing")]


def _floor(cli: Cli, floor: Floor) -> list[str]:
    say = cli.say
    lines: list[str] = []
    if floor.elsewhere:
        key = f"modes.holds_{'write' if floor.write else 'no_write'}_{floor.elsewhere}"
        lines.append(say(key, globs=", ".join(floor.write)))
    for stop, ratings in (("deny", floor.commands_deny), ("ask", floor.commands_ask)):
        if ratings:
            lines.append(say(f"modes.holds_commands_{stop}", ratings=", ".join(ratings)))
    if floor.effects:
        lines.append(say(f"modes.holds_effects_{floor.effects}"))
    for stop, rules in (("deny", floor.deny), ("ask", floor.ask)):
        if rules:
            lines.append(say(f"modes.holds_rules_{stop}", rules=", ".join(rules)))
    if floor.sealed:
        lines.append(say("modes.holds_sealed"))
    return lines


def _fields(mode: WorkMode) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = {"name": mode.name, "description": mode.description, "zh": mode.zh, "source": mode.source}
    lists = {"tools": mode.tools, "without": mode.without, "pin": mode.pin}
    return fields | {key: list(names) for key, names in lists.items()} | {"floors": msgspec.to_builtins(mode.floors)}
