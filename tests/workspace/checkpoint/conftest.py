"""Fixtures: a small disk, and running something as an ordinary user."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.store.conftest import small_disk

__all__ = ["small_disk"]

NOBODY = 65534


@pytest.fixture
def commons() -> Iterator[Path]:
    """A folder that any user may write in."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture
def as_nobody() -> Callable[[Callable[[], None]], None]:
    """Runs a function in a process of an ordinary user, and fails with its traceback."""
    if sys.platform == "win32":
        pytest.skip("there is no other user to become")
    return _as_nobody


def _as_nobody(act: Callable[[], None]) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        text = b""
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.umask(0o022)
            act()
        except BaseException:
            text = traceback.format_exc().encode() or b"failed"
        os.write(writing, text[-60_000:])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read().decode(errors="replace")
    os.waitpid(child, 0)
    assert not told, told
