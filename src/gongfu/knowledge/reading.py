"""The bytes of a source file together with the stamp that they have."""

from __future__ import annotations

import os
import stat
import time

import msgspec

from gongfu.knowledge.languages import MOST_BYTES
from gongfu.knowledge.tree import Stamp, stamp_of


def read_source(path: str) -> tuple[bytes, Stamp] | None:
    """A regular file, no link followed at its name; of a very large one the first bytes. None when it cannot be read.

    A file that changes while it is read gets a stamp that is not settled.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    now = time.time_ns()
    try:
        with open(os.open(path, flags), "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
            before = os.fstat(file.fileno())
            if not stat.S_ISREG(before.st_mode):
                return None
            raw = _all(file.fileno(), MOST_BYTES + 1)
            after = stamp_of(os.fstat(file.fileno()), now)
    except (OSError, ValueError):
        return None
    first = stamp_of(before, now)
    return raw, first if first == after else msgspec.structs.replace(after, settled=False)


def _all(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(descriptor, min(most, 1 << 20))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)
