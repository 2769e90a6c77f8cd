"""The walk through a folder: what is covered is listed, what changed is read."""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from gongfu.core.errors import UserError
from gongfu.workspace.checkpoint.kept import Limits, Store
from gongfu.workspace.checkpoint.names import Cover
from gongfu.workspace.checkpoint.reading import digest_of, item_of, read_steady, unchanged
from gongfu.workspace.checkpoint.tree import (
    FILE,
    IGNORED,
    LINK,
    PARTLY,
    UNKEPT,
    UNREADABLE,
    UNSETTLED,
    WHOLE,
    Item,
    Listing,
    Tree,
    listing_of,
    to_bytes,
    told,
)  # fmt: skip
from gongfu.workspace.ignore import is_folder

OWN = r"\.gongfu-[0-9a-f]{16}\.tmp"
"""Names of files that restoring was writing when it was killed."""

_OTHERS = frozenset({".hg", ".svn", ".jj"})
_FOLDS = sys.platform in ("win32", "darwin")
_BATCH_BYTES = 4 << 20
_BATCH = 256
_GIT = Item(IGNORED, 0, 0, told(0, 0, 0), 0, 0, 0)


class Narrow(Exception):
    """More files or bytes than `Limits` allows."""


class Unread(NamedTuple):
    """A file that has to be read, with the most bytes that are kept of one."""

    path: str
    status: os.stat_result
    limit: int


class _Found(NamedTuple):
    """A folder that was walked through; some of its items are still to be read."""

    path: bytes
    mode: int
    state: int
    items: list[tuple[bytes, Item]]
    known: dict[bytes, Item]


