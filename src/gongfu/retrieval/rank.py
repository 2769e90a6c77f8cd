"""The one ranker: documents for a query, best first. It holds no state beyond what it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gongfu.core.base import Base
from gongfu.core.lexical.bm25 import Bm25
from gongfu.core.lexical.terms import query_terms, terms

_DAY: Final = 86400.0
_RECENCY: Final = ((1, 1.0), (7, 0.9), (30, 0.7), (90, 0.5))
_NEUTRAL: Final = 0.65
_MOST: Final = 1.15
_LEAST: Final = 0.85


class Doc(Base, frozen=True):
    """Something to find. `at` is seconds since 1970 (0: unknown), `importance` 1 to 5, `priority` 0 (first) to 3."""

    id: str
    text: str
    at: float = 0.0
    importance: int = 3
    priority: float = 1.5


class Hit(Base, frozen=True):
    """A document that was found; `score` is 0 to 1: see `rank`."""

    id: str
    score: float


def rank(query: str, docs: Sequence[Doc], *, now: float = 0.0, limit: int = 30) -> list[Hit]:
    """The documents that hold a word of `query`, best first, at most `limit`; equal ones in the order given.

    A score is absolute: about the part of the query, by how much its words tell, that the document covers, so one half
    is a good match and what shares only common words is near 0; age, importance and priority move it by at most 15%.
    `now` is seconds since 1970; 0 leaves age out.
    """
    ranker = Ranker()
    ranker.add(docs)
    return ranker.find(query, now=now, limit=limit)


class Ranker:
    """Many queries to the same documents."""

    def __init__(self) -> None:
        self._docs: list[Doc] = []
        self._index = Bm25()

    def add(self, docs: Sequence[Doc]) -> None:
        """Add documents behind those it has."""
        for doc in docs:
            self._index.add(terms(doc.text))
        self._docs.extend(docs)

    def find(self, query: str, *, now: float = 0.0, limit: int = 30) -> list[Hit]:
        """See `rank`."""
        if limit < 1 or not self._docs:
            return []
        # the factor lifts nothing that is further below the last than it is wide
        scores = self._index.best(query_terms(query), limit, spread=_LEAST / _MOST)
        found = [(scores[number] * factor(self._docs[number], now), -number) for number in scores]
        found.sort(reverse=True)
        return [Hit(id=self._docs[-place].id, score=min(score, 1.0)) for score, place in found[:limit]]

    def index(self, memories: Sequence[Mapping[str, Any]]) -> None:
        """Add records of "id", "text" and, where known, "ts" (seconds since 1970)."""
        self.add([Doc(id=str(m["id"]), text=str(m["text"]), at=float(m.get("ts") or 0)) for m in memories])

    def search(self, query: str, k: int = 30, now: float | None = None) -> list[str]:
        """The ids of the best `k`."""
        return [hit.id for hit in self.find(query, now=now or 0.0, limit=k)]


def factor(doc: Doc, now: float) -> float:
    """What age, importance and priority make of a score: 0.85 to 1.15, and 1 when nothing is known of them."""
    recency = _NEUTRAL
    if doc.at > 0 and now > 0:
        days = (now - doc.at) / _DAY
        recency = next((value for most, value in _RECENCY if days <= most), 0.3)
    importance = min(max(doc.importance, 1), 5)
    priority = min(max(doc.priority, 0.0), 3.0)
    return 1 + 0.05 * (recency - 0.65) / 0.35 + 0.05 * (importance - 3) / 2 + 0.05 * (1.5 - priority) / 1.5
