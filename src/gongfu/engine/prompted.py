"""A prompt as its sender holds it: what waits for the end of its turn."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import anyio

from gongfu.core.errors import UserError
from gongfu.core.events import TurnFinished


class Prompted:
    """A prompt on its way. `await prompted` (or `result()`) waits for the end of its turn."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._done = anyio.Event()
        self._result: TurnFinished | None = None
        self._error: UserError | None = None

    def settle(self, result: TurnFinished) -> None:
        """Its turn has ended."""
        self._result = result
        self._done.set()

    async def result(self) -> TurnFinished:
        """How the turn ended; a caller that stops waiting does not end the turn."""
        await self._done.wait()
        if self._result is None:
            raise self._error or UserError("engine.cancelled")
        return self._result

    def __await__(self) -> Generator[Any, Any, TurnFinished]:
        return self.result().__await__()

    def drop(self, error: UserError | None = None) -> None:
        """It was taken back before its turn, or `error` keeps turns from being recorded."""
        self._error = error
        self._done.set()
