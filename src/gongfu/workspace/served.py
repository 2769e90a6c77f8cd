"""A program that is spoken to in lines over its standard input and output."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.lowlevel

from gongfu.workspace.child import Child

_TAIL: Final = 8 * 1024  # bytes of standard error that are kept
_CHUNK: Final = 1 << 16
_MOMENT: Final = 0.2  # seconds between the end of its output and its own
_WAIT: Final = 0.05  # seconds between looks at an input that is full, at most


class _Spoken(Child):
    """A child whose output may end before it does."""

    on_eof: Callable[[], None] | None = None

    def _end_of_output(self) -> None:
        super()._end_of_output()
        if self.on_eof is not None:
            self.on_eof()


class Served:
    """A running program. `on_line` gets each line of its output without the line break; `on_over` is called when it
    has ended or closed its output, and when a line is `longest` bytes long and not over (`too_long` is True): nothing
    more is read then.

    It gets its own group and no terminal. OSError or ValueError when it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        longest: int,
        on_line: Callable[[bytes], None],
        on_over: Callable[[], None],
    ) -> None:
        self.too_long = False
        self._on_line = on_line
        self._on_over = on_over
        self._longest = longest
        self._buffer = bytearray()
        self._searched = 0
        self._deaf = False
        self._said = bytearray()
        ours, theirs = os.pipe()
        try:
            self._child = _Spoken(
                argv, cwd=cwd, env=env, stdin=None, stderr=theirs, on_output=self._output, on_over=self._over
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._child.on_eof = self._closed
        threading.Thread(target=self._listen, args=(ours,), daemon=True, name=f"gongfu-stderr-{self.pid}").start()

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._child.pid

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._child.code

    @property
    def said(self) -> str:
        """The last of what it wrote to its standard error."""
        return bytes(self._said[-_TAIL:]).decode("utf-8", "replace")

    async def send(self, data: bytes) -> None:
        """Write to its input; waits while it does not read. OSError when it reads no more."""
        rest = memoryview(data)
        pause = 0.001
        while rest:
            taken = self._child.send(bytes(rest[:_CHUNK]))
            rest = rest[taken:]
            if taken:
                pause = 0.001
                await anyio.lowlevel.checkpoint()
            else:
                await anyio.sleep(pause)
                pause = min(pause * 2, _WAIT)

    async def end(self, *, grace: float, polite: float = 0.3) -> None:
        """End it with all that it started: its input is closed, after `grace` seconds it is asked to end, then made to.
        Not interruptible.
        """
        with anyio.CancelScope(shield=True):
            self._deaf = True
            self._child.close_input()
            ends = time.monotonic() + grace
            pause = 0.002
            while self._child.code is None and time.monotonic() < ends:
                await anyio.sleep(pause)
                pause = min(pause * 2, 0.03)
            await self._child.stop(polite=polite)

    def _output(self, data: bytes) -> None:
        if self._deaf:
            return
        self._buffer += data
        while (at := self._buffer.find(b"\n", self._searched)) >= 0:
            line = bytes(self._buffer[:at])
            del self._buffer[: at + 1]
            self._searched = 0
            self._on_line(line)
            if self._deaf:
                return
        self._searched = len(self._buffer)
        if self._searched >= self._longest:
            self.too_long = True
            self._deaf = True
            self._buffer.clear()
            self._on_over()

    def _closed(self) -> None:
        """Its output has ended. It gets a moment to end as well, so that it is known how."""
        asyncio.get_running_loop().call_later(_MOMENT, self._over)

    def _over(self) -> None:
        if not self._deaf:
            self._deaf = True
            self._on_over()

    def _listen(self, pipe: int) -> None:
        with open(pipe, "rb", buffering=0) as stream:
            while data := stream.read(_CHUNK):
                self._said += data
                del self._said[:-_TAIL]
