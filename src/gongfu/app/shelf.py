"""The checkpoints of one workspace, as its undo uses them. Everything here blocks: it is called in a thread."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from msgspec.structs import replace

from gongfu.app.giving import Thing
from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.ids import new_id
from gongfu.store.contents import CheckpointRow, Contents
from gongfu.workspace.checkpoint import Changes, Restored, Taken, compare, extend, restore, take
from gongfu.workspace.checkpoint.tree import ABSENT, FOLDER, LINK, Tree, inside, to_bytes, to_text
from gongfu.workspace.root import rest_below

_UNKNOWN = Thing(key=("unknown",))


class Place(Base, frozen=True):
    """Where the files are (`root`), where the store is, and the environment that says what git ignores."""

    root: Path
    store: Path
    env: Mapping[str, str]


class Kept(Base, frozen=True):
    """A checkpoint that was saved. `seconds` is what it took; `tree` how the files are.

    `uncovered` changed and are not kept, `lost` those among them that a person
    should know of. `narrow`: the folder is too large, only what file tools touch is kept."""

    id: str
    session: str
    turn: str
    tree: bytes
    files: int = 0
    changed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    uncovered: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    narrow: bool = False


class View:
    """A tree as `giving.Files`. What the tree does not tell is like nothing else, so it is never given back."""

    def __init__(self, data: bytes) -> None:
        self._tree = Tree(data)

    def get(self, path: str, /) -> Thing | None:
        name = to_bytes(path)
        item = self._tree.item(name)
        if item is None:
            return None if self._tree.knows(name) else _UNKNOWN
        if item.kind == ABSENT:
            return None
        mode = 0 if item.kind == LINK else item.mode
        return Thing(key=(item.kind, mode, item.mark), folder=item.kind == FOLDER, size=item.size)

    def below(self, path: str, /) -> Iterable[str]:
        top = to_bytes(path)
        for folder in self._tree.folders:
            if folder == top or folder.startswith(top + b"/"):
                if folder != top:
                    yield to_text(folder)
                for name in self._tree.items(folder):
                    yield to_text(inside(folder, name))


class Shelf:
    """The open store, for one root. Raises UserError as `Contents` does."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.root = place.root
        self._root = str(place.root)
        self._own = Path(os.path.realpath(place.store.parent))
        _make_folder(place.store.parent)
        self._contents = Contents.open(place.store)

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Close the store; closing twice is no error."""
        self._contents.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._contents.close()

    def now(
        self,
        touched: Collection[str] = (),
        *,
        known: bytes | None = None,
        beside: bytes | None = None,
        check: Callable[[], None] | None = None,
        anew: bool = False,
    ) -> Taken:
        """The files as they are. Of those that are ignored: `touched`, and what the tree `beside` has of them.

        `known` is an earlier tree that saves reading (None: the newest there is; `anew` reads all). `check` may raise
        to stop.
        """
        if rest_below(self._root, str(self._own)) is not None:
            raise UserError("undo.own_folder", path=self._own)
        known = None if anew else known or self._contents.latest_tree(self._root)
        paths = [self._place.root / path for path in touched]
        return take(
            self._place.root, self._contents, touched=paths, known=known, beside=beside, env=self._place.env,
            check=check, private=(self._own,),
        )  # fmt: skip

    def add(self, tree: bytes, paths: Collection[str]) -> Taken | None:
        """`tree` with `paths` as they are now, where it does not tell of them; None when it tells of all."""
        return extend(self._place.root, self._contents, tree, [self._place.root / path for path in paths])

    def save(
        self, taken: Taken, session: str, turn: str, when: Literal["before", "after", "restore"], *, id: str = ""
    ) -> str:
        """Keep what was taken; its id."""
        name = id or new_id("k")
        row = CheckpointRow(
            id=name, session=session, root=self._root, turn=turn, when=when, at=time.time(),
            files=taken.files, changed=taken.changed, bytes=taken.stored,
        )  # fmt: skip
        self._contents.save(row, taken.tree)
        return name

    def rows(self, session: str) -> list[CheckpointRow]:
        """The checkpoints of a session, the oldest first."""
        return list(reversed(self._contents.rows(session=session)))

    def all_rows(self) -> list[CheckpointRow]:
        """The checkpoints of all sessions under this root, the newest first."""
        return self._contents.rows(root=self._root)

    def row(self, id: str) -> CheckpointRow:
        """One by its id, or a part of it that is unique."""
        return self._contents.row(id)

    def last(self) -> CheckpointRow | None:
        """The newest checkpoint under this root."""
        return next(iter(self._contents.rows(root=self._root, limit=1)), None)

    def newest(self) -> str:
        """The session that changed files under this root last; "" for none."""
        found = self._contents.rows(root=self._root, limit=1)
        return found[0].session if found else ""

    def tree(self, id: str) -> bytes:
        """The files as a checkpoint has them."""
        return self._contents.tree(id)

    def behind(self, id: str, session: str) -> str:
        """The checkpoint of how the files were once those of the checkpoint `id` had been given up."""
        for row in self._contents.rows(session=session):
            if row.when == "restore" and row.turn == id:
                return row.id
        raise UserError("undo.gone", id=id)

    def give(self, want: bytes, now: bytes, only: Sequence[str]) -> Restored:
        """Bring `only` these paths from `now` to what is wanted."""
        return restore(self._place.root, self._contents, want=want, now=now, only=only, exact=True)

    def content(self, path: str, tree: bytes) -> bytes | None:
        """The content of a file in a tree; None when there is none."""
        from gongfu.workspace.checkpoint.tree import FILE

        item = Tree(tree).item(to_bytes(path))
        return self._contents.get(item.mark) if item is not None and item.kind == FILE else None

    def drop(self, id: str) -> None:
        """Delete one checkpoint."""
        self._contents.drop(id)


def names_of(changes: Changes) -> list[str]:
    """The paths that differ, folders without the slash at their end."""
    return [path.rstrip("/") for path in changes.paths]


class GivenUp(Exception):
    """The checkpoint is not wanted any more."""


def keep_before(
    shelf: Shelf,
    session: str,
    turn: str,
    touched: Sequence[str],
    *,
    known: bytes | None = None,
    given_up: Callable[[], bool] = lambda: False,
) -> Kept:
    """Take and save the checkpoint before the first change of a turn. `GivenUp` when it is `given_up` meanwhile."""
    began = time.monotonic()

    def check() -> None:
        if given_up():
            raise GivenUp

    def save(*, anew: bool) -> tuple[str, Taken]:
        taken = shelf.now(touched, known=known, check=check, anew=anew)
        check()
        name = shelf.save(taken, session, turn, "before")
        if given_up():  # saving may have waited for another process
            shelf.drop(name)
            raise GivenUp
        return name, taken

    name, taken = _again_when_swept(save)
    outside = _outside(shelf.root, touched)
    return replace(_kept(name, session, turn, taken, began, outside), lost=outside)


def add_to(shelf: Shelf, before: Kept, paths: Sequence[str]) -> Kept:
    """Add the present state of `paths` to the checkpoint of a turn that has begun to change others."""
    began = time.monotonic()
    taken = shelf.add(before.tree, paths)
    outside = _outside(shelf.root, paths)
    if taken is None:
        return replace(before, uncovered=(*before.uncovered, *outside), lost=(*before.lost, *outside))
    shelf.save(taken, before.session, before.turn, "before", id=before.id)
    more = _kept(before.id, before.session, before.turn, taken, began, outside)
    return replace(
        before, tree=taken.tree, bytes=before.bytes + taken.stored,
        uncovered=(*before.uncovered, *more.uncovered), lost=(*before.lost, *more.uncovered),
    )  # fmt: skip


def keep_after(shelf: Shelf, before: Kept, touched: Sequence[str]) -> tuple[Kept, bool]:
    """Take and save the checkpoint after a turn, and whether it changed anything.

    When it did not, nothing is saved and the one before it goes, too.
    """
    began = time.monotonic()

    def save(*, anew: bool) -> tuple[str, Taken]:
        taken = shelf.now(touched, known=before.tree, beside=before.tree, anew=anew)
        if taken.tree == before.tree or not compare(before.tree, taken.tree).paths:
            shelf.drop(before.id)
            return "", taken
        return shelf.save(taken, before.session, before.turn, "after"), taken

    name, taken = _again_when_swept(save)
    if not name:
        return replace(_kept("", before.session, before.turn, taken, began, ()), lost=before.lost), False
    changes = compare(before.tree, taken.tree)
    uncovered = tuple(dict.fromkeys((*changes.uncovered, *changes.ignored)))
    kept = _kept(name, before.session, before.turn, taken, began, uncovered)
    return replace(kept, lost=tuple(dict.fromkeys((*changes.uncovered, *before.lost)))), True


def _again_when_swept(save: Callable[..., tuple[str, Taken]]) -> tuple[str, Taken]:
    """Another process may delete contents between taking and saving: then everything is read again."""
    try:
        return save(anew=False)
    except UserError as error:
        if error.key != "checkpoints.swept":
            raise
        return save(anew=True)


def _kept(id: str, session: str, turn: str, taken: Taken, began: float, uncovered: tuple[str, ...]) -> Kept:
    return Kept(
        id=id, session=session, turn=turn, tree=taken.tree, files=taken.files, changed=taken.changed,
        bytes=taken.stored, seconds=time.monotonic() - began,
        uncovered=tuple(dict.fromkeys((*taken.uncovered, *uncovered))), narrow=taken.narrow,
    )  # fmt: skip


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError("store.not_writable", path=folder, reason=error.strerror or error) from error


def _outside(root: Path, paths: Collection[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if rest_below(path, str(root)) is None)
