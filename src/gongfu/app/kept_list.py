"""What the checkpoints of a session hold, for a person: the turns that changed files, and what each changed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from gongfu.app.deeds import Deed
from gongfu.app.give_back import Agree, Given, Step, give_back, preview, told
from gongfu.app.giving import Mark, marks_of
from gongfu.app.halfway import begun_by, cut_off
from gongfu.app.shelf import Place, Shelf, View, names_of
from gongfu.app.undo import open_talk, place_of, read_story
from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.workspace.checkpoint import compare

if TYPE_CHECKING:
    from gongfu.app.app import App

_TEXT = 512 << 10
_DIFF = 2 << 20


class Line(Base, frozen=True):
    """A turn that changed files: how many came, went and changed, which (`paths`), and the bytes stored for it."""

    deed: Deed
    added: int
    removed: int
    changed: int
    bytes: int
    paths: frozenset[str] = frozenset()

    @property
    def state(self) -> Literal["done", "undone", "open"]:
        """Whether it is undone, or was cut off by a kill."""
        return "undone" if self.deed.undone else "done" if self.deed.after else "open"


class Change(Base, frozen=True):
    """A path that changed. `diff` is a unified diff where both sides are text and it was asked for."""

    path: str
    mark: Mark
    size: int = 0
    diff: str = ""
    lines_added: int = 0
    lines_removed: int = 0


async def lines_of(app: App, session: str = "") -> tuple[str, list[Line]]:
    """The id of a session ("": the one that changed files here last) and its turns that changed files."""
    name, past = await app.checkpoints(session)
    place, _ = await read_story(app, name)
    return name, await anyio.to_thread.run_sync(partial(_lines, place, past.deeds))


def _lines(place: Place, deeds: tuple[Deed, ...]) -> list[Line]:
    if not deeds:
        return []
    lines: list[Line] = []
    with Shelf(place) as shelf:
        for deed in deeds:
            before = shelf.tree(deed.before)
            found = compare(before, shelf.tree(deed.after) if deed.after else shelf.now(beside=before).tree)
            stored = sum(shelf.row(name).bytes for name in (deed.before, deed.after) if name)
            added, removed = ([p for p in some if not p.endswith("/")] for some in (found.added, found.removed))
            paths = frozenset([*added, *removed, *found.changed])
            counts = {"added": len(added), "removed": len(removed), "changed": len(found.changed)}
            lines.append(Line(deed=deed, **counts, bytes=stored, paths=paths))
    return lines


async def changes_at(app: App, checkpoint: str, *, diff: bool = False) -> list[Change]:
    """What changed between a checkpoint (its id or a unique part of it) and the one that goes with it.

    For one that was taken before or after a turn: what the turn changed. For one from before an undo: what that
    changed. UserError when there is none.
    """
    return await anyio.to_thread.run_sync(partial(_changes, place_of(app), checkpoint, diff))


async def changes_since(app: App, session: str, checkpoint: str = "") -> tuple[str, list[Change]]:
    """What has become of the files since a checkpoint, whoever changed them, with diffs; and the checkpoint's id.

    Without one since before the first turn of the session that changed any ("" and nothing where none did).
    """
    place, past = await read_story(app, session)
    name = checkpoint or (past.deeds[0].before if past.deeds else "")
    if not name:
        return "", []
    if not place.store.exists():
        raise UserError("undo.gone", id=name)
    return await anyio.to_thread.run_sync(partial(_since, place, name))


def _since(place: Place, checkpoint: str) -> tuple[str, list[Change]]:
    with Shelf(place) as shelf:
        before = shelf.tree(checkpoint)
        return shelf.row(checkpoint).id, _between(shelf, before, shelf.now(beside=before).tree, diff=True)


def _changes(place: Place, checkpoint: str, diff: bool) -> list[Change]:
    if not place.store.exists():
        raise UserError("undo.gone", id=checkpoint)
    with Shelf(place) as shelf:
        before, after = _pair(shelf, checkpoint)
        return _between(shelf, before, after, diff=diff)


def _between(shelf: Shelf, before: bytes, after: bytes, *, diff: bool) -> list[Change]:
    marks = marks_of(names_of(compare(before, after)), View(before), View(after))
    left = _DIFF
    changes: list[Change] = []
    for path, mark in marks.items():
        here = View(after).get(path) or View(before).get(path)
        change = Change(path=path, mark=mark, size=here.size if here else 0)
        if diff and left > 0:
            change = _with_diff(shelf, change, before, after)
            left -= len(change.diff)
        changes.append(change)
    return changes


def _pair(shelf: Shelf, checkpoint: str) -> tuple[bytes, bytes]:
    row = shelf.row(checkpoint)
    rows = shelf.rows(row.session)
    if row.when == "restore":
        first = begun_by(row)
        return shelf.tree(first), shelf.tree(shelf.behind(first, row.session))
    before = next((r.id for r in rows if r.turn == row.turn and r.when == "before"), row.id)
    after = next((r.id for r in rows if r.turn == row.turn and r.when == "after"), "")
    tree = shelf.tree(before)
    return tree, shelf.tree(after) if after else shelf.now(beside=tree).tree


def _with_diff(shelf: Shelf, change: Change, before: bytes, after: bytes) -> Change:
    from gongfu.toolkit.diffs import diff_of

    old, new = (_text(shelf.content(change.path, tree)) for tree in (before, after))
    if old is None or new is None:
        return change
    shown = diff_of(change.path, old, new, created=change.mark == "+")
    return Change(
        path=change.path, mark=change.mark, size=change.size, diff=str(shown.get("diff", "")),
        lines_added=int(shown.get("added", 0)), lines_removed=int(shown.get("removed", 0)),
    )  # fmt: skip


def _text(data: bytes | None) -> str | None:
    if data is None:
        return ""
    if len(data) > _TEXT or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


async def restore(app: App, checkpoint: str, *, force: bool = False, agree: Agree | None = None) -> Given:
    """Give the whole of the covered files back as a checkpoint has them, whoever changed them since.

    How they were is kept first, and `redo` takes it back. UserError when there is none.
    """
    del force  # everything is given back
    place = place_of(app)
    if not place.store.exists():
        raise UserError("undo.gone", id=checkpoint)
    name, session = await anyio.to_thread.run_sync(partial(_named, place, checkpoint))
    talk = await open_talk(app, session)
    place, past = await read_story(app, talk.id)
    at = next((n for n, deed in enumerate(past.deeds) if name in (deed.before, deed.after)), len(past.deeds))
    later = [d for n, d in enumerate(past.deeds) if n > at or (n == at and d.before == name)]
    turns = tuple(deed.turn for deed in reversed(later) if not deed.undone)

    def steps(shelf: Shelf) -> list[Step]:
        want = shelf.tree(name)
        marks = [deed.before for deed in reversed(later) if not deed.undone]
        return [Step(checkpoint=name, was=shelf.now(beside=want).tree, want=want, marks=tuple(marks))]

    given = Given(action="rewind", session=talk.id, turns=turns)
    half = await cut_off(app, place, talk.id)
    if agree is not None and not agree(shown := await preview(place, steps, given, force=True, cut_off=half)):
        return shown
    done, events = await give_back(place, steps, given, force=True, cut_off=half)
    if events:
        talk.stream.emit(*events, told(done))
    return done


def _named(place: Place, checkpoint: str) -> tuple[str, str]:
    with Shelf(place) as shelf:
        row = shelf.row(checkpoint)
    return row.id, row.session
