"""One started process with everything it starts: its output as it comes, its end without delay."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO

import anyio

from gongfu.core.ids import new_id
from gongfu.workspace import process_groups
from gongfu.workspace.proctree import MARK
from gongfu.workspace.sandbox.confinement import PLAIN, Box

_CHUNK = 1 << 16
QUIET = 0.25  # seconds that a pipe kept open by somebody else must be silent after the command itself has ended
DYING = 0.02  # seconds that the last members of a group get to be gone once the output is closed
LINGER = 1.0  # seconds that a talking child which outlives the command is listened to at most
POLITE = 0.2  # seconds between the polite signal and the hard one


class Child:
    """A running command. `on_output` gets its bytes as they come, standard error among them unless `stderr`, a file
    to write to, is given for it.

    It is over when the process has ended and its output is closed, or stays open in the hands of something it
    left behind and has been silent for a moment: then `leftover` is True and reading goes on until `stop`. `on_over` is
    called then, and again when what was left behind has closed the output and is gone.
    An exception of `on_output` ends reading and is kept in `error`. OSError or ValueError when it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: bytes | None = b"",
        mark: str = "",
        stderr: int | None = None,
        box: Box = PLAIN,
        on_output: Callable[[bytes], None],
        on_over: Callable[[], None],
    ) -> None:
        self.mark = mark or new_id("c")
        self.on_output = on_output
        self.on_over = on_over
        self.over = False
        self.leftover = False
        self.eof = False
        self.total = 0
        self.error: Exception | None = None
        self.started = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._seen = 0
        self._exited_at = 0.0
        self._box = box
        with _input(stdin) as source:  # opened here: a sandbox may keep what is started from the temporary folder
            start = lambda: _popen(argv, cwd, _marked(env, self.mark), source, stderr)  # noqa: E731
            self._process = start() if box.start is None else box.start(start)
        self.pid = self._process.pid
        self._output = _fd(self._process.stdout)
        self._pidfd = -1
        self._listen()

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        code = self._process.returncode
        if code is not None and self._box.own_pids and 128 < code < 160:
            return 128 - code  # what waits in a sandbox for the command tells its signal as a shell does
        return code

    # --- watching -------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        if sys.platform == "win32":  # its event loop cannot wait for pipes made by Popen
            self._in_thread(self._pump)
        else:
            os.set_blocking(self._output, False)
            self._loop.add_reader(self._output, self._readable)
        try:
            self._pidfd = _pidfd_open(self.pid)
        except OSError:
            self._in_thread(self._await_exit)
        else:
            self._loop.add_reader(self._pidfd, self._exited)

    def _in_thread(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True, name=f"gongfu-child-{self.pid}").start()

    def _pump(self) -> None:
        while data := self._read_blocking():
            self._call(self._take, data)
        self._call(self._end_of_output)

    def _read_blocking(self) -> bytes:
        try:
            return os.read(self._output, _CHUNK)
        except OSError:
            return b""

    def _await_exit(self) -> None:
        self._process.wait()
        self._call(self._exited)

    def _call(self, function: Callable[..., None], *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(function, *args)

    def _readable(self) -> None:
        try:
            data = os.read(self._output, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            self._take(data)
        else:
            self._end_of_output()

    def _take(self, data: bytes) -> None:
        self.total += len(data)
        if self.error is None:
            try:
                self.on_output(data)
            except Exception as error:  # noqa: BLE001  (a callback of the loop: whoever waits for the command gets it)
                self.error = error
                self._finish()

    def _end_of_output(self) -> None:
        if not self.eof:
            self.eof = True
            if sys.platform != "win32":
                self._loop.remove_reader(self._output)
            if self.over and self.leftover:
                self._loop.call_later(DYING, self._recheck)
            self._check()

    def _exited(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        self._process.wait()
        self._exited_at = time.monotonic()
        self._check()

    # --- the end --------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self.over or self.code is None:
            return
        if self.eof and (self._box.own_pids or not process_groups.group_lives(self.pid)):
            self._finish()
        elif self._timer is None:
            self._seen = self.total
            self._timer = self._loop.call_later(DYING if self.eof else QUIET, self._look_again, self.eof)

    def _look_again(self, was_eof: bool) -> None:
        self._timer = None
        if self.over:
            return
        if self.eof != was_eof or (self.total != self._seen and time.monotonic() - self._exited_at < LINGER):
            self._check()
            return
        self.leftover = not self.eof or bool(self._members())
        self._finish()

    def _finish(self) -> None:
        if not self.over:
            self.over = True
            self.on_over()

    def _recheck(self) -> None:
        if self.leftover and not self.lives():
            self.leftover = False
            self.on_over()

    def lives(self) -> bool:
        """True while it runs, or something that it left behind does."""
        return self.code is None or not self.eof or bool(self._members())

    def ask_to_end(self) -> None:
        """Send the polite signal to all of it."""
        process_groups.ask_to_end(self._asked())

    def kill(self) -> None:
        """Send the hard signal to all of it. `stop` also makes sure."""
        process_groups.end(self._members())

    async def stop(self, *, polite: float = POLITE) -> None:
        """End the command and all it started: a polite signal, after `polite` seconds the hard one. Not interruptible.

        What has been written is still delivered. Afterwards nothing of it runs, save what belongs to another user.
        """
        with anyio.CancelScope(shield=True):
            if polite > 0 and (alive := self._asked()):
                process_groups.ask_to_end(alive)
                await self._until_gone(polite)
            for _ in range(20):  # again, for what was started between the look and the signal
                if not (alive := self._members()):
                    break
                process_groups.end(alive)
                await anyio.sleep(0.005)
            await self._settle()
        self.close()

    def _members(self) -> tuple[int, ...]:
        return process_groups.members(self.pid, self.mark, reaped=self.code is not None)

    def _asked(self) -> tuple[int, ...]:
        """Those that get a polite signal: not the process that waits for a sandbox, whose end would end all at once."""
        return tuple(pid for pid in self._members() if not (self._box.own_pids and pid == self.pid))

    async def _until_gone(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        step = 0.004
        while time.monotonic() < ends and self._members():
            await anyio.sleep(step)
            step = min(step * 2, 0.03)

    async def _settle(self) -> None:
        for _ in range(100):
            if self.code is not None and self.eof:
                return
            await anyio.sleep(0.002)

    def send(self, data: bytes) -> int:
        """Write to the standard input of a command that was started with `stdin=None`, without waiting.

        Gives how many bytes were taken: fewer than given when the command does not read. OSError when it is closed.
        """
        if self._process.stdin is None or self._process.stdin.closed:
            raise BrokenPipeError("its input is closed")
        if sys.platform != "win32":
            os.set_blocking(self._process.stdin.fileno(), False)
        try:
            return os.write(self._process.stdin.fileno(), data)
        except BlockingIOError:
            return 0

    def close_input(self) -> None:
        """End the standard input of a command that was started with `stdin=None`."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def close(self) -> None:
        """Let go of pipes and watchers. The processes are left as they are."""
        if self._timer is not None:
            self._timer.cancel()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        if not self.eof and sys.platform != "win32":
            self._loop.remove_reader(self._output)
        self.eof = True
        self.close_input()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _pidfd_open(pid: int) -> int:
    if sys.platform != "linux":
        raise OSError("only Linux tells the end of a process through a file")
    return os.pidfd_open(pid)


def _marked(env: Mapping[str, str], mark: str) -> dict[str, str]:
    outer = env.get(MARK, "")
    return {**env, MARK: f"{outer},{mark}" if outer else mark}  # a command inside a command is found by both


def _fd(stream: IO[bytes] | None) -> int:
    if stream is None:
        raise ValueError("the process has no output")
    return stream.fileno()


def _popen(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], source: int | IO[bytes], stderr: int | None
) -> subprocess.Popen[bytes]:
    group = process_groups.popen_options()
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if stderr is None else stderr,
        bufsize=0,
        start_new_session=group.session,
        creationflags=group.flags,
    )


@contextlib.contextmanager
def _input(stdin: bytes | None) -> Generator[int | IO[bytes], None, None]:
    if stdin is None:
        yield subprocess.PIPE
    elif not stdin:
        yield subprocess.DEVNULL
    else:
        import tempfile  # not at import: only a command with input needs it

        with tempfile.TemporaryFile() as file:  # a file cannot deadlock with the output as a pipe can
            file.write(stdin)
            file.seek(0)
            yield file
