"""Every call has exactly one result, right behind it. Inside Gongfu that holds by construction (`engine.transcript`);
this module mends what comes from outside: an imported or a damaged log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gongfu.core.base import Base
from gongfu.core.messages import CallPart, Message, ResultPart, Status

LOST = "The result of this call was lost from the log. Look again if it matters; do not assume that it ran."
INTERRUPTED = "Interrupted: the program stopped while this call ran. It may have had part of its effect; check."
NOT_BEGUN = "Not run: the program stopped before this call began, and new words came in its place."
RULES_CHANGED = (
    "Not run: the project's rules are others since this call was made. Decide anew under those that hold now."
)
CANCELLED = "Cancelled before it finished: the user stopped the turn, or its time was up."


class Repair(Base, frozen=True):
    """What was mended: results made up for calls without one, and call ids whose stray results were dropped."""

    added: tuple[ResultPart, ...] = ()
    dropped: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped)


def closing(calls: Iterable[CallPart], status: Status, text: str) -> tuple[ResultPart, ...]:
    """One result of `status` for each of `calls`."""
    return tuple(ResultPart(call_id=call.id, text=text, status=status) for call in calls)


def pair(messages: Sequence[Message]) -> tuple[tuple[Message, ...], Repair]:
    """A history in which calls and results are paired by id, and what that took.

    Results are gathered into one tool message right behind their calls, in the order of the calls, wherever they stood.
    Calls without a result get one that says so; results of no call, and second results, are dropped. A history that
    is in order comes back equal, with an empty repair.
    """
    results: dict[str, ResultPart] = {}
    dropped: list[str] = []
    wanted = {call.id for m in messages if m.role == "assistant" for call in m.calls}
    for result in (r for m in messages if m.role == "tool" for r in m.results):
        if result.call_id not in wanted or result.call_id in results:
            dropped.append(result.call_id)
        else:
            results[result.call_id] = result
    out: list[Message] = []
    added: list[ResultPart] = []
    for message in messages:
        if message.role == "tool":
            continue
        out.append(message)
        if message.role == "assistant" and message.calls:
            lost = closing((c for c in message.calls if c.id not in results), "interrupted", LOST)
            added.extend(lost)
            results.update((r.call_id, r) for r in lost)
            out.append(Message(role="tool", parts=tuple(results[c.id] for c in message.calls)))
    return tuple(out), Repair(added=tuple(added), dropped=tuple(dropped))
