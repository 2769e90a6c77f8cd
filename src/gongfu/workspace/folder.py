"""A folder held open, so that what is done in it cannot be led elsewhere by a link that was put on the way to it."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from gongfu.core.errors import ToolFailure

_CAN = os.open in os.supports_dir_fd and os.link in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FLAGS: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)


class Folder:
    """Operations on names directly inside one folder. Made by `open_folder`."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def _name(self, name: str) -> str | Path:
        return name if self._descriptor is not None else self.path / name

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor; never through a link, never waiting for the other end of a pipe."""
        return os.open(self._name(name), flags | _FLAGS | _NONBLOCK, mode, dir_fd=self._descriptor)

    def stat(self, name: str) -> os.stat_result:
        """What is there, links not followed."""
        return os.stat(self._name(name), dir_fd=self._descriptor, follow_symlinks=False)

    def read(self, name: str) -> bytes:
        """All of a file."""
        with open(self.open(name, os.O_RDONLY), "rb") as file:  # noqa: PTH123 - a descriptor, not a path
            return file.read()

    def chmod(self, name: str, mode: int) -> None:
        """Set the permission bits of a file that is no link."""
        os.chmod(self._name(name), mode, dir_fd=self._descriptor)

    def unlink(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._name(name), dir_fd=self._descriptor)

    def replace(self, name: str, target: str) -> None:
        """Rename within the folder, over whatever `target` is."""
        os.replace(
            self._name(name), self._name(target), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor
        )  # fmt: skip

    def place(self, name: str, target: str) -> None:
        """Rename within the folder; FileExistsError when there is a `target`."""
        try:
            self.link(name, target)
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):  # a file system without hard links
            with suppress(FileNotFoundError):
                self.stat(target)
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path / target)) from None
            self.replace(name, target)
        else:
            self.unlink(name)

    def link(self, name: str, target: str) -> None:
        """Give a file a second name in the folder. OSError where the file system has no hard links."""
        os.link(
            self._name(name), self._name(target), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor,
            follow_symlinks=False,
        )  # fmt: skip

    def sync(self) -> None:
        """Make renames last, where the platform can."""
        with suppress(OSError):
            descriptor = os.open(self._name("."), os.O_RDONLY, dir_fd=self._descriptor)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


@contextmanager
def open_folder(path: Path) -> Generator[Folder]:
    """Hold a folder by its resolved, absolute path. ToolFailure when a link stands on the way to it by now."""
    descriptor = _walk(path) if _CAN else None
    try:
        if descriptor is None and Path(os.path.realpath(path)) != path:
            raise moved(path)
        yield Folder(path, descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def moved(path: Path) -> ToolFailure:
    """The failure of a path that leads elsewhere than it did when it was checked."""
    return ToolFailure(f"{path} now leads through a link to another place; nothing was touched. Look at it again.")


def _walk(path: Path) -> int | None:
    """Open each folder inside the one before; None where one may be passed but not opened."""
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | _FLAGS
    current = os.open(path.anchor, flags)
    try:
        for part in path.parts[1:]:
            following = os.open(part, flags, dir_fd=current)
            os.close(current)
            current = following
    except PermissionError:
        os.close(current)
        return None
    except OSError as error:
        os.close(current)
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and os.path.realpath(path) != str(path):
            raise moved(path) from None
        raise
    return current