class Scan:
    """One walk, and after it the reading of what changed: a folder that is too large is noticed before.

    `listings` are the folders found, in an order of its own.
    """

    def __init__(  # noqa: PLR0917
        self, root: str, store: Store, limits: Limits, known: Tree | None, beside: Tree | None, wanted: frozenset[str],
        check: Callable[[], None] | None, *, narrow: bool = False,
    ) -> None:  # fmt: skip
        self._root, self._store, self._limits = root, store, limits
        self._known, self._beside = known, beside
        self._wanted = wanted
        self._wanted_folders = {path[:at] for path in wanted for at, c in enumerate(path) if c == "/"}
        self._check = check
        self._since = time.time_ns()
        self._waiting: dict[bytes, bytes] = {}
        self._waiting_bytes = self._total = 0
        self._done: set[bytes] = set()
        self.narrow = narrow
        self.private: frozenset[str] = frozenset()  # folders that are passed over as `.git` is
        self.listings: list[Listing | msgspec.Raw] = []
        self.unreadable: list[bytes] = []
        self.files = self.stored = 0
        self._found: list[_Found] = []
        self._unread: list[tuple[list[tuple[bytes, Item]], int, Unread]] = []

    def run(self, cover: Cover) -> None:
        """Walk from the top. Narrow when there is too much; UserError when the top cannot be read."""
        try:
            mode = stat.S_IMODE(os.stat(self._root).st_mode)  # noqa: PTH116
            os.scandir(self._root).close()
        except OSError as error:
            raise UserError("checkpoints.no_root", path=self._root, reason=error.strerror) from None
        state = PARTLY if self.narrow else WHOLE
        todo = [(self._root, "", cover, mode, state)]
        while todo:
            full, name, above, mode, state = todo.pop()
            todo.extend(reversed(self._folder(full, name, above, mode, state)))
        for items, index, unread in self._unread:
            items[index] = (items[index][0], self.read(unread))
        self.flush()
        self.listings += map(self._listing, self._found)

    def _listing(self, found: _Found) -> Listing | msgspec.Raw:
        path, mode, state, items, known = found
        if known and known == dict(items) and self._known is not None and self._known.is_at(path, mode, state):
            return self._known.folders[path]  # not written anew: it has the same bytes
        return listing_of(path, mode, state, items)

    def _folder(
        self, full: str, name: str, above: Cover, mode: int, state: int
    ) -> list[tuple[str, str, Cover, int, int]]:
        if self._check is not None:
            self._check()
        path = to_bytes(f"{above.prefix}{name}")
        try:
            with os.scandir(full) as found:
                entries = sorted(found, key=_name)
        except OSError:
            self.listings.append(Listing(path=path, mode=mode, state=UNREADABLE))
            self.unreadable.append(path)
            return []
        cover = above
        if name:
            names = {entry.name for entry in entries}
            cover = above.enter(name, full, own=".gitignore" in names, repository=".git" in names)
        known = self._known.items(path) if self._known is not None else {}
        beside = self._beside.items(path) if self._beside is not None else {}
        items: list[tuple[bytes, Item]] = []
        below: list[tuple[str, str, Cover, int, int]] = []
        for entry in entries:
            if is_folder(entry):
                inner = self._inner(entry, cover, state)
                if inner == IGNORED:
                    if state == WHOLE:
                        items.append((os.fsencode(entry.name), self._passed(entry)))
                    continue
                below.append((entry.path, entry.name, cover, _mode(entry), PARTLY if inner == FILE else WHOLE))
                continue
            item = self._entry(entry, cover, state, known, beside)
            if isinstance(item, Unread):
                self._unread.append((items, len(items), item))
                item = _GIT
            if item is not None:
                items.append((os.fsencode(entry.name), item))
        self._found.append(_Found(path, mode, state, items, known))
        return below

    def _inner(self, entry: os.DirEntry[str], cover: Cover, state: int) -> int:
        """How to go on with a folder: IGNORED not at all, FILE for some names in it, LINK for all."""
        name = entry.name
        if _is_git(name) or name in _OTHERS or entry.path in self.private:
            return IGNORED
        if state == WHOLE and not cover.ignores(name, folder=True):
            return LINK
        if state == WHOLE and cover.tracks(name, folder=False):  # a submodule
            return LINK
        path = f"{cover.prefix}{name}"
        if (
            (not self.narrow and cover.tracks(name, folder=True))
            or path in self._wanted_folders
            or path in self._wanted
        ):
            return FILE
        if self._beside is not None and to_bytes(path) in self._beside.folders:
            return FILE
        return IGNORED

    def _entry(
        self, entry: os.DirEntry[str], cover: Cover, state: int, known: dict[bytes, Item], beside: dict[bytes, Item]
    ) -> Item | Unread | None:
        name = entry.name
        if name[:2] in (".g", ".G") and (_is_git(name) or re.fullmatch(OWN, name)):
            return self._passed(entry) if _is_git(name) and state == WHOLE else None
        ignored = state == PARTLY or cover.ignores(name, folder=False)
        raw = os.fsencode(name)
        if ignored and not self._kept(name, cover, beside.get(raw)):
            return self._passed(entry) if state == WHOLE else None
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return None  # it went away in between
        return self.item(entry.path, status, known.get(raw), ignored=ignored and not self._tracked(name, cover))

    def _kept(self, name: str, cover: Cover, beside: Item | None) -> bool:
        if f"{cover.prefix}{name}" in self._wanted or self._tracked(name, cover):
            return True
        return beside is not None and beside.kind in (FILE, LINK)

    def _tracked(self, name: str, cover: Cover) -> bool:
        return not self.narrow and cover.tracks(name, folder=False)

    def _passed(self, entry: os.DirEntry[str]) -> Item:
        """What is remembered of an ignored name, so that a change of it can be named."""
        if _is_git(entry.name) or entry.path in self.private:
            return _GIT
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return _GIT
        return _apart(IGNORED, status)

    def item(self, path: str, status: os.stat_result, known: Item | None, *, ignored: bool) -> Item | Unread:
        """One covered name; Unread for a file that may have changed."""
        mode = status.st_mode
        if stat.S_ISLNK(mode):
            try:
                return Item(LINK, 0, 0, os.fsencode(os.readlink(path)), 0, 0, UNSETTLED)  # noqa: PTH115
            except OSError:
                return self._unkept(status)
        limit = self._limits.ignored if ignored else self._limits.file
        if not stat.S_ISREG(mode) or status.st_size > limit:
            return self._unkept(status)
        self.files += 1
        self._total += status.st_size
        if not self.narrow and (self.files > self._limits.files or self._total > self._limits.total):
            raise Narrow
        if known is not None and unchanged(known, status):
            return known
        return Unread(path, status, limit)

    def read(self, unread: Unread) -> Item:
        """The item of a file, whose content is in the store after `flush`."""
        if self._check is not None:
            self._check()
        path, status, limit = unread
        try:
            data, status, steady = read_steady(path, limit)
        except (OSError, ValueError):
            self.files -= 1
            return self._unkept(status)
        digest = digest_of(data)
        if digest not in self._done and digest not in self._waiting:
            self._waiting[digest] = data
            self._waiting_bytes += len(data)
            if self._waiting_bytes > _BATCH_BYTES or len(self._waiting) >= _BATCH:
                self.flush()
        return item_of(FILE, status, digest, since=self._since if steady else 0)

    def _unkept(self, status: os.stat_result) -> Item:
        return _apart(UNKEPT, status)

    def flush(self) -> None:
        """Hand what was read to the store."""
        if not self._waiting:
            return
        missing = self._store.missing(self._waiting.keys())
        if missing:
            self.stored += self._store.put([(digest, self._waiting[digest]) for digest in missing])
        self._done.update(self._waiting)
        self._waiting = {}
        self._waiting_bytes = 0


def _apart(kind: int, status: os.stat_result) -> Item:
    size, time = status.st_size, status.st_mtime_ns
    return Item(kind, stat.S_IMODE(status.st_mode), size, told(size, time, 0), time, 0, 0)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _mode(entry: os.DirEntry[str]) -> int:
    try:
        return stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return 0o755


def _is_git(name: str) -> bool:
    return name == ".git" or (_FOLDS and name.casefold() == ".git")
