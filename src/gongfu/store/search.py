"""A lasting index by words: SQLite's full text search finds the candidates, BM25 of `core.lexical` orders them.

A SQLite without full text search (FTS5) gives the same order; every text of the kind is looked at then.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from gongfu.core.base import Base
from gongfu.core.lexical.bm25 import part, share, slowness, telling, weigh
from gongfu.core.lexical.snippet import snippet
from gongfu.core.lexical.terms import VERSION, Query, query_terms, terms
from gongfu.store.database import Database

HISTORY: Final = "history"
"""The kind of what was said in sessions; an id there is the session's, a colon and a place."""
_KIND: Final = re.compile(r"[a-z]+(_[a-z]+)*")
_CANDIDATES: Final = 4
"""So many times the wanted number are looked at closely."""
_MOST_CANDIDATES: Final = 900
_CHEAP: Final = 1500
"""So many entries of the list of words, and a tenth of all things, are read for one query where rarer words suffice."""
_MOST_TERMS: Final = 64

_Row: TypeAlias = tuple[int, str, float, int, str]


class Item(Base, frozen=True):
    """Something to index. `at` is seconds since 1970; 0 when that is not known."""

    id: str
    text: str
    at: float = 0.0


class Match(Base, frozen=True):
    """Something found. `score` is 0 to 1 (`core.lexical.bm25.share`), `snippet` a line of its text around the words."""

    id: str
    score: float
    at: float
    snippet: str


