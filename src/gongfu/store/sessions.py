"""The list of sessions: what each is called, where it ran, what it used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.events import TodoItem
from gongfu.core.specs import Usage
from gongfu.store.database import Database

BY_HAND: Final = "gongfu tools run "  # how the title of a session with one call made by hand begins
_SPAN: Final = 1 << 32
_FAMILY: Final = (
    "WITH RECURSIVE family (number, id) AS (SELECT number, id FROM session WHERE id = ?"
    " UNION SELECT s.number, s.id FROM session s JOIN family f ON s.parent = f.id AND s.parent <> '')"
    " SELECT number, id FROM family"
)
_COLUMNS: Final = "id, title, directory, root, parent, created, updated, turns, tokens, cost"


class SessionRow(Base, frozen=True):
    """One session. Times are seconds since 1970, `tokens` all prompt and generated ones.

    `cost` is US dollars of the turns whose price is known; None when no price was.
    """

    id: str
    title: str
    directory: str
    root: str
    parent: str
    created: float
    updated: float
    turns: int
    tokens: int
    cost: float | None


class Unfinished(Base, frozen=True):
    """An open item of a todo list and the session that has it; `updated` is seconds since 1970."""

    item: TodoItem
    session: str
    title: str
    updated: float


def as_text(path: str) -> str:
    """A path as text that a database takes: bytes of a name that are no UTF-8 are written as escapes."""
    return path.encode("utf-8", "backslashreplace").decode()


class Sessions:
    """Makes, finds, lists and deletes sessions."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(self, id: str, *, directory: str, root: str, parent: str = "", at: float) -> None:
        """Add a session; one whose events came first keeps them and gets its places now."""
        with self._db.write() as connection:
            connection.execute("INSERT OR IGNORE INTO session (id, created, updated) VALUES (?, ?, ?)", (id, at, at))
            connection.execute(
                "UPDATE session SET directory = ?, root = ?, parent = ? WHERE id = ?",
                (as_text(directory), as_text(root), parent, id),
            )

    def touch(self, id: str, *, at: float) -> None:
        """Say that something happened in the session at `at`."""
        self._update("updated = max(updated, ?)", (at,), id)

    def set_title(self, id: str, title: str) -> None:
        """Name the session."""
        self._update("title = ?", (title,), id)

    def set_todo(self, id: str, items: Sequence[TodoItem]) -> None:
        """Keep what the todo list of the session has open, so that it is found without reading its events."""
        left = [{"text": i.text, "status": i.status} for i in items if i.status in ("pending", "in_progress")]
        self._update("todo = ?", (msgspec.json.encode(left).decode("utf-8", "replace"),), id)

    def unfinished(self, root: str, *, but: str = "", since: float = 0.0, limit: int = 10) -> list[Unfinished]:
        """What main agents' sessions under `root` left open since `since`, the newest first, at most `limit` items.

        Only up to the newest session that finished all it had; `but` is left out. Each text comes once.
        """
        rows = self._db.read(
            "SELECT id, title, updated, todo FROM session WHERE root = ? AND parent = '' AND id <> ? AND todo <> ''"
            " AND updated >= ? ORDER BY updated DESC, number DESC LIMIT 10",
            (as_text(root), but, since),
        )
        found: dict[str, Unfinished] = {}
        for session, title, updated, todo in rows:
            items = msgspec.json.decode(todo, type=list[TodoItem])
            if not items:
                break
            for item in sorted(items, key=lambda i: i.status != "in_progress"):
                left = Unfinished(item=item, session=str(session), title=str(title), updated=float(updated))
                found.setdefault(item.text, left)
        return list(found.values())[:limit]

    def note_turn(self, id: str, *, usage: Usage, cost: float | None, at: float) -> None:
        """Add one finished turn: its tokens, and its money in US dollars where known."""
        self._update(
            "turns = turns + 1, tokens = tokens + ?1, updated = max(updated, ?3),"
            " cost = CASE WHEN ?2 IS NULL THEN cost ELSE coalesce(cost, 0) + ?2 END",
            (usage.input + usage.output, cost, at),
            id,
        )

    def get(self, id: str) -> SessionRow:
        """The session with this id, or the only one whose id begins (with or without "s_") or ends like this.

        Raises UserError when there is none or more than one; it names the nearest.
        """
        if not id:
            raise UserError("store.session_unknown_none", session='""')
        exact = self._rows("WHERE id = ?", (id,))
        if exact:
            return exact[0]
        found = self._beginning(id) or self._beginning(f"s_{id}") or self._ending(id)
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError("store.session_ambiguous", session=id, near=_names(found))
        near = self._near(id)
        if near:
            raise UserError("store.session_unknown", session=id, near=_names(near))
        raise UserError("store.session_unknown_none", session=id)

    def latest(self, root: str | None = None, *, calls: bool = False) -> SessionRow | None:
        """The session that was last active (under `root`); sessions started by others are left out.

        Those that hold a single call made by hand count only with `calls`, or where there is nothing else.
        """
        where = "(?1 IS NULL OR root = ?1) AND parent = '' AND substr(title, 1, ?2) <> ?3"
        given = (root if root is None else as_text(root), len(BY_HAND), BY_HAND)
        talks = [] if calls else self._rows(f"WHERE {where} ORDER BY updated DESC, number DESC LIMIT 1", given)
        rows = talks or self.list(root, limit=1)
        return rows[0] if rows else None

    def list(
        self, root: str | None = None, *, limit: int = 50, offset: int = 0, children: bool = False
    ) -> list[SessionRow]:
        """Sessions, the last active first; with `children` those that another one started, too."""
        return self._rows(
            "WHERE (?1 IS NULL OR root = ?1) AND (?2 OR parent = '') ORDER BY updated DESC, number DESC"
            " LIMIT ?3 OFFSET ?4",
            (root if root is None else as_text(root), children, limit, offset),
        )

    def family(self, id: str) -> list[str]:
        """The session and those that it started, and they, first the session itself; [] for an unknown id."""
        return [str(name) for _, name in self._db.read(_FAMILY, (id,))]

    def delete(self, *ids: str) -> list[str]:
        """Delete sessions, those they started, and all their events, in one transaction; return the ids that went.

        The bytes are overwritten in the database; the caller deletes their artifacts. An unknown id gives nothing.
        """
        with self._db.write() as connection:
            connection.execute("PRAGMA secure_delete=ON")
            rows = dict(row for one in ids for row in connection.execute(_FAMILY, (one,)).fetchall())
            for number in rows:
                connection.execute(
                    "DELETE FROM event WHERE key > ? AND key < ?", (number * _SPAN, (number + 1) * _SPAN)
                )
                connection.execute("DELETE FROM session WHERE number = ?", (number,))
            if rows:
                from gongfu.store.search import forget_sessions  # a run that deletes nothing needs no search

                forget_sessions(connection, list(rows.items()))
        return [str(name) for name in rows.values()]

    def bytes_of(self, id: str) -> int:
        """Bytes of the events of a session, without those that it started; 0 for an unknown id."""
        rows = self._db.read(
            "SELECT sum(length(CAST(e.data AS BLOB))) FROM session s, event e"
            " WHERE s.id = ?1 AND e.key > s.number * ?2 AND e.key < (s.number + 1) * ?2",
            (id, _SPAN),
        )
        return int(rows[0][0] or 0)

    def _update(self, change: str, values: tuple[Any, ...], id: str) -> None:
        with self._db.write() as connection:
            place = f"?{len(values) + 1}"
            connection.execute(f"UPDATE session SET {change} WHERE id = {place}", (*values, id))  # noqa: S608

    def _rows(self, where: str, values: tuple[Any, ...]) -> list[SessionRow]:
        rows = self._db.read(f"SELECT {_COLUMNS} FROM session {where}", values)  # noqa: S608 - constant texts
        return [_row(row) for row in rows]

    def _beginning(self, text: str) -> list[SessionRow]:
        return self._rows("WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY updated DESC LIMIT 20", (text,))

    def _ending(self, text: str) -> list[SessionRow]:
        return self._rows("WHERE substr(id, -length(?1)) = ?1 ORDER BY updated DESC LIMIT 20", (text,))

    def _near(self, text: str) -> list[SessionRow]:
        import difflib  # only when a name was mistyped

        rows = self.list(limit=500, children=True)
        by_name = {row.id: row for row in reversed(rows)} | {row.title: row for row in reversed(rows) if row.title}
        names = difflib.get_close_matches(text, by_name, n=3, cutoff=0.5)
        return list({by_name[name].id: by_name[name] for name in names}.values())


def _row(row: tuple[Any, ...]) -> SessionRow:
    return SessionRow(**dict(zip(_COLUMNS.split(", "), row, strict=True)))


def _names(rows: list[SessionRow]) -> str:
    shown = [f"{row.id} ({row.title})" if row.title else row.id for row in rows[:5]]
    return ", ".join(shown) + (", …" if len(rows) > 5 else "")
