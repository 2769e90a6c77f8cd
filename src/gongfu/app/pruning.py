"""Deletes old sessions for good: events, words in the search, outputs, locks, checkpoints; and gives the space back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.store.sessions import SessionRow
from gongfu.workspace.locks import FileLock

if TYPE_CHECKING:
    from gongfu.app.app import App

DAY = 86_400.0
_ALL = 1_000_000
_AT_ONCE = 20  # sessions of one transaction: others write in between
_SMALL = 100_000_000  # bytes of a store that is made small again without being asked to


class Old(Base, frozen=True):
    """A session that would go, with those that it started. `used` is when any of them was last used."""

    row: SessionRow
    family: tuple[str, ...]
    used: float
    bytes: int = 0


class Pruned(Base, frozen=True):
    """What went: ids of sessions with those they started. `busy` were left, as another process has them open."""

    gone: tuple[str, ...] = ()
    sessions: int = 0
    busy: tuple[str, ...] = ()
    freed: int = 0
    shrunk: bool = True
    """Whether the space was given back to the disk; else it is used again."""


def old_sessions(
    app: App, *, before: float = 0.0, keep: int | None = None, everywhere: bool = False, sizes: bool = True
) -> list[Old]:
    """Sessions of this workspace (or all) last used before `before`, or all but the newest `keep`; the oldest first."""
    rows = app.rows.list(None, limit=_ALL, children=True)
    parents = {row.id: row.parent for row in rows}
    used: dict[str, float] = {}
    families: dict[str, list[str]] = {}
    for row in rows:
        top = _top(row.id, parents)
        used[top] = max(used.get(top, 0.0), row.updated)
        families.setdefault(top, []).append(row.id)
    root = "" if everywhere else str(app.workspace.root)
    heads = [row for row in rows if row.id in families and (not root or row.root == root)]
    heads.sort(key=lambda row: used[row.id], reverse=True)
    chosen = heads[keep:] if keep is not None else [row for row in heads if used[row.id] < before]
    return [
        Old(
            row=row,
            family=tuple(families[row.id]),
            used=used[row.id],
            bytes=_bytes(app, families[row.id]) if sizes else 0,
        )
        for row in reversed(chosen)
    ]


def _top(name: str, parents: dict[str, str]) -> str:
    """The session from which a chain of others was started. One whose parent is gone stands for itself."""
    seen = {name}
    while (parent := parents.get(name, "")) and parent in parents and parent not in seen:
        seen.add(parent)
        name = parent
    return name


def _bytes(app: App, family: Iterable[str]) -> int:
    return sum(app.rows.bytes_of(name) + app.artifacts.size(name) for name in family)


async def prune(
    app: App, old: Sequence[Old], *, until: Callable[[], bool] = lambda: False, shrinking: bool = True
) -> Pruned:
    """Delete these sessions. One that is open here or in another process is left. Stops early when `until` says so.

    Deleted bytes are overwritten; with `shrinking` the files get smaller, too.
    """
    before = _on_disk(app)
    gone: list[str] = []
    busy: list[str] = []
    count = 0
    for at in range(0, len(old), _AT_ONCE):
        if until():
            break
        with ExitStack() as locks:
            free = [one for one in old[at : at + _AT_ONCE] if _held(app, one, locks)]
            names = {one.row.id for one in free}
            busy += [one.row.id for one in old[at : at + _AT_ONCE] if one.row.id not in names]
            went = app.rows.delete(*names)
            for name in went:
                app.artifacts.delete(name)
            gone += went
            count += len(free)
        for name in went:
            with suppress(OSError):
                (app.places.locks / f"{name}.lock").unlink(missing_ok=True)
    if not gone:
        return Pruned(busy=tuple(busy))
    app.forget_files()
    shrunk = await shrink(app) if shrinking else False
    freed = max(0, before - _on_disk(app))
    return Pruned(gone=tuple(gone), sessions=count, busy=tuple(busy), freed=freed, shrunk=shrunk)


def _held(app: App, old: Old, locks: ExitStack) -> bool:
    """Hold the locks of a family in `locks`; False when one is held by somebody else, and then none of them is."""
    app.places.ensure(app.places.locks)
    with ExitStack() as some:
        for name in old.family:
            lock = FileLock(app.places.locks / f"{name}.lock")
            try:
                taken = lock.try_acquire()
            except OSError:
                return False
            if not taken:
                return False
            some.callback(lock.release)
        locks.push(some.pop_all())
    return True


async def shrink(app: App) -> bool:
    """Give the space of what was deleted back to the disk; False when others that use the store were in the way."""
    from anyio import to_thread

    try:
        await app.database.vacuum()
        if app.places.checkpoints.exists():
            from gongfu.store.contents_file import vacuum_file

            await to_thread.run_sync(vacuum_file, app.places.checkpoints)
    except UserError as error:
        if error.key != "store.busy":
            raise
        return False
    return app.database.wal_bytes == 0


def _on_disk(app: App) -> int:
    files = (app.places.store, app.places.checkpoints)
    found = app.artifacts.size()
    for path in (p for file in files for p in (file, file.with_name(f"{file.name}-wal"))):
        with suppress(OSError):
            found += path.stat().st_size
    return found


async def keep_to_retention(app: App, *, but: str = "", seconds: float = 2.0) -> Pruned | None:
    """What `retention.days` asks for, of all folders, at most once a day; None when there is nothing to do.

    The session `but` stays, as does any that is open. After about `seconds` the rest waits for another day. A large
    store is not made small again: its space is used anew, and `gongfu sessions prune` gives it back.
    """
    days = app.settings.retention.days
    if days is None or not _due(app):
        return None
    ends = time.monotonic() + seconds
    old = old_sessions(app, before=time.time() - days * DAY, everywhere=True, sizes=False)
    old = [one for one in old if but not in one.family]
    small = _on_disk(app) < _SMALL
    done = await prune(app, old, until=lambda: time.monotonic() > ends, shrinking=small)
    return done if done.gone else None


def _due(app: App) -> bool:
    """Whether a day has passed since this was last asked; then it is noted that it was."""
    mark = app.places.cache / "retention"
    now = time.time()
    with suppress(OSError):
        if 0 <= now - mark.stat().st_mtime < DAY:
            return False
    try:
        app.places.ensure(app.places.cache)
        mark.touch(mode=0o600)
    except (OSError, UserError):  # a home that cannot be written has nothing to delete from, either
        return False
    return True
