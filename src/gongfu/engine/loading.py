"""Opens a session from its log, and closes what a kill left open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gongfu.context.pairing import INTERRUPTED
from gongfu.core.events import TurnFinished, WarningRaised

if TYPE_CHECKING:
    from gongfu.engine.session import Session


def loading(session: Session) -> Iterator[None]:
    """Read a session from the journal, a few milliseconds of it at a time; it must not be used before the end.

    A call that had begun is closed as interrupted; one that had not may still run when the turn goes on.
    """
    yield from session.stream.loading()
    state = session.state
    stopped = state.at
    began = state.transcript.newest_calls & state.started_calls
    started = [c for c in state.transcript.open_calls if c.id in began]
    session.children.mend(started)
    left = [c for c in started if c.id in state.started_calls]
    session.close_calls(left, "interrupted", INTERRUPTED)
    mended = state.transcript.mend()
    if mended is not None:
        values = {"added": len(mended.added), "dropped": len(mended.dropped)}
        session.stream.emit(mended, WarningRaised(key="engine.history_mended", values=values))
    if state.turn is not None:
        _end_turn(session, state.turn.turn, stopped)
    if state.mode is not None or state.reasoning:
        session.overlay.renew()


def _end_turn(session: Session, turn: str, stopped: float) -> None:
    """End a turn in which the program was killed, with what it had used until its last event at `stopped`."""
    own, below, began = session.state.spent()
    both = own.plus(below.usage, below.cost, requests=below.requests)
    finished = TurnFinished(
        turn=turn, status="interrupted", reason="engine.interrupted", usage=both.usage, cost=both.cost,
        requests=both.requests, steps=own.requests, seconds=round(max(0.0, stopped - began), 3),
    )  # fmt: skip
    session.stream.emit(finished)
    session.kit.sessions.note_turn(session.id, usage=finished.usage, cost=finished.cost, at=stopped)