class SearchIndex:
    """Texts by kind ("history", "memory", …) and id. Every method raises UserError as `Database` does."""

    def __init__(self, db: Database, *, full_text: bool = True) -> None:
        """`full_text=False` does without FTS5 even where there is one."""
        self._db = db
        self.listing: Final = full_text and has_full_text(db.connection)

    def add(self, kind: str, id: str, text: str, *, at: float = 0.0) -> None:
        """Index one text; an earlier one of the same id is replaced."""
        self.add_all(kind, [Item(id=id, text=text, at=at)])

    def add_all(self, kind: str, items: Iterable[Item]) -> None:
        """Index many texts in one transaction; the last of an id counts."""
        newest = {item.id: item for item in items}
        if newest:
            self.know(kind)
            with self._db.write() as connection:
                put(connection, kind, list(newest.values()), listing=self.listing)

    def remove(self, kind: str, id: str | None = None) -> None:
        """Forget a text, or all of a kind. What is not there is no error."""
        self.know(kind)
        with self._db.write() as connection:
            if id is not None:
                drop(connection, kind, [id], listing=self.listing)
            else:
                connection.execute("DELETE FROM search_item WHERE kind = ?", (kind,))
                _make_anew(connection, kind, listing=self.listing)

    def find(self, kind: str, query: str, *, limit: int = 20, snippets: bool = True) -> list[Match]:
        """The texts that hold a word of `query`, best first, at most 900; of equal ones the first added.

        No query is an error. Without `snippets` those are empty, which is quicker.
        """
        limit = min(limit, _MOST_CANDIDATES)
        asked = query_terms(query)
        if limit < 1 or not (asked.words or asked.joined):
            return []
        total, size = self.know(kind)
        holding = self._holding(kind, [*asked.words, *asked.joined], total)
        weights, whole = weigh(asked, total, holding.__getitem__)
        mean = size / total if total else 0.0
        signs = [term for term in weights if term.endswith("*")]
        scored = [
            (share(_score(text.split(" "), weights, signs, slowness(length, mean)), whole), -number, name, at)
            for number, name, at, length, text in self._candidates(kind, asked, holding, total, limit)
        ]
        best = sorted((row for row in scored if row[0] > 0), reverse=True)[:limit]
        texts = dict(self._by_number("number, text", [-row[1] for row in best])) if snippets else {}
        return [
            Match(id=name, score=score, at=at, snippet=snippet(texts.get(-number, ""), asked) if snippets else "")
            for score, number, name, at in best
        ]

    def _holding(self, kind: str, asked: Sequence[str], total: int) -> dict[str, int]:
        """How many things hold each term; for "x*" not fewer than that."""
        holding = dict.fromkeys(asked, 0)
        plain = [term for term in asked if not term.endswith("*")]
        for start in range(0, len(plain), _MOST_CANDIDATES):
            some = plain[start : start + _MOST_CANDIDATES]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT term, items FROM search_term WHERE kind = ? AND term IN ({marks})"  # noqa: S608
            holding.update(self._db.read(sql, (kind, *some)))
        for term in asked:
            if term.endswith("*"):
                sql = "SELECT coalesce(sum(items), 0) FROM search_term WHERE kind = ? AND term >= ? AND term < ?"
                count = self._db.read(sql, (kind, term[:-1], chr(ord(term[0]) + 1)))[0][0]
                holding[term] = min(count, total)
        return holding

    def _candidates(self, kind: str, asked: Query, holding: dict[str, int], total: int, limit: int) -> list[_Row]:
        looked_up = _rarest(asked, holding, _CHEAP + total // 10)
        if not looked_up:
            return []
        if not self.listing:
            rows = self._db.read("SELECT number, name, at, size, terms FROM search_item WHERE kind = ?", (kind,))
            return [row for row in rows if _holds(row[4], looked_up)]
        wanted = " OR ".join(f'"{term[:-1]}"*' if term.endswith("*") else f'"{term}"' for term in looked_up)
        rows = self._db.read(
            f"SELECT rowid FROM {_list(kind)} WHERE {_list(kind)} MATCH ? ORDER BY rank LIMIT ?",  # noqa: S608 - checked name
            (wanted, min(max(limit * _CANDIDATES, 100), _MOST_CANDIDATES)),
        )
        return self._by_number("number, name, at, size, terms", [number for (number,) in rows])

    def _by_number(self, columns: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        marks = ", ".join("?" * len(numbers))
        return self._db.read(f"SELECT {columns} FROM search_item WHERE number IN ({marks})", tuple(numbers))  # noqa: S608

    def know(self, kind: str) -> tuple[int, int]:
        """How many things and terms there are of a kind, once it is known, split and listed as it should be.

        Raises ValueError for a name that is no kind.
        """
        if not _KIND.fullmatch(kind):
            raise ValueError(f"{kind!r} is no kind: small letters and _ only")
        sql = "SELECT items, size, version, listed FROM search_kind WHERE kind = ?"
        known = self._db.read(sql, (kind,))
        if not known or known[0][2] != VERSION or (self.listing and not known[0][3]):
            with self._db.write() as connection:
                _make_anew(connection, kind, listing=self.listing)
            known = self._db.read(sql, (kind,))
        return known[0][0], known[0][1]


def has_full_text(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite has FTS5."""
    try:
        connection.execute("SELECT fts5_source_id()")
    except sqlite3.OperationalError:
        return False
    return True


def put(connection: sqlite3.Connection, kind: str, items: Sequence[Item], *, listing: bool) -> None:
    """Index texts of different ids, of a kind that is known, in a transaction of the caller."""
    drop(connection, kind, [item.id for item in items], listing=listing)
    holding: Counter[str] = Counter()
    size = 0
    for item in items:
        text = item.text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be stored
        split = list(terms(text))
        size += len(split)
        holding.update(set(split))
        number = connection.execute(
            "INSERT INTO search_item (kind, name, at, size, text, terms) VALUES (?, ?, ?, ?, ?, ?)",
            (kind, item.id, item.at, len(split), text, " ".join(split)),
        ).lastrowid
        if listing:
            connection.execute(
                f"INSERT INTO {_list(kind)} (rowid, terms) VALUES (?, ?)",  # noqa: S608 - checked name
                (number, " ".join(split)),
            )
    _count(connection, kind, holding, 1)
    _total(connection, kind, len(items), size, listing=listing)


def drop(connection: sqlite3.Connection, kind: str, ids: Sequence[str], *, listing: bool) -> None:
    """Forget texts in a transaction of the caller."""
    holding: Counter[str] = Counter()
    size = count = 0
    for name in ids:
        row = connection.execute(
            "SELECT number, size, terms FROM search_item WHERE kind = ? AND name = ?", (kind, name)
        ).fetchone()
        if row is None:
            continue
        number, length, split = row
        connection.execute("DELETE FROM search_item WHERE number = ?", (number,))
        count, size = count + 1, size + length
        holding.update(set(split.split()))
        if listing:
            connection.execute(
                f"INSERT INTO {_list(kind)} ({_list(kind)}, rowid, terms) VALUES ('delete', ?, ?)",  # noqa: S608
                (number, split),
            )
    if count:
        _count(connection, kind, holding, -1)
        _total(connection, kind, -count, -size, listing=listing)


def forget_sessions(connection: sqlite3.Connection, sessions: Sequence[tuple[int, str]]) -> None:
    """Forget for good, in a transaction of the caller, what was said in sessions, given as (number, id)."""
    listing = has_full_text(connection)
    kind = HISTORY
    known = connection.execute("SELECT listed FROM search_kind WHERE kind = ?", (kind,)).fetchone()
    if known is None:
        return
    for number, session in sessions:
        connection.execute("DELETE FROM search_session WHERE session = ?", (number,))
        names = connection.execute(
            "SELECT name FROM search_item WHERE kind = ? AND name > ? AND name < ?",
            (kind, f"{session}:", f"{session};"),
        ).fetchall()
        drop(connection, kind, [name for (name,) in names], listing=listing and bool(known[0]))
    if listing and known[0]:  # only a whole rewrite takes the words out of the list's older parts
        connection.execute(f"INSERT INTO {_list(kind)} ({_list(kind)}) VALUES ('optimize')")  # noqa: S608


def _make_anew(connection: sqlite3.Connection, kind: str, *, listing: bool) -> None:
    """Split and list all texts of a kind again."""
    rows = connection.execute(
        "SELECT name, text, at FROM search_item WHERE kind = ? ORDER BY number", (kind,)
    ).fetchall()
    for table in ("search_item", "search_term", "search_kind"):
        connection.execute(f"DELETE FROM {table} WHERE kind = ?", (kind,))  # noqa: S608 - constant names
    connection.execute("INSERT INTO search_kind VALUES (?, 0, 0, ?, ?)", (kind, VERSION, listing))
    if listing:
        connection.execute(f"DROP TABLE IF EXISTS {_list(kind)}")
        connection.execute(
            f"CREATE VIRTUAL TABLE {_list(kind)} USING fts5 (terms, content = '', tokenize = \"ascii tokenchars '.'\")"
        )
    put(connection, kind, [Item(id=name, text=text, at=at) for name, text, at in rows], listing=listing)


def _list(kind: str) -> str:
    return f"search_words_{kind}"


def _count(connection: sqlite3.Connection, kind: str, holding: Counter[str], sign: int) -> None:
    connection.executemany(
        "INSERT INTO search_term (kind, term, items) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET items = items + ?3",
        [(kind, term, sign * count) for term, count in sorted(holding.items())],
    )
    if sign < 0:
        connection.executemany(
            "DELETE FROM search_term WHERE kind = ? AND term = ? AND items <= 0", [(kind, term) for term in holding]
        )


def _total(connection: sqlite3.Connection, kind: str, items: int, size: int, *, listing: bool) -> None:
    connection.execute(
        "UPDATE search_kind SET items = items + ?, size = size + ?, listed = min(listed, ?) WHERE kind = ?",
        (items, size, listing, kind),
    )


def _rarest(asked: Query, holding: dict[str, int], most: int) -> list[str]:
    """The terms to look up: the rarest first, until `most` entries would be read; joining words only when alone."""
    chosen: list[str] = []
    for term in sorted(telling(asked, (term for term, count in holding.items() if count)), key=holding.__getitem__):
        most -= holding[term]
        if len(chosen) == _MOST_TERMS or (chosen and most < 0):
            break
        chosen.append(term)
    return chosen


def _holds(split: str, looked_up: Sequence[str]) -> bool:
    text = f" {split} "
    return any(f" {term[:-1]}" in text if term.endswith("*") else f" {term} " in text for term in looked_up)


def _score(split: Sequence[str], weights: dict[str, float], signs: Sequence[str], slow: float) -> float:
    counts: dict[str, int] = {}
    for term in split:
        if term in weights:
            counts[term] = counts.get(term, 0) + 1
    for sign in signs:
        counts[sign] = sum(term.startswith(sign[0]) for term in split)
    return sum([part(weights[term], count, slow) for term, count in counts.items() if count])
