"""BM25 over terms, with a score that means the same for every query and collection.

The formula is that of S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the inverse document frequency that is never negative: ln(1 + (N - n + ½) / (n + ½)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from math import log
from typing import Final

from gongfu.core.lexical.terms import Query

K1: Final = 1.2
B: Final = 0.75
_MOST: Final = K1 + 1
_SMALL: Final = 50
"""Fewer documents than these say little about how rare a word is; so many are assumed at least."""
_ENOUGH: Final = 24
"""So many of a long query's terms, the heaviest, are all that a document can be expected to be about."""


def slowness(length: int, mean: float) -> float:
    """How slowly the count of a term saturates in a document of `length` terms where `mean` are usual."""
    return K1 * (1 - B + B * length / mean) if mean else K1


def weigh(query: Query, documents: int, holding: Callable[[str], int]) -> tuple[dict[str, float], float]:
    """The weight of each term in a collection, and what a usual document scores that holds every word once.

    `holding(term)` is how many of the `documents` hold a term. Half of the pairs of signs lie across two words, and
    those that no document holds most of all: they count by half for what can be expected.
    """
    words = {term: weight * _rarity(documents, holding(term)) for term, weight in query.words.items()}
    joined = {term: weight * _rarity(documents, holding(term)) for term, weight in query.joined.items()}
    wanted = (
        weight if term.isascii() or len(term) > 2 or holding(term) else weight / 2 for term, weight in words.items()
    )
    return words | joined, sum(nlargest(_ENOUGH, wanted))


def _rarity(documents: int, holding: int) -> float:
    return log(1 + (max(documents, holding, _SMALL) - holding + 0.5) / (holding + 0.5))


def part(weight: float, count: int, slow: float) -> float:
    """What a term of `weight` that stands `count` times in a document adds to its score."""
    return weight * _MOST * count / (count + slow)


def share(score: float, whole: float) -> float:
    """A score as 0 to 1: the share of the query, by weight, that the document covers.

    It is that share exactly up to one half; from there it rises ever slower, to be 1 for the most that can be scored.
    """
    covered = min(score / whole, _MOST) if whole > 0 else 0.0
    if covered <= 0.5:
        return covered
    return 1 - 0.5 * ((_MOST - covered) / (_MOST - 0.5)) ** (2 * (_MOST - 0.5))


def _unshare(share: float) -> float:
    """The covered part that `share` made this of."""
    if share <= 0.5:
        return share
    return _MOST - (_MOST - 0.5) * (2 * (1 - share)) ** (1 / (2 * (_MOST - 0.5)))


def telling(query: Query, there: Iterable[str]) -> list[str]:
    """Of the terms that a collection has those to find documents by: joining words only when there is nothing else."""
    known = list(there)
    return [term for term in known if query.telling(term)] or known


class Bm25:
    """Documents in memory, by their number from 0."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        self._beginning: dict[str, list[str]] = {}
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
            posting = self._postings.get(term)
            if posting is None:
                posting = self._postings[term] = ([], [])
                if not term[0].isascii():
                    self._beginning.setdefault(term[0], []).append(term)
            posting[0].append(number)
            posting[1].append(count)
        self._lengths.append(sum(counts.values()))
        return number

    def best(self, query: Query, limit: int, *, spread: float = 1.0) -> dict[int, float]:
        """`share` of the `limit` documents nearest to `query`, and of all others down to `spread` of the last one's.

        Words that only join others are no reason to find a document when it could be found by another.
        """
        if len(self._slow) != len(self._lengths):
            mean = sum(self._lengths) / len(self._lengths)
            self._slow = [slowness(length, mean) for length in self._lengths]
        slow = self._slow
        postings = {term: self._posting(term) for term in query.words | query.joined}
        weights, whole = weigh(query, len(slow), lambda term: len(postings[term][0]))
        chosen = set(telling(query, (term for term, posting in postings.items() if posting[0])))
        found: dict[int, float] = {}
        for term, (numbers, often) in postings.items():
            weight = weights[term] * _MOST  # `part`, without a call for each
            if term in chosen:
                for number, count in zip(numbers, often, strict=True):
                    found[number] = found.get(number, 0.0) + weight * count / (count + slow[number])
        for term, (numbers, often) in postings.items():
            weight = weights[term] * _MOST
            if term not in chosen:
                for number, count in zip(numbers, often, strict=True):
                    if number in found:
                        found[number] += weight * count / (count + slow[number])
        last = 0.0
        if len(found) > limit:
            last = _unshare(share(nlargest(limit, found.values())[-1], whole) * spread) * whole * (1 - 1e-9)
        return {number: share(score, whole) for number, score in found.items() if score >= last}

    def _posting(self, term: str) -> tuple[Sequence[int], Sequence[int]]:
        """(numbers, counts) of the documents that hold `term`, or for "x*" a term that begins with x."""
        if not term.endswith("*"):
            return self._postings.get(term, ((), ()))
        counts: dict[int, int] = {}
        for longer in self._beginning.get(term[:-1], ()):
            for number, count in zip(*self._postings[longer], strict=True):
                counts[number] = counts.get(number, 0) + count
        return list(counts), list(counts.values())
