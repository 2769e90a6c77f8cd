"""Writing a file so that there is always a whole one: the old, or the new."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gongfu.core.errors import ToolFailure
from gongfu.workspace.folder import Folder, moved, open_folder
from gongfu.workspace.root import Workspace

_CHUNK = 1 << 20


class StaleFile(ToolFailure):
    """The file on disk is not what the caller last saw; nothing was written."""


def digest(raw: bytes) -> str:
    """A fingerprint of content."""
    from hashlib import blake2b  # loads OpenSSL; a run that touches no file can do without

    return blake2b(raw, digest_size=16).hexdigest()


def write_atomic(path: Path, data: bytes, *, expect: str | None = None, workspace: Workspace | None = None) -> None:
    """Replace the file at an absolute path by `data`, all or nothing; what fails leaves the old file as it was.

    `expect` is the digest that the file must still have, "" for one that must not exist, None for any. The parent
    folder must exist. Mode, owner and extended attributes are kept. A link is followed only to a target inside
    `workspace`; without one the path must be resolved already. StaleFile when the file changed, ToolFailure when a
    link leads out, OSError as the system raises it (no space, no permission).
    """
    real = Path(os.path.realpath(path))
    if real != path and (workspace is None or not workspace.contains(real)):
        raise moved(path)
    with open_folder(real.parent) as folder:
        check(folder, real, expect)
        check_writable(folder, real.name)
        temporary = f".{real.name[:100]}.{os.urandom(6).hex()}.tmp"
        try:
            write_new(folder, temporary, real.name, data)
            check(folder, real, expect)
            if expect == "":
                folder.place(temporary, real.name)
            else:
                folder.replace(temporary, real.name)
        except OSError as error:
            with suppress(OSError):
                folder.unlink(temporary)
            if expect == "" and isinstance(error, FileExistsError):
                raise _appeared(real) from None
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY) or not _in_place(folder, real.name, data):
                raise
        except BaseException:
            with suppress(OSError):
                folder.unlink(temporary)
            raise
        folder.sync()


def _appeared(path: Path) -> StaleFile:
    return StaleFile(f"{path.name} exists by now, which it did not before; nothing was written. Read it first.")


def check(folder: Folder, path: Path, expect: str | None) -> None:
    """StaleFile unless the file is as expected: a digest, "" for none, None for any."""
    try:
        status = folder.stat(path.name)
    except FileNotFoundError:
        if expect:
            raise StaleFile(f"{path.name} is gone from the disk since it was read; nothing was written.") from None
        return
    if stat.S_ISLNK(status.st_mode):
        raise moved(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{path.name} is a device, a pipe or a socket and is not written to")
    if expect == "":
        raise _appeared(path)
    if expect is not None and digest(folder.read(path.name)) != expect:
        raise StaleFile(
            f"{path.name} was changed by someone else since you read it; nothing was written. Read it again, then "
            "make your change on what is there now."
        )


def check_writable(folder: Folder, name: str) -> None:
    """PermissionError for a file marked read-only, which a rename would pass over."""
    with suppress(FileNotFoundError):
        os.close(folder.open(name, os.O_WRONLY))


def write_new(folder: Folder, name: str, target: str, data: bytes | Iterable[bytes]) -> None:
    """Write `data` to a new file that looks like `target` (if that exists) and is safe on disk."""
    descriptor = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with suppress(FileNotFoundError):
            _look_like(descriptor, folder, target)
        for piece in (data,) if isinstance(data, bytes) else data:
            _write_all(descriptor, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:_CHUNK]) :]


def _look_like(descriptor: int, folder: Folder, target: str) -> None:
    status = folder.stat(target)
    if hasattr(os, "fchown"):
        mine = os.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            with suppress(OSError):  # a file of another user becomes ours; only root could give it back
                os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            source = folder.open(target, os.O_RDONLY)
            try:
                for name in os.listxattr(source):
                    with suppress(OSError):
                        os.setxattr(descriptor, name, os.getxattr(source, name))
            finally:
                os.close(source)


def _in_place(folder: Folder, name: str, data: bytes) -> bool:
    """Write over the file itself, where its folder lets no new file in (a file mounted alone, a locked folder).

    The room is claimed before anything is overwritten. False when the file cannot be written either.
    """
    try:
        descriptor = folder.open(name, os.O_RDWR)
    except OSError:
        return False
    try:
        old = os.fstat(descriptor).st_size
        if len(data) > old and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(descriptor, 0, len(data))
            except OSError:
                os.ftruncate(descriptor, old)
                raise
        os.lseek(descriptor, 0, os.SEEK_SET)
        _write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True
