"""The source files of a workspace, looked for again before each query: a folder that did not change is not read again.

What is trusted is what the system says of a file or folder (size, times, number); where it changed so shortly before
it was looked at that a further change could have left the same times, it is looked at again.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import msgspec

from gongfu.knowledge.languages import language_of
from gongfu.workspace.ignore import NEVER, Ignores, is_folder
from gongfu.workspace.protect import might_be_secret, why_protected
from gongfu.workspace.root import Workspace

_FINE = 200_000_000  # ns in which two changes may get the same time, by the clock of the kernel
_COARSE = 2_100_000_000  # the same for file systems that count whole seconds
_MOST = 200_000
_IGNORE_FILES = (".ignore", ".gitignore")
_NEVER = NEVER | {"node_modules", "__pycache__", ".venv", "venv", "site-packages"}


class Stamp(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the system says of a file: the same stamp, when it is `settled`, means the same content."""

    size: int
    modified: int
    changed: int
    number: int
    settled: bool = True


def stamp_of(status: os.stat_result, now: int) -> Stamp:
    """The stamp of a file that was looked at when the clock (ns since 1970) was at `now` or later."""
    last = max(status.st_mtime_ns, status.st_ctime_ns)
    coarse = last % 1_000_000_000 == 0
    settled = now - last > (_COARSE if coarse else _FINE)
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, settled)


class _Folder:
    """One folder as it was read: its files and folders by name and path, and the ignore rules inside it."""

    __slots__ = ("files", "folders", "ignores", "outer", "path", "rules", "stamp")

    def __init__(
        self,
        path: str,
        stamp: Stamp,
        rules: tuple[tuple[str, Stamp | None], ...],
        outer: Ignores | None,
        ignores: Ignores,
    ) -> None:
        self.path = path
        self.stamp = stamp
        self.rules = rules
        self.outer = outer
        self.ignores = ignores
        self.files: list[tuple[str, str, str]] = []
        self.folders: list[tuple[str, str]] = []

    def holds(self) -> bool:
        """Whether its ignore files are as they were, when no file came or went."""
        return all(r is None or (r.settled and _stamp(file) == r) for file, r in self.rules)


class Tree:
    """The source files below the root of a workspace. Not for several threads at once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, _Folder] = {}
        self._exclude: Stamp | None = None
        self.truncated = False
        self.unreadable = 0

    def look(self) -> dict[str, tuple[Stamp, str]]:
        """Each source file with its stamp and language, by its path relative to the root with forward slashes."""
        root = str(self._workspace.root)
        exclude = _stamp(os.path.join(root, ".git", "info", "exclude"))  # noqa: PTH118
        if exclude != self._exclude or not _settled(exclude):
            self._known.clear()
            self._exclude = exclude
        found: dict[str, tuple[Stamp, str]] = {}
        kept: dict[str, _Folder] = {}
        self.truncated, self.unreadable, left = False, 0, _MOST
        waiting: list[tuple[str, str, str, Ignores | None]] = [(root, "", "", None)]
        while waiting:
            path, name, relative, outer = waiting.pop()
            folder = self._folder(path, name, outer)
            if folder is None:
                self.unreadable += 1
                continue
            kept[path] = folder
            left -= len(folder.files) + len(folder.folders)
            if left < 0:
                self.truncated = True
                break
            _stamps(folder, relative, found)
            for inner, below in reversed(folder.folders):
                waiting.append((below, inner, f"{relative}{inner}/", folder.ignores))
        self._known = kept
        return found

    def _folder(self, path: str, name: str, outer: Ignores | None) -> _Folder | None:
        """A folder: as it is known when nothing can have changed in it, else read again. None when it cannot be."""
        stamp = _stamp(path)
        if stamp is None:
            return None
        known = self._known.get(path)
        if known is not None and known.outer is outer and known.stamp == stamp and stamp.settled and known.holds():
            return known
        rules = tuple((file, _stamp(file)) for name in _IGNORE_FILES for file in (os.path.join(path, name),))  # noqa: PTH118
        ignores: Ignores | None = None
        if known is not None and known.outer is outer and known.rules == rules and all(_settled(r) for _, r in rules):
            ignores = known.ignores
        if ignores is None:
            ignores = outer.enter(name) if outer is not None else Ignores.at(self._workspace.root, self._workspace)
        return self._read(_Folder(path, stamp, rules, outer, ignores))

    def _read(self, folder: _Folder) -> _Folder | None:
        covers = folder.ignores.covers
        try:
            with os.scandir(folder.path) as entries:
                listed = sorted(entries, key=lambda e: os.fsencode(e.name))
        except OSError:
            return None
        for entry in listed:
            name = entry.name
            if name.startswith(".") or name in _NEVER:
                continue
            language = language_of(name)
            if is_folder(entry):
                if not covers(name, folder=True):
                    folder.folders.append((name, entry.path))
            elif language and not covers(name, folder=False) and not self._is_secret(entry.path, name):
                folder.files.append((name, entry.path, language))
        return folder

    def _is_secret(self, path: str, name: str) -> bool:
        likely = self._workspace.barred is not None or might_be_secret(path, name)
        return likely and why_protected(Path(path), self._workspace, write=False) == "secret"


def _stamp(path: str) -> Stamp | None:
    now = time.time_ns()
    try:
        return stamp_of(os.stat(path), now)  # noqa: PTH116
    except OSError:
        return None


def _settled(stamp: Stamp | None) -> bool:
    return stamp is None or stamp.settled


def _stamps(folder: _Folder, relative: str, found: dict[str, tuple[Stamp, str]]) -> None:
    """Links are left out: what they lead to inside the workspace is there by its own name."""
    now = time.time_ns()
    for name, path, language in folder.files:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            found[f"{relative}{name}"] = (stamp_of(status, now), language)
