"""Fixtures of the store: an open database, a small disk, a place that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gongfu.store.database import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    """An open, empty store."""
    with Database.open(tmp_path / "gongfu.db") as database:
        yield database


def _mount(folder: Path, options: str) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root on Linux")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    _mount(folder, "size=1m")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """A disk, and a function that makes it read-only from then on."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    _mount(folder, "size=4m")

    def lock() -> Path:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        return folder

    yield lock
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take all the space that is left in `folder`; return the file that holds it."""
    file = folder / "filler"
    size = 1 << 16
    with file.open("ab", buffering=0) as out:
        while size:
            try:
                out.write(b"x" * size)
            except OSError:
                size //= 2
    return file
