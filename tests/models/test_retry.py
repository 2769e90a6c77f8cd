"""Waits are pure; attempts are visible, bounded and can be cancelled."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.errors import (
    BadRequest,
    ContentFilter,
    Overflow,
    Overloaded,
    ProviderFault,
    Refused,
    StreamCut,
    Throttled,
    Unauthorized,
    Unreachable,
)
from gongfu.core.messages import Message, ReasoningPart, TextPart
from gongfu.core.specs import ModelInfo
from gongfu.models.endpoint import Misdirected
from gongfu.models.protocol import Answer, Delta, Prepared, Request, Text
from gongfu.models.retry import DEFAULT, Failed, RetryPolicy, attempts, delay_for

pytestmark = pytest.mark.anyio
REQUEST = Request(model="m", system="", messages=())
ANSWER = Answer(message=Message(role="assistant", parts=(TextPart(text="ok"),)), finish="stop")


class Failing:
    """Plays faults, then answers."""

    info = ModelInfo(ref="p/m", provider="p", name="m")

    def __init__(self, *faults: ProviderFault) -> None:
        self.faults = list(faults)
        self.closed = 0

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        try:
            yield Prepared(body=b"{}")
            if self.faults:
                raise self.faults.pop(0)
            yield Text(text="ok")
            yield ANSWER
        finally:
            self.closed += 1

    async def aclose(self) -> None: ...


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


async def play(provider: Failing, policy: RetryPolicy = DEFAULT) -> tuple[list[Delta | Failed], Clock]:
    clock = Clock()
    seen: list[Delta | Failed] = []
    run = attempts(provider, REQUEST, policy, rng=lambda: 0.5, clock=clock, sleep=clock.sleep)
    async with aclosing(run) as deltas:
        async for delta in deltas:
            seen.append(delta)
    return seen, clock


async def keep(deltas: AsyncGenerator[Delta | Failed, None], seen: list[Delta | Failed]) -> None:
    async for delta in deltas:
        seen.append(delta)


async def test_faults_that_pass_are_shown_and_tried_again() -> None:
    seen, clock = await play(Failing(Overloaded("busy"), Throttled("slow", retry_after=7), Unreachable("gone")))
    failed = [d for d in seen if isinstance(d, Failed)]
    assert [(f.fault.kind, f.attempt) for f in failed] == [("overloaded", 1), ("throttled", 2), ("unreachable", 3)]
    assert [f.retry_in for f in failed] == clock.waits
    assert clock.waits[1] >= 7
    assert seen[-1] == ANSWER
    assert sum(isinstance(d, Prepared) for d in seen) == 4


@pytest.mark.parametrize("fault", [Unauthorized, Refused, BadRequest, Overflow, ContentFilter, Misdirected])
async def test_faults_for_good_end_at_once(fault: type[ProviderFault]) -> None:
    provider = Failing(fault("no"))
    seen: list[Delta | Failed] = []
    async with aclosing(attempts(provider, REQUEST)) as deltas:
        with pytest.raises(fault):
            await keep(deltas, seen)
    assert isinstance(seen[-1], Failed)
    assert seen[-1].retry_in is None
    assert provider.closed == 1


async def test_the_number_of_attempts_is_bounded() -> None:
    provider = Failing(*[Overloaded("busy") for _ in range(20)])
    with pytest.raises(Overloaded):
        await play(provider, RetryPolicy(max_attempts=3))
    assert len(provider.faults) == 17


async def test_the_time_is_bounded_and_a_long_retry_after_is_not_begun() -> None:
    with pytest.raises(Overloaded):
        await play(provider := Failing(*[Overloaded("busy") for _ in range(99)]), RetryPolicy(max_attempts=99))
    assert len(provider.faults) < 94
    provider = Failing(Throttled("tomorrow", retry_after=3600))
    with pytest.raises(Throttled):
        await play(provider)


async def test_a_cut_after_some_text_is_not_asked_again() -> None:
    text = Answer(message=Message(role="assistant", parts=(TextPart(text="half"),)), finish="unknown")
    with pytest.raises(StreamCut):
        await play(Failing(StreamCut("cut", partial=text)))
    thought = Answer(message=Message(role="assistant", parts=(ReasoningPart(text="hm"),)), finish="unknown")
    for partial in (None, thought, Answer(message=Message(role="assistant"), finish="unknown")):
        seen, _ = await play(Failing(StreamCut("cut", partial=partial)))
        assert seen[-1] == ANSWER


async def test_waiting_is_cancelled_at_once() -> None:
    started = time.monotonic()
    provider = Failing(Throttled("slow", retry_after=60))
    with anyio.move_on_after(0.05) as scope:
        async with aclosing(attempts(provider, REQUEST)) as deltas:
            async for _ in deltas:
                pass
    assert scope.cancelled_caught
    assert time.monotonic() - started < 0.5


@given(st.integers(1, 50), st.floats(0, 200), st.floats(0, 0.999), st.one_of(st.none(), st.floats(0, 500)))
def test_waits_keep_the_policy(attempt: int, elapsed: float, random: float, after: float | None) -> None:
    policy = RetryPolicy()
    delay = delay_for(Throttled("x", retry_after=after), attempt, elapsed, policy, random)
    if delay is None:
        return
    assert attempt < policy.max_attempts
    assert elapsed + delay <= policy.budget_seconds
    assert delay > 0
    if after:
        assert after <= delay <= after + 1
    else:
        assert delay <= policy.cap
