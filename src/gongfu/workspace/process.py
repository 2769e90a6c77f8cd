"""Commands: started without a terminal, watched, bounded in memory and ended with all they started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.workspace.activity import Limits, Verdict, begin, next_look, observe
from gongfu.workspace.child import Child
from gongfu.workspace.sandbox.confinement import PLAIN, Box
from gongfu.workspace.shells import as_argv

if TYPE_CHECKING:
    from gongfu.workspace.sampler import Sampler

Ending: TypeAlias = Literal["exit", "idle", "timeout"]
KEEP = 64 * 1024


class Finished(Base, frozen=True):
    """How a command ended.

    `code` is the exit code, 128 + n when signal n ended it (`signal` is n then). `head` and `tail` are the first and
    last bytes of its output (standard error among it) without overlap, `total_bytes` counts all. `why_ended`: "exit"
    by itself, "idle" or "timeout" stopped for a limit. `left_running` says that something it started still ran at its
    end: it was handed over to `adopt`, or stopped. `activity` names what kept it busy last; `ports` are those it
    listened on when a limit ended it. `spill_problem` tells why the spilled output is not whole.
    """

    code: int
    seconds: float
    signal: int = 0
    head: bytes = b""
    tail: bytes = b""
    total_bytes: int = 0
    why_ended: Ending = "exit"
    left_running: bool = False
    activity: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    spill_problem: str = ""

    @property
    def whole(self) -> bool:
        """True when `head` and `tail` are all of the output."""
        return len(self.head) + len(self.tail) == self.total_bytes

    @property
    def output(self) -> bytes:
        """`head` and `tail` joined."""
        return self.head + self.tail


class HeadTail:
    """The first and the last bytes of a stream: at most `keep` bytes in all are given, twice as many are held."""

    def __init__(self, keep: int) -> None:
        self._half = max(keep, 0) // 2
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        """Take in more."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._half :] if self._half else b""
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def head(self) -> bytes:
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        return bytes(self._tail[-self._half :]) if self._half else b""


class Spill:
    """A file that gets the whole output. A full disk does not end the command: `problem` tells what is missing."""

    def __init__(self, path: Path | None) -> None:
        self.problem = ""
        self._file: IO[bytes] | None = None
        if path is not None:
            try:
                self._file = path.open("wb", buffering=0)
            except OSError as error:
                self.problem = str(error)

    def write(self, data: bytes) -> None:
        if self._file is not None:
            try:
                self._file.write(data)
            except OSError as error:
                self.problem = str(error)
                self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


async def run(  # noqa: PLR0913  (each is one plain fact of a command; a struct of them would only hide that)
    command: Sequence[str] | str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float | None = None,  # noqa: ASYNC109  (a command is stopped with its children, which no scope can do)
    idle: float = 30.0,
    stdin: bytes = b"",
    sink: Callable[[bytes], None] | None = None,
    spill: Path | None = None,
    keep: int = KEEP,
    mark: str = "",
    adopt: Callable[[Child], None] | None = None,
    box: Box = PLAIN,
) -> Finished:
    """Run a command to its end and give back how it ended; a string goes through the shell of this machine.

    It gets its own group, no terminal, `stdin` and then end of input. `sink` sees every byte as it comes, `spill` gets
    them all, the result holds the first and last of `keep` bytes. It is stopped after `timeout` seconds, or, without
    one, after `idle` seconds in which nothing of it did anything (see `activity`). Cancelling stops it at once. What
    it left running is stopped too, unless `adopt` takes it over. `mark` names it in the environment of its children.
    `box` says how the sandbox wants it started.
    OSError or ValueError when it cannot be started.
    """
    job = _Run(Limits(idle=idle, timeout=timeout), HeadTail(keep), Spill(spill), sink)
    job.start(as_argv(command, env), cwd, env, stdin, mark, box)
    return await job.result(adopt)


class _Run:
    def __init__(self, limits: Limits, kept: HeadTail, spill: Spill, sink: Callable[[bytes], None] | None) -> None:
        self._limits = limits
        self._kept = kept
        self._spill = spill
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._verdict: asyncio.Future[Verdict] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._sampler: Sampler | None = None

    def start(self, argv: list[str], cwd: Path, env: Mapping[str, str], stdin: bytes, mark: str, box: Box) -> None:
        try:
            self._child = Child(
                argv,
                cwd=cwd,
                env=env,
                stdin=stdin,
                mark=mark,
                box=box,
                on_output=self._output,
                on_over=lambda: self._decide("run"),
            )
        except BaseException:
            self._spill.close()
            raise
        self._watch = begin(self._child.started)
        self._plan()

    async def result(self, adopt: Callable[[Child], None] | None) -> Finished:
        child = self._child
        ports: tuple[int, ...] = ()
        kept = False
        try:
            verdict = await self._verdict
            if verdict != "run":
                ports = self._sampler.ports() if self._sampler else ()
            elif child.error is None and child.leftover and adopt is not None:
                kept = True
        finally:
            seconds = time.monotonic() - child.started
            await self._end(kept)
        if child.error is not None:
            raise child.error
        if kept and adopt is not None:
            adopt(child)
        return self._finished("exit" if verdict == "run" else verdict, seconds, ports)

    async def _end(self, kept: bool) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not kept:
            if not self._child.over or self._child.leftover or self._child.code is None:
                await self._child.stop()
            self._child.close()
        self._spill.close()

    def _finished(self, why: Ending, seconds: float, ports: tuple[int, ...]) -> Finished:
        child = self._child
        code = child.code if child.code is not None else -9
        return Finished(
            code=code if code >= 0 else 128 - code,
            signal=max(-code, 0),
            seconds=seconds,
            head=self._kept.head,
            tail=self._kept.tail,
            total_bytes=child.total,
            why_ended=why,
            left_running=child.leftover,
            activity=self._watch.kinds,
            ports=ports,
            spill_problem=self._spill.problem,
        )

    def _output(self, data: bytes) -> None:
        self._kept.add(data)
        self._spill.write(data)
        if self._sink is not None:
            self._sink(data)

    def _decide(self, verdict: Verdict) -> None:
        if not self._verdict.done():
            self._verdict.set_result(verdict)

    def _plan(self) -> None:
        wait = next_look(self._watch, time.monotonic(), self._limits)
        self._timer = self._loop.call_later(wait, self._look)

    def _look(self) -> None:
        if self._sampler is None:
            from gongfu.workspace.sampler import Sampler  # not at import: most commands end before the first look

            self._sampler = Sampler(self._child)
        self._watch, verdict = observe(self._watch, self._sampler.sample(), self._limits)
        if verdict == "run":
            self._plan()
        else:
            self._decide(verdict)
