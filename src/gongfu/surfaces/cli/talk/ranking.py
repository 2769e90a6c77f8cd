"""Paths in the order in which a person who typed a piece of one most likely means them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final
from unicodedata import normalize

_BLOCK: Final = 4096  # paths that are looked through without a pause for other threads
_ENOUGH: Final = 500  # hits among which the best are chosen; they come in the order of preference
_FIRST: Final = re.compile(r"(?:^|[_\-. (\[])([^_\-. (\[])")


def fold(text: str) -> str:
    """`text` as it is compared: case does not count, nor how accents are encoded."""
    return text.lower() if text.isascii() else normalize("NFC", text).lower()


class Ranker:
    """Says how well a path fits a query. Both are folded; a folder ends in a slash."""

    def __init__(self, query: str) -> None:
        self.query = query
        self._parts = query.split("/") if "/" in query else []
        self._words = tuple(f"{mark}{query}" for mark in "/_-. ([")
        steps = [f"[^{re.escape(c)}]*+{re.escape(c)}" for c in query]
        self.scattered: Callable[..., object] = re.compile("".join(steps), re.DOTALL).match

    def rank(self, path: str) -> int | None:
        """0 for the best fit, more for a worse one; None for a path that does not fit.

        In this order: the name, the name without its end, its beginning, the beginning of the path, the beginning of
        a word, the first letters of words, within the name, within the path, its letters in their order in the name,
        in the path. Of a query with a slash the last part is looked for in the folder first.
        """
        if self._parts:
            return self._rank_path(path)
        bare = path.removesuffix("/")
        name = bare[bare.rfind("/") + 1 :]
        q = self.query
        if name.startswith(q):
            rest = name[len(q) :]
            return 0 if not rest else 1 if rest[0] == "." else 2
        if q in bare:
            if bare.startswith(q):
                return 3
            if any(word in bare for word in self._words):
                return 4
            if self._initials(name):
                return 5
            return 6 if q in name else 7
        if len(q) > 1 and self.scattered(name):
            return 5 if self._initials(name) else 8
        return 9 if len(q) > 1 and self.scattered(bare) else None

    def _rank_path(self, path: str) -> int | None:
        q = self.query
        if path.startswith(q):
            rest = path[len(q) :]
            if not rest:
                return 0 if not q.endswith("/") else None  # the folder that is looked into
            return 1 if "/" not in rest[:-1] else 3
        if f"/{q}" in path:
            return 4
        if self._parts_begin(path):
            return 5
        if q in path:
            return 7
        return 9 if not q.endswith("/") and self.scattered(path) else None

    def _initials(self, name: str) -> bool:
        return len(self.query) > 1 and self.scattered("".join(_FIRST.findall(name))) is not None

    def _parts_begin(self, path: str) -> bool:
        """Whether folders of the path begin with the parts of the query, in their order."""
        names, parts = path.removesuffix("/").split("/"), self._parts
        if not names[-1].startswith(parts[-1]):
            return False
        at = 0
        for name in names[:-1]:
            at += at < len(parts) - 1 and name.startswith(parts[at])
        return at == len(parts) - 1


class Block:
    """Some paths, ready to be looked through."""

    __slots__ = ("_at", "_masks", "_names", "_names_at", "paths", "text")

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        folded = [fold(path) for path in paths]
        names = [p[p.rfind("/", 0, len(p) - 1) + 1 :] for p in folded]
        self.text, self._at = _joined(folded)
        self._names, self._names_at = _joined(names)
        self._masks = [_mask(path) for path in folded]

    def line(self, number: int) -> str:
        """A path, folded."""
        return self.text[self._at[number] : self._at[number + 1] - 1]

    def named(self, beginning: str) -> Iterator[int]:
        """The numbers of paths whose names begin so."""
        return _hits(self._names, self._names_at, f"\n{beginning}")

    def scattered(self, query: str, fits: Callable[..., object]) -> Iterator[int]:
        """The numbers of paths in which the letters of a query stand in their order, as `Ranker.scattered` says."""
        wanted, text, at = _mask(query), self.text, self._at
        may = [n for n, mask in enumerate(self._masks) if mask & wanted == wanted]
        return (n for n in may if fits(text, at[n], at[n + 1] - 1))

    def with_text(self, piece: str) -> Iterator[int]:
        """The numbers of paths in which `piece` is."""
        return _hits(self.text, self._at, piece)


def blocks_of(paths: Sequence[str]) -> tuple[Block, ...]:
    """Paths in the order of preference, ready for `search`."""
    return tuple(Block(paths[at : at + _BLOCK]) for at in range(0, len(paths), _BLOCK))


def search(blocks: Sequence[Block], query: str, limit: int) -> list[str]:
    """The paths that fit best, at most `limit`; of those that fit equally well the preferred ones come first."""
    q = fold(query).removeprefix("./")
    if not q:
        return [path for block in blocks[: 1 + limit // _BLOCK] for path in block.paths][:limit]
    if "\n" in q:
        return []
    ranker = Ranker(q)
    ranks: dict[tuple[int, int], int] = {}

    def take(hits: Iterable[tuple[int, int]], most: int) -> None:
        for key in hits:
            if key not in ranks and (rank := ranker.rank(blocks[key[0]].line(key[1]))) is not None:
                ranks[key] = rank
                most -= 1
                if not most:
                    return

    def begins(block: Block) -> Iterator[int]:
        return block.with_text(f"\n{q}") if "/" in q else block.named(q)

    every = list(enumerate(blocks))
    holding = [(index, block) for index, block in every if q in block.text]  # most words are in few
    if "/" not in q:
        take(_each(holding, lambda b: b.named(f"{q}\n")), limit)
        take(_each(holding, lambda b: b.named(f"{q}/\n")), limit)
        take(_each(holding, lambda b: b.named(f"{q}.")), limit)
    take(_each(holding, begins), _ENOUGH)
    if sum(rank <= 2 for rank in ranks.values()) < limit:  # otherwise nothing that fits less can come in
        take(_each(holding, lambda b: b.with_text(f"\n{q}")), limit)
        take(_each(holding, lambda b: b.with_text(f"/{q}")), limit)
        take(_each(holding, lambda b: b.with_text(q)), _ENOUGH)
    if len(q) > 1 and sum(rank <= 4 for rank in ranks.values()) < limit:
        take(_weakly(every, q, ranker), _ENOUGH)
    best = sorted(ranks, key=lambda key: (ranks[key], key))[:limit]
    return [blocks[block].paths[number] for block, number in best]


def _weakly(blocks: Sequence[tuple[int, Block]], query: str, ranker: Ranker) -> Iterator[tuple[int, int]]:
    """What may fit though the query is not in it."""
    if not query.endswith("/"):
        yield from _each(blocks, lambda b: b.scattered(query, ranker.scattered))
    elif last := query[:-1].rpartition("/")[2]:  # what lies in folders that begin so
        yield from _each(blocks, lambda b: b.with_text(f"\n{last}"))
        yield from _each(blocks, lambda b: b.with_text(f"/{last}"))


def _each(blocks: Sequence[tuple[int, Block]], hits: Callable[[Block], Iterator[int]]) -> Iterator[tuple[int, int]]:
    return ((index, number) for index, block in blocks for number in hits(block))


def _joined(lines: Sequence[str]) -> tuple[str, array[int]]:
    """The lines in one text, each behind a line feed; and where each begins (one place more than there are lines)."""
    at, starts = 1, array("L")
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    starts.append(at)
    return "\n" + "\n".join(lines) + "\n", starts


def _hits(text: str, starts: array[int], piece: str) -> Iterator[int]:
    lead = piece.startswith("\n")
    at = text.find(piece)
    while at >= 0:
        number = bisect_right(starts, at + lead) - 1
        yield number
        at = text.find(piece, starts[number + 1] - 1)


def _mask(text: str) -> int:
    """A bit for each kind of character that is there (30 kinds: a small number); what fits a query lacks none."""
    mask = 0
    for char in set(text):
        mask |= 1 << (ord(char) & 31) % 30
    return mask
