"""Changing names in the folders of a workspace; no link on the way to them is ever followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from gongfu.workspace.root import joined

_T = TypeVar("_T")
_CAN = (
    {os.open, os.mkdir, os.unlink, os.rmdir, os.symlink, os.readlink, os.stat, os.chmod} <= os.supports_dir_fd
    and os.rename in os.supports_dir_fd
    and hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
)  # fmt: skip
_CLOSE: int = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_FOLDER: int = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOSE
_OPEN = 64


class Places:
    """The folders below a root, each opened inside the one before; close it at the end.

    A folder that may not be written in is opened up for its owner while something is done in it; `settle` gives it
    its mode back. Everything raises OSError as the system does, NotADirectoryError where a link or a file stands in the
    way.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: dict[str, int] = {}
        self._loosened: dict[str, int] = {}

    def close(self) -> None:
        """Let go of all folders."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def forget(self, folder: str) -> None:
        """Let go of a folder and of all below it, since it is removed or made anew."""
        for path in [p for p in self._open if p == folder or p.startswith(f"{folder}/")]:
            os.close(self._open.pop(path))

    def _at(self, folder: str) -> tuple[int | None, str]:
        """The descriptor of a folder and what to put before a name in it; without descriptors its path is checked."""
        if not _CAN:
            here = self._root
            for part in folder.split("/") if folder else ():
                here = joined(here, part)
                if not stat.S_ISDIR(os.lstat(here).st_mode) or _junction(here):
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), here)
            return None, here
        if folder not in self._open:
            if len(self._open) >= _OPEN:
                self.close()
            if not folder:
                self._open[""] = os.open(self._root, _FOLDER)
            else:
                parent, _, name = folder.rpartition("/")
                above = self._at(parent)[0]
                self._open[folder] = self._opened(parent, above, name)
        return self._open[folder], ""

    def _opened(self, parent: str, above: int | None, name: str) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=above)
        except PermissionError:
            self._loosen(parent)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name) from None
            raise
        return os.open(name, _FOLDER, dir_fd=self._at(parent)[0])

    def _do(self, path: str, act: Callable[[str, int | None], _T]) -> _T:
        """Do something to a name in its folder; once more with the folder opened up when that is not allowed."""
        folder, _, name = path.rpartition("/")
        descriptor, before = self._at(folder)
        target = joined(before, name) if before else name
        try:
            return act(target, descriptor)
        except PermissionError:
            if not self._loosen(folder):
                raise
        return act(target, self._at(folder)[0])  # the descriptor may have been let go of meanwhile

    def _loosen(self, folder: str) -> bool:
        """Let the owner of a folder into it; False when that changes nothing."""
        status = self.status(folder) if folder else os.stat(self._root)  # noqa: PTH116
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o700 == 0o700:
            return False
        self._loosened.setdefault(folder, mode)
        try:
            self._set_mode(folder, mode | 0o700)
        except OSError:
            return False
        return True

    def settle(self) -> None:
        """Give the folders that were opened up their modes back, the deepest first."""
        for folder in sorted(self._loosened, reverse=True):
            with suppress(OSError):
                self._set_mode(folder, self._loosened[folder])
        self._loosened.clear()

    # --- reading ----------------------------------------------------------------------------------------------------

    def status(self, path: str) -> os.stat_result:
        """What is there, links not followed."""
        return self._do(path, lambda name, fd: os.stat(name, dir_fd=fd, follow_symlinks=False))

    def target(self, path: str) -> bytes:
        """Where a link leads."""
        return os.fsencode(self._do(path, lambda name, fd: os.readlink(name, dir_fd=fd)))

    def reading(self, path: str, read: Callable[[str, int | None], _T]) -> _T:
        """What `read` makes of a name and the descriptor of its folder."""
        return self._do(path, read)

    def names(self, folder: str) -> list[str]:
        """What is in a folder."""
        descriptor, before = self._at(folder)
        if descriptor is None:
            return os.listdir(before)  # noqa: PTH208
        inside = os.open(".", os.O_RDONLY | _CLOSE, dir_fd=descriptor)
        try:
            return os.listdir(inside)  # noqa: PTH208
        finally:
            os.close(inside)

    # --- writing ----------------------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes, mode: int, owner: tuple[int, int] | None) -> None:
        """Put a file in the place of whatever file or link is there, whole or not at all."""
        other = self._other(path)

        def make(name: str, fd: int | None) -> None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOSE | _BINARY
            descriptor = os.open(name, flags, 0o600, dir_fd=fd)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view[: 1 << 20]) :]
                if owner is not None and hasattr(os, "fchown"):
                    with suppress(OSError):
                        os.fchown(descriptor, *owner)
                if hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)
            if not hasattr(os, "fchmod"):
                os.chmod(name, mode)  # noqa: PTH101

        self._replace(other, path, make)

    def link(self, path: str, target: bytes) -> None:
        """Put a link in the place of whatever file or link is there."""
        to = os.fsdecode(target)
        self._replace(self._other(path), path, lambda name, fd: os.symlink(to, name, dir_fd=fd))

    def _other(self, path: str) -> str:
        folder = path.rpartition("/")[0]
        name = f".gongfu-{os.urandom(8).hex()}.tmp"
        return f"{folder}/{name}" if folder else name

    def _replace(self, other: str, path: str, make: Callable[[str, int | None], None]) -> None:
        name = other.rpartition("/")[2]
        try:
            self._do(other, make)
            self._do(path, lambda target, fd: os.replace(_beside(target, name), target, src_dir_fd=fd, dst_dir_fd=fd))
        except BaseException:
            with suppress(OSError):
                self.unlink(other)
            raise

    def unlink(self, path: str) -> None:
        """Remove a file or a link."""
        self._do(path, lambda name, fd: os.unlink(name, dir_fd=fd))

    def mkdir(self, path: str) -> None:
        """Make a folder that only its owner can enter until it gets its mode."""
        self._do(path, lambda name, fd: os.mkdir(name, 0o700, dir_fd=fd))

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        self._do(path, lambda name, fd: os.rmdir(name, dir_fd=fd))
        self.forget(path)
        self._loosened.pop(path, None)

    def chmod(self, path: str, mode: int) -> None:
        """Give a file or a folder its mode; a link is refused."""
        self._loosened.pop(path, None)
        self._set_mode(path, mode)

    def _set_mode(self, path: str, mode: int) -> None:
        if not path:
            os.chmod(self._root, mode)  # noqa: PTH101
            return
        self._do(path, lambda name, fd: _chmod(name, fd, mode))


def _chmod(name: str, fd: int | None, mode: int) -> None:
    try:
        if hasattr(os, "fchmod"):
            descriptor = os.open(name, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOSE, dir_fd=fd)
            try:
                os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)
            return
    except PermissionError:  # it may not be opened either
        pass
    if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    os.chmod(name, mode, dir_fd=fd)


def _beside(target: str, name: str) -> str:
    """The path of `name` in the folder of `target`."""
    folder = os.path.dirname(target)  # noqa: PTH120
    return joined(folder, name) if folder else name


def _junction(path: str) -> bool:
    check = getattr(os.path, "isjunction", None)
    return bool(check and check(path))
