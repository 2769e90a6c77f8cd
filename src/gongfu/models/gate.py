"""A queue before an endpoint that can serve only so many requests at a time: the main model first, then the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import anyio

from gongfu.core.specs import ModelInfo
from gongfu.models.protocol import Delta, ModelProvider, Prepared, Request

MAIN, FAST = 0, 1


class Gate:
    """Lets in `slots` at a time: who waits with the lower priority number first, among equals who came first."""

    def __init__(self, slots: int = 1) -> None:
        self._free = slots
        self._waiting: tuple[deque[anyio.Event], deque[anyio.Event]] = (deque(), deque())

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(len(queue) for queue in self._waiting)

    @asynccontextmanager
    async def slot(self, priority: int) -> AsyncGenerator[None, None]:
        """Hold a slot. Being cancelled while waiting leaves the queue at once."""
        await self._enter(priority)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, priority: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn = anyio.Event()
        self._waiting[priority].append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._leave()  # the slot was handed over in the same moment: pass it on
            else:
                self._waiting[priority].remove(turn)
            raise

    def _leave(self) -> None:
        for queue in self._waiting:
            if queue:
                queue.popleft().set()
                return
        self._free += 1


class Gated:
    """A provider behind a gate. The slot is taken after `Prepared` and given back when the stream ends."""

    def __init__(self, inner: ModelProvider, gate: Gate, priority: int) -> None:
        self._inner = inner
        self._gate = gate
        self._priority = priority
        self.info: ModelInfo = inner.info

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """As the provider does, when its turn has come."""
        async with aclosing(self._inner.complete(request)) as deltas:
            first = await anext(deltas, None)
            if isinstance(first, Prepared):
                yield first
                first = None
            async with self._gate.slot(self._priority):
                if first is not None:
                    yield first
                async for delta in deltas:
                    yield delta

    async def aclose(self) -> None:
        """Close the provider."""
        await self._inner.aclose()
