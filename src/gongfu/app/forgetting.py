"""Deletes the checkpoints of sessions that are gone, but for what a fork of them still can undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.core.errors import UserError
from gongfu.core.events import SessionCreated, TurnStarted
from gongfu.store.contents import Contents

if TYPE_CHECKING:
    from gongfu.app.app import App

_ALL = 1_000_000


def forget_files(app: App) -> int:
    """Really delete the checkpoints of sessions that are not there any more; how many went.

    A fork holds turns of its origin and can undo them: their checkpoints stay until the last fork is deleted.
    """
    contents = Contents.open(app.places.checkpoints)
    try:
        live = {row.id for row in app.rows.list(None, limit=_ALL, children=True)}
        rows = [row for row in contents.rows(limit=_ALL) if row.session not in live]
        if not rows:
            return 0
        heirs = _heirs(app, live)
        gone = 0
        for session in {row.session for row in rows}:
            if session not in heirs:
                gone += contents.forget(session=session)
                continue
            turns = {turn for heir in heirs[session] for turn in _turns(app, heir)}
            for row in rows:
                if row.session == session and row.when != "restore" and row.turn not in turns:
                    contents.drop(row.id)
                    gone += 1
        contents.sweep()
        return gone
    finally:
        contents.close()


def _heirs(app: App, live: set[str]) -> dict[str, list[str]]:
    """For each session the forks that live of it, and the forks of these."""
    parents: dict[str, str] = {}
    for name in live:
        first = next(app.journal.read(name, before=2), None)
        if first is not None and isinstance(first.event, SessionCreated) and first.event.forked_from:
            parents[name] = first.event.forked_from
    heirs: dict[str, list[str]] = {}
    for name, origin in parents.items():
        above, seen = origin, {name}
        while above and above not in seen:
            heirs.setdefault(above, []).append(name)
            seen.add(above)
            above = parents.get(above, "")
    return heirs


def _turns(app: App, session: str) -> set[str]:
    try:
        return {e.event.turn for e in app.journal.read(session) if isinstance(e.event, TurnStarted)}
    except UserError:  # it was deleted meanwhile
        return set()
