"""The operator's words on project rules, by project. Words are added and never taken back; the later one holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import convert

from gongfu.core.duties import Word
from gongfu.store.database import Database
from gongfu.store.sessions import as_text

_COLUMNS: Final = ("path", "heading", "sha256", "duty", "why", "at", "by")


class Rulebook:
    """What was said of the rules of each project root, and whether the person was asked there."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def say(self, root: str, words: Iterable[Word]) -> None:
        """Add words on rules of the project at `root`, all or none."""
        rows = [(as_text(root), *(getattr(word, name) for name in _COLUMNS)) for word in words]
        with self._db.write() as connection:
            connection.executemany(
                'INSERT INTO rule_word (root, path, heading, sha256, duty, why, at, "by")'
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def words(self, root: str) -> list[Word]:
        """All words on rules of the project at `root`, the oldest first."""
        rows = self._db.read(
            'SELECT path, heading, sha256, duty, why, at, "by" FROM rule_word WHERE root = ? ORDER BY number',
            (as_text(root),),
        )
        return [convert(dict(zip(_COLUMNS, row, strict=True)), Word) for row in rows]

    def asked(self, root: str) -> str | None:
        """What the person answered when they were asked about all rules of this project; None before that."""
        rows = self._db.read("SELECT answer FROM rule_question WHERE root = ?", (as_text(root),))
        return str(rows[0][0]) if rows else None

    def note_asked(self, root: str, answer: str, *, at: float) -> None:
        """The person was asked and gave this answer: they are not asked again."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO rule_question (root, answer, at) VALUES (?, ?, ?)"
                " ON CONFLICT (root) DO UPDATE SET answer = excluded.answer, at = excluded.at",
                (as_text(root), answer, at),
            )
