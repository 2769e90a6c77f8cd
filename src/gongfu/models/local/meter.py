"""How far a download is: bytes, rate, time left."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from gongfu.core.base import Base

_WINDOW = 8.0  # seconds that the rate looks back
_OFTEN = 0.1  # seconds between two reports


class Progress(Base, frozen=True):
    """`done` of `total` bytes. `rate` is bytes a second, `left` seconds (None: not known yet).

    `source` names where it comes from; `phase` is "fetch" while bytes arrive and "check" while they are verified.
    """

    source: str
    done: int
    total: int
    rate: float = 0.0
    left: float | None = None
    phase: str = "fetch"


Report = Callable[[Progress], None]


class Meter:
    """Counts bytes and reports at most ten times a second, and at the end of each phase."""

    def __init__(self, report: Report | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()
        self._last = -_OFTEN
        self._state = Progress(source="", done=0, total=0)

    def begin(self, source: str, total: int, done: int = 0, phase: str = "fetch") -> None:
        """A new source or phase: `done` of `total` are there already and do not count for the rate."""
        self._state = Progress(source=source, done=done, total=total, phase=phase)
        self._marks.clear()
        self._marks.append((self._clock(), done))
        self._tell(now=True)

    def add(self, count: int) -> None:
        """`count` bytes more (negative when some have to be fetched again)."""
        now = self._clock()
        old = self._state
        done = max(0, old.done + count)
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[0][0] > _WINDOW:
            self._marks.popleft()
        since, before = self._marks[0]
        rate = max(0.0, (done - before) / (now - since)) if now > since else 0.0
        left = max(0, old.total - done) / rate if rate else None
        self._state = Progress(source=old.source, done=done, total=old.total, rate=rate, left=left, phase=old.phase)
        self._tell(now=done >= old.total)

    def _tell(self, *, now: bool) -> None:
        if self._report is not None and (now or self._clock() - self._last >= _OFTEN):
            self._last = self._clock()
            self._report(self._state)
