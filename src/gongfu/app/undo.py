"""Undo and redo: files are given back from the checkpoints of a session, and the talk is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from gongfu.app.deeds import Deed, Pair, Story, story
from gongfu.app.give_back import Agree, Given, Step, Steps, give_back, preview, told
from gongfu.app.halfway import Halfway, cut_off
from gongfu.app.shelf import Place, Shelf
from gongfu.core.errors import UserError

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


async def undo(
    app: App, session: str = "", *, turns: int = 1, force: bool = False, agree: Agree | None = None
) -> Given:
    """Give files back to how they were before the last `turns` turns that changed any and are not undone yet.

    `session` is an id or a unique part of it ("": the one that changed files here last). What somebody else changed
    since is kept, unless `force`. `agree` is shown the plan and decides (None: yes). When nothing can be given back
    without `force`, nothing is recorded. UserError when there is nothing to undo, or the session is busy.
    """
    talk = await open_talk(app, session)
    place, past = await read_story(app, talk.id)
    deeds = [deed for deed in reversed(past.deeds) if not deed.undone][:turns]
    if not deeds:
        raise UserError("undo.nothing_left" if past.deeds else "undo.nothing", session=talk.id)
    given = Given(action="undo", session=talk.id, turns=tuple(deed.turn for deed in deeds), cut=_cut(deeds))
    return await _carry_out(app, talk, place, stepping(app, place, talk.id, deeds), given, force=force, agree=agree)


def _cut(deeds: Sequence[Deed]) -> bool:
    return any(not deed.after for deed in deeds)


async def redo(app: App, session: str = "", *, force: bool = False, agree: Agree | None = None) -> Given:
    """Take back the last undo of a session, as long as no turn changed files after it. Otherwise as `undo`."""
    talk = await open_talk(app, session)
    place, past = await read_story(app, talk.id)
    if not past.givings:
        raise UserError("undo.nothing_undone", session=talk.id)
    if past.fresh:
        raise UserError("undo.changed_since", session=talk.id)
    last = past.givings[-1]
    turns = tuple(turn for turn in past.turns if turn.turn in last.turns)

    def steps(shelf: Shelf) -> list[Step]:
        until, since = shelf.tree(last.before), shelf.tree(shelf.behind(last.before, shelf.row(last.before).session))
        theirs = Halfway(shelf, last.before).strangers(since)
        return [Step(checkpoint=last.before, was=since, want=until, theirs=theirs)]

    given = Given(action="redo", session=talk.id, turns=turns)
    return await _carry_out(app, talk, place, steps, given, force=force, agree=agree)


async def _carry_out(
    app: App, talk: Session, place: Place, steps: Steps, given: Given, *, force: bool, agree: Agree | None
) -> Given:
    half = await cut_off(app, place, talk.id)
    if agree is not None and not agree(shown := await preview(place, steps, given, force=force, cut_off=half)):
        return shown
    done, events = await give_back(place, steps, given, force=force, cut_off=half)
    if events:
        talk.stream.emit(*events, told(done))
    return done


def stepping(app: App, place: Place, session: str, deeds: Sequence[Deed]) -> Steps:
    """What takes these turns back, the newest first."""
    from gongfu.app.beside import is_running, written

    mine = {deed.turn.turn: written(app, session, deed.turn.turn, str(place.root)) for deed in deeds}
    return partial(_steps, deeds, mine, partial(is_running, app))


def _steps(
    deeds: Sequence[Deed], mine: Mapping[str, set[str]], running: Callable[[str], bool], shelf: Shelf
) -> list[Step]:
    """The steps. A turn that was killed has left the files as they are now."""
    from gongfu.app.beside import others

    steps: list[Step] = []
    for deed in deeds:
        want = shelf.tree(deed.before)
        was = shelf.tree(deed.after) if deed.after else steps[-1].want if steps else shelf.now(beside=want).tree
        after = shelf.row(deed.after) if deed.after else None
        theirs = others(shelf, shelf.row(deed.before), after, running) - mine[deed.turn.turn]
        steps.append(Step(checkpoint=deed.before, was=was, want=want, theirs=frozenset(theirs)))
    return steps


async def open_talk(app: App, session: str, *, changed: bool = True) -> Session:
    """The session, held against other processes; "" is the one that changed files here last, or was active last.

    UserError when it is busy, or there is none.
    """
    session = session or (await newest(app) if changed else "")
    talk = await app.session(session, latest=True)
    if talk.running:
        raise UserError("undo.running", session=talk.id)
    return talk


async def look(app: App, session: str, *, changed: bool = True) -> tuple[str, Story]:
    """The id of a session and its story, without a lock on it. UserError when there is none."""
    session = session or (await newest(app) if changed else "")
    row = app.rows.get(session) if session else app.rows.latest(str(app.workspace.root), calls=True)
    if row is None:
        raise UserError("undo.no_session", root=str(app.workspace.root))
    return row.id, (await read_story(app, row.id))[1]


async def newest(app: App) -> str:
    """The session that changed files here last; "" for none."""
    return await anyio.to_thread.run_sync(partial(_newest, place_of(app)))


def _newest(place: Place) -> str:
    if not place.store.exists():
        return ""
    with Shelf(place) as shelf:
        return shelf.newest()


def place_of(app: App, root: str = "") -> Place:
    """Where the files and the checkpoints of `root` (default: this workspace) are."""
    return Place(root=Path(root or app.workspace.root), store=app.places.checkpoints, env=app.options.env)


async def read_story(app: App, session: str) -> tuple[Place, Story]:
    """What the turns of a session did to the files; a fork knows what its origin did before it."""
    entries = tuple(app.journal.read(session))
    root, chain = _lineage(app, session)
    place = place_of(app, root)
    return place, story(entries, await anyio.to_thread.run_sync(partial(_pairs, place, chain)))


def _lineage(app: App, session: str) -> tuple[str, list[str]]:
    """The root of a session, and the sessions whose turns it holds: itself, its origin, and so on."""
    from gongfu.core.events import SessionCreated

    root, chain = "", [session]
    while True:
        first = next(app.journal.read(chain[-1], before=2), None)
        created = first.event if first is not None else None
        if not isinstance(created, SessionCreated):
            return root, chain
        root = root or created.root
        if not created.forked_from or created.forked_from in chain:
            return root, chain
        chain.append(created.forked_from)


def _pairs(place: Place, chain: Sequence[str]) -> dict[str, Pair]:
    if not place.store.exists():
        return {}
    pairs: dict[str, Pair] = {}
    with Shelf(place) as shelf:
        for session in chain:
            for row in shelf.rows(session):
                if row.when == "before":
                    pairs.setdefault(row.turn, Pair(before=row.id))
            for row in shelf.rows(session):
                if row.when == "after" and row.turn in pairs and not pairs[row.turn].after:
                    pairs[row.turn] = Pair(before=pairs[row.turn].before, after=row.id)
    return pairs
