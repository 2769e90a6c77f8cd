"""Taking a checkpoint: the files of a folder are listed, and those that changed are read and kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec

from gongfu.core.errors import UserError
from gongfu.workspace.checkpoint.compare import differences, lost_repository
from gongfu.workspace.checkpoint.kept import Limits, Store, Taken
from gongfu.workspace.checkpoint.names import Cover
from gongfu.workspace.checkpoint.scan import Narrow, Scan, Unread
from gongfu.workspace.checkpoint.tree import (
    FILE,
    FOLDER,
    LINK,
    PARTLY,
    UNKEPT,
    UNREADABLE,
    Header,
    Item,
    Listing,
    Tree,
    encode,
    listing_of,
    to_bytes,
    to_text,
)  # fmt: skip
from gongfu.workspace.root import joined, rest_below

_NAMED = 100
_LOOK_AGAIN = 20  # takes in a row after which a folder that was too large is looked at as a whole again


def take(
    root: Path,
    store: Store,
    *,
    touched: Collection[Path] = (),
    known: bytes | None,
    beside: bytes | None = None,
    env: Mapping[str, str],
    check: Callable[[], None] | None = None,
    limits: Limits | None = None,
    private: Collection[Path] = (),
) -> Taken:
    """Keep the files below `root` (resolved) as they are now: contents go to `store`, the tree comes back.

    Covered is all that git would not ignore, with empty folders; `.git` never. Of what is ignored: the absolute paths
    `touched`, and what the tree `beside` covers. The folders `private` are passed over whatever git says. `known` is an
    earlier tree of the same root whose contents are in `store`: files whose status is the same as there are not read.
    `env` tells where the person's own git settings lie; nothing is run. `check` is called between files and may raise
    to stop; what was stored until then is harmless.
    It blocks: call it in a thread. UserError when the root cannot be read, or from the store.
    """
    limits = limits or Limits()
    wanted = frozenset(path for path in (_below(root, place) for place in touched) if path)
    before = _readable(known)
    aside = _readable(beside)
    age = before.header.age + 1 if before is not None and before.header.narrow else 0
    scan = Scan(str(root), store, limits, before, aside, wanted, check, narrow=age % _LOOK_AGAIN > 0)
    scan.private = frozenset(map(str, private))
    try:
        scan.run(Cover.of(root, env))
    except Narrow:
        scan = Scan(str(root), store, limits, before, aside, wanted, check, narrow=True)
        scan.private = frozenset(map(str, private))
        scan.run(Cover.of(root, env))
    header = Header(narrow=scan.narrow, absent=sorted(_absent(root, wanted)), age=age if scan.narrow else 0)
    tree = encode(header, scan.listings)
    changed, uncovered = _news(before, Tree(tree))
    uncovered = (*uncovered, *(to_text(path) for path in scan.unreadable))
    return Taken(
        tree=tree, files=scan.files, changed=changed, stored=scan.stored, uncovered=uncovered[:_NAMED],
        narrow=scan.narrow,
    )  # fmt: skip


def extend(
    root: Path, store: Store, tree: bytes, paths: Collection[Path], *, limits: Limits | None = None
) -> Taken | None:
    """Keep further paths as they are now in a tree that was taken before, where it does not tell of them.

    For what a file tool is about to change that the tree does not cover, such as an ignored file; also for one that
    does not exist yet. None when the tree knows all of them.
    """
    limits = limits or Limits()
    old = Tree(tree)
    wanted = [p for p in dict.fromkeys(_below(root, place) for place in paths) if p and not old.knows(to_bytes(p))]
    if not wanted:
        return None
    adding = _Adding(str(root), store, old, limits)
    for path in wanted:
        adding.add(path)
    return adding.done()


class _Adding:
    def __init__(self, root: str, store: Store, old: Tree, limits: Limits) -> None:
        self._root, self._store, self._old, self._limits = root, store, old, limits
        self._folders: dict[bytes, tuple[int, int, dict[bytes, Item]]] = {}
        self._absent = set(old.header.absent)
        self._uncovered: list[str] = []
        self._stored = self._added = 0

    def add(self, path: str) -> None:
        """Add one path as it is on disk."""
        parts = path.split("/")
        folder = ""
        for part in parts[:-1]:
            child = f"{folder}/{part}" if folder else part
            if not self._enter(folder, part, child):
                return
            folder = child
        status = self._status(path)
        if status is None:
            self._absent.add(to_bytes(path))
            return
        mode, state, items = self._folder(folder)
        name = os.fsencode(parts[-1])
        items[name] = self._item(path, status)
        self._folders[to_bytes(folder)] = (mode, state, items)
        self._added += 1

    def _enter(self, folder: str, part: str, child: str) -> bool:
        """Make sure that the folder `child` is in the tree; False when it is none now."""
        path = to_bytes(child)
        if path in self._old.folders or path in self._folders:
            return True
        status = self._status(child)
        if status is None:
            self._absent.add(path)
            return True  # what was to be found in it is absent as well
        if not stat.S_ISDIR(status.st_mode):
            return False
        mode, state, items = self._folder(folder)
        items.pop(os.fsencode(part), None)
        self._folders[to_bytes(folder)] = (mode, state, items)
        self._folders[path] = (stat.S_IMODE(status.st_mode), PARTLY, {})
        return True

    def _folder(self, folder: str) -> tuple[int, int, dict[bytes, Item]]:
        path = to_bytes(folder)
        if path not in self._folders:
            listing = self._old.listing(path)
            if listing is None:
                return 0o755, PARTLY, {}
            state = PARTLY if listing.state == UNREADABLE else listing.state
            self._folders[path] = (listing.mode, state, dict(self._old.items(path)))
        return self._folders[path]

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return os.stat(joined(self._root, path), follow_symlinks=False)  # noqa: PTH116
        except (OSError, ValueError):
            return None

    def _item(self, path: str, status: os.stat_result) -> Item:
        scan = Scan(self._root, self._store, self._limits, None, None, frozenset(), None)
        item = scan.item(joined(self._root, path), status, None, ignored=True)
        item = scan.read(item) if isinstance(item, Unread) else item
        scan.flush()
        self._stored += scan.stored
        if item.kind == UNKEPT:
            self._uncovered.append(path)
        return item

    def done(self) -> Taken:
        """The tree with all that was added."""
        listings: list[Listing | msgspec.Raw] = [
            raw for path, raw in self._old.folders.items() if path not in self._folders
        ]
        listings += [
            listing_of(path, mode, state, sorted(items.items())) for path, (mode, state, items) in self._folders.items()
        ]
        old = self._old.header
        header = Header(narrow=old.narrow, absent=sorted(self._absent), age=old.age)
        return Taken(
            tree=encode(header, listings), files=self._added, changed=self._added, stored=self._stored,
            uncovered=tuple(self._uncovered), narrow=header.narrow,
        )  # fmt: skip


def _below(root: Path, path: Path) -> str:
    """The path relative to the root with forward slashes; "" when it does not lie below, or is git's own."""
    rest = rest_below(str(path), str(root)) or ""
    parts = rest.split(os.sep)  # noqa: PTH206
    return "" if ".git" in parts else "/".join(parts)


def _readable(tree: bytes | None) -> Tree | None:
    try:
        return Tree(tree) if tree is not None else None
    except UserError:  # it only saves time, or widens what is covered
        return None


def _absent(root: Path, wanted: Collection[str]) -> set[bytes]:
    """The paths that do not exist, and the folders on the way to them that do not either."""
    found: set[bytes] = set()
    for path in wanted:
        here = path
        while here and not os.path.lexists(joined(str(root), here)):
            found.add(to_bytes(here))
            here = here.rpartition("/")[0]
    return found


def _news(before: Tree | None, now: Tree) -> tuple[int, tuple[str, ...]]:
    """How many names changed, and which changed without being kept."""
    changed, uncovered = 0, list[str]()
    for path, old, new in differences(before or Tree(encode(Header(), [])), now):
        kinds = {item.kind for item in (old, new) if item is not None}
        if UNKEPT in kinds or lost_repository(path, old, new):
            uncovered.append(to_text(path))
        elif kinds & {FILE, LINK, FOLDER}:
            changed += 1
    return changed, tuple(uncovered)
