"""The todo list."""

from __future__ import annotations

from typing import Any

from gongfu.core.errors import ToolFailure
from gongfu.core.events import TodoItem
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome

_MOST = 200
_MARKS = {"pending": " ", "in_progress": ">", "done": "x", "cancelled": "-"}


async def _facts(args: dict[str, Any]) -> Facts:
    return Facts(access=("read",), title=f"{len(args['items'])} items")


def _claims(_args: dict[str, Any]) -> tuple[Claim, ...]:
    return (Claim(resource="todo", write=True),)


@tool(facts=_facts, claims=_claims)
async def todo(items: list[TodoItem]) -> Outcome:
    """Replace the todo list."""
    if len(items) > _MOST:
        raise ToolFailure(f"a todo list may have {_MOST} items, not {len(items)}; the old list was kept")
    empty = next((number for number, item in enumerate(items, 1) if not item.text.strip()), 0)
    if empty:
        raise ToolFailure(f"item {empty} has no text; the old list was kept")
    done = sum(item.status == "done" for item in items)
    summary = f"{done} of {len(items)} done"
    lines = [f"[{_MARKS[item.status]}] {item.text}" for item in items]
    return Outcome(
        text="\n".join([f"Todo list: {summary}", *lines]) if items else "The todo list is empty now.",
        display={
            "kind": "todo",
            "items": [{"text": item.text, "status": item.status} for item in items],
            "summary": summary,
        },
        todo=tuple(items),
    )
