"""What a work mode lays over the agent of one session: words, tools, a floor of permission, how its model is asked."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from gongfu.core.errors import UserError
from gongfu.core.events import ModeChanged, PermissionSet, ReasoningSet
from gongfu.core.messages import CallPart
from gongfu.core.modes import Floor, WorkMode
from gongfu.tools.disclosure import FIND, USE
from gongfu.tools.families import Family, LiveFamily
from gongfu.tools.registry import Registry

if TYPE_CHECKING:
    from gongfu.engine.agent import AgentSpec
    from gongfu.engine.session import Session
    from gongfu.permissions.policy import Mode

ALWAYS = frozenset(["ask_user", "todo", "recall", "mode", FIND, USE])
"""Tools that every mode offers: without them a model cannot ask, remember or get out of a mode."""


class Overlay:
    """The mode of one session, and what it makes of the session's agent and tools.

    What it gives changes when the mode does; a request that is being answered stays as it was sent.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: ModeChanged | None = None  # chosen before there is a session to record it in
        self._permission: Mode | None = None
        self.above: Overlay | None = None
        self.agent: AgentSpec = session.kit.agent
        self.registry: Registry = session.kit.registry

    @property
    def mode(self) -> WorkMode | None:
        """The mode that holds; that of a sub-agent is its parent's when it began."""
        if self._waiting is not None:
            return self._waiting.overlay
        state = self._session.state
        brief = state.created.brief if state.created else None
        return brief.mode if brief is not None else state.mode

    @property
    def name(self) -> str:
        """Its name, "" for none."""
        return self.mode.name if self.mode is not None else ""

    @property
    def permission(self) -> Mode:
        """What may run without asking: as the person chose, else as the settings say."""
        if self.above is not None:
            return self.above.permission
        return self._permission or self._session.kit.agent.mode

    def permit(self, mode: Mode) -> bool:
        """Let `mode` run without asking from the next call on; whether that is a change."""
        if mode == self.permission:
            return False
        self._permission = mode
        if self._session.state.created is not None:
            self._session.stream.emit(PermissionSet(mode=mode))
        return True

    def floors(self) -> tuple[Floor, ...]:
        """What may not run: by the mode, by the turn that runs, and by those of the agents above."""
        above = self.above.floors() if self.above is not None else ()
        own = self.mode.floors if self.mode is not None else ()
        turn = self._session.state.bounds.floors if self._session.running else ()
        return tuple(dict.fromkeys((*own, *turn, *above)))

    def set(self, name: str, by: Literal["person", "model"] = "person") -> bool:
        """Work in the mode `name` ("" for none) from the next request on; whether that is a change.

        UserError for a name that is none, and in the session of a sub-agent, which works in its parent's.
        """
        session = self._session
        if session.brief is not None:
            raise UserError("modes.of_parent")
        if name and session.kit.modes is None:
            raise UserError("modes.none")
        wanted = session.kit.modes(name) if name and session.kit.modes is not None else None
        if wanted == self.mode:
            return False
        event = ModeChanged(mode=name, overlay=wanted, by=by)
        if session.state.created is None:
            self._waiting = event
        else:
            session.stream.emit(event)
        self.renew()
        return True

    def think(self, effort: str) -> None:
        """How much the model thinks in this session from its next request on; "" is as the settings say."""
        if effort != self._session.state.reasoning:
            self._session.stream.emit(ReasoningSet(effort=effort))
        self.renew()

    def begun(self) -> None:
        """The session is recorded now: so is the mode that was chosen before."""
        if self._waiting is not None:
            event, self._waiting = self._waiting, None
            self._session.stream.emit(event)

    def unwrap(self, call: CallPart) -> CallPart:
        """The call that a call stands for among the tools that are offered now."""
        return self.registry.unwrap(call)

    def renew(self) -> None:
        """Lay the mode over the session anew."""
        session, mode = self._session, self.mode
        self.agent, self.registry = session.kit.agent, session.kit.registry
        if mode is not None and session.brief is None:
            self.agent, self.registry = under(self.agent, mode), offered(self.registry, mode)
        if session.state.reasoning:
            self.agent = replace(self.agent, reasoning=session.state.reasoning)
        session.planner.renew(self.agent.system, self.registry.specs)


def under(agent: AgentSpec, mode: WorkMode) -> AgentSpec:
    """An agent as it is in a mode."""
    words = f"\n# Work mode: {mode.name}\n\n{mode.text.strip()}\n" if mode.text.strip() else ""
    given: dict[str, Any] = {"temperature": mode.temperature, "top_p": mode.top_p, "reasoning": mode.reasoning or None}
    wanted = {name: value for name, value in given.items() if value is not None}
    return replace(agent, system=f"{agent.system}{words}", **wanted)


def offered(registry: Registry, mode: WorkMode) -> Registry:
    """The tools of a registry that a mode offers."""
    if not (mode.tools or mode.without or mode.pin):
        return registry
    families = [left for family in registry.shelf.families if (left := _part(family, mode)) is not None]
    own = [t for t in registry if t.spec.name not in (FIND, USE) and _wanted(t.spec.name, "", mode)]
    part = Registry([own], families, pin=mode.pin, missing=registry.missing)
    others = f"The work mode {mode.name} offers fewer tools; the tool `mode` asks the person for another."
    return part.subset(part.names, others)


def _part(family: Family, mode: WorkMode) -> Family | None:
    if isinstance(family, LiveFamily):
        return family if _wanted("", family.name, mode) else None
    from gongfu.tools.families import Part  # few modes narrow a family

    names = [name for name in family.names if _wanted(name, family.name, mode)]
    return Part(family, names) if names else None


def _wanted(name: str, family: str, mode: WorkMode) -> bool:
    def among(names: Container[str]) -> bool:
        return name in names or (bool(family) and family in names)

    return name in ALWAYS or name in mode.pin or ((not mode.tools or among(mode.tools)) and not among(mode.without))
