"""Reading one file of the workspace as it is at one moment."""

from __future__ import annotations

import os
import stat

from gongfu.workspace.checkpoint.tree import DIGEST, FILE, UNSETTLED, Item

_FLAGS: int = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_TRIES = 4
_TICK = 50_000_000
_COARSE_TICK = 2_100_000_000
_INODE = (1 << 63) - 1
_ONLY_SIZE = os.name == "nt"  # st_ctime is when the file was made there


def digest_of(data: bytes) -> bytes:
    """What a content is kept under: BLAKE2b of 20 bytes, which costs a third of SHA-256 where no processor helps."""
    from hashlib import blake2b  # loads OpenSSL; a run that keeps no files can do without

    return blake2b(data, digest_size=DIGEST).digest()


def item_of(kind: int, status: os.stat_result, mark: bytes, *, since: int) -> Item:
    """The item of a name. Its times count only when they lie so far before `since` (ns) that any later change moves
    them: the clock of a file system has ticks, and a change within the same one leaves no trace.
    """
    moment = status.st_mtime_ns if _ONLY_SIZE else status.st_ctime_ns
    tick = _TICK if moment % 1_000_000 else _COARSE_TICK
    inode = status.st_ino & _INODE if moment + tick < since else UNSETTLED
    return Item(kind, stat.S_IMODE(status.st_mode), status.st_size, mark, *_times(status), inode)


def _times(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_ctime_ns


def unchanged(item: Item, status: os.stat_result) -> bool:
    """Whether a file's status proves that it is as `item` says, without reading it."""
    return (
        item.kind == FILE
        and item.inode != UNSETTLED
        and item.inode == status.st_ino & _INODE
        and item.change == status.st_ctime_ns
        and item.time == status.st_mtime_ns
        and item.size == status.st_size
        and item.mode == stat.S_IMODE(status.st_mode)
    )


def read_steady(path: str, limit: int, *, dir_fd: int | None = None) -> tuple[bytes, os.stat_result, bool]:
    """The bytes and the status of a regular file, and whether it held still while it was read.

    No link is followed at its end. ValueError when it is no regular file or has more than `limit` bytes, else OSError.
    """
    descriptor = os.open(path, _FLAGS, dir_fd=dir_fd)
    try:
        before = os.fstat(descriptor)
        tries = 0
        while True:
            if not stat.S_ISREG(before.st_mode) or before.st_size > limit:
                raise ValueError(path)
            data = _first(descriptor, before.st_size + 1)
            after = os.fstat(descriptor)
            steady = _times(before) == _times(after) and before.st_size == after.st_size == len(data)
            tries += 1
            if steady or tries == _TRIES:
                return data, after, steady
            before = after
    finally:
        os.close(descriptor)


def _first(descriptor: int, size: int) -> bytes:
    """At most the first `size` bytes: a file that grows as fast as it is read comes to no end."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    pieces: list[bytes] = []
    while size > 0 and (piece := os.read(descriptor, min(size, 1 << 20))):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
