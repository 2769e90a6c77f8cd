"""The lines of a file that come nearest to a text that is not in it, white space made visible."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gongfu.toolkit.reading import fit

_EDGE = r"^\s+|\s+$"
_WORDS = r"\w+"
_MOST_LINES = 20_000
_MOST_COMPARED = 100_000  # pairs of lines: some tenths of a second
_SHOWN = 12


def nearest(lines: Sequence[str], wanted: str) -> str:
    """Up to 12 numbered lines around the best place; "" when nothing is alike.

    Places are compared by the words that their lines share with those of `wanted`.
    """
    parts = [p for p in wanted.replace("\r\n", "\n").split("\n") if p.strip()]
    if not parts:
        return ""
    best, at = 0.0, -1
    known = [_bag(line) for line in lines[:_MOST_LINES]]
    bags = [_bag(p) for p in parts[: max(3, min(40, _MOST_COMPARED // (len(known) + 1)))]]
    for start in range(len(known)):
        score = _score(known, start, bags)
        if score > best + 1e-9:
            best, at = score, start
    if at < 0 or best < 0.3:
        return ""
    first = max(0, at - 1)
    last = min(len(lines), first + max(3, min(len(parts) + 2, _SHOWN)))
    return "\n".join(f"{n + 1}|{visible(lines[n])}" for n in range(first, last))


def _bag(line: str) -> Counter[str]:
    words = re.findall(_WORDS, line)
    return Counter(words or line.split())


def _score(known: Sequence[Counter[str]], start: int, bags: Sequence[Counter[str]]) -> float:
    """How much of `bags` the lines from `start` on hold, blank lines passed over: 1 for all words."""
    total = sum(b.total() for b in bags) or 1
    first = _shared(known[start], bags[0])
    if not first and len(bags) > 1 and not _shared(known[start], bags[1]):
        return 0.0
    got, at = 0, start
    for bag in bags:
        while at < len(known) and not known[at]:
            at += 1
        if at >= len(known):
            break
        got += _shared(known[at], bag)
        at += 1
    return got / total


def _shared(one: Counter[str], other: Counter[str]) -> int:
    return sum(min(n, one[w]) for w, n in other.items() if w in one)


def visible(line: str) -> str:
    """A line with tabs as `→`, and as `·` the spaces at its ends; odd spaces as their code."""
    shown = re.sub(_EDGE, lambda m: m[0].replace(" ", "·"), fit(line, 300)).replace("\t", "→")
    return "".join(f"<U+{ord(c):04X}>" if c.isspace() and c != " " else c for c in shown)
