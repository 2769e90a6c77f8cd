"""Locks between processes that a kill releases."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self


class FileLock:
    """An exclusive lock on the file `path`, which is made when missing and left where it is.

    The system releases it when the process ends, however it ends. It is not re-entrant: a second `FileLock` on the same
    path excludes the first, in the same process too. `with` waits up to `timeout` seconds, then TimeoutError. OSError
    when the file cannot be opened.
    """

    def __init__(self, path: Path, *, timeout: float = 10.0) -> None:
        self.path = path
        self._timeout = timeout
        self._fd = -1

    @property
    def held(self) -> bool:
        """True while this object holds the lock."""
        return self._fd >= 0

    def try_acquire(self) -> bool:
        """Take the lock if it is free now; True when this object holds it."""
        if self.held:
            return True
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            taken = _lock(fd)
        except BaseException:
            os.close(fd)
            raise
        if taken:
            self._fd = fd
        else:
            os.close(fd)
        return taken

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        if self.held:
            fd, self._fd = self._fd, -1
            _unlock(fd)
            os.close(fd)

    def __enter__(self) -> Self:
        ends = time.monotonic() + self._timeout
        step = 0.001
        while not self.try_acquire():
            if time.monotonic() >= ends:
                raise TimeoutError(f"{self.path} stayed locked for {self._timeout:g} s")
            time.sleep(step)
            step = min(step * 2, 0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


@contextmanager
def try_lock(path: Path) -> Generator[bool, None, None]:
    """Whether the lock `path` was free; if so it is held inside the block. Never waits. OSError as `FileLock`."""
    lock = FileLock(path)
    held = lock.try_acquire()
    try:
        yield held
    finally:
        lock.release()


def _lock(fd: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt  # exists on Windows only

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # exists on POSIX only

            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # Windows says EACCES for a lock of somebody else
        return False
    return True


def _unlock(fd: int) -> None:
    if sys.platform == "win32":
        import msvcrt  # exists on Windows only

        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl  # exists on POSIX only

        fcntl.flock(fd, fcntl.LOCK_UN)
