"""Files of a download: how long they are, and writing that ends in a sentence when the disk says no."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gongfu.core.errors import UserError

T = TypeVar("T")


def length(path: Path) -> int:
    """Bytes of the file; 0 when it is not there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def free_space(folder: Path) -> int:
    """Bytes free on the disk where `folder` is or will be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def writable(path: Path, work: Callable[[], T]) -> T:
    """Do `work`, which writes to `path`. Raises UserError when the disk is full or the place forbidden."""
    try:
        return work()
    except OSError as error:
        raise UserError("local.not_writable", path=path, reason=error.strerror or error) from error


def opened(path: Path, mode: str) -> io.BufferedWriter:
    """The file opened for writing. Raises UserError."""
    return writable(path, lambda: io.BufferedWriter(io.FileIO(path, mode)))
