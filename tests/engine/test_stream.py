"""The event stream: stored before shown, replayed without a gap, whoever joins whenever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.core.events import AnswerReceived, Entry, MessagePartial, SessionTitled, TextDelta, TurnFinished
from gongfu.core.messages import Message, TextPart
from gongfu.engine import stream as module
from gongfu.engine.state import SessionState
from gongfu.engine.stream import EventStream
from gongfu.store.database import Database
from gongfu.store.journal import Journal

pytestmark = pytest.mark.anyio


def make(folder: Path) -> EventStream:
    return EventStream("s_1", Journal(Database.open(folder / "store.db")), SessionState())


async def take(entries: AsyncIterator[Entry], n: int) -> list[Entry]:
    out: list[Entry] = []
    with anyio.fail_after(5):
        async for entry in entries:
            out.append(entry)
            if len(out) == n:
                break
    return out


def titles(entries: list[Entry]) -> list[str]:
    return [e.event.title for e in entries if isinstance(e.event, SessionTitled)]


async def test_replay_then_follow_without_gap_or_repeat(tmp_path: Path) -> None:
    stream = make(tmp_path)
    stream.emit(SessionTitled(title="1"), SessionTitled(title="2"))
    async with stream.subscribe(after=0) as entries:
        stream.emit(SessionTitled(title="3"))
        assert titles(await take(entries, 3)) == ["1", "2", "3"]
        stream.emit(SessionTitled(title="4"))
        assert titles(await take(entries, 1)) == ["4"]
    async with stream.subscribe(after=2) as entries:
        assert [e.seq for e in await take(entries, 2)] == [3, 4]
    async with stream.subscribe() as entries:
        stream.emit(SessionTitled(title="5"))
        assert titles(await take(entries, 1)) == ["5"]


async def test_it_is_stored_before_it_is_shown(tmp_path: Path) -> None:
    stream = make(tmp_path)
    async with stream.subscribe() as entries:
        stream.emit(SessionTitled(title="x"))
        (entry,) = await take(entries, 1)
        other = Journal(Database.open(tmp_path / "store.db"))
        assert [e.seq for e in other.read("s_1")] == [entry.seq]


async def test_one_who_joins_in_mid_answer_gets_the_text_so_far(tmp_path: Path) -> None:
    stream = make(tmp_path)
    stream.emit(TextDelta(text="Hel"), TextDelta(text="lo"))
    async with stream.subscribe(after=0) as entries:
        stream.emit(TextDelta(text=" wor"))
        (first,) = await take(entries, 1)
        assert first.event == MessagePartial(text="Hello wor")
        stream.emit(TextDelta(text="ld"))
        assert (await take(entries, 1))[0].event == TextDelta(text="ld")
        stream.emit(
            AnswerReceived(request="r", message=Message(role="assistant", parts=(TextPart(text="Hello world"),)))
        )
        await take(entries, 1)
    async with stream.subscribe(after=0) as entries:
        stream.emit(TurnFinished(turn="t", status="done"))
        assert [type(e.event).__name__ for e in await take(entries, 2)] == ["AnswerReceived", "TurnFinished"]


async def test_a_lagging_reader_loses_no_durable_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAG", 20)
    stream = make(tmp_path)
    async with stream.subscribe(after=0) as entries:
        stream.emit(SessionTitled(title="0"))
        await take(entries, 1)
        for i in range(1, 200):
            stream.emit(TextDelta(text="."), SessionTitled(title=str(i)))
        got: list[str] = []
        with anyio.fail_after(5):
            async for entry in entries:
                if isinstance(entry.event, SessionTitled):
                    got.append(entry.event.title)
                if got and got[-1] == "199":
                    break
    assert got == [str(i) for i in range(1, 200)]


async def test_closing_ends_readers_after_what_is_there(tmp_path: Path) -> None:
    stream = make(tmp_path)
    async with stream.subscribe() as entries:
        stream.emit(SessionTitled(title="last"))
        stream.close()
        with anyio.fail_after(5):
            assert titles([e async for e in entries]) == ["last"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 40))
async def test_any_reader_sees_every_durable_event_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, plan: list[int], join: int
) -> None:
    stream = make(tmp_path_factory.mktemp("s"))
    expected: list[str] = []
    got: list[str] = []

    async def read() -> None:
        async with stream.subscribe(after=0) as entries:
            async for entry in entries:
                if isinstance(entry.event, SessionTitled):
                    got.append(entry.event.title)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for at, kind in enumerate(plan):
                if at == join:
                    tasks.start_soon(read)
                if kind == 0:
                    await anyio.lowlevel.checkpoint()
                elif kind == 1:
                    stream.emit(TextDelta(text="."))
                else:
                    expected.append(str(at))
                    stream.emit(SessionTitled(title=str(at)))
            if join >= len(plan):
                tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            stream.close()
    assert got == expected
