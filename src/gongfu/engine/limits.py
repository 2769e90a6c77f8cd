"""Limits of a turn: one account, shared with everything that the turn starts."""

from __future__ import annotations

import time
from collections.abc import Callable

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

    With a `parent` (the turn that started this one) time, tokens and money are taken from its account too; steps are
    counted for each turn by itself.
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
        self._beside = 0.0  # US dollars that work beside the turn took

    def seconds_left(self) -> float | None:
        """Seconds until the time is up, at least 0; None without a limit of time."""
        above = None if self._parent is None else self._parent.seconds_left()
        if self.spec.minutes is None:
            return above
        own = max(0.0, self.spec.minutes * 60 - (self._clock() - self._start))
        return own if above is None else min(own, above)

    def before_step(self) -> None:
        """Account for one more step, or raise `LimitReached`; nothing is sent then."""
        if self.steps >= self.spec.steps:
            raise LimitReached("engine.limit_steps", steps=self.steps)
        self._check()
        self.steps += 1

    def _check(self) -> None:
        """Time, money and tokens, the ancestors' first: theirs are the smaller ones."""
        if self._parent is not None:
            self._parent._check()
        spec = self.spec
        if spec.minutes is not None and self.seconds_left() == 0.0:
            raise LimitReached("engine.limit_minutes", minutes=spec.minutes)
        if spec.cost is not None and self.cost is not None and self.cost + self._beside >= spec.cost:
            raise LimitReached("engine.limit_cost", cost=f"{self.cost + self._beside:.4f}", limit=spec.cost)
        total = self.usage.input + self.usage.output
        if spec.tokens is not None and total >= spec.tokens:
            raise LimitReached("engine.limit_tokens", tokens=total, limit=spec.tokens)

    def charge(self, usage: Usage, cost: float | None) -> None:
        """Account for one answered request. With a limit of cost, an unknown price is refused before the turn."""
        self.usage = self.usage + usage
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        if self._parent is not None:
            self._parent.charge(usage, cost)

    def pay_beside(self, cost: float | None) -> None:
        """Count money for work beside the turn (labels, summaries) against the limit; it has lines of its own."""
        self._beside += cost or 0.0
        if self._parent is not None:
            self._parent.pay_beside(cost)

    def hand_up(self, requests: int) -> None:
        """Tell the account above how many requests left on behalf of this turn."""
        if self._parent is not None:
            self._parent.below += requests

    def tail(self) -> tuple[str, ...]:
        """What the model should know at the end of a request: that the budget is nearly used up."""
        left = self.spec.steps - self.steps
        if self.spec.steps >= 10 and 0 <= left < 3:
            return (f"[{left + 1} requests are left in this turn: finish what matters most and say what is open.]",)
        return ()
