"""Moving, copying and removing files and folders so that nothing is left half done."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.ignore import is_folder

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.ENOSYS, errno.EACCES)

MOST_FILES = 100_000
MOST_BYTES = 4 << 30

Stop = Callable[[], bool]


class Stopped(Exception):
    """The call was cancelled; what it had begun is taken back."""


class Contents(Base, frozen=True):
    """What lies at a path: how many files (links and others among them) and folders, and their bytes. `most` tells that
    counting ended there. `odd` names something that is neither file, folder nor link."""

    files: int = 0
    folders: int = 0
    bytes: int = 0
    most: bool = False
    odd: str = ""


def entries(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """A path and all below it, folders first; links are not followed, and what cannot be read is passed over."""
    status = os.lstat(path)
    yield path, status
    waiting = [path] if stat.S_ISDIR(status.st_mode) else []
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as found:
                listed = sorted(found, key=lambda e: e.name)
        except OSError:
            continue
        for entry in listed:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                yield Path(entry.path), status
                if is_folder(entry):
                    waiting.append(Path(entry.path))


def contents(path: Path, *, most: int = MOST_FILES) -> Contents:
    """Count what lies at a path. OSError when nothing does."""
    files = folders = size = count = 0
    odd = ""
    for place, status in entries(path):
        count += 1
        if count > most:
            return Contents(files=files, folders=folders, bytes=size, most=True, odd=odd)
        if stat.S_ISDIR(status.st_mode):
            folders += 1
            continue
        files += 1
        size += status.st_size
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            odd = odd or str(place)
    return Contents(files=files, folders=folders, bytes=size, odd=odd)


def move(source: Path, target: Path, *, overwrite: bool = False, stop: Stop = lambda: False) -> str:
    """Move what lies at `source` to `target`, over another file system too; the parent of `target` must exist.

    Without `overwrite` there must be nothing at `target`; with it a file takes the place of a file, a folder that of a
    folder. Links stay links. What could not be removed from the old place after all was copied comes back ("" for
    nothing). FileExistsError, OSError or `Stopped`: then both places are as they were.
    """
    with _making_room(source, target, overwrite=overwrite) as room:
        try:
            room.rename(source)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            temporary = _beside(target)
            _copied(source, temporary, stop)
            room.place(temporary)
            room.keep()
            return _removed_quietly(source)
        room.keep()
    return ""


def copy(source: Path, target: Path, *, overwrite: bool = False, stop: Stop = lambda: False) -> None:
    """Copy what lies at `source` with modes and times to `target`; nothing is seen there until all is copied.

    Otherwise as `move`.
    """
    with _making_room(source, target, overwrite=overwrite) as room:
        temporary = _beside(target)
        _copied(source, temporary, stop)
        room.place(temporary)
        room.keep()


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it.

    PermissionError, before anything is removed, when a folder in it may not be changed.
    """
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        path.unlink()
        return
    for place, status in entries(path):
        if stat.S_ISDIR(status.st_mode) and not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
    aside = _beside(path)
    path.rename(aside)
    try:
        shutil.rmtree(aside)
    except OSError as error:
        with suppress(OSError):
            aside.rename(path)
        raise ToolFailure(
            f"{path.name} could not be removed as a whole ({error.strerror or error}); a part of it may be gone"
        ) from None


class _making_room:  # noqa: N801 - used like a function
    """Frees `target` for one rename; gives back what was there when the block fails."""

    def __init__(self, source: Path, target: Path, *, overwrite: bool) -> None:
        self._source, self._target, self._overwrite = source, target, overwrite
        self._aside: Path | None = None
        self._kept = False

    def __enter__(self) -> Self:
        source = os.lstat(self._source)
        try:
            there = os.lstat(self._target)
        except FileNotFoundError:
            return self
        if (source.st_dev, source.st_ino) == (there.st_dev, there.st_ino) and self._same_name():
            return self  # only the case of the name changes, where case does not count
        if not self._overwrite:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self._target))
        if stat.S_ISDIR(source.st_mode) != stat.S_ISDIR(there.st_mode):
            kind = IsADirectoryError if stat.S_ISDIR(there.st_mode) else NotADirectoryError
            number = errno.EISDIR if stat.S_ISDIR(there.st_mode) else errno.ENOTDIR
            raise kind(number, os.strerror(number), str(self._target))
        if stat.S_ISDIR(there.st_mode):
            aside = _beside(self._target)
            self._target.rename(aside)
            self._aside = aside
        return self

    def _same_name(self) -> bool:
        one, other = self._source, self._target
        return one != other and str(one).casefold() == str(other).casefold()

    def rename(self, what: Path) -> None:
        """Put `what` there."""
        if not self._overwrite and stat.S_ISREG(os.lstat(what).st_mode) and not self._same_name():
            try:
                os.link(what, self._target, follow_symlinks=False)
            except (NotImplementedError, OSError) as error:
                if isinstance(error, FileExistsError) or (isinstance(error, OSError) and error.errno not in _NO_LINKS):
                    raise
            else:
                try:
                    what.unlink()
                except OSError:
                    self._target.unlink()
                    raise
                return
        if not self._overwrite and os.path.lexists(self._target) and not self._same_name():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self._target))
        what.replace(self._target)

    def place(self, temporary: Path) -> None:
        """Put a copy there; it is gone when that fails."""
        try:
            self.rename(temporary)
        except OSError:
            _removed_quietly(temporary)
            raise

    def keep(self) -> None:
        """All is well."""
        self._kept = True

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._aside is None:
            return
        if self._kept:
            _removed_quietly(self._aside)
        else:
            with suppress(OSError):
                self._aside.rename(self._target)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")


def _copied(source: Path, target: Path, stop: Stop) -> None:
    """Copy all; nothing is left of it when it fails."""
    found = contents(source)
    if found.most or found.bytes > MOST_BYTES:
        raise ToolFailure(
            f"{source.name} has more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes, too much to be copied in one "
            "call; nothing was changed. Copy parts of it, or use shell with background=true."
        )
    if found.odd:
        raise ToolFailure(f"{found.odd} is a device, a pipe or a socket and is not copied; nothing was changed")
    if shutil.disk_usage(target.parent).free < found.bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    def one(old: str, new: str) -> str:
        if stop():
            raise Stopped
        return str(shutil.copy2(old, new, follow_symlinks=False))

    try:
        if stat.S_ISDIR(os.lstat(source).st_mode):
            shutil.copytree(source, target, symlinks=True, copy_function=one)
        else:
            one(str(source), str(target))
    except shutil.Error as error:
        _removed_quietly(target)
        raise _first(error) from None
    except BaseException:
        _removed_quietly(target)
        raise


def _first(error: shutil.Error) -> OSError:
    """The first of the errors of a copied folder."""
    for old, _, why in error.args[0]:
        return PermissionError(errno.EACCES, why, old) if "denied" in str(why) else OSError(errno.EIO, str(why), old)
    return error


def _removed_quietly(path: Path) -> str:
    """Remove what can be removed; the path that is left, "" for none."""
    try:
        if not os.path.lexists(path):
            return ""
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError:
        return str(path)
    return ""
