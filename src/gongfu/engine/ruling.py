"""Project rules while tools run: what joins when a place is touched, and what may not run yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gongfu.context.tiers import RULES
from gongfu.core.errors import Refusal
from gongfu.core.events import AnyEvent, MessageAdded, RulesJoined
from gongfu.core.messages import CallPart, user
from gongfu.engine.state import SessionState
from gongfu.tools.protocol import Facts

WAIT = (
    "Not done: rules of the project hold for this place ({rules}) and no request had carried them. They follow these "
    "results; read them, then do it again if it accords with them."
)


def _places(facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a call touches and what it writes; of a command what its words name."""
    if not facts.command:
        return facts.paths, facts.writes
    from gongfu.context.rules.command import named

    words = named(facts.command)
    touches, writes = ([os.path.join(facts.cwd, path) for path in found] for found in words)  # noqa: PTH118
    return (*facts.paths, *touches), (*facts.writes, *writes)


class Ruling:
    """The gates of the pinned rules before each call. Without pinned rules it does nothing."""

    def __init__(self, state: SessionState, emit: Callable[..., None], root: Path) -> None:
        self._state = state
        self._emit: Callable[..., None] = emit
        self._root = root
        self._touched: dict[str, str] = {}

    def check_origin(self, calls: Sequence[CallPart]) -> None:
        """Raises Refusal TOOL_ORIGIN_MISMATCH when a call was asked for under other rules than hold now."""
        pinned = self._state.context.pinned
        if pinned is None:
            return
        for call in calls:
            found = self._state.call_rules.get(call.id, "")
            if found != pinned.fingerprint:
                raise Refusal("rules.origin_mismatch", found=found[:12] or "-", pinned=pinned.fingerprint[:12])

    def why_wait(self, facts: Facts) -> str:
        """Why a call may not run yet, for the model; "" when it may. What it touches joins after the batch."""
        context = self._state.context
        pinned = context.pinned
        if pinned is None or not any(source.nested or source.paths for source in pinned.sources):
            return ""
        from gongfu.context.rules.envelope import envelopes  # only where there are rules
        from gongfu.context.rules.scope import touched, undelivered

        paths, writes = _places(facts)
        for path in touched(pinned, context.joined, (*paths, *writes), self._root):
            self._touched.setdefault(path, (*writes, *paths)[0])
        if not writes:
            return ""
        carried = {e.path for e in envelopes(pinned, context.joined) if e.id in context.delivered}
        missing = undelivered(pinned, carried, writes, self._root)
        return WAIT.format(rules=", ".join(missing)) if missing else ""

    def settle(self) -> None:
        """Let the rules join whose places the batch touched: one note behind its results."""
        context = self._state.context
        fresh = [path for path in self._touched if path not in context.joined]
        if not fresh or context.pinned is None:
            return
        from gongfu.context.rules.envelope import joining_note  # only where there are rules

        text, held = joining_note(context.pinned, fresh)
        events: list[AnyEvent] = [RulesJoined(paths=tuple(fresh), touched=self._touched[fresh[0]])]
        if held:
            events.append(MessageAdded(message=user(text, kind="note", id=RULES)))
        self._touched.clear()
        self._emit(*events)
