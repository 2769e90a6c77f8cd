"""What goes round and round ends, whatever it is made of; what only looks like it goes on."""

from __future__ import annotations

import pytest

from gongfu.core.events import ToolFinished
from gongfu.core.messages import CallPart, ResultPart
from gongfu.engine.circles import IN_VAIN, LONGEST_PERIOD, Circles
from gongfu.models.scripted.provider import Scripted
from gongfu.models.scripted.script import Call, Calls, Say
from gongfu.tools.protocol import CallContext, Facts, Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio


def endless(*texts: str, name: str = "echo") -> Scripted:
    return Scripted([Call(name, {"text": text}) for _ in range(60) for text in texts])


@pytest.mark.parametrize("period", range(1, LONGEST_PERIOD + 1))
async def test_a_round_of_any_length_is_run_twice(desk: Desk, period: int) -> None:
    async with desk.session(endless(*(f"place {n}" for n in range(period)))) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.circles")
    assert len(desk.tool("echo").runs) == 2 * period
    told = [e.result for e in desk.of(ToolFinished) if "repeating yourself" in e.result.text]
    assert 1 <= len(told) <= 2
    assert end.requests <= 2 * period + 2


@pytest.mark.parametrize("name", ["fail", "broken", "unknown"])
async def test_a_call_that_fails_the_same_way_again_and_again(desk: Desk, name: str) -> None:
    async with desk.session(endless("x", name=name)) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.requests) == ("failed", "engine.circles", 4)


async def test_a_call_that_is_refused_again_and_again(desk: Desk) -> None:
    async def never(args: dict, ctx: CallContext) -> Outcome:
        raise AssertionError

    desk.tools.append(Plain("danger", never, access=("execute",), facts=Facts(access=("execute",), title="x")))
    async with desk.session(endless("x", name="danger"), mode="ask") as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.circles")
    assert end.requests == 5, "the second refusal says that it was refused before"


async def test_a_result_that_changes_is_no_circle(desk: Desk) -> None:
    count = 0

    async def poll(args: dict, ctx: CallContext) -> Outcome:
        nonlocal count
        count += 1
        return Outcome(text=f"{count} %")

    desk.tools.append(Plain("poll", poll))
    async with desk.session(Scripted([*(Call("poll", {"text": "job"}) for _ in range(40)), Say("ok")])) as session:
        assert (await done(session, "Go")).status == "done"


@pytest.mark.parametrize("name", ["fail", "unknown"])
async def test_calls_that_all_fail_with_other_arguments_each_time_end_too(desk: Desk, name: str) -> None:
    model = Scripted([Call(name, {"text": f"try {n}"}) for n in range(2 * IN_VAIN)])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.requests) == ("failed", "engine.in_vain", IN_VAIN)
    assert end.values == {"count": IN_VAIN}
    assert len(desk.of(ToolFinished)) == IN_VAIN


async def test_one_that_succeeds_in_between_starts_the_count_anew(desk: Desk) -> None:
    steps = [Call("fail" if n % 20 else "echo", {"text": f"try {n}"}) for n in range(3 * IN_VAIN)]
    async with desk.session(Scripted([*steps, Say("ok")])) as session:
        assert (await done(session, "Go")).status == "done"


async def test_a_batch_that_repeats_itself(desk: Desk) -> None:
    both = Calls((Call("echo", {"text": "a"}), Call("fail", {"text": "b"})))
    async with desk.session(Scripted([both] * 9)) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.circles")
    assert len(desk.tool("echo").runs) == 2
    assert len(desk.of(ToolFinished)) == 2 * end.requests, "each call has its one result"


async def test_empty_answers_end(desk: Desk) -> None:
    async with desk.session(Scripted([Say("")] * 5)) as session:
        end = await done(session, "Go")
    assert (end.reason, end.requests) == ("engine.empty_answer", 2)


def test_the_memory_of_calls_is_bounded() -> None:
    circles = Circles()
    for n in range(1000):
        circles.note(CallPart(id=f"c{n}", name="x", arguments=str(n)), ResultPart(call_id=f"c{n}", text="x" * 10_000))
    assert len(circles._runs) == 2 * LONGEST_PERIOD
