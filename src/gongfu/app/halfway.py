"""What a kill left of giving files back: some as they were, some as wanted, some gone on the way between the two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import anyio.to_thread

from gongfu.app.beside import is_running
from gongfu.app.shelf import Place, Shelf, View, names_of
from gongfu.core.errors import UserError
from gongfu.core.guarded import FilesRestored
from gongfu.workspace.checkpoint import compare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gongfu.app.app import App
    from gongfu.app.giving import Files, Thing
    from gongfu.store.contents import CheckpointRow

_TO: Final = "to "


def towards(checkpoints: Iterable[str]) -> str:
    """What a checkpoint that is taken before files are given back says of where that leads."""
    return _TO + ",".join(checkpoints)


def begun_by(row: CheckpointRow) -> str:
    """The id of the checkpoint from before files were given back, for one that was taken before or after it."""
    return row.id if not row.turn or row.turn.startswith(_TO) else row.turn


async def cut_off(app: App, place: Place, session: str) -> str:
    """The checkpoint from before a giving that was killed, when it was the last that happened under this root; else "".

    One that is going on in another process is none.
    """
    if not place.store.exists():
        return ""
    row = await anyio.to_thread.run_sync(partial(_last, place))
    if row is None or (row.session != session and is_running(app, row.session)):
        return ""
    known = (e.event.before for e in app.journal.read(row.session) if isinstance(e.event, FilesRestored))
    return "" if row.id in known else row.id


def _last(place: Place) -> CheckpointRow | None:
    with Shelf(place) as shelf:
        newest = shelf.last()
        if newest is None or newest.when != "restore":
            return None
        try:
            row = shelf.row(begun_by(newest))
        except UserError:  # deleted since
            return None
        return row if row.turn.startswith(_TO) else None


class Halfway:
    """The files at the checkpoint `id` from before a giving that was killed, and where that was to lead."""

    def __init__(self, shelf: Shelf, id: str) -> None:
        row = shelf.row(id)
        self.id, self.session = id, row.session
        self._tree = shelf.tree(id)
        self._before = View(self._tree)
        self._wanted: list[View] = []
        for name in row.turn.removeprefix(_TO).split(",") if row.turn else ():
            try:
                self._wanted.append(View(shelf.tree(name)))
            except UserError:  # deleted since
                continue

    def left(self, path: str, was: Files, now: Files) -> bool:
        """Whether a path that was as in `was` when the killed giving began is now as that left it."""
        return self._before.get(path) == was.get(path) and self._explains(path, now.get(path))

    def strangers(self, after: bytes) -> frozenset[str]:
        """What differs between the tree `after` of the giving's end and its beginning though it led elsewhere: somebody
        else changed it meanwhile."""
        if not self._wanted:
            return frozenset()
        then = View(after)
        names = names_of(compare(self._tree, after))
        return frozenset(p for p in names if all(then.get(p) != view.get(p) for view in self._wanted))

    def _explains(self, path: str, here: Thing | None) -> bool:
        before, wanted = self._before.get(path), [view.get(path) for view in self._wanted]
        if here == before:
            return True
        if all(one == before for one in wanted):
            return False
        folders = [one for one in (before, *wanted) if one is not None and one.folder]
        return here is None or here in wanted or (here.folder and bool(folders))
