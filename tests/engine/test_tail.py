"""What rides at the end of a request: a todo list that the turn has left alone for long."""

from __future__ import annotations

from typing import Any

import pytest

from gongfu.core.events import TodoChanged, TodoItem, encode_event
from gongfu.core.messages import Message
from gongfu.engine.state import SessionState
from gongfu.engine.tail import STALE, stale_todo
from gongfu.models.scripted.provider import Scripted
from gongfu.models.scripted.script import Call, Say
from gongfu.tools.protocol import CallContext, Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio
ITEMS = (TodoItem(text="Look around", status="done"), TodoItem(text="Fix  the\nlogin", status="in_progress"))
LINE = '[Your todo list still has "Fix the login" in progress; bring the list up to date if that has changed.]'


async def _list(args: dict[str, Any], ctx: CallContext) -> Outcome:
    items = ITEMS if args["text"] == "open" else tuple(TodoItem(text=i.text, status="done") for i in ITEMS)
    return Outcome(text="noted", todo=items)


def tails(model: Scripted) -> list[bool]:
    return [LINE in _end(r.messages[-1]) for r in model.requests]


def _end(message: Message) -> str:
    return message.results[-1].text if message.results else message.text


async def test_a_stale_list_is_told_of_after_twelve_requests_and_never_stored(desk: Desk) -> None:
    desk.tools.append(Plain("todo", _list))
    echo = [Call("echo", {"text": str(n)}) for n in range(STALE + 1)]
    first = [Call("todo", {"text": "open"}), *echo, Call("todo", {"text": "open"}), *echo[:2], Say("Done.")]
    model = Scripted([*first, *echo, Call("todo", {"text": "done"}), *echo, Say("Done.")])
    async with desk.session(model) as session:
        assert (await done(session, "Go")).status == "done"
        assert (await done(session, "Again")).status == "done"
    wanted = [False] * (STALE + 1) + [True] * 2 + [False] * 3
    assert tails(model)[: len(wanted)] == wanted
    again = tails(model)[len(wanted) :]
    assert again == [False] * STALE + [True] * 2 + [False] * (len(again) - STALE - 2)
    assert not any(b"still has" in encode_event(entry.event) for entry in desk.stored())


def test_there_is_nothing_to_say_without_open_items() -> None:
    state = SessionState()
    assert stale_todo(state) == ()
    state.apply(TodoChanged(items=(TodoItem(text="x", status="cancelled"),)))
    assert stale_todo(state) == ()


def test_a_long_item_is_cut() -> None:
    state = SessionState()
    state.apply(TodoChanged(items=(TodoItem(text="x" * 500),)))
    state.transcript.messages.extend(Message(role="assistant") for _ in range(STALE))
    (line,) = stale_todo(state)
    assert len(line) < 250
    assert '…" open;' in line
