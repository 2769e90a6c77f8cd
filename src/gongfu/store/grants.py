"""What people allowed for a project, part by part."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from gongfu.core.base import Base
from gongfu.store.database import Database
from gongfu.store.sessions import as_text


class Seen(Protocol):
    """What a grant remembers of a need: its `key`, and the `text` that was shown."""

    @property
    def key(self) -> str: ...

    @property
    def text(self) -> str: ...


class GrantRow(Base, frozen=True):
    """One grant: `number` names it, `at` is in seconds since 1970."""

    number: int
    tool: str
    text: str
    at: float


class GrantBook:
    """The grants of all projects, by their root."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def keys(self, root: str) -> list[tuple[str, str]]:
        """Tool and key of everything that was granted for the project at `root`."""
        rows = self._db.read('SELECT tool, "key" FROM permission_grant WHERE root = ?', (as_text(root),))
        return [(str(tool), str(key)) for tool, key in rows]

    def add(self, root: str, tool: str, needs: Iterable[Seen]) -> None:
        """Remember `needs` for calls of `tool` in the project at `root`; one that is there already stays as it is."""
        at = time.time()
        rows = [(as_text(root), tool, as_text(need.key), as_text(need.text), at) for need in needs]
        with self._db.write() as connection:
            connection.executemany(
                'INSERT INTO permission_grant (root, tool, "key", text, at) VALUES (?, ?, ?, ?, ?)'
                ' ON CONFLICT (root, tool, "key") DO NOTHING',
                rows,
            )

    def rows(self, root: str) -> list[GrantRow]:
        """The grants of the project at `root`, the oldest first."""
        rows = self._db.read(
            "SELECT number, tool, text, at FROM permission_grant WHERE root = ? ORDER BY number", (as_text(root),)
        )
        return [GrantRow(number=n, tool=tool, text=text, at=at) for n, tool, text, at in rows]

    def forget(self, root: str, numbers: Sequence[int] | None = None) -> int:
        """Take grants back, all of the project at `root` when none are named; how many there were."""
        gone = [r.number for r in self.rows(root) if numbers is None or r.number in numbers]
        with self._db.write() as connection:
            connection.executemany("DELETE FROM permission_grant WHERE number = ?", [(n,) for n in gone])
        return len(gone)
