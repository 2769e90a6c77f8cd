"""The commands and the keys, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, UsageError, UserError
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, Slash, slash_of, usage_of
from gongfu.surfaces.cli.talk.commands.paper import columns_of, give, wrapped
from gongfu.surfaces.cli.talk.face import Option
from gongfu.surfaces.cli.width import NARROW, width, wrap

if TYPE_CHECKING:
    from gongfu.plugins.commands import Command
    from gongfu.surfaces.cli.speech import Speech
    from gongfu.surfaces.cli.talk.talk import Talk

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("choose", ("model", "mode", "permission", "think")),
    ("course", ("continue", "queue", "compact", "undo", "redo", "rewind")),
    ("sessions", ("resume", "clear", "fork", "title", "history", "export", "copy", "quit")),
    ("work", ("todo", "agents", "jobs", "diff")),
    ("figures", ("context", "cost", "status", "rules", "tools", "mcp")),
    ("gongfu", ("view", "verbose", "language", "settings", "doctor", "keys", "help")),
)
"""The commands by theme; "talk_tell.group_NAME" is its title."""


Row: TypeAlias = tuple[str, str, str]
_BESIDE = 26  # cells


class Key(Base, frozen=True):
    """What one or several keys do: "talk_tell.key_NAME" says it."""

    keys: tuple[str, ...]
    name: str


KEYS: tuple[Key, ...] = (
    Key(keys=("Enter",), name="send"),
    Key(keys=("Alt-Enter", "Ctrl-J", "\\ Enter"), name="newline"),
    Key(keys=("Tab",), name="tab"),
    Key(keys=("Esc",), name="escape"),
    Key(keys=("Esc Esc",), name="rewind"),
    Key(keys=("Ctrl-C",), name="stop"),
    Key(keys=("Ctrl-D",), name="leave"),
    Key(keys=("Shift-Tab",), name="permission"),
    Key(keys=("Up", "Down"), name="past"),
    Key(keys=("Ctrl-R",), name="search"),
    Key(keys=("Ctrl-G", "Ctrl-X Ctrl-E"), name="editor"),
    Key(keys=("Ctrl-V",), name="image"),
    Key(keys=("Ctrl-O",), name="view"),
    Key(keys=("Ctrl-T",), name="todo"),
    Key(keys=("Ctrl-L",), name="clear"),
    Key(keys=("Ctrl-Z",), name="suspend"),
    Key(keys=("!",), name="shell"),
    Key(keys=("@",), name="files"),
    Key(keys=("/",), name="commands"),
    Key(keys=("?",), name="keys"),
)
"""The keys of a conversation, in the order in which they are shown."""


# --- /help ---


async def help(talk: Talk, args: str) -> None:  # noqa: A001 - the command is called so
    """All commands by theme with those of files and servers, or one of them in full."""
    if args:
        await give(talk, await _one(talk, args.partition(" ")[0].removeprefix("/")))
        return
    say, style = talk.cli.say, talk.cli.out_style
    blocks = [
        (group, [(f"/{name}", usage_of(SLASHES[name], say), say(f"talk_help.{name}")) for name in names])
        for group, names in GROUPS
    ]
    blocks += [("own", _own(talk)), ("prompts", await _prompts(talk))]
    longest = _longest(talk, [row for _, rows in blocks for row in rows])
    lines: list[str] = []
    for group, rows in blocks:
        if rows:
            lines += ["", style.bold(say(f"talk_tell.group_{group}")), *_aligned(talk, rows, longest)]
    await give(talk, [*lines[1:], "", *wrapped(talk, say("talk_tell.help_more"), style.dim)])


def complete_help(talk: Talk, args: str) -> Sequence[Option]:
    """The names of the commands."""
    del args
    say = talk.cli.say
    return (
        *(Option(value=name, label=name, detail=say(f"talk_help.{name}")) for name in SLASHES),
        *(Option(value=name, label=name) for name in talk.app.command_files.found()),
    )


def _longest(talk: Talk, rows: Sequence[Row]) -> int:
    """The cells for how commands are typed: with all that is short enough to stand beside what they do."""
    most = 12 if columns_of(talk) < NARROW else _BESIDE
    every = [width(text) for name, usage, _ in rows for text in (name, f"{name} {usage}".rstrip())]
    return max((cells for cells in every if cells <= most), default=most)


def _aligned(talk: Talk, rows: Sequence[Row], longest: int) -> list[str]:
    """How commands are typed, and beside it what they do. Arguments that are too long are left to `/help COMMAND`."""
    style, columns = talk.cli.out_style, columns_of(talk) - 1
    lines: list[str] = []
    for name, usage, told in rows:
        beside = usage if usage and width(name) + width(usage) < longest else ""
        first, *more = wrap(clean(told), columns - longest - 4)
        room = longest - width(name) - (width(beside) + 1 if beside else 0)
        typed = style.cyan(clean(name)) + (f" {style.dim(clean(beside))}" if beside else "")
        if room < 0:
            lines.append(f"  {typed}")
            more.insert(0, first)
        else:
            lines.append(f"  {typed}{' ' * room}  {first}")
        lines += [f"  {' ' * longest}  {row.strip()}" for row in more]
    return lines


def _own(talk: Talk) -> list[Row]:
    """The commands of files, each with where it comes from."""
    say, files = talk.cli.say, talk.app.command_files
    rows: list[Row] = []
    for name in files.found():
        if slash_of(name):
            continue  # one of the conversation goes first
        try:
            command = files.get(name)
        except (UserError, ConfigError) as error:
            rows.append((f"/{name}", "", one_line(say.told(error.key, error.values), 200)))
            continue
        usage = one_line(command.usage.removeprefix(f"/{name}").strip())
        rows.append((f"/{name}", usage, one_line(_about(say, command), 200)))
    return rows


def _about(say: Speech, command: Command) -> str:
    told = command.zh if say.language == "zh" and command.zh else command.description
    if command.source == "built-in":
        return told
    return told + say("labels.in_brackets", what=say(f"modes.of_{command.source}"))


async def _prompts(talk: Talk) -> list[Row]:
    if talk.app.hub is None or not talk.app.hub.started:
        return []
    from gongfu.surfaces.cli.talk.commands.custom import things

    known = await things(talk)
    return [(f"/{thing.server}:{thing.id}", "", one_line(thing.about or thing.title, 200)) for thing in known]


async def _one(talk: Talk, name: str) -> list[str]:
    found = slash_of(name)
    if found is not None:
        return _slash(talk, *found)
    files = talk.app.command_files
    if name.lower() in files.found():
        return _file(talk, files.get(name))
    known = {typed: told for typed, _, told in await _prompts(talk)}
    if f"/{name}" in known:
        return [talk.cli.out_style.bold(f"/{one_line(name)}"), *wrapped(talk, known[f"/{name}"], indent=2)]
    raise UsageError("talk_tell.no_help", name=one_line(name, 40))


def _slash(talk: Talk, name: str, slash: Slash) -> list[str]:
    say, style = talk.cli.say, talk.cli.out_style
    lines = [style.bold(f"/{name} {usage_of(slash, say)}".rstrip()), *wrapped(talk, say(f"talk_help.{name}"), indent=2)]
    if slash.aliases:
        also = ", ".join(f"/{alias}" for alias in slash.aliases)
        lines += wrapped(talk, say("talk_tell.help_aliases", names=also), style.dim, indent=2)
    if not slash.beside:
        lines += wrapped(talk, say("talk_tell.help_waits"), style.dim, indent=2)
    return lines


def _file(talk: Talk, command: Command) -> list[str]:
    say, style = talk.cli.say, talk.cli.out_style
    lines = [style.bold(one_line(command.usage)), *wrapped(talk, clean(_about(say, command)), indent=2)]
    for argument in command.arguments:
        if argument.description:
            lines += wrapped(talk, f"{one_line(argument.name)}: {one_line(argument.description)}", indent=4, more=6)
    rows = (("mode", command.mode), ("model", command.model), ("allowed-tools", ", ".join(command.tools)))
    return lines + [
        row for key, value in rows if value for row in wrapped(talk, f"{key}: {value}", style.dim, indent=2)
    ]


# --- /keys ---


async def keys(talk: Talk, args: str) -> None:
    """What the keys do."""
    del args
    say, joint = talk.cli.say, talk.cli.say("permissions.and")
    rows = [(joint.join(key.keys), "", say(f"talk_tell.key_{key.name}")) for key in KEYS]
    await give(talk, _aligned(talk, rows, _longest(talk, rows)))
