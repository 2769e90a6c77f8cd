"""Limits of a turn: one account, shared with everything that the turn starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio

from gongfu.core.base import Base
from gongfu.core.errors import LimitReached
from gongfu.core.specs import Usage


class LimitSpec(Base, frozen=True):
    """Where to stop. None is no limit. `steps` are requests of the main model, `cost` US dollars."""

    steps: int = 200
    cost: float | None = None
    minutes: float | None = None
    tokens: int | None = None


class Limits:
    """The running account of a turn and its descendants.

    With a `parent` (the turn that started this one) steps, time, tokens and money are taken from its account too; of
    steps the last one is left to each turn above, for its own last words. `steps` are those of this turn alone.
    """

    def __init__(
        self, spec: LimitSpec, *, parent: Limits | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.spec = spec
        self._parent = parent
        self._clock = clock
        self._start = clock()
        self.steps = 0
        self.usage = Usage()
        self.cost: float | None = 0.0
        self.below = 0  # requests of descendants
        self._taken = 0  # steps of this turn and its descendants
        self._beside = 0.0  # US dollars that work beside the turn took
        self._beside_tokens = 0
        self._held_tokens = 0  # what requests under way may take
        self._held_cost = 0.0
        self._under_way = 0
        self._returned: anyio.Event | None = None

    def seconds_left(self) -> float | None:
        """Seconds until the time is up, at least 0; None without a limit of time."""
        above = None if self._parent is None else self._parent.seconds_left()
        if self.spec.minutes is None:
            return above
        own = max(0.0, self.spec.minutes * 60 - (self._clock() - self._start))
        return own if above is None else min(own, above)

    async def before_step(self) -> None:
        """Account for one more step, or raise `LimitReached`; nothing is sent then.

        While requests of others on this account may use up what is left of money or tokens, it waits for them: so a
        limit is passed by one request at most, however many agents work at the same time.
        """
        self._check()
        while (crowded := self._crowded()) is not None:
            if crowded._returned is None:
                crowded._returned = anyio.Event()
            await crowded._returned.wait()
            self._check()
        self.steps += 1
        self._take()

    def _take(self) -> None:
        self._taken += 1
        if self._parent is not None:
            self._parent._take()

    def _check(self, kept: int = 0) -> None:
        """All limits, the ancestors' first: theirs are the smaller ones. `kept` steps are not to be taken."""
        if self._parent is not None:
            self._parent._check(kept + 1)
        spec = self.spec
        if self._taken >= spec.steps - kept:
            raise LimitReached("engine.limit_steps", steps=self._taken)
        if spec.minutes is not None and self.seconds_left() == 0.0:
            raise LimitReached("engine.limit_minutes", minutes=spec.minutes)
        if spec.cost is not None and self.cost is not None and self.cost + self._beside >= spec.cost:
            raise LimitReached("engine.limit_cost", cost=f"{self.cost + self._beside:.4f}", limit=spec.cost)
        if spec.tokens is not None and self._tokens >= spec.tokens:
            raise LimitReached("engine.limit_tokens", tokens=self._tokens, limit=spec.tokens)

    @property
    def _tokens(self) -> int:
        return self.usage.input + self.usage.output + self._beside_tokens

    def _crowded(self) -> Limits | None:
        """The account, this one or one above, of which requests under way may take all that is left."""
        spec = self.spec
        if self._under_way and (
            (spec.tokens is not None and self._tokens + self._held_tokens >= spec.tokens)
            or (spec.cost is not None and (self.cost or 0.0) + self._beside + self._held_cost >= spec.cost)
        ):
            return self
        return None if self._parent is None else self._parent._crowded()

    @contextmanager
    def holding(self, tokens: int, cost: float | None) -> Generator[None]:
        """While a request is under way: `tokens` and US dollars are the most that it may take."""
        self._hold(1, tokens, cost or 0.0)
        try:
            yield
        finally:
            self._hold(-1, -tokens, -(cost or 0.0))

    def _hold(self, requests: int, tokens: int, cost: float) -> None:
        self._under_way += requests
        self._held_tokens += tokens
        self._held_cost = self._held_cost + cost if self._under_way else 0.0
        if requests < 0 and self._returned is not None:
            self._returned.set()
            self._returned = None
        if self._parent is not None:
            self._parent._hold(requests, tokens, cost)

    def charge(self, usage: Usage, cost: float | None) -> None:
        """Account for one answered request. With a limit of cost, an unknown price is refused before the turn."""
        self.usage = self.usage + usage
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        if self._parent is not None:
            self._parent.charge(usage, cost)

    def pay_beside(self, usage: Usage, cost: float | None) -> None:
        """Count work beside the turn (labels, summaries) against the limits; it has lines of its own."""
        self._beside += cost or 0.0
        self._beside_tokens += usage.input + usage.output
        if self._parent is not None:
            self._parent.pay_beside(usage, cost)

    def hand_up(self, requests: int) -> None:
        """Tell the account above how many requests left on behalf of this turn."""
        if self._parent is not None:
            self._parent.below += requests

    def tail(self) -> tuple[str, ...]:
        """What the model should know at the end of a request: that the budget is nearly used up."""
        left = self._left()
        if self.spec.steps >= 10 and 0 <= left < 3:
            return (f"[{left + 1} requests are left in this turn: finish what matters most and say what is open.]",)
        return ()

    def _left(self) -> int:
        own = self.spec.steps - self._taken
        return own if self._parent is None else min(own, self._parent._left() - 1)
