"""Whose change was it? What another session changed in the same workspace while a turn ran is not the turn's."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from gongfu.app.shelf import Shelf, names_of
from gongfu.core.errors import ToolFailure
from gongfu.core.events import AgentStarted, Entry, ToolStarted, TurnStarted
from gongfu.store.contents import CheckpointRow
from gongfu.toolkit.written import paths_written
from gongfu.workspace.checkpoint import compare
from gongfu.workspace.locks import FileLock
from gongfu.workspace.root import rest_below

if TYPE_CHECKING:
    from gongfu.app.app import App


def written(app: App, session: str, turn: str, root: str) -> set[str]:
    """Paths below the root that the file tools of a turn were to write, those of its sub-agents included."""
    within = False
    found: set[str] = set()
    for entry in app.journal.read(session):
        if isinstance(entry.event, TurnStarted):
            within = entry.event.turn == turn
        elif within:
            found |= _written(app, entry, root)
    return found


def _written(app: App, entry: Entry, root: str) -> set[str]:
    event = entry.event
    if isinstance(event, AgentStarted):
        return {path for below in app.journal.read(event.session) for path in _written(app, below, root)}
    if not isinstance(event, ToolStarted):
        return set()
    found: set[str] = set()
    for path in paths_written(event.name, event.arguments):
        try:
            rest = rest_below(str(app.workspace.locate(path).path), root)
        except ToolFailure:
            continue
        if rest:
            found.add(rest.replace(os.sep, "/"))
    return found


def others(
    shelf: Shelf, before: CheckpointRow, after: CheckpointRow | None, running: Callable[[str], bool]
) -> set[str]:
    """Paths that turns of other sessions may have changed between two checkpoints (`after` None: until now)."""
    pairs: dict[tuple[str, str], dict[str, CheckpointRow]] = {}
    for row in shelf.all_rows():
        if row.session != before.session and row.when != "restore":
            pairs.setdefault((row.session, row.turn), {})[row.when] = row
    found: set[str] = set()
    for (session, _), pair in pairs.items():
        start, end = pair.get("before"), pair.get("after")
        if start is None or (after is not None and start.at > after.at):
            continue
        if end is None and not running(session):  # it was killed: its turn ended then
            continue
        if end is not None and end.at < before.at:
            continue
        tree = shelf.tree(start.id)
        found.update(names_of(compare(tree, shelf.tree(end.id) if end is not None else shelf.now(beside=tree).tree)))
    return found


def is_running(app: App, session: str) -> bool:
    """Whether a session is open, here or in another process."""
    path = app.places.locks / f"{session}.lock"
    if not path.exists():
        return False
    lock = FileLock(path)
    try:
        taken = lock.try_acquire()
    except OSError:
        return False
    lock.release()
    return not taken
