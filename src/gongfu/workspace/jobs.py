"""Commands in the background: started, read, written to and stopped; all of them end with the session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import anyio

from gongfu.core.errors import UserError
from gongfu.core.events import JobChanged
from gongfu.core.ids import new_id
from gongfu.workspace import process_groups
from gongfu.workspace.child import POLITE, Child
from gongfu.workspace.sandbox.confinement import PLAIN, Box

UNREAD = 64 * 1024
REST = 0.05  # seconds
State: TypeAlias = Literal["running", "ended", "stopped"]


class Sink(Protocol):
    """A new artifact, open for writing."""

    @property
    def path(self) -> Path: ...

    @property
    def id(self) -> str: ...

    def write(self, data: bytes, /) -> None: ...

    def close(self) -> None: ...


class Job:
    """One background command. `state`: "running", "ended" by itself, or "stopped"; `code` is its exit code."""

    def __init__(self, id: str, command: str, sink: Sink, changed: Callable[[JobChanged], None]) -> None:
        self.id = id
        self.command = command
        self.sink = sink
        self.started = time.time()
        self.state: State = "running"
        self.problem = ""
        self.total = 0
        self._child: Child | None = None
        self._changed = changed
        self._unread = bytearray()
        self._skipped = 0
        self._stopping = False
        self._over = False
        self._timer: asyncio.TimerHandle | None = None
        self._news = asyncio.Event()

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._child.pid if self._child else 0

    @property
    def code(self) -> int | None:
        """Its exit code (128 + n for signal n); None while it runs."""
        code = self._child.code if self._child else None
        return 128 - code if code is not None and code < 0 else code

    def follow(self, child: Child) -> None:
        """Take over a command that has been started."""
        self._child = child
        child.on_output = self.output
        child.on_over = self.over
        self._changed(JobChanged(job=self.id, command=self.command, state="running"))

    def output(self, data: bytes) -> None:
        """More of its output: kept whole in the artifact, the last of it for the next `read`."""
        self.total += len(data)
        self._unread += data
        if len(self._unread) > 2 * UNREAD:
            self._skipped += len(self._unread) - UNREAD
            del self._unread[:-UNREAD]
        if not self.problem:
            try:
                self.sink.write(data)
            except (OSError, UserError) as error:  # the disk is full: the command goes on, its output is not kept whole
                self.problem = str(error)
        self._news.set()

    def over(self) -> None:
        """The command has ended. What it left behind counts as the command."""
        if self._child is not None and not self._child.leftover:
            self._end()

    def look(self) -> str:
        """The state now; sees also that something left behind, which had closed its output, is gone."""
        if self.state == "running" and self._child is not None and not self._child.lives():
            self._end()
        return self.state

    def read(self) -> tuple[bytes, int]:
        """The output since the last read, at most the last 64 KiB, and how many bytes before it were skipped."""
        data, skipped = bytes(self._unread[-UNREAD:]), self._skipped + max(len(self._unread) - UNREAD, 0)
        self._unread.clear()
        self._skipped = 0
        self._news.clear()
        return data, skipped

    async def news(self, seconds: float, *, ended: bool = False) -> None:
        """Wait up to `seconds` for new output (and a moment more for the rest of it), or only for the end."""
        await self._wait(seconds, lambda: bool(self._unread) and not ended)
        await self._wait(min(seconds, REST), lambda: False)

    async def _wait(self, seconds: float, enough: Callable[[], bool]) -> None:
        with anyio.move_on_after(seconds):
            while self.look() == "running" and not enough():
                self._news.clear()
                await self._news.wait()

    def send(self, data: bytes) -> int:
        """Write to its input; how many bytes were taken. OSError when it is closed."""
        if self._child is None or self.state != "running":
            raise BrokenPipeError("it does not run any more")
        return self._child.send(data)

    def close_input(self) -> None:
        """End its input."""
        if self._child is not None:
            self._child.close_input()

    def limit(self, seconds: float) -> None:
        """Stop it after `seconds`, unless it has ended by then."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self.look() == "running" and self._child is not None:
            self._stopping = True
            self._child.ask_to_end()
            self._timer = asyncio.get_running_loop().call_later(POLITE, self._child.kill)

    async def stop(self) -> None:
        """End it with all it started. Nothing happens when it has ended."""
        if self.look() == "running" and self._child is not None:
            self._stopping = True
            await self._child.stop()
            self._end()

    def _end(self) -> None:
        if self._over:
            return
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        self.state = "stopped" if self._stopping else "ended"
        if self._child is not None:
            self._child.close()
        try:
            self.sink.close()
        except (OSError, UserError) as error:
            self.problem = self.problem or str(error)
        self._changed(JobChanged(job=self.id, command=self.command, state=self.state, code=self.code))
        self._news.set()


class Jobs:
    """The background commands of one session. `mark` is carried by every command of the session in its environment.

    `changed` is told of every start and end, `artifact` gives each job the artifact that holds its whole output.
    """

    def __init__(self, *, changed: Callable[[JobChanged], None], artifact: Callable[[], Sink]) -> None:
        self._changed = changed
        self._artifact = artifact
        self._mark = new_id("r")
        self._count = 0
        self._jobs: dict[str, Job] = {}

    def mark(self) -> str:
        """A new mark for one command; all of them begin alike, so that `close` finds what is left of any."""
        self._count += 1
        return f"{self._mark}.{self._count}."

    def start(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], command: str, box: Box = PLAIN) -> Job:
        """Start a command in the background, its input open. OSError or ValueError when it cannot be started."""
        job = Job(f"j{len(self._jobs) + 1}", command, self._artifact(), self._changed)
        try:
            child = Child(
                argv, cwd=cwd, env=env, stdin=None, mark=self.mark(), box=box, on_output=job.output, on_over=job.over
            )
        except BaseException:
            job.sink.close()
            raise
        self._jobs[job.id] = job
        job.follow(child)
        return job

    def adopt(self, child: Child, command: str) -> Job:
        """Keep watching what a command of the foreground has left running."""
        job = Job(f"j{len(self._jobs) + 1}", command, self._artifact(), self._changed)
        self._jobs[job.id] = job
        job.follow(child)
        return job

    def get(self, id: str) -> Job | None:
        """The job of that id."""
        return self._jobs.get(id)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    async def close(self) -> None:
        """Stop all jobs and whatever else commands of the session have left running, sessions of their own included."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for job in self._jobs.values():
                    group.start_soon(job.stop)
            if self._count:
                await process_groups.sweep(f"{self._mark}.")
