"""One budget for a turn and all its descendants: requests, tokens, money and time, at any depth and side by side."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from gongfu.core.events import AgentFinished, AgentStarted, AnswerReceived, RequestSent, ToolFinished, TurnFinished
from gongfu.core.specs import Price, Usage
from gongfu.models.scripted import Call, Calls, Fault, Say, Scripted
from gongfu.models.scripted.provider import SCRIPTED
from gongfu.models.scripted.script import Step

from .cast import Cast, Run, opened, results, run, workplace

pytestmark = pytest.mark.anyio

SPENT = Usage(input=1000, output=100)
NAMES = ("a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def reads(usage: Usage | None = SPENT, text: str = "") -> list[Step]:
    """Work that goes in no circle and never comes to an end by itself."""
    return [Call("read_file", {"path": f"{name}{n}"}, usage=usage, text=text) for n in range(9) for name in NAMES]


def task(word: str, **more: Any) -> Call:
    return Call("task", {"task": f"{word} it", **more}, usage=SPENT)


def sent(ran: Run) -> int:
    """Requests of the main model in the whole tree."""
    ids = [row.id for row in ran.app.rows.list(children=True)]
    return sum(e.purpose == "main" for id in ids for e in ran.of(RequestSent, id))


def tokens(ran: Run) -> int:
    ids = [row.id for row in ran.app.rows.list(children=True)]
    used = [e.usage for id in ids for e in ran.of(AnswerReceived, id) if e.purpose in ("main", "sub-agent")]
    return sum(usage.input + usage.output for usage in used)


PLANS = {
    "alone": reads,
    "foreground": lambda: [task("one"), Say("The end.", usage=SPENT)],
    "background": lambda: [task("one", background=True), *reads()],
    "side by side": lambda: [
        Calls((task("one"), task("two"), task("three")), usage=SPENT), Say("The end.", usage=SPENT)
    ],
    "two deep": lambda: [task("deep"), Say("The end.", usage=SPENT)],
}  # fmt: skip


def cast(plan: str) -> Cast:
    return Cast(
        PLANS[plan](),
        one=reads(text="So far."),
        two=reads(),
        three=reads(),
        deep=[task("one"), task("two"), *reads()],
    )


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("most", [1, 2, 7])
async def test_requests_of_the_whole_tree_stay_within_the_limit(work: Path, plan: str, most: int) -> None:
    async with opened(work, cast(plan), yes=True, max_steps=most) as app:
        ran = await run(app)
        assert sent(ran) <= most
        finished = ran.finished
        assert finished.requests == sent(ran)
        if finished.status == "budget":
            assert finished.reason == "engine.limit_steps"
            assert finished.values["steps"] == finished.requests == most
        else:  # its last request was left for its own last words
            assert (finished.status, finished.text) == ("done", "The end.")
        assert all(a.status in ("budget", "cancelled") for a in ran.of(AgentFinished))
        began = [c.id for m in ran.session.messages for c in m.calls]
        assert sorted(r.call_id for m in ran.session.messages for r in m.results) == sorted(began)


async def test_the_last_request_is_left_to_the_turn_that_started_the_others(work: Path) -> None:
    plan = Cast(
        [task("deep"), Say("What I have: so far.")],
        deep=[task("one"), Say("Down there: so far.")],
        one=reads(text="So far."),
    )
    async with opened(work, plan, yes=True, max_steps=6) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.text) == ("done", "What I have: so far.")
        assert (ran.finished.requests, ran.finished.steps) == (6, 2)
        assert len(plan.asked["one"]) == 2
        (below,) = results(plan.asked["deep"][1])
        assert "did not finish (budget)" in below.text
        assert "So far." in below.text


async def test_a_smaller_limit_of_its_own_counts_what_it_starts(work: Path) -> None:
    plan = Cast([task("deep", max_steps=3), Say("ok")], deep=[task("one"), Say("seen")], one=reads())
    async with opened(work, plan, yes=True) as app:
        ran = await run(app)
        assert ran.finished.status == "done"
        assert [len(plan.asked[name]) for name in ("", "deep", "one")] == [2, 2, 1]


async def test_the_model_is_told_that_what_is_left_of_the_tree_is_little(work: Path) -> None:
    plan = Cast([task("one", max_steps=10), *reads()], one=reads())
    async with opened(work, plan, yes=True, max_steps=12) as app:
        await run(app)
    told = ["requests are left in this turn" in str(r.messages) for r in plan.asked["one"]]
    assert told == [False] * 7 + [True] * 3
    assert "requests are left" in str(plan.asked[""][1].messages)


@pytest.mark.parametrize("plan", PLANS)
async def test_tokens_are_passed_by_one_request_at_most(work: Path, plan: str) -> None:
    async with opened(work, cast(plan), yes=True, max_tokens=9000) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.reason) == ("budget", "engine.limit_tokens")
        assert 9000 <= tokens_of(ran.finished) < 9000 + 1100
        assert ran.finished.values["tokens"] == tokens_of(ran.finished)


def tokens_of(finished: TurnFinished) -> int:
    return finished.usage.input + finished.usage.output


def dear(plan: Cast) -> Cast:
    info = replace(SCRIPTED, price=Price(input=10.0, output=100.0))
    plan.model = Scripted(plan._endless(), info=info)
    return plan


@pytest.mark.parametrize("plan", PLANS)
async def test_money_is_passed_by_one_request_at_most(work: Path, plan: str) -> None:
    each = 0.02  # 1,000 tokens in at $10, 100 out at $100 a million
    async with opened(work, dear(cast(plan)), yes=True, max_cost=0.13) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.reason) == ("budget", "engine.limit_cost")
        assert 0.13 <= ran.finished.cost < 0.13 + each + 1e-9


class Slow(Scripted):
    """Takes a moment for each answer, so that requests of several agents are under way together; counts them."""

    def __init__(self, steps: Any, **more: Any) -> None:
        super().__init__(steps, **more)
        self.now = self.most = 0

    async def complete(self, request: Any) -> Any:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await anyio.sleep(0.03)
            async for delta in super().complete(request):
                yield delta
        finally:
            self.now -= 1


def slow(plan: Cast) -> Cast:
    plan.model = Slow(plan._endless(), info=replace(SCRIPTED, max_output=2000))
    return plan


async def test_requests_under_way_at_the_same_time_do_not_pass_it_together(work: Path) -> None:
    eight = Calls(tuple(task(word) for word in ("one", "two", "three")) * 2, usage=SPENT)
    plan = slow(Cast([eight, Say("x", usage=SPENT)], one=reads(), two=reads(), three=reads()))
    async with opened(work, plan, yes=True, max_tokens=20_000) as app:
        ran = await run(app)
        assert ran.finished.reason == "engine.limit_tokens"
        assert 20_000 <= tokens_of(ran.finished) < 20_000 + 1100
        assert plan.model.most > 1, "far from the limit they work side by side"


@pytest.mark.parametrize("where", ["model", "command", "sub-agent", "background", "two deep", "retry"])
async def test_time_that_is_up_interrupts_whatever_hangs(work: Path, where: str) -> None:
    hang: Step = Fault("hang", after=-1)
    sleep = Call("shell", {"command": "echo here; sleep 61"})
    plans: dict[str, list[Step]] = {
        "model": [hang],
        "command": [sleep],
        "sub-agent": [task("hangs")],
        "background": [task("hangs", background=True), Say("I wait.")],
        "two deep": [task("deep")],
        "retry": [Fault("status", status=429, retry_after=60)],
    }
    plan = Cast(plans[where], hangs=[sleep], deep=[task("hangs")])
    async with opened(work, plan, yes=True, max_minutes=0.6 / 60) as app:
        began = time.monotonic()
        ran = await run(app)
        took = time.monotonic() - began
        assert (ran.finished.status, ran.finished.reason) == ("budget", "engine.limit_minutes")
        assert took < 0.6 + 2.0, took
        calls = [c.id for m in ran.session.messages for c in m.calls]
        assert [e.call for e in ran.of(ToolFinished)] == calls
        assert len(ran.of(AgentStarted)) == len(ran.of(AgentFinished))


async def test_what_was_said_before_the_limit_is_kept_and_the_turn_goes_on_with_more(work: Path) -> None:
    plan = Cast([Call("read_file", {"path": "a.txt"}, text="The first half."), Say("The second half.")])
    async with opened(work, plan, yes=True, max_steps=1) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.text) == ("budget", "The first half.")
        with anyio.fail_after(10):
            again = await (await ran.session.prompt(""))
        assert (again.status, again.text, again.steps) == ("done", "The second half.", 1)
