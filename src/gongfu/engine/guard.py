"""The seam to what keeps files before they change, and to the hooks of the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

from gongfu.core.base import Base

HookEvent: TypeAlias = Literal[
    "session_start", "prompt", "before_tool", "after_tool", "before_compact", "turn_end", "notification"
]


class Guard(Protocol):
    """Keeps the files of the workspace for one session, so that a turn can be undone.

    The sub-agents of a turn share the guard of the main agent. Nothing that goes wrong in it ends a turn: it is told
    in a warning.
    """

    async def before_change(self, turn: str, paths: Sequence[str]) -> None:
        """A call is about to run that may change files: `paths` those that it names (absolute), () for a command.

        The first one of a turn waits until everything is kept; later ones only add `paths` that were not kept.
        """
        ...

    async def turn_ended(self, turn: str) -> None:
        """The turn is over: keep how it left the files, if it may have changed any."""
        ...


class Said(Base, frozen=True):
    """What the hooks of one event said together.

    `decision` is about a call, or "block" where an event can be blocked; `reason` goes with it. `arguments` replace
    those of the call. `notes` are added for the model.
    """

    decision: Literal["", "allow", "ask", "deny", "block"] = ""
    reason: str = ""
    arguments: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()


class Hooks(Protocol):
    """The hooks of one session. `stop` tells why one of them wants the turn to end; "" when none does.

    `greeted`: they know that the session has begun.
    """

    stop: str
    greeted: bool

    def wants(self, event: HookEvent, tool: str = "") -> bool:
        """Whether any hook is there for it; nothing else is done when not."""
        ...

    async def fire(self, event: HookEvent, data: dict[str, Any], *, tool: str = "", call: str = "") -> Said:
        """Run all hooks of an event, in their order; each gets `data` and the common fields as JSON."""
        ...

    def beside(self, event: HookEvent, data: dict[str, Any], *, last: bool = False) -> None:
        """Run the hooks of an event and wait for none. `last`: they get a few seconds when the session closes."""
        ...

    async def close(self) -> None:
        """End the hooks that still run, and what they left running."""
        ...
