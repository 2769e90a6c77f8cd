"""What rides at the end of a request because the course of the turn calls for it; never stored."""

from __future__ import annotations

from gongfu.engine.state import SessionState

STALE = 12  # requests without a change of the todo list
_LONGEST = 120


def another_day(state: SessionState, today: str) -> tuple[str, ...]:
    """The date, when it is not the one on which the session began."""
    first = next(iter(state.transcript.messages), None)
    if first is None or first.kind != "note" or today in first.text:
        return ()
    return (f"[Today is {today}.]",)


def stale_todo(state: SessionState) -> tuple[str, ...]:
    """A line on the todo list when it has open items and this turn has not touched it for `STALE` requests."""
    open_items = [item for item in state.todo if item.status in ("pending", "in_progress")]
    if not open_items:
        return ()
    asked = 0
    for message in reversed(state.transcript.messages):
        if message.role == "user" and not message.kind:
            return ()
        if message.role != "assistant":
            continue
        if any(call.name == "todo" for call in message.calls):
            return ()
        asked += 1
        if asked >= STALE:
            break
    else:
        return ()
    current = next((item for item in open_items if item.status == "in_progress"), open_items[0])
    text = " ".join(current.text.split())
    text = f"{text[: _LONGEST - 1]}…" if len(text) > _LONGEST else text
    what = "in progress" if current.status == "in_progress" else "open"
    return (f'[Your todo list still has "{text}" {what}; bring the list up to date if that has changed.]',)
