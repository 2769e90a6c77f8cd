"""BM25 over terms, with a score that means the same for every query and collection.

The formula is that of S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the inverse document frequency that is never negative: ln(1 + (N - n + ½) / (n + ½)).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nlargest
from math import log
from typing import Final

K1: Final = 1.2
B: Final = 0.75
_MOST: Final = K1 + 1
_SMALL: Final = 50
"""Fewer documents than these say little about how rare a word is; so many are assumed at least."""
_ENOUGH: Final = 24
"""So many of a long query's terms, the heaviest, are all that a document can be expected to be about."""


def rarity(documents: int, holding: int) -> float:
    """How much a term tells that `holding` of `documents` hold."""
    return log(1 + (max(documents, _SMALL) - holding + 0.5) / (holding + 0.5))


def slowness(length: int, mean: float) -> float:
    """How slowly the count of a term saturates in a document of `length` terms."""
    return K1 * (1 - B + B * length / mean) if mean else K1


def whole(weights: Iterable[float]) -> float:
    """What a document of mean length scores that holds each term of the query once, from their weights."""
    return sum(nlargest(_ENOUGH, weights))


def share(score: float, whole: float) -> float:
    """A score as 0 to 1: the part of the query, by weight, that the document covers.

    It is that part exactly up to one half; from there it rises ever slower, to be 1 for the most that can be scored.
    """
    part = min(score / whole, _MOST) if whole > 0 else 0.0
    if part <= 0.5:
        return part
    return 1 - 0.5 * ((_MOST - part) / (_MOST - 0.5)) ** (2 * (_MOST - 0.5))


class Bm25:
    """Documents in memory, by their number from 0."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        self._lengths: list[int] = []
        self._slow: list[float] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Iterable[str]) -> int:
        """Add a document; return its number."""
        number = len(self._lengths)
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        for term, count in counts.items():
            numbers, often = self._postings.setdefault(term, ([], []))
            numbers.append(number)
            often.append(count)
        self._lengths.append(sum(counts.values()))
        return number

    def scores(self, query: Mapping[str, float]) -> dict[int, float]:
        """`share` of every document that holds a term of `query` (term to weight)."""
        if len(self._slow) != len(self._lengths):
            mean = sum(self._lengths) / len(self._lengths)
            self._slow = [slowness(length, mean) for length in self._lengths]
        found: dict[int, float] = {}
        weights: list[float] = []
        slow = self._slow
        for term, weight in query.items():
            numbers, often = self._postings.get(term, ((), ()))
            weight *= rarity(len(slow), len(numbers))  # noqa: PLW2901 - the weight in this collection
            weights.append(weight)
            weight *= _MOST  # noqa: PLW2901
            for number, count in zip(numbers, often, strict=True):
                found[number] = found.get(number, 0.0) + weight * count / (count + slow[number])
        most = whole(weights)
        return {number: share(score, most) for number, score in found.items()}
