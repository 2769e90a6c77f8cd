"""A short command of the person: run to its end with its two outputs kept apart, bounded in time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import anyio

from gongfu.core.base import Base
from gongfu.workspace import process_groups
from gongfu.workspace.child import Child
from gongfu.workspace.shells import find_shell

KEEP = 4 * 1024 * 1024
"""Bytes of each output that are kept: the first ones."""
POLITE = 0.1
"""Seconds that a command which is stopped gets to end by itself."""
_CHUNK = 1 << 16


class Ended(Base, frozen=True):
    """How a command ended. `code` is the exit code, 128 + n for a signal, None when it was stopped at its limit.

    `out` and `err` are the first bytes of its outputs, `out_bytes` and `err_bytes` count all.
    """

    code: int | None
    out: bytes
    err: bytes
    out_bytes: int
    err_bytes: int
    seconds: float


class _First:
    """The first bytes of a stream."""

    def __init__(self, keep: int) -> None:
        self._room = keep
        self.data = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        if len(self.data) < self._room:
            self.data += data[: self._room - len(self.data)]


def words_of(command: str | Sequence[str], env: Mapping[str, str], *, shell: bool) -> list[str]:
    """The arguments of a command: its words, a line cut into them as a shell would, or (`shell`) a line for a shell.

    ValueError when a line cannot be cut, or holds nothing.
    """
    if shell:
        line = command if isinstance(command, str) else shlex.join(command)
        return find_shell(env).argv(line)
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise ValueError("the command is empty")
    return words


async def run_apart(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes, seconds: float, mark: str, keep: int = KEEP
) -> Ended:
    """Run a command with `stdin` to its end, at most `seconds`; what it left running ends with it.

    `mark` names it and all it starts in their environment. Cancelling stops it at once. OSError or ValueError when it
    cannot be started.
    """
    out, err = _First(keep), _First(keep)
    over = anyio.Event()
    with SideOutput(err.add) as second:
        child = Child(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            mark=mark,
            stderr=second.take(),
            on_output=out.add,
            on_over=over.set,
        )
        second.listen()
        in_time = False
        try:
            with anyio.move_on_after(seconds):
                await over.wait()
                in_time = True
        finally:
            taken = time.monotonic() - child.started
            if not over.is_set() or child.leftover or child.code is None:
                await child.stop(polite=POLITE)
            child.close()
        second.drain()
    code = child.code if in_time else None
    return Ended(
        code=code if code is None or code >= 0 else 128 - code,
        out=bytes(out.data),
        err=bytes(err.data),
        out_bytes=out.total,
        err_bytes=err.total,
        seconds=round(taken, 3),
    )


async def sweep(mark: str) -> None:
    """End whatever still runs of the commands with this mark."""
    await process_groups.sweep(mark)


class SideOutput:
    """A pipe for standard error, read beside the first output: give `take` to the command, then `listen`."""

    def __init__(self, on_data: Callable[[bytes], None]) -> None:
        self._on_data = on_data
        self._read, self._write = os.pipe()
        self._loop = asyncio.get_running_loop()
        self._listening = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._close_write()
        self._unlisten()
        if self._read >= 0 and sys.platform != "win32":  # there a thread still reads it, and closes it
            os.close(self._read)
        self._read = -1

    def take(self) -> int:
        """The end that the command writes to."""
        return self._write

    def listen(self) -> None:
        """The command has its end: read the other."""
        self._close_write()
        if sys.platform == "win32":  # its event loop cannot wait for a pipe
            threading.Thread(target=self._pump, args=(self._read,), daemon=True).start()
            return
        os.set_blocking(self._read, False)
        self._loop.add_reader(self._read, self._readable)
        self._listening = True

    def drain(self) -> None:
        """Take what has been written and not been read."""
        for _ in range(64):  # more than a pipe holds: what still writes to it does not keep us
            if self._listening:
                self._readable(again=True)

    def _readable(self, *, again: bool = False) -> None:
        try:
            data = os.read(self._read, _CHUNK)
        except (BlockingIOError, InterruptedError):
            if again:
                self._unlisten()
            return
        except OSError:
            data = b""
        if data:
            self._on_data(data)
        else:
            self._unlisten()

    def _pump(self, read: int) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(read, _CHUNK):
                self._on_data(data)
        os.close(read)

    def _close_write(self) -> None:
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    def _unlisten(self) -> None:
        if self._listening:
            self._loop.remove_reader(self._read)
            self._listening = False
