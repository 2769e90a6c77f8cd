"""Changing several files so that either all of them change or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from gongfu.core.base import Base
from gongfu.workspace.folder import Folder, open_folder
from gongfu.workspace.writing import check, check_writable, digest, write_atomic, write_new

_LOCKED = (errno.EACCES, errno.EPERM, errno.EBUSY)


class Change(Base, frozen=True):
    """What becomes of the file at a resolved, absolute `path`: `data` is its new content, None removes it.

    `expect` is the digest that it must still have, "" for one that must not exist. `mode` are the permission bits that
    it gets; None keeps them.
    """

    path: Path
    data: bytes | None
    expect: str
    mode: int | None = None


def change_together(changes: Sequence[Change]) -> None:
    """Make all changes, each of another file, or none of them.

    Everything is written beside the files first, so that a full disk or a missing permission is met before any file
    changes; what fails later is taken back. Missing folders are made. StaleFile when a file is not as expected,
    ToolFailure when a link came in between, OSError as the system raises it; then all files are as they were.
    """
    parts = [_Part(change) for change in changes]
    try:
        for part in parts:
            part.stage()
        for part in sorted(parts, key=lambda p: not p.in_place):  # these may still find the disk full
            part.commit()
    except BaseException:
        for part in reversed(parts):
            part.take_back()
        raise
    for part in parts:
        part.settle()


class _Part:
    """One change, step by step."""

    def __init__(self, change: Change) -> None:
        self.in_place = False
        self._change = change
        self._path = change.path
        self._new = f".{change.path.name[:100]}.{os.urandom(6).hex()}.tmp"
        self._old = f".{change.path.name[:100]}.{os.urandom(6).hex()}.tmp"
        self._made: list[Path] = []
        self._back: list[Callable[[Folder], object]] = []
        self._left: list[str] = []

    def stage(self) -> None:
        """Check the file, and write the new one beside it."""
        data = self._change.data
        if data is not None:
            self._make_folders()
        with open_folder(self._path.parent) as folder:
            check(folder, self._path, self._change.expect)
            check_writable(folder, self._path.name)
            if data is None:
                return
            try:
                self._left.append(self._new)
                write_new(folder, self._new, self._path.name, data)
            except OSError as error:
                if error.errno not in _LOCKED or not self._change.expect:
                    raise
                self.in_place = True  # the folder lets no new file in
                return
            if self._change.mode is not None:
                folder.chmod(self._new, self._change.mode)

    def commit(self) -> None:
        """Put the new file into the place of the old."""
        name, data = self._path.name, self._change.data
        with open_folder(self._path.parent) as folder:
            check(folder, self._path, self._change.expect)
            if data is None:
                folder.replace(name, self._old)
                self._left.append(self._old)
                self._back.append(lambda f: f.place(self._old, name))
            elif self.in_place:
                self._write_in_place(folder, data)
            elif not self._change.expect:
                folder.place(self._new, name)
                self._back.append(lambda f: f.unlink(name))
            else:
                self._keep(folder)
                folder.replace(self._new, name)
            folder.sync()

    def _write_in_place(self, folder: Folder, data: bytes) -> None:
        before = folder.read(self._path.name)
        self._back.append(lambda _: write_atomic(self._path, before, expect=digest(data)))
        write_atomic(self._path, data, expect=self._change.expect)
        if self._change.mode is not None:
            folder.chmod(self._path.name, self._change.mode)

    def _keep(self, folder: Folder) -> None:
        """Keep the old file under a second name."""
        name = self._path.name
        try:
            folder.link(name, self._old)
        except (OSError, NotImplementedError):  # a file system without hard links
            before = folder.read(name)
            self._back.append(lambda _: write_atomic(self._path, before))
            return
        self._left.append(self._old)
        self._back.append(lambda f: f.replace(self._old, name))

    def take_back(self) -> None:
        """Leave the file as it was."""
        with suppress(OSError), open_folder(self._path.parent) as folder:
            for step in reversed(self._back):
                with suppress(OSError):
                    step(folder)
            self._sweep(folder)
        for made in reversed(self._made):
            with suppress(OSError):
                made.rmdir()

    def settle(self) -> None:
        """All is well: let go of the old file."""
        with suppress(OSError), open_folder(self._path.parent) as folder:
            self._sweep(folder)

    def _sweep(self, folder: Folder) -> None:
        for name in self._left:
            with suppress(OSError):
                folder.unlink(name)

    def _make_folders(self) -> None:
        missing: list[Path] = []
        folder = self._path.parent
        while not os.path.lexists(folder):
            missing.append(folder)
            folder = folder.parent
        for new in reversed(missing):
            new.mkdir()
            self._made.append(new)
