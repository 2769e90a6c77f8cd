"""A large file made of pieces that lie elsewhere: it is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.folder import open_folder
from gongfu.workspace.writing import StaleFile, check, check_writable, write_new

_CHUNK = 1 << 20


class Mark(Base, frozen=True):
    """What tells one state of a file from another without reading it; all 0 when it is not there."""

    inode: int = 0
    size: int = 0
    mtime_ns: int = 0


class Placed(Base, frozen=True):
    """A file that was made: its `size`, and the digest of `workspace.writing.digest`."""

    size: int
    digest: str


def mark_of(path: Path) -> Mark:
    """How the file at a path is now."""
    try:
        status = os.lstat(path)
    except OSError:
        return Mark()
    return Mark(inode=status.st_ino, size=status.st_size, mtime_ns=status.st_mtime_ns)


def place_pieces(path: Path, pieces: Sequence[Path], expect: Mark, verify: Callable[[int, str], None]) -> Placed:
    """Join `pieces` to the file at a resolved, absolute path, whose folder must exist.

    `verify` is told the size and the SHA-256 before the file is seen, and raises when they are not right. `expect` is
    how the file that is there must still be. StaleFile, ToolFailure or OSError; then nothing has changed.
    """
    from hashlib import blake2b, sha256  # loads OpenSSL

    size = 0
    whole, told = blake2b(digest_size=16), sha256()

    def data() -> Iterator[bytes]:
        nonlocal size
        for piece in pieces:
            with piece.open("rb") as file:
                while block := file.read(_CHUNK):
                    size += len(block)
                    whole.update(block)
                    told.update(block)
                    yield block

    with open_folder(path.parent) as folder:
        check(folder, path, None)
        check_writable(folder, path.name)
        temporary = f".{path.name[:100]}.{os.urandom(6).hex()}.tmp"
        try:
            write_new(folder, temporary, path.name, data())
            verify(size, told.hexdigest())
            if mark_of(path) != expect:
                raise StaleFile(f"{path.name} is not what it was when the first part came; nothing was written")
            if expect == Mark():
                folder.place(temporary, path.name)
            else:
                folder.replace(temporary, path.name)
        except FileExistsError:
            raise ToolFailure(f"{path.name} exists by now; nothing was written") from None
        finally:
            with suppress(OSError):
                folder.unlink(temporary)
        folder.sync()
    return Placed(size=size, digest=whole.hexdigest())
