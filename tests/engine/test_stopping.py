"""`Session.cancel` wherever a turn may be: at once, one result for each call, and the next prompt works.

Measured: from the cancel until the turn has ended, 0.5 s at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio
import pytest
from msgspec.structs import replace

from gongfu.core.errors import UserError
from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    MessageAdded,
    PromptDropped,
    QuestionAsked,
    RequestFailed,
    RequestSent,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from gongfu.engine import summaries
from gongfu.engine.session import Session
from gongfu.models.scripted import SCRIPTED, Call, Calls, Fault, Planned, Say, Scripted
from gongfu.tools.protocol import CallContext, Facts, Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio

SOON = 0.5
LONG = "The first words of a long answer. " * 20
FAST = replace(SCRIPTED, ref="other/fast", provider="other", name="fast")
HANG = Call("hang", {"text": "x"})


async def reached(session: Session, wanted: Callable[[AnyEvent], bool], count: int = 1) -> None:
    async with session.stream.subscribe(after=0) as entries:
        async for entry in entries:
            count -= wanted(entry.event)
            if not count:
                return


async def stopped(session: Session, kind: type[AnyEvent], count: int = 1) -> TurnFinished:
    """Prompt, wait for that many events of a kind, cancel; how the turn ended, soon."""
    prompted = await session.prompt("Go")
    with anyio.fail_after(10):
        await reached(session, lambda event: isinstance(event, kind), count)
        await anyio.sleep(0.01)
        began = time.monotonic()
        await session.cancel()
        end = await prompted
    assert time.monotonic() - began <= SOON
    assert (end.status, end.reason) == ("cancelled", "engine.cancelled")
    return end


def check(desk: Desk) -> None:
    """One result for each call, one end for each turn."""
    answers = [e.message for e in desk.of(AnswerReceived) if e.purpose == "main"]
    calls = [call.id for message in answers for call in message.calls]
    assert sorted(e.call for e in desk.of(ToolFinished)) == sorted(calls)
    assert len(desk.of(TurnStarted)) == len(desk.of(TurnFinished))


PLACES: dict[str, tuple[list[Planned], type[AnyEvent], int]] = {
    "first byte": ([Fault("hang", after=-1)], RequestSent, 1),
    "streaming": ([Fault("hang", after=1, answer=Say("some words of an answer " * 20))], TextDelta, 1),
    "slow": ([Fault("slow", seconds=0.05, answer=Say("word " * 200))], TextDelta, 2),
    "back-off": ([Fault("status", status=429, retry_after=60)], RequestFailed, 1),
    "trouble": ([Fault("status", status=503, times=9)], RequestFailed, 1),
    "after a cut": ([Fault("drop", after=3, answer=Say("some words")), Fault("hang", after=-1)], MessageAdded, 2),
    "a call": ([HANG], ToolStarted, 1),
    "calls side by side": ([Calls(tuple(Call("hang", {"text": f"place {n}"}) for n in range(12)))], ToolStarted, 8),
    "the second request": ([Call("echo", {"text": "x"}), Fault("hang", after=-1)], RequestSent, 2),
}


@pytest.mark.parametrize("place", PLACES)
async def test_in_the_middle_of(desk: Desk, place: str) -> None:
    steps, kind, count = PLACES[place]
    model = Scripted([*steps, *[Say("Next.")] * 3])
    async with desk.session(model) as session:
        await stopped(session, kind, count)
        assert all(e.result.status == "cancelled" for e in desk.of(ToolFinished) if e.name == "hang")
    check(desk)
    fresh = Scripted([Say("Next.")])
    async with desk.session(fresh) as session:  # the session opens, and the next prompt works
        assert (await done(session, "And now?")).text == "Next."
    check(desk)
    calls = [c.id for m in fresh.requests[0].messages for c in m.calls]
    assert [r.call_id for m in fresh.requests[0].messages for r in m.results] == calls


async def test_what_was_streamed_is_kept(desk: Desk) -> None:
    model = Scripted([Fault("hang", after=1, answer=Say(LONG))])
    async with desk.session(model) as session:
        end = await stopped(session, TextDelta)
        assert end.text
        assert LONG.startswith(end.text)
        assert session.messages[-1].text == end.text


async def test_while_it_falls_back_to_another_model(desk: Desk) -> None:
    first = Scripted([Fault("status", status=400)])
    second = Scripted([Fault("hang", after=-1)], info=replace(SCRIPTED, ref="scripted/second", name="second"))
    async with desk.session(first, second) as session:
        await stopped(session, RequestSent, 2)
    check(desk)


async def test_a_question_that_waits_for_a_person(desk: Desk) -> None:
    async def never(args: dict, ctx: CallContext) -> Outcome:
        raise AssertionError

    desk.tools.append(Plain("danger", never, access=("execute",), facts=Facts(access=("execute",), title="x")))
    model = Scripted([Call("danger", {"text": "x"}), Say("Next.")])
    async with desk.session(model, mode="ask", answers="ask") as session:
        await stopped(session, QuestionAsked)
        assert [e.result.status for e in desk.of(ToolFinished)] == ["cancelled"]
        assert (await done(session, "And now?")).text == "Next."
    check(desk)


async def test_a_prompt_that_waits_is_taken_back_and_the_turn_goes_on(desk: Desk) -> None:
    async with desk.session(Scripted([Fault("slow", seconds=0.02, answer=Say("One."))])) as session:
        one, two = await session.prompt("one"), await session.prompt("two")
        await session.cancel(two.id)
        with anyio.fail_after(5):
            assert (await one).text == "One."
        assert [e.prompt for e in desk.of(PromptDropped)] == [two.id]
        assert session.queue == ()


async def test_a_tool_that_will_not_hear_of_it_is_waited_for_no_longer_than_it_cleans_up(desk: Desk) -> None:
    cleaned = False

    async def tidy(args: dict, ctx: CallContext) -> Outcome:
        nonlocal cleaned
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.05)
            cleaned = True
        raise AssertionError

    desk.tools.append(Plain("tidy", tidy))
    async with desk.session(Scripted([Call("tidy", {"text": "x"})])) as session:
        await stopped(session, ToolStarted)
    assert cleaned
    check(desk)


@pytest.fixture
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "PAUSE", 0.0)


def long_talk(turns: int) -> Scripted:
    steps: list[Planned] = []
    for n in range(turns):
        steps += [Call("echo", {"text": f"step {n}"}), Say(f"Part {n} is done. " + "It went well. " * 75)]
    return Scripted(steps, info=replace(SCRIPTED, window=8192, max_output=2048))


@pytest.mark.usefixtures("_no_pause")
async def test_a_fold_by_hand_whose_summary_never_comes(desk: Desk) -> None:
    helper = Scripted([Fault("hang", after=-1, times=9)], info=FAST)
    async with desk.session(long_talk(8), fast=[helper]) as session, anyio.create_task_group() as tasks:
        for n in range(6):
            assert (await done(session, f"Do part {n}.")).status == "done"
        ended: list[tuple[str, float]] = []

        async def fold() -> None:
            with pytest.raises(UserError) as told:
                await session.compact("the parser")
            ended.append((told.value.key, time.monotonic()))

        tasks.start_soon(fold)
        await anyio.wait_all_tasks_blocked()
        began = time.monotonic()
        await session.cancel()
        with anyio.fail_after(5):
            assert (await done(session, "Do part 6.")).status == "done"
        ((key, at),) = ended
        assert key == "engine.cancelled"
        assert at - began <= SOON
    check(desk)


@pytest.mark.usefixtures("_no_pause")
async def test_work_beside_the_turn_holds_up_no_end(desk: Desk) -> None:
    """A label, a title and a summary that never come, when the session closes."""
    helper = Scripted([Fault("hang", after=-1, times=20)], info=FAST)
    both = Calls((Call("echo", {"text": "one"}), Call("fail", {"text": "two"})))
    async with desk.session(Scripted([both, Say("ok")]), fast=[helper], labels=True, titles=True) as session:
        await done(session, "Go")
        await anyio.wait_all_tasks_blocked()
        assert session.sidecar.busy
        began = time.monotonic()
        with anyio.fail_after(5):
            await session.close()
        assert time.monotonic() - began <= SOON


async def test_a_fold_in_a_turn_holds_the_loop_up_for_a_moment_at_most(desk: Desk) -> None:
    """While the turn folds (three times here), a clock beside it is never silent for half a second."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        last = time.monotonic()
        while True:
            await anyio.sleep(0.005)
            longest = max(longest, time.monotonic() - last)
            last = time.monotonic()

    async with desk.session(long_talk(30)) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        for n in range(30):
            assert (await done(session, f"Do part {n}.")).status == "done"
        tasks.cancel_scope.cancel()
    assert "EpochOpened" in desk.kinds()
    assert longest <= SOON
