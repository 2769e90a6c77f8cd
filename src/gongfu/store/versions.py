"""Named documents with their history and one active version each."""

from __future__ import annotations

from typing import Final

from gongfu.core.base import Base
from gongfu.store.database import Database
from gongfu.store.sessions import as_text

_COLUMNS: Final = "name, version, at, active, body"


class Document(Base, frozen=True):
    """One version of a document. `at` is when it was written, seconds since 1970."""

    name: str
    version: int
    at: float
    active: bool
    body: str


class Versions:
    """The documents of one `kind` in one `scope`: a workspace root, or "" for what belongs to all of them."""

    def __init__(self, db: Database, kind: str, scope: str = "") -> None:
        self._db = db
        self._key = (kind, as_text(scope))

    def put(self, name: str, body: str, *, at: float) -> Document:
        """Write a new version and make it the active one; the active one itself when `body` is what it has."""
        with self._db.write() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM document WHERE kind = ? AND scope = ? AND name = ? AND active",  # noqa: S608
                (*self._key, name),
            ).fetchone()
            if row is not None and row[4] == body:
                return _document(row)
            last = connection.execute(
                "SELECT max(version) FROM document WHERE kind = ? AND scope = ? AND name = ?", (*self._key, name)
            ).fetchone()[0]
            connection.execute(
                "UPDATE document SET active = 0 WHERE kind = ? AND scope = ? AND name = ?", (*self._key, name)
            )
            version = int(last or 0) + 1
            connection.execute(
                "INSERT INTO document (kind, scope, name, version, at, active, body) VALUES (?, ?, ?, ?, ?, 1, ?)",
                (*self._key, name, version, at, as_text(body)),
            )
        return Document(name=name, version=version, at=at, active=True, body=body)

    def get(self, name: str, version: int | None = None) -> Document | None:
        """The active version of a document, or the one of that number; None when there is none."""
        which = "active" if version is None else "version = ?"
        values = (*self._key, name) if version is None else (*self._key, name, version)
        rows = self._db.read(
            f"SELECT {_COLUMNS} FROM document WHERE kind = ? AND scope = ? AND name = ? AND {which}",  # noqa: S608
            values,
        )
        return _document(rows[0]) if rows else None

    def all(self) -> list[Document]:
        """The active version of every document, the one written last first."""
        rows = self._db.read(
            f"SELECT {_COLUMNS} FROM document WHERE kind = ? AND scope = ? AND active"  # noqa: S608
            " ORDER BY at DESC, number DESC",
            self._key,
        )
        return [_document(row) for row in rows]

    def history(self, name: str) -> list[Document]:
        """All versions of a document, the newest first."""
        rows = self._db.read(
            f"SELECT {_COLUMNS} FROM document WHERE kind = ? AND scope = ? AND name = ?"  # noqa: S608
            " ORDER BY version DESC",
            (*self._key, name),
        )
        return [_document(row) for row in rows]

    def activate(self, name: str, version: int) -> bool:
        """Make an earlier version the active one again; False when there is none of that number."""
        with self._db.write() as connection:
            found = connection.execute(
                "SELECT 1 FROM document WHERE kind = ? AND scope = ? AND name = ? AND version = ?",
                (*self._key, name, version),
            ).fetchone()
            if found:
                connection.execute(
                    "UPDATE document SET active = (version = ?) WHERE kind = ? AND scope = ? AND name = ?",
                    (version, *self._key, name),
                )
        return bool(found)

    def delete(self, name: str) -> bool:
        """Really delete a document with its history; False when there was none."""
        with self._db.write() as connection:
            gone = connection.execute(
                "DELETE FROM document WHERE kind = ? AND scope = ? AND name = ?", (*self._key, name)
            )
            return gone.rowcount > 0


def _document(row: tuple[object, ...]) -> Document:
    name, version, at, active, body = row
    return Document(name=str(name), version=int(str(version)), at=float(str(at)), active=bool(active), body=str(body))
