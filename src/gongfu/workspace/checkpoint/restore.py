"""Giving files back as a tree has them."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from gongfu.core.errors import UserError
from gongfu.workspace.checkpoint.compare import differences
from gongfu.workspace.checkpoint.kept import Restored, Store
from gongfu.workspace.checkpoint.places import Places
from gongfu.workspace.checkpoint.reading import digest_of, read_steady, unchanged
from gongfu.workspace.checkpoint.scan import OWN
from gongfu.workspace.checkpoint.tree import FILE, FOLDER, IGNORED, LINK, UNKEPT, Item, Tree, to_text

_GONE = (errno.ENOENT, errno.ENOTDIR)
_MAX = 1 << 40


def restore(
    root: Path,
    store: Store,
    *,
    want: bytes,
    now: bytes,
    only: Collection[str] | None = None,
    exact: bool = False,
    check: Callable[[], None] | None = None,
) -> Restored:
    """Make the files below `root` what the tree `want` says, where it differs from `now`, the tree of how they are.

    All contents are looked for in `store` first: UserError, and nothing is touched, when one is missing. A path is
    changed only when it still is as `now` says, so that nothing is lost which no checkpoint holds; when it is as wanted
    already, nothing is done. `only` are paths as `Changes` gives them: others, and what is not below them, stay; with
    `exact` also what is below them. Files are replaced whole, with their exact mode; their time of change is the
    present, so that build tools see it. Folders go only when they are empty. `check` is called between
    files and may raise to stop; restoring again goes on.
    """
    wanted, current = Tree(want), Tree(now)
    plan = _Plan(wanted, current, only, exact=exact)
    _look_for(store, plan.writes)
    work = _Restoring(Places(str(root)), store, check)
    try:
        work.clean(plan.folders)
        for path, cur, _ in plan.deletions:
            work.delete(path, cur)
        for path, mode in plan.new_folders:
            work.folder(path, mode)
        for path, cur, item in plan.writes:
            work.write(path, cur, item)
        work.places.settle()
        for path, mode in plan.modes:
            work.mode(path, mode)
    finally:
        work.places.settle()
        work.places.close()
    return Restored(
        written=work.written, deleted=work.deleted, paths=tuple(work.paths), kept=(*plan.kept, *work.kept),
        failed=tuple(work.failed.items()), unlinked=tuple(work.unlinked),
    )  # fmt: skip


class _Plan:
    """What is to be done, in order: paths as texts, relative to the root."""

    def __init__(self, want: Tree, now: Tree, only: Collection[str] | None, *, exact: bool) -> None:
        self._exact = exact
        self.deletions: list[tuple[str, Item, None]] = []
        self.new_folders: list[tuple[str, int]] = []
        self.writes: list[tuple[str, Item | None, Item]] = []
        self.modes: list[tuple[str, int]] = []
        self.kept: list[str] = []
        self._only = None if only is None else {path.rstrip("/") for path in only}
        for raw, cur, new in differences(now, want):
            path = to_text(raw)
            if self._named(path):
                self._one(path, raw, cur, new, want)
        self.deletions.sort(key=lambda entry: _depth(entry[0]), reverse=True)
        self.new_folders.sort(key=lambda entry: _depth(entry[0]))
        self.writes.sort(key=lambda entry: entry[0])
        self.modes.sort(key=lambda entry: _depth(entry[0]), reverse=True)
        self.folders = {path.rpartition("/")[0] for path, _, _ in (*self.deletions, *self.writes)}
        self.folders |= {path for path, cur, _ in self.deletions if cur.kind == FOLDER}

    def _one(self, path: str, raw: bytes, cur: Item | None, new: Item | None, want: Tree) -> None:
        if new is not None and new.kind in (IGNORED, UNKEPT):
            if cur is not None and cur.kind in (FILE, LINK):
                self.kept.append(path)
            return
        if cur is not None and cur.kind in (IGNORED, UNKEPT):
            self.kept.append(path) if new is not None or cur.kind == UNKEPT else None
            return
        if new is None:
            if cur is None or not want.knows(raw):
                self.kept.append(path)
            else:
                self.deletions.append((path, cur, None))
            return
        if cur is not None and cur.kind != new.kind and FOLDER in (cur.kind, new.kind):
            self.deletions.append((path, cur, None))
            cur = None
        if new.kind == FOLDER:
            if cur is None:
                self.new_folders.append((path, new.mode))
            self.modes.append((path, new.mode))
        else:
            self.writes.append((path, cur, new))

    def _named(self, path: str) -> bool:
        if self._only is None:
            return True
        return path in self._only or (not self._exact and any(above in self._only for above in _above(path)))


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _depth(path: str) -> tuple[int, str]:
    return path.count("/") if path else -1, path


def _look_for(store: Store, writes: list[tuple[str, Item | None, Item]]) -> None:
    """UserError unless every content is there and whole."""
    needed = {item.mark for _, _, item in writes if item.kind == FILE}
    for digest in store.missing(needed) or needed:
        _content(store, digest)


def _content(store: Store, digest: bytes) -> bytes:
    data = store.get(digest)
    if digest_of(data) != digest:
        raise UserError("checkpoints.content_damaged", digest=digest.hex())
    return data


class _Restoring:
    def __init__(self, places: Places, store: Store, check: Callable[[], None] | None) -> None:
        self.places, self._store, self._check = places, store, check
        self.written = self.deleted = 0
        self.paths: list[str] = []
        self.kept: list[str] = []
        self.failed: dict[str, str] = {}
        self.unlinked: list[str] = []

    def clean(self, folders: Collection[str]) -> None:
        """Remove what a killed run left half-written; another at this moment fails in words, and can be repeated."""
        for folder in folders:
            try:
                names = [name for name in self.places.names(folder) if re.fullmatch(OWN, name)]
                for name in names:
                    path = f"{folder}/{name}" if folder else name
                    self.places.unlink(path)
            except OSError:
                continue

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return self.places.status(path)
        except OSError as error:
            if error.errno in _GONE:
                return None
            raise

    def _is(self, path: str, status: os.stat_result | None, item: Item | None) -> bool:
        """Whether what is on disk is what an item says, mode included."""
        if status is None or item is None:
            return status is None and item is None
        if item.kind == FOLDER:
            return stat.S_ISDIR(status.st_mode)
        if item.kind == LINK:
            return stat.S_ISLNK(status.st_mode) and self.places.target(path) == item.mark
        return unchanged(item, status) or (
            stat.S_IMODE(status.st_mode) == item.mode and self._holds(path, status, item)
        )

    def _holds(self, path: str, status: os.stat_result, item: Item) -> bool:
        """Whether a file has the content of an item."""
        if not stat.S_ISREG(status.st_mode) or status.st_size != item.size:
            return False

        def read(name: str, fd: int | None) -> bytes:
            return digest_of(read_steady(name, _MAX, dir_fd=fd)[0])

        try:
            return self.places.reading(path, read) == item.mark
        except (PermissionError, ValueError):
            return False

    def delete(self, path: str, cur: Item) -> None:
        """Remove what `now` has and the wanted tree has not."""
        self._between()
        try:
            status = self._status(path)
            if status is None:
                return
            if not self._is(path, status, cur):
                self.kept.append(path)
            elif cur.kind == FOLDER:
                self._remove_folder(path)
            else:
                self.places.unlink(path)
                self._did(path, deleted=True)
        except OSError as error:
            self._failed(path, error)

    def _remove_folder(self, path: str) -> None:
        try:
            self.places.rmdir(path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            self.kept.append(f"{path}/")  # something in it is ignored or was not there before
        else:
            self._did(f"{path}/", deleted=True)

    def folder(self, path: str, _mode: int) -> None:
        """Make a folder that is missing; it gets its mode at the end."""
        try:
            self.places.mkdir(path)
            self._did(f"{path}/")
        except FileExistsError:
            status = self._status(path)
            if status is None or not stat.S_ISDIR(status.st_mode):
                self.kept.append(path)
        except OSError as error:
            self._failed(path, error)

    def write(self, path: str, cur: Item | None, item: Item) -> None:
        """Put a file or a link in its place."""
        self._between()
        try:
            status = self._status(path)
            if self._is(path, status, item):
                return
            if not self._is(path, status, cur):
                self.kept.append(path)
                return
            if item.kind == LINK:
                self.places.link(path, item.mark)
            elif status is not None and status.st_nlink == 1 and self._holds(path, status, item):
                self.places.chmod(path, item.mode)
            else:
                if status is not None and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                    self.unlinked.append(path)
                self.places.write(path, _content(self._store, item.mark), item.mode, self._owner(path, status))
            self._did(path)
        except OSError as error:
            self._failed(path, error)

    def _owner(self, path: str, status: os.stat_result | None) -> tuple[int, int] | None:
        """Whose a written file should be, where we may give it away: its own before, else its folder's owner."""
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            return None
        if status is None:
            folder = path.rpartition("/")[0]
            status = self._status(folder) if folder else None
        return (status.st_uid, status.st_gid) if status is not None else None

    def mode(self, path: str, mode: int) -> None:
        """Give a folder its mode."""
        try:
            status = self._status(path) if path else None
            if status is not None and (stat.S_IMODE(status.st_mode) == mode or not stat.S_ISDIR(status.st_mode)):
                return
            self.places.chmod(path, mode)
            if f"{path}/" not in self.paths:
                self._did(f"{path}/")
        except OSError as error:
            self._failed(path, error)

    def _between(self) -> None:
        if self._check is not None:
            self._check()

    def _did(self, path: str, *, deleted: bool = False) -> None:
        self.paths.append(path)
        self.deleted += deleted
        self.written += not deleted

    def _failed(self, path: str, error: OSError) -> None:
        self.failed[path] = error.strerror or str(error)
