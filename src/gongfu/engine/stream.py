"""The event stream of a session: it stores, then shows."""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import anyio

from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    Entry,
    EpochOpened,
    MessagePartial,
    ReasoningDelta,
    RequestFailed,
    TextDelta,
    TurnFinished,
)
from gongfu.engine.state import SessionState
from gongfu.store.journal import Journal

LAG = 10_000
_PART = 100  # events that are projected without a pause


class _Subscriber:
    """What one reader has not taken yet. Beyond `LAG` entries it is cut off and reads the journal again."""

    def __init__(self) -> None:
        self.waiting: deque[Entry] = deque()
        self.wake = anyio.Event()
        self.lagging = False
        self.closed = False

    def push(self, entry: Entry) -> None:
        if self.lagging:
            return
        if not self.waiting:  # else the reader has been woken, or is reading
            self.wake.set()
        if len(self.waiting) >= LAG:
            self.lagging = True
            self.waiting.clear()
        else:
            self.waiting.append(entry)


class EventStream:
    """`emit` commits durable events to the journal, projects them on the state, then shows them to subscribers.

    It is called in the loop's own thread and does not wait: a commit takes tens of microseconds.
    """

    def __init__(
        self, session: str, journal: Journal, state: SessionState, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._session = session
        self._journal = journal
        self._state = state
        self._clock = clock
        self._subscribers: set[_Subscriber] = set()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self.last = 0
        self.tap: Callable[[AnyEvent], None] | None = None  # called with each event once it is stored

    def emit(self, *events: AnyEvent) -> None:
        """Record `events`: the durable ones in one transaction, all or nothing."""
        now = self._clock()
        durable = [e for e in events if e.durable]
        seqs = iter(self._journal.append(self._session, durable, at=now) if durable else ())
        for event in events:
            seq = next(seqs) if event.durable else 0
            if seq:
                self.last = seq
                self._state.at = now
                self._state.apply(event)
            self._follow_partial(event)
            if self._subscribers:
                self._show(Entry(seq=seq, time=now, event=event))
            if self.tap is not None:
                self.tap(event)

    @property
    def heard(self) -> bool:
        """Whether anybody takes notice of live events."""
        return bool(self._subscribers) or self.tap is not None

    def _show(self, entry: Entry) -> None:
        for subscriber in self._subscribers:
            subscriber.push(entry)

    def loading(self) -> Iterator[None]:
        """Project everything that the journal holds, a few milliseconds of it at a time."""
        collecting = gc.isenabled()
        gc.disable()  # nothing of this is garbage, and looking for some takes a tenth of the time
        try:
            for count, entry in enumerate(self._journal.read(self._session), 1):
                self._take(entry)
                if not count % _PART:
                    yield
        finally:
            if collecting:
                gc.enable()
        self._state.let_go()

    def _take(self, entry: Entry) -> None:
        self._state.at = entry.time
        self._state.apply(entry.event)
        if isinstance(entry.event, EpochOpened):
            self._state.let_go(loading=True)
        self.last = entry.seq

    def _follow_partial(self, event: AnyEvent) -> None:
        match event:
            case TextDelta(text=text):
                self._text.append(text)
            case ReasoningDelta(text=text):
                self._reasoning.append(text)
            case AnswerReceived(purpose="main") | RequestFailed(purpose="main") | TurnFinished():
                self._text.clear()
                self._reasoning.clear()
            case _:
                pass

    @property
    def partial(self) -> tuple[str, str]:
        """The text and the thinking of the answer that is being written."""
        return "".join(self._text), "".join(self._reasoning)

    @asynccontextmanager
    async def subscribe(self, after: int | None = None) -> AsyncGenerator[AsyncIterator[Entry], None]:
        """Replay the durable events after sequence `after` (None: only what comes from now on), then follow.

        One who joins in the middle of an answer first gets a `message_partial`. A reader that lags behind by more than
        10,000 entries loses live ones only: the durable ones are read again from the journal.
        """
        subscriber = _Subscriber()
        start = self.last if after is None else after
        self._subscribers.add(subscriber)
        # who joins at the newest event, and not in the middle of an answer, misses nothing: all that comes is waiting
        behind = start < self.last or bool(self._text or self._reasoning)
        follow = self._follow(subscriber, start, behind=behind)
        try:
            yield follow
        finally:
            subscriber.closed = True
            self._subscribers.discard(subscriber)
            await follow.aclose()

    async def _follow(self, subscriber: _Subscriber, after: int, *, behind: bool) -> AsyncGenerator[Entry, None]:
        seen = after
        while True:
            if behind:
                subscriber.lagging = False
                for entry in self._journal.read(self._session, after=seen):
                    seen = entry.seq
                    yield entry
                text, reasoning = self.partial
                # live entries that waited belong to an answer that was replayed, or to the partial text
                subscriber.waiting = deque(e for e in subscriber.waiting if e.seq)
                if text or reasoning:
                    yield Entry(seq=0, time=self._clock(), event=MessagePartial(text=text, reasoning=reasoning))
                behind = False
            while subscriber.waiting:
                entry = subscriber.waiting.popleft()
                if entry.seq and entry.seq <= seen:
                    continue
                seen = entry.seq or seen
                yield entry
            if subscriber.lagging:
                behind = True
                continue
            if subscriber.closed:
                return
            await subscriber.wake.wait()
            subscriber.wake = anyio.Event()

    def close(self) -> None:
        """Nothing more will come: readers end once they have read what is there."""
        for subscriber in self._subscribers:
            subscriber.closed = True
            subscriber.wake.set()
