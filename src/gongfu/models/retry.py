"""Trying again: how long to wait is pure, waiting is visible and can be cancelled."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

import anyio

from gongfu.core.base import Base
from gongfu.core.errors import ProviderFault, StreamCut, Unreachable
from gongfu.models.protocol import Answer, Delta, ModelProvider, Request

T = TypeVar("T")


class RetryPolicy(Base, frozen=True):
    """At most `max_attempts` requests, and `budget_seconds` from the first fault on.

    Waits double from `base` up to `cap` seconds. `unreachable_seconds` is the budget when no connection can be made.
    """

    budget_seconds: float = 120
    unreachable_seconds: float = 120
    max_attempts: int = 8
    base: float = 0.5
    cap: float = 30


DEFAULT = RetryPolicy()


class Failed(Base, frozen=True):
    """Attempt number `attempt` (from 1) failed; the next follows in `retry_in` seconds, or never (None)."""

    fault: ProviderFault
    attempt: int
    retry_in: float | None


def delay_for(fault: ProviderFault, attempt: int, elapsed: float, policy: RetryPolicy, random: float) -> float | None:
    """Seconds to wait after the failed attempt number `attempt` (from 1), or None to give up.

    `elapsed` is seconds since the first fault, `random` lies in [0, 1). What the server asked for is honoured and
    only lengthened; a wait that does not fit into the budget is not begun. Otherwise half of the exponential step is
    jittered ("equal jitter": M. Brooker, Exponential Backoff And Jitter, 2015). A fault that the provider has learned
    from is not waited for.
    """
    if attempt >= policy.max_attempts or not (fault.retryable or fault.again):
        return None
    if fault.again:
        return 0.0
    if fault.retry_after:
        delay = fault.retry_after + random * min(1.0, fault.retry_after / 4)
    else:
        delay = min(policy.cap, policy.base * 2.0 ** (attempt - 1)) * (0.5 + random / 2)
    unreachable = isinstance(fault, Unreachable)
    budget = min(policy.budget_seconds, policy.unreachable_seconds) if unreachable else policy.budget_seconds
    return delay if elapsed + delay <= budget else None


async def attempts(
    provider: ModelProvider,
    request: Request,
    policy: RetryPolicy = DEFAULT,
    *,
    rng: Callable[[], float] | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> AsyncGenerator[Delta | Failed, None]:
    """What `provider` yields, over as many attempts as the policy allows.

    Each fault is announced by a `Failed`; the last one is raised after it. A stream that broke after some text of the
    answer is not asked for again: its `StreamCut` carries what arrived, for the turn to go on from.
    """
    attempt = 0
    first: float | None = None
    while True:
        attempt += 1
        try:
            async with aclosing(provider.complete(request)) as deltas:
                async for delta in deltas:
                    yield delta
            return
        except ProviderFault as caught:
            fault = caught
        now = clock()
        first = now if first is None else first
        wait = None if _has_text(fault) else delay_for(fault, attempt, now - first, policy, (rng or _random)())
        _tell_wait(fault, wait)
        yield Failed(fault=fault, attempt=attempt, retry_in=wait)
        if wait is None:
            raise fault
        await sleep(wait)


async def retrying(
    work: Callable[[], Awaitable[T]],
    policy: RetryPolicy = DEFAULT,
    *,
    tell: Callable[[Failed], None] | None = None,
    rng: Callable[[], float] | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> T:
    """What `work` returns, tried as often as the policy allows: `attempts` for what does not stream.

    Each fault is told through `tell`; the last one is raised after it.
    """
    attempt = 0
    first: float | None = None
    while True:
        attempt += 1
        try:
            return await work()
        except ProviderFault as caught:
            fault = caught
        now = clock()
        first = now if first is None else first
        wait = delay_for(fault, attempt, now - first, policy, (rng or _random)())
        _tell_wait(fault, wait)
        if tell is not None:
            tell(Failed(fault=fault, attempt=attempt, retry_in=wait))
        if wait is None:
            raise fault
        await sleep(wait)


def _tell_wait(fault: ProviderFault, wait: float | None) -> None:
    """Say how long the server asks to wait where that is longer than anybody waits here."""
    if wait is None and fault.retryable and fault.retry_after and fault.retry_after > 1:
        seconds = round(fault.retry_after)
        minutes = seconds // 60
        span = f"{seconds} s" if minutes < 2 else f"{minutes} min" if minutes < 120 else f"{minutes // 60:,} h"
        fault.detail = f"{fault.detail.rstrip('.')} (the server asks to wait {span})"


def _has_text(fault: ProviderFault) -> bool:
    return isinstance(fault, StreamCut) and isinstance(fault.partial, Answer) and bool(fault.partial.message.text)


def _random() -> float:
    import random  # loaded when the first request fails

    return random.random()  # noqa: S311 - jitter, no secret
