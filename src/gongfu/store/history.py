"""What people asked and were answered, indexed by words: session by session, from where the last search stopped."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from gongfu.core.base import Base
from gongfu.core.events import MessageAdded, PromptQueued, TurnFinished, decode_event
from gongfu.store.database import Database
from gongfu.store.search import HISTORY, Item, SearchIndex, put

_SPAN: Final = 1 << 32
_PAGE: Final = 200
_LONGEST: Final = 20_000
"""Characters of one prompt or answer that can be found."""

Where: TypeAlias = Literal["title", "prompt", "answer"]
_TYPES: Final = ("prompt_queued", "message_added", "turn_finished")
_WORDS: Final = " OR ".join(f"""data LIKE '{{"type":"{name}"%'""" for name in _TYPES)


class Place(Base, frozen=True):
    """Where words were found: `at` in seconds since 1970, `score` and `snippet` as in `search.Match`."""

    session: str
    where: Where
    score: float
    at: float
    snippet: str


class History:
    """Finds what was said in the sessions that people had; nothing runs while a turn does."""

    def __init__(self, db: Database, index: SearchIndex | None = None) -> None:
        self._db = db
        self._index = index or SearchIndex(db)

    def find(self, words: str, *, limit: int = 200) -> list[Place]:
        """Titles, prompts and final answers that hold a word of `words`, best first; new ones are indexed before."""
        self.catch_up()
        places: list[Place] = []
        for match in self._index.find(HISTORY, words, limit=limit):
            session, _, rest = match.id.rpartition(":")
            where: Where = "title" if rest == "t" else "answer" if rest.endswith("a") else "prompt"
            places.append(Place(session=session, where=where, score=match.score, at=match.at, snippet=match.snippet))
        return places

    def catch_up(self) -> int:
        """Index what was said since the last time; return how many texts that were."""
        sessions = self._db.read(
            "SELECT s.number, s.id, s.title, s.updated, coalesce(m.upto, 0),"
            " (SELECT max(key) FROM event WHERE key > s.number * ?1 AND key < (s.number + 1) * ?1)"
            " FROM session s LEFT JOIN search_session m ON m.session = s.number WHERE s.parent = ''",
            (_SPAN,),
        )
        count = 0
        for number, session, title, updated, upto, key in sessions:
            last = key - number * _SPAN if key else 0
            if last > upto:
                self._index.know(HISTORY)
                items = self._said(number, session, upto, last)
                if title:
                    items.append(Item(id=f"{session}:t", text=title, at=updated))
                count += len(items)
                self._store(number, items, last)
        return count

    def _said(self, number: int, session: str, after: int, last: int) -> list[Item]:
        base = number * _SPAN
        items: list[Item] = []
        key = base + after
        while key < base + last:
            rows = self._db.read(
                f"SELECT key, time, CAST(data AS BLOB) FROM event WHERE key > ? AND key <= ? AND ({_WORDS})"  # noqa: S608
                " ORDER BY key LIMIT ?",
                (key, base + last, _PAGE),
            )
            for place, time, data in rows:
                said = _said(data)
                if said is not None and said[1].strip():
                    items.append(Item(id=f"{session}:{place - base}{said[0]}", text=said[1][:_LONGEST], at=time))
            if len(rows) < _PAGE:
                break
            key = rows[-1][0]
        return items

    def _store(self, number: int, items: list[Item], upto: int) -> None:
        with self._db.write() as connection:
            if not connection.execute("SELECT 1 FROM session WHERE number = ?", (number,)).fetchone():
                return  # deleted meanwhile: nothing of it is kept
            put(connection, HISTORY, items, listing=self._index.listing)
            connection.execute("INSERT OR REPLACE INTO search_session (session, upto) VALUES (?, ?)", (number, upto))


def _said(data: bytes) -> tuple[str, str] | None:
    """("p", a person's words) or ("a", a final answer) of an event that has one."""
    try:
        event = decode_event(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # the journal names damaged rows
        return None
    if isinstance(event, PromptQueued):
        return "p", event.message.text
    if isinstance(event, MessageAdded) and event.message.role == "user" and event.message.kind == "steer":
        return "p", event.message.text
    if isinstance(event, TurnFinished):
        return "a", event.text
    return None
