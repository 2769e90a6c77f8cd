"""Who calls whom, and what a change may touch."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.knowledge.code import Code, Ref
from gongfu.knowledge.model import TYPES
from gongfu.knowledge.modules import module_files
from gongfu.knowledge.resolve import ORDER, Certainty, Resolver

How: TypeAlias = Literal["call", "use", "import"]
_MOST: Final = 2_000
_SECONDS: Final = 5.0
_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing)/|(?:^|/)(?:test_[^/]*|conftest)\.py$|_test\.(?:py|go|cc|cpp|c)$"
    r"|\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:Test[A-Z]\w*|\w+Tests?)\.java$"
)


class Edge(Base, frozen=True):
    """One use of a symbol, or one thing that it uses: where the use stands, what is at the other end (None: the file
    itself, or what lies outside the workspace and is called `name`)."""

    path: str
    line: int
    other: Ref | None
    how: How
    certainty: Certainty
    name: str = ""


class Reached(Base, frozen=True):
    """What a change may touch: at `depth` steps from it, through `via`. `certainty` is that of the weakest step."""

    ref: Ref | None
    path: str
    line: int
    depth: int
    certainty: Certainty


class Impact(Base, frozen=True):
    """Everything that a change may touch. `tests` are files of tests among `files`; `whole` is False when it was too
    much to follow all of it."""

    reached: tuple[Reached, ...]
    files: tuple[str, ...]
    tests: tuple[str, ...]
    whole: bool = True


def is_test(path: str) -> bool:
    """Whether a path is that of tests, by the customs of each language."""
    return _TEST.search(path) is not None


class Graph:
    """Questions to one `Code`."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._resolver = Resolver(code)

    def callers(self, refs: Iterable[Ref]) -> list[Edge]:
        """Every use of some symbols, certain ones first, then by path and line."""
        wanted = self._alike(refs)
        found: dict[tuple[str, int, Ref | None], Edge] = {}
        for name in dict.fromkeys(self._code.symbol(r).name for r in wanted):
            for path, numbers in self._places(name):
                for number in numbers:
                    self._edge(path, number, wanted, found)
        return sorted(found.values(), key=lambda e: (ORDER[e.certainty], e.path, e.line))

    def _alike(self, refs: Iterable[Ref]) -> set[Ref]:
        """The symbols, with the class for its constructor, and with what declares or defines the same in C."""
        wanted = set(refs)
        for ref in list(wanted):
            symbol = self._code.symbol(ref)
            if symbol.name in ("__init__", "__new__", "constructor") and symbol.parent >= 0:
                wanted.add(Ref(ref.path, symbol.parent))
            if self._code.family(ref.path) == "c":
                same = self._code.named(symbol.name, "c")
                wanted.update(r for r in same if self._code.symbol(r).qualified == symbol.qualified)
        return wanted

    def _places(self, name: str) -> list[tuple[str, list[int]]]:
        found = list(self._code.uses(name).items())
        for path, aliases in self._code.aliases(name).items():
            found.extend((path, self._code.uses(alias).get(path, [])) for alias in aliases)
        return found

    def _edge(self, path: str, number: int, wanted: set[Ref], found: dict[tuple[str, int, Ref | None], Edge]) -> None:
        for target in self._resolver.resolve(path, number):
            if target.ref in wanted:
                use = self._code.files[path].uses[number]
                inside = Ref(path, use.inside) if use.inside >= 0 else None
                edge = Edge(
                    path=path, line=use.line, other=inside, how="call" if use.call else "use",
                    certainty=target.certainty,
                )  # fmt: skip
                key = (path, use.line, inside)
                if key not in found or edge.how == "call":
                    found[key] = edge

    def callees(self, refs: Iterable[Ref]) -> list[Edge]:
        """What some symbols call, what is inside them included, in the order of their lines; then what lies outside."""
        edges: dict[tuple[Ref | None, str], Edge] = {}
        for ref in refs:
            inner = self._inside(ref)
            for number, use in enumerate(self._code.files[ref.path].uses):
                if not use.call or use.inside not in inner:
                    continue
                targets = self._resolver.resolve(ref.path, number)
                for target in targets:
                    edges.setdefault(
                        (target.ref, ""),
                        Edge(path=ref.path, line=use.line, other=target.ref, how="call", certainty=target.certainty),
                    )
                if not targets:
                    name = f"{use.receiver}.{use.name}" if use.receiver else use.name
                    outside = Edge(
                        path=ref.path, line=use.line, other=None, how="call", certainty="possible", name=name
                    )
                    edges.setdefault((None, name), outside)
        return sorted(edges.values(), key=lambda e: (e.other is None, e.path, e.line))

    def _inside(self, ref: Ref) -> set[int]:
        found = {ref.number}
        for number, symbol in enumerate(self._code.files[ref.path].symbols):
            if symbol.parent in found:
                found.add(number)
        return found

    def impact(self, refs: Iterable[Ref], files: Iterable[str] = (), *, depth: int = 4) -> Impact:
        """What a change of symbols, or of everything in `files`, may touch, followed up to `depth` steps.

        What is used only possibly ends the way there; a class is touched with its methods.
        """
        start = {r for ref in refs for r in self._spread(ref)}
        changed = set(files)
        start |= {Ref(p, n) for p in changed for n in range(len(self._code.files[p].symbols))}
        until = time.monotonic() + _SECONDS
        reached: dict[tuple[str, Ref | None], Reached] = {}
        waiting: list[tuple[set[Ref], Certainty]] = [(start, "certain")]
        seen, whole = set(start), True
        for step in range(1, max(1, depth) + 1):
            following: dict[Certainty, set[Ref]] = {}
            for group, weakest in waiting:
                for edge in self.callers(group):
                    if time.monotonic() > until or len(reached) >= _MOST:
                        whole = False
                        break
                    certainty = weakest if ORDER[weakest] > ORDER[edge.certainty] else edge.certainty
                    if edge.path in changed or (edge.other is not None and edge.other in start):
                        continue
                    key = (edge.path, edge.other)
                    if key in reached and ORDER[reached[key].certainty] <= ORDER[certainty]:
                        continue
                    reached[key] = Reached(
                        ref=edge.other, path=edge.path, line=edge.line, depth=step, certainty=certainty
                    )
                    if edge.other is not None and edge.other not in seen and certainty != "possible":
                        seen.add(edge.other)
                        following.setdefault(certainty, set()).update(self._up(edge.other))
            waiting = [(group, certainty) for certainty, group in following.items()]
        for path in self._importers(changed) - {p for p, _ in reached}:
            reached[path, None] = Reached(ref=None, path=path, line=1, depth=1, certainty="certain")
        order = sorted(reached.values(), key=lambda r: (r.depth, ORDER[r.certainty], r.path, r.line))
        sure = [r.path for r in order if r.certainty != "possible"]
        touched = tuple(sorted(set(sure)))
        return Impact(reached=tuple(order), files=touched, tests=tuple(filter(is_test, touched)), whole=whole)

    def _spread(self, ref: Ref) -> set[Ref]:
        """A symbol, and for a class what is in it."""
        if self._code.symbol(ref).kind not in TYPES:
            return {ref}
        return {Ref(ref.path, n) for n in self._inside(ref)}

    def _up(self, ref: Ref) -> set[Ref]:
        """What is touched together with a symbol: a function inside a function touches that one."""
        symbols = self._code.files[ref.path].symbols
        found = {ref}
        at = symbols[ref.number].parent
        while at >= 0 and symbols[at].kind in ("function", "method"):
            found.add(Ref(ref.path, at))
            at = symbols[at].parent
        return found

    def _importers(self, files: set[str]) -> set[str]:
        """The files that import one of `files` as a module."""
        if not files:
            return set()
        found: set[str] = set()
        for path, facts in self._code.files.items():
            if path not in files and any(
                not files.isdisjoint(module_files(self._code, path, i.module)) for i in facts.imports
            ):
                found.add(path)
        return found
