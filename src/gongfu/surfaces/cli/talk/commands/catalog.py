"""Which commands a conversation has. Their code loads when one is typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

from gongfu.core.base import Base

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.face import Option
    from gongfu.surfaces.cli.talk.talk import Talk

Run: TypeAlias = "Callable[[Talk, str], Awaitable[None]]"
Complete: TypeAlias = "Callable[[Talk, str], Sequence[Option]]"


class Slash(Base, frozen=True):
    """A command: its module below `commands`, how its arguments are written, other names, and whether it may run while
    a turn does. The module has an async function `NAME(talk, args)` and, where arguments can be completed,
    `complete_NAME(talk, args)`. A sentence about it is "talk_help.NAME".
    """

    module: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    beside: bool = True


SLASHES: dict[str, Slash] = {
    # what the session is
    "model": Slash(module="choices", usage="[REF]"),
    "mode": Slash(module="choices", usage="[NAME|none]"),
    "permission": Slash(module="choices", usage="[ask|edits|plan|auto|full]", aliases=("permissions",)),
    "think": Slash(module="choices", usage="[low|medium|high|auto]"),
    "compact": Slash(module="course", usage="[FOCUS]", beside=False),
    "continue": Slash(module="course", beside=False),
    "queue": Slash(module="course", usage="[drop N|clear]"),
    "undo": Slash(module="past", usage="[N]", beside=False),
    "redo": Slash(module="past", beside=False),
    "rewind": Slash(module="past", beside=False),
    "resume": Slash(module="sessions", usage="[SESSION]", aliases=("sessions",), beside=False),
    "clear": Slash(module="sessions", aliases=("new",), beside=False),
    "fork": Slash(module="sessions", beside=False),
    "title": Slash(module="sessions", usage="[TEXT]"),
    "quit": Slash(module="sessions", aliases=("exit",)),
    # what it shows
    "context": Slash(module="figures", usage="[N|all]"),
    "cost": Slash(module="figures", aliases=("usage",)),
    "status": Slash(module="figures"),
    "rules": Slash(module="rules", usage="[refresh|classify]"),
    "tools": Slash(module="tools", usage="[NAME|WORDS]"),
    "mcp": Slash(module="tools"),
    "todo": Slash(module="work", usage="[PLAN]", aliases=("plans",)),
    "agents": Slash(module="work"),
    "jobs": Slash(module="work", usage="[stop ID|output ID]"),
    "diff": Slash(module="work", usage="[CHECKPOINT]"),
    "history": Slash(module="work", usage="WORDS"),
    "export": Slash(module="giving", usage="[markdown|html|json|pdf] [FILE]"),
    "copy": Slash(module="giving"),
    "help": Slash(module="help", usage="[COMMAND]", aliases=("?",)),
    "keys": Slash(module="help", aliases=("shortcuts",)),
    "view": Slash(module="looks", usage="[full|compact]"),
    "verbose": Slash(module="looks"),
    "language": Slash(module="looks", usage="[en|zh]", aliases=("lang",)),
    "settings": Slash(module="looks", usage="[NAME [VALUE]]", aliases=("config",)),
    "doctor": Slash(module="looks"),
}


def usage_of(slash: Slash, say: Callable[[str], str]) -> str:
    """How its arguments are written, with the words that stand for something in the language of `say`."""
    import re

    return re.sub(r"[A-Z]{2,}", lambda word: say(f"talk_menu.usage_{word[0].lower()}"), slash.usage)


def slash_of(name: str) -> tuple[str, Slash] | None:
    """A command by its name or another name of it; None when there is none such."""
    wanted = name.lower()
    if wanted in SLASHES:
        return wanted, SLASHES[wanted]
    return next(((known, one) for known, one in SLASHES.items() if wanted in one.aliases), None)


def run_of(name: str, slash: Slash) -> Run:
    """What it does."""
    return cast("Run", getattr(_module(slash), name.replace("continue", "go_on")))


def complete_of(name: str, slash: Slash) -> Complete | None:
    """What its arguments may be, where that can be told."""
    return cast("Complete | None", getattr(_module(slash), f"complete_{name}", None))


def _module(slash: Slash) -> object:
    return import_module(f"gongfu.surfaces.cli.talk.commands.{slash.module}")
