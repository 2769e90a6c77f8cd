"""Finds the secrets that lie in the workspace, so that a confined command does not read them unasked."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from gongfu.workspace.protect import might_be_secret, why_protected
from gongfu.workspace.root import Workspace

_SKIPPED = frozenset(
    [
        ".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", ".venv", "venv", "site-packages",
        "dist-packages", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle",
        ".terraform", ".yarn", ".pnpm-store", ".next", ".nuxt", "Pods", ".cargo-target",
    ]
)  # fmt: skip
_MOST_FOLDERS = 20_000
_MOST_SECRETS = 1_000  # bubblewrap takes 9,000 arguments
_NEAR = 600  # folders that are looked at for every command, those nearest to the top
_FAR = 3.0  # seconds after which the others are, too
_SECONDS = 0.3  # for one search; the next command goes on from there
_UNSURE = 50_000_000  # nanoseconds: what changed so shortly before it was read may change again unseen
_CERTIFICATE = 1 << 20  # bytes; what is larger is not looked into


class Masks:
    """The secrets below some folders; each search costs what has changed.

    `find` gives them, `partial` says whether the last one stopped before it had seen everything, `repositories` are
    the folders with a `.git` of their own.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folders: dict[str, _Folder] = {}
        self._todo: deque[str] = deque()
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}
        self._inodes: dict[int, tuple[int, ...]] = {}  # of secrets: one keeps it, and its time, under another name
        self._tops: tuple[str, ...] = ()
        self._far = 0.0
        self.partial = False

    @property
    def repositories(self) -> tuple[str, ...]:
        return tuple(path for path, folder in self._folders.items() if folder.git)

    def find(self, tops: Sequence[str]) -> tuple[str, ...]:
        """The secrets in the folders `tops`: files, and folders that are secret as a whole. Resolved, they exist."""
        if self._tops != tuple(tops):
            self._tops = tuple(tops)
            self._folders.clear()
            self._todo = deque(tops)
        self._refresh()
        self._search()
        found = self._secrets()
        if any(folder.mtime < 0 for folder in self._folders.values()):  # a secret has more names
            self._refresh()
            self._search()
            found = self._secrets()
        self.partial = bool(self._todo) or len(found) >= _MOST_SECRETS
        return found

    def _refresh(self) -> None:
        """Read those folders again that have changed."""
        now = time.monotonic()
        every = now - self._far >= _FAR or len(self._folders) <= _NEAR
        if every:
            self._far = now
        for place, (path, folder) in enumerate(tuple(self._folders.items())):
            if not every and place >= _NEAR and folder.mtime >= 0:
                continue
            try:
                mtime = os.stat(path).st_mtime_ns  # noqa: PTH116
            except OSError:
                del self._folders[path]
                continue
            if mtime != folder.mtime:
                self._read(path)

    def _search(self) -> None:
        end = time.monotonic() + _SECONDS
        while self._todo and len(self._folders) < _MOST_FOLDERS and time.monotonic() < end:
            path = self._todo.popleft()
            if path not in self._folders:
                self._read(path)

    def _read(self, path: str) -> None:
        folder, skipped, inodes = _Folder(), _SKIPPED, self._inodes
        try:
            folder.mtime = os.stat(path).st_mtime_ns  # noqa: PTH116
            with os.scandir(path) as entries:
                for entry in entries:
                    name = entry.name
                    if name == ".git":
                        folder.git = True
                    elif entry.is_dir(follow_symlinks=False):
                        if might_be_secret(entry.path, name) and self._is_secret(entry.path, entry.path):
                            folder.secrets.append(entry.path)
                        elif name not in skipped and entry.path not in self._folders:
                            self._todo.append(entry.path)
                    elif (
                        might_be_secret(entry.path, name)
                        or entry.inode() in inodes
                        or (entry.is_symlink() and _leads_to_secret(entry.path))
                    ):
                        folder.secrets.append(entry.path)
        except OSError:
            self._folders.pop(path, None)
            return
        if time.time_ns() - folder.mtime < _UNSURE:
            folder.mtime = 0
        self._folders[path] = folder

    def _secrets(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for folder in tuple(self._folders.values()):
            for path in folder.secrets:
                real = self._judged(path)
                if real and len(found) < _MOST_SECRETS:
                    found[real] = None
        return tuple(found)

    def _judged(self, path: str) -> str:
        """Where a secret really lies; "" when it is none, or gone."""
        try:
            link = stat.S_ISLNK(os.lstat(path).st_mode)
            info = os.stat(path)  # noqa: PTH116
        except OSError:
            return ""
        same = (info.st_dev, info.st_mtime_ns, info.st_size)
        key = (*same, info.st_ino, info.st_mode, link)
        known = self._known.get(path)
        if known is not None and known[0] == key:
            return known[1]
        is_file = stat.S_ISREG(info.st_mode)
        real = os.path.realpath(path)
        if not self._is_kept_back(path, real, info, is_file=is_file, is_folder=not link and stat.S_ISDIR(info.st_mode)):
            real = ""
        elif is_file:
            if info.st_nlink > 1 and self._inodes.get(info.st_ino) != same:
                for folder in self._folders.values():
                    folder.mtime = -1
            self._inodes[info.st_ino] = same
        self._known[path] = (key, real)
        return real

    def _is_kept_back(self, path: str, real: str, info: os.stat_result, *, is_file: bool, is_folder: bool) -> bool:
        if is_folder:
            return self._is_secret(path, real)
        if not is_file or _only_certificates(path, info.st_size):
            return False
        same = (info.st_dev, info.st_mtime_ns, info.st_size)
        return self._inodes.get(info.st_ino) == same or self._is_secret(path, real)

    def _is_secret(self, path: str, real: str) -> bool:
        return any(why_protected(Path(p), self._workspace, write=False) == "secret" for p in {path, real})


class _Folder:
    """A folder as it was read: when it had changed last (0: read it again, -1: read it again now), what may be a
    secret in it."""

    __slots__ = ("git", "mtime", "secrets")

    def __init__(self) -> None:
        self.mtime = 0
        self.git = False
        self.secrets: list[str] = []


def _leads_to_secret(path: str) -> bool:
    try:
        target = os.readlink(path)  # noqa: PTH115
    except OSError:
        return False
    target = os.path.join(os.path.dirname(path), target)  # noqa: PTH118, PTH120
    return might_be_secret(target, target.rpartition("/")[2])


def _only_certificates(path: str, size: int) -> bool:
    """Whether a file called like a key holds certificates and public keys only."""
    if not path.lower().endswith((".pem", ".key")) or size > _CERTIFICATE:
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            text = file.read(_CERTIFICATE)
    except OSError:
        return False
    return (b"-BEGIN CERTIFICATE-" in text or b"-BEGIN PUBLIC KEY-" in text) and b"PRIVATE" not in text


def outside_hidden(paths: Iterable[str], hidden: Sequence[str]) -> tuple[str, ...]:
    """The paths that no hidden folder covers already."""
    covered = {*hidden}
    return tuple(p for p in paths if p not in covered and not any(p.startswith(f"{folder}/") for folder in hidden))
