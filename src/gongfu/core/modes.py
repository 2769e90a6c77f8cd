"""Work modes as data: what one lays over the agent of a session, and what bounds a single turn."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.event_base import Event

Stop: TypeAlias = Literal["", "ask", "deny"]


class Floor(Base, frozen=True):
    """What may not run, or only after asking, whatever the permission mode. It only tightens.

    `name` says whose it is in words. `write` are globs, from the root of the workspace, of what may change by
    permission; `elsewhere` is what becomes of other changes ("": nothing more is asked). `commands_ask` and
    `commands_deny` are ratings of parts of command lines, `effects` is what becomes of calls over the network or on the
    desktop. `ask` and `deny` are rules as in the settings. With `sealed` commands run where a sandbox keeps them from
    writing in the workspace. `tools` (rules without a prefix: `TOOL`, `TOOL(PATTERN)`) are all that may be called;
    () is no limit.
    """

    name: str
    write: tuple[str, ...] = ()
    elsewhere: Stop = ""
    commands_ask: tuple[str, ...] = ()
    commands_deny: tuple[str, ...] = ()
    effects: Stop = ""
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    sealed: bool = False
    tools: tuple[str, ...] = ()


NO_MODE = "none"  # what stands for no work mode where one is named


class WorkMode(Base, frozen=True):
    """A work mode. `text` are its instructions, `floors` what it may not (a project's adds to that of the mode which
    it replaces). `tools` are names of tools and families that are offered (() for all), `without` those that are not,
    `pin` those that every request carries. Of the model it may set how much it thinks ("" leaves it) and how freely it
    chooses words. `source` is "built-in", "user" or "project".
    """

    name: str
    text: str = ""
    description: str = ""
    zh: str = ""
    tools: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()
    floors: tuple[Floor, ...] = ()
    reasoning: str = ""
    temperature: float | None = None
    top_p: float | None = None
    source: str = ""


class Bounds(Base, frozen=True):
    """What holds for one turn only. `command` is what the person typed, `model` a reference ("": the usual one),
    `mode` a work mode of which the floors hold, `tools` all that may be called (() for no limit).
    """

    command: str = ""
    model: str = ""
    mode: WorkMode | None = None
    tools: tuple[str, ...] = ()

    @property
    def floors(self) -> tuple[Floor, ...]:
        """What may not run in the turn."""
        mode = self.mode.floors if self.mode is not None else ()
        if not self.tools:
            return mode
        return (*mode, Floor(name=self.command.partition(" ")[0], tools=(*self.tools, "find_tools")))


class ModeChanged(Event, frozen=True, tag="mode_changed"):
    """The session works in another mode from its next request on: `mode` is its name, `overlay` all of it as it was
    then; "" and none when it works in none any more. `by` is who chose it: the person, or the model with the person's
    consent.
    """

    mode: str
    overlay: WorkMode | None = None
    by: Literal["person", "model"] = "person"


class PermissionSet(Event, frozen=True, tag="permission_set"):
    """The person chose what may run without asking, from the next call on: ask, edits, plan, auto or full.

    It holds while the session is open; a session that is opened again begins as the settings say.
    """

    mode: str


class ModelChosen(Event, frozen=True, tag="model_chosen"):
    """The person chose the model of this session from its next turn on: a reference, or several at commas; "" is the
    one of the settings."""

    model: str


class ReasoningSet(Event, frozen=True, tag="reasoning_set"):
    """How much the model thinks in this session from its next request on; "" is as the settings say."""

    effort: str
