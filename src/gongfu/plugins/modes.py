"""Work modes from files: what their front matter says, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gongfu.config.settings import Reasoning
from gongfu.core.errors import ConfigError, UsageError
from gongfu.core.modes import Floor, WorkMode
from gongfu.permissions.rating import Rating
from gongfu.permissions.rules import parse_rule
from gongfu.plugins.folders import Folders, Found, parsed

Names: TypeAlias = tuple[str, ...]
KIND: Final = "modes"


class _Commands(msgspec.Struct, forbid_unknown_fields=True):
    ask: tuple[Rating, ...] = ()
    deny: tuple[Rating, ...] = ()


class _Permission(msgspec.Struct, forbid_unknown_fields=True):
    write: Names = ()
    elsewhere: Literal["", "ask", "deny"] = ""
    commands: _Commands = msgspec.field(default_factory=_Commands)
    effects: Literal["", "ask", "deny"] = ""
    ask: Names = ()
    deny: Names = ()
    sealed: bool = False


class _Front(msgspec.Struct, forbid_unknown_fields=True):
    description: str = ""
    zh: str = ""
    tools: Names = ()
    without: Names = ()
    pin: Names = ()
    permission: _Permission = msgspec.field(default_factory=_Permission)
    reasoning: Reasoning | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


class ModeFiles:
    """The work modes of all folders. Files are read when they are asked for.

    `families` tells which tools of a family every request carries; a family that is named in a mode means them too.
    """

    def __init__(self, folders: Folders, families: Mapping[str, tuple[str, ...]]) -> None:
        self._folders = folders
        self._families = families

    def names(self) -> tuple[str, ...]:
        """Their names, sorted."""
        return tuple(self._folders.find(KIND))

    def files(self, name: str) -> tuple[Found, ...]:
        """The files that a mode is made of, the one in force last."""
        return tuple(self._folders.find(KIND).get(name, ()))

    def get(self, name: str) -> WorkMode:
        """The mode of that name. UsageError, with the nearest name, when there is none; ConfigError for a bad file.

        One that replaces another cannot do more than that if it is a project's: then the floors of both hold.
        """
        found = self._folders.find(KIND)
        if name not in found:
            from difflib import get_close_matches  # only for the rare mistake

            near = get_close_matches(name.lower(), found, n=1, cutoff=0.4)
            raise UsageError("modes.unknown", name=name, near=near[0] if near else ", ".join(found))
        mode = WorkMode(name=name)
        for file in found[name]:
            newer = read_mode(self._folders.read(file), file)
            mode = replace(newer, floors=(*mode.floors, *newer.floors)) if file.source == "project" else newer
        return replace(mode, tools=self._with_members(mode.tools), without=self._with_members(mode.without))

    def _with_members(self, names: Names) -> Names:
        return tuple(dict.fromkeys(n for name in names for n in (name, *self._families.get(name, ()))))


def read_mode(text: str, found: Found) -> WorkMode:
    """A mode from the text of its file. ConfigError for what does not fit."""
    front, body = parsed(text, _Front, str(found.path))
    given = front.permission
    for rule in (*given.ask, *given.deny):
        try:
            parse_rule(rule)
        except ValueError:
            raise ConfigError("modes.bad_front", file=found.path, reason=f"{rule!r} is no rule") from None
    if given.write and not given.elsewhere:
        raise ConfigError("modes.bad_front", file=found.path, reason="`write` needs `elsewhere: ask` or `deny`")
    floor = Floor(
        name=found.name,
        write=given.write,
        elsewhere=given.elsewhere,
        commands_ask=given.commands.ask,
        commands_deny=given.commands.deny,
        effects=given.effects,
        ask=given.ask,
        deny=given.deny,
        sealed=given.sealed,
    )
    own = found.source != "project"  # what a model costs is the person's affair
    chosen: dict[str, Any] = (
        {"reasoning": front.reasoning or "", "temperature": front.temperature, "top_p": front.top_p} if own else {}
    )
    return WorkMode(
        name=found.name,
        text=body,
        description=front.description,
        zh=front.zh,
        tools=front.tools,
        without=front.without,
        pin=front.pin,
        floors=() if floor == Floor(name=found.name) else (floor,),
        source=found.source,
        **chosen,
    )
