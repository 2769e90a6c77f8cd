"""The place of a text that shows best why it was found."""

from __future__ import annotations

from itertools import islice
from typing import Final

from gongfu.core.lexical.terms import Query, folded, located

_LOOKED_AT: Final = 20_000
_HITS: Final = 300


def snippet(text: str, query: Query, *, width: int = 100) -> str:
    """One line of about `width` characters around the words of `query`, with "…" where the text goes on."""
    line = " ".join(folded(text[:_LOOKED_AT]).split())
    if len(line) <= width:
        return line
    weights = query.words | query.joined
    hits = [(term.start, weight, term.text) for term in located(line) if (weight := _weight(term.text, weights))]
    start = max(0, _best(hits[:_HITS], width * 3 // 4) - width // 4)
    if start:
        space = line.find(" ", start, start + width // 8)
        start = space + 1 if space >= 0 else start
    end = start + width
    if end < len(line):
        space = line.rfind(" ", end - width // 8, end)
        end = space if space >= 0 else end
    shown = line[start:end].strip()
    more = end < len(line) or len(text) > _LOOKED_AT
    return f"{'…' if start else ''}{shown}{'…' if more else ''}"


def _weight(term: str, weights: dict[str, float]) -> float:
    return weights.get(term) or weights.get(f"{term[0]}*", 0.0)


def _best(hits: list[tuple[int, float, str]], width: int) -> int:
    """Where the `width` characters begin that hold the most of the query."""
    best, place = 0.0, 0
    for index, (start, _, _) in enumerate(hits):
        seen: dict[str, float] = {}
        for other, weight, term in islice(hits, index, None):
            if other >= start + width:
                break
            seen[term] = weight
        if sum(seen.values()) > best:
            best, place = sum(seen.values()), start
    return place
