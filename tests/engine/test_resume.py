"""Sessions are opened again after a kill at any moment: nothing is lost, no call runs twice."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.core.errors import UserError
from gongfu.core.events import (
    AnswerReceived,
    HistoryRepaired,
    MessageAdded,
    PromptQueued,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    WarningRaised,
)
from gongfu.core.messages import Message, ResultPart, user
from gongfu.core.specs import Usage
from gongfu.engine.state import SessionState
from gongfu.models.scripted.provider import Scripted
from gongfu.models.scripted.script import Call, Calls, Fault, Say

from .conftest import Desk, done

pytestmark = pytest.mark.anyio

SCRIPT = [
    Calls((Call("echo", {"text": "a"}), Call("echo", {"text": "b"})), text="First."),
    Call("fail", {"text": "c"}),
    Call("echo", {"text": "d"}, text="Then."),
    Say("All done."),
]


def truncate(desk: Desk, keep: int, id: str = "s_test") -> None:
    """What a kill leaves: the first `keep` events."""
    entries = desk.stored(id)[:keep]
    fresh = f"{id}_{keep}"
    desk.journal.append(fresh, [e.event for e in entries], at=0.0)


def paired(messages: tuple[Message, ...] | list[Message]) -> bool:
    """Whether every call has exactly one result, right behind it, in order."""
    for at, message in enumerate(messages):
        if message.calls:
            following = messages[at + 1]
            if following.role != "tool" or [r.call_id for r in following.results] != [c.id for c in message.calls]:
                return False
        if message.role == "tool" and not messages[at - 1].calls:
            return False
    return True


async def test_killed_after_any_event_it_goes_on(desk: Desk) -> None:
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "Go")
    total = len(desk.stored())
    whole = [type(e.event).__name__ for e in desk.stored()]
    for keep in range(1, total):
        truncate(desk, keep)
        left = max(0, sum(k == "AnswerReceived" for k in whole[:keep]))
        desk.tool("echo").runs.clear()
        model = Scripted([*SCRIPT[left:], Say("Never needed.")])
        async with desk.session(model, id=f"s_test_{keep}") as session:
            if keep <= 1:
                with pytest.raises(UserError):
                    await session.prompt("")
                continue
            end = await done(session, "")
            assert (end.status, end.text) == ("done", "All done."), whole[keep - 1]
            assert paired(session.messages)
        started = [e.event.call for e in desk.stored(f"s_test_{keep}") if isinstance(e.event, ToolStarted)]
        assert len(started) == len(set(started)), "a call ran twice"


async def test_the_figures_of_a_turn_that_was_killed_are_those_until_then(desk: Desk) -> None:
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "First")
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "Go")
    whole = desk.stored()
    second = [type(e.event).__name__ for e in whole].index("TurnFinished") + 1
    for keep in range(second + 2, len(whole)):
        id = f"s_test_{keep}"
        desk.journal.append(id, [e.event for e in whole[:second]], at=1000.0)
        desk.journal.append(id, [e.event for e in whole[second:keep]], at=2000.0)
        desk.journal.append(id, [PromptQueued(prompt="p_late", message=user("Later."))], at=2005.0)
        answers = [e.event for e in whole[second:keep] if isinstance(e.event, AnswerReceived)]
        begun = any(isinstance(e.event, TurnStarted) for e in whole[second:keep])
        async with desk.session(Scripted([]), id=id) as session:
            finished = session.state.finished
        assert finished is not None
        if not begun:
            assert finished.status == "done"
            continue
        assert (finished.status, finished.steps, finished.requests) == ("interrupted", len(answers), len(answers))
        assert finished.usage == sum((a.usage for a in answers), Usage())
        assert finished.seconds == 5.0, "not the time in which the program did not run"


async def test_a_call_that_had_begun_is_interrupted_and_one_that_had_not_runs_once(desk: Desk) -> None:
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "Go")
    kinds = [type(e.event).__name__ for e in desk.stored()]
    keep = kinds.index("ToolStarted") + 1
    truncate(desk, keep)
    desk.tool("echo").runs.clear()
    model = Scripted(SCRIPT[1:])
    async with desk.session(model, id=f"s_test_{keep}") as session:
        assert (await done(session, "")).status == "done"
    first, second = model.requests[0].messages[-1].results
    assert (first.status, second.status) == ("interrupted", "done")
    assert [r["text"] for r in desk.tool("echo").runs] == ["b", "d"]


async def test_a_new_prompt_closes_what_was_open(desk: Desk) -> None:
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "Go")
    keep = [type(e.event).__name__ for e in desk.stored()].index("AnswerReceived") + 1
    truncate(desk, keep)
    desk.tool("echo").runs.clear()
    model = Scripted([Say("Fine.")])
    async with desk.session(model, id=f"s_test_{keep}") as session:
        assert (await done(session, "Something else")).status == "done"
    assert desk.tool("echo").runs == []
    assert paired(model.requests[0].messages)
    assert {r.status for m in model.requests[0].messages for r in m.results} == {"interrupted"}


async def test_resumed_requests_are_the_same_bytes(desk: Desk) -> None:
    whole = Scripted(SCRIPT)
    async with desk.session(whole) as session:
        await done(session, "Go")
    kinds = [type(e.event).__name__ for e in desk.stored()]
    answers = [i for i, k in enumerate(kinds) if k == "AnswerReceived"]
    for n, at in enumerate(answers[:-1]):
        keep = next(i for i in range(at, len(kinds)) if kinds[i] == "RequestSent")  # all results are in by then
        truncate(desk, keep)
        model = Scripted(SCRIPT[n + 1 :])
        async with desk.session(model, id=f"s_test_{keep}") as session:
            await done(session, "")
        assert model.bodies == whole.bodies[n + 1 :]


async def test_a_turn_that_ended_by_itself_is_not_gone_on_with(desk: Desk) -> None:
    async with desk.session(Scripted([Say("Done.")])) as session:
        await done(session, "Go")
        with pytest.raises(UserError):
            await session.prompt("")


async def test_a_cancelled_turn_goes_on_with_what_was_said(desk: Desk) -> None:
    model = Scripted([Fault("hang", after=2, answer=Say("I was about to say more than this.")), Say("It is done.")])
    async with desk.session(model) as session:
        prompted = await session.prompt("Go")
        async with session.stream.subscribe() as entries:
            async for entry in entries:
                if type(entry.event).__name__ in ("TextDelta", "MessagePartial"):
                    break
        await session.cancel()
        with anyio.fail_after(5):
            await prompted
    async with desk.session(model) as session:
        end = await done(session, "")
    assert (end.status, end.text) == ("done", "I was about It is done.")
    said, note = model.requests[1].messages[-2:]
    assert (said.role, said.text) == ("assistant", "I was about ")
    assert (note.role, note.kind) == ("user", "note")


async def test_a_damaged_log_is_mended_once_and_said(desk: Desk) -> None:
    """Row 25: a result lost from the middle, words between call and result, a result of no call."""
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "Go")
    events = [e.event for e in desk.stored()]
    first = next(i for i, e in enumerate(events) if isinstance(e, ToolFinished))
    lost = events.pop(first)
    assert isinstance(lost, ToolFinished)
    stray = ToolFinished(call="c99", name="echo", result=ResultPart(call_id="c99", text="of no call"))
    events.insert(first, MessageAdded(message=user("words in between")))
    events.insert(first, stray)
    desk.journal.append("s_damaged", events, at=0.0)
    for round in range(2):
        model = Scripted([Say("Fine.")])
        async with desk.session(model, id="s_damaged") as session:
            assert (await done(session, f"And now {round}?")).status == "done"
        assert paired(model.requests[0].messages)
        assert "words in between" in str(model.requests[0].messages)
        assert "of no call" not in str(model.requests[0].messages)
        (repair,) = desk.of(HistoryRepaired, "s_damaged")
        assert [r.call_id for r in repair.added] == [lost.call]
        assert repair.dropped == ("c99",)
        assert [w.key for w in desk.of(WarningRaised, "s_damaged")] == ["engine.history_mended"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
async def test_any_subset_of_a_log_gives_a_paired_history(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever rows a damaged store has lost or shuffled, what is sent is paired."""
    desk = Desk(tmp_path_factory.mktemp("log"))
    async with desk.session(Scripted(SCRIPT)) as session:
        await done(session, "Go")
    events = [e.event for e in desk.stored()]
    kept = [e for e in events[1:] if data.draw(st.integers(0, 9)) > 1]
    at = data.draw(st.integers(0, len(kept)))
    desk.journal.append("s_cut", [events[0], *kept[at:], *kept[:at]], at=0.0)
    model = Scripted([Say("Fine.", times=0)])
    async with desk.session(model, id="s_cut") as session:
        assert (await done(session, "And now?")).status == "done"
    assert all(paired(r.messages) for r in model.requests)


def test_the_state_is_a_projection(tmp_path: Path) -> None:
    state = SessionState()
    assert not state.interrupted()
    state.apply(TurnFinished(turn="t", status="done"))
    assert not state.interrupted()
    state.apply(TurnFinished(turn="t", status="budget"))
    assert state.interrupted()
