"""What leaves the memory of a long session, and that nobody can tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import gongfu
from gongfu.core.messages import Message, user
from gongfu.engine.history import History
from gongfu.models.protocol import Request
from gongfu.models.scripted import Scripted
from gongfu.models.scripted.provider import SCRIPTED
from gongfu.models.scripted.script import Call, Say, Step

REF = "scripted/scripted"


@settings(max_examples=30)
@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 40), st.sets(st.integers(0, 40)))), max_size=40))
def test_a_history_reads_like_a_list(steps: list[tuple[int, set[int]] | None]) -> None:
    log: list[Message] = []
    history = History()
    history.reread = lambda: list(log)
    for step in steps:
        if step is None:
            log.append(user(str(len(log))))
            history.append(log[-1])
            continue
        before = min(step[0], len(log))
        history.let_go(before, step[1])
        assert len(history) == len(log)
        assert list(history) == log
        assert list(reversed(history)) == log[::-1]
        assert list(history[before // 2 : before + 3]) == log[before // 2 : before + 3]
        assert all(history[at] == message for at, message in enumerate(log))
        assert all(history[at] is log[at] for at in range(before, len(log)))


def test_without_a_log_nothing_is_let_go_of() -> None:
    history = History()
    history.extend(user(str(n)) for n in range(5))
    history.let_go(5, ())
    assert history.held == 5
    assert [m.text for m in history] == ["0", "1", "2", "3", "4"]


def test_rows_that_were_lost_since_leave_their_places() -> None:
    history = History()
    history.reread = lambda: [user("0")]
    history.extend(user(str(n)) for n in range(4))
    history.let_go(3, ())
    assert [m.text for m in history] == ["0", "", "", "3"]


def _answer(request: Request) -> Step:
    if request.purpose == "main" and request.messages[-1].role == "user":
        return Call("read_file", {"path": "a.txt"})
    return Say("It is as it should be. " * 20)


def _model() -> Scripted:
    return Scripted(repeat(_answer), info=replace(SCRIPTED, window=16_384, max_output=1024))


@pytest.mark.anyio
async def test_a_long_session_holds_what_requests_hold_and_goes_on_alike(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "a.txt").write_text("a line of a file\n" * 120)

    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.yaml").write_text("context: {summaries_may_use_main: false}\n")  # none comes in between

    def opened(model: Scripted) -> gongfu.App:
        return gongfu.open(work, home=tmp_path / "home", env={}, yes=True, providers={REF: model}, model=REF)

    held: Sequence[int] = []
    async with opened(_model()) as app:
        session = await app.session()
        for turn in range(50):
            finished = await (await session.prompt(f"Look at it, number {turn}. " * 8))
            assert finished.status == "done"
            held = [*held, session.state.transcript.messages.held]
        context = session.state.context
        assert context.view.epoch >= 3
        assert max(held[30:]) < 110 < len(session.state.transcript.messages)
        told, pairs, absent = session.messages, context.pairs.pairs, context.absent
        assert sum(1 for m in told if m.role == "tool" and m.results) == 50
        assert [m.text.split(",")[0] for m in told if m.role == "user" and not m.kind] == ["Look at it"] * 50
        id, view = session.id, list(context.view.messages)
    async with opened(_model()) as app:
        again = await app.session(id)
        context = again.state.context
        context.view.sync(again.state.transcript.messages)
        assert again.state.transcript.messages.held < 110
        assert again.messages == told
        assert context.pairs.pairs == pairs
        assert context.absent == absent
        assert context.view.messages[: len(view)] == view
