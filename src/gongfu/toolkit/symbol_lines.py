"""What the index says, in lines for the model: bounded, in a stable order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gongfu.knowledge.code import Ref
from gongfu.knowledge.docs import ModuleDoc, short_doc
from gongfu.knowledge.graph import Edge, Impact, is_test
from gongfu.knowledge.index import Index
from gongfu.knowledge.model import Symbol
from gongfu.toolkit.counts import counted

_MOST_REACHED = 60
_MOST_FILES = 40


class Lines:
    """Writes lines for one index; call it while the index answers."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._code = index.code

    def path(self, path: str) -> str:
        """A path as the model writes it."""
        return self._index.workspace.show(self._index.workspace.root / path)

    def symbol(self, ref: Ref, *, doc: bool = False) -> str:
        """`path:line kind qualified.name(signature)`."""
        symbol = self._code.symbol(ref)
        words = f"  # {short_doc(symbol.doc, 100)}" if doc and symbol.doc else ""
        return f"{self.path(ref.path)}:{symbol.line} {_named(symbol)}{words}"

    def outline(self, path: str) -> list[str]:
        """The symbols of a file, those inside others indented."""
        facts = self._code.files[path]
        lines = [f"{self.path(path)} ({facts.language}, {counted(facts.lines, 'line')})"]
        if facts.problem:
            return [*lines, f"  [not read: {facts.problem}]"]
        depths: list[int] = []
        for symbol in sorted(facts.symbols, key=lambda s: s.line) if facts.errors else facts.symbols:
            depth = symbol.qualified.count(".") if facts.errors else _depth(symbol, depths)
            depths.append(depth)
            lines.append(f"{'  ' * (depth + 1)}{symbol.line}-{symbol.end} {symbol.kind} {symbol.name}{_tail(symbol)}")
        if facts.errors:
            lines.append("  [parts of it do not parse; what could be read is here]")
        return lines

    def callers(self, refs: Sequence[Ref], most: int) -> list[str]:
        """Who uses some symbols, one after the other."""
        lines: list[str] = []
        for ref in refs:
            edges = self._index.graph.callers([ref])
            counts = Counter(e.certainty for e in edges)
            told = ", ".join(f"{counts[c]} {c}" for c in ("certain", "likely", "possible") if counts[c])
            lines.append(f"{self.symbol(ref)}: {counted(len(edges), 'use')}{f' ({told})' if told else ''}")
            lines += [f"  {self._edge(e)}" for e in edges[:most]]
            if len(edges) > most:
                lines.append(f"  [{len(edges) - most} more; raise limit to see them]")
        return lines

    def _edge(self, edge: Edge) -> str:
        where = self._code.symbol(edge.other).qualified if edge.other is not None else "(module level)"
        how = "" if edge.how == "call" else f" [{edge.how}]"
        sure = "" if edge.certainty == "certain" else f" ({edge.certainty})"
        return f"{self.path(edge.path)}:{edge.line} {where}{how}{sure}"

    def callees(self, refs: Sequence[Ref], most: int) -> list[str]:
        """What some symbols call, one after the other."""
        lines: list[str] = []
        for ref in refs:
            edges = self._index.graph.callees([ref])
            inside = [e for e in edges if e.other is not None]
            outside = [e.name for e in edges if e.other is None]
            lines.append(f"{self.symbol(ref)}: calls {counted(len(inside), 'symbol')} of the workspace")
            for edge in inside[:most]:
                if edge.other is not None:
                    sure = "" if edge.certainty == "certain" else f" ({edge.certainty})"
                    lines.append(f"  line {edge.line}: {self.symbol(edge.other)}{sure}")
            if len(inside) > most:
                lines.append(f"  [{len(inside) - most} more; raise limit to see them]")
            if outside:
                more = f" and {len(outside) - 20} more" if len(outside) > 20 else ""
                lines.append(f"  elsewhere: {', '.join(outside[:20])}{more}")
        return lines

    def impact(self, found: Impact, refs: Sequence[Ref], files: Sequence[str]) -> list[str]:
        """What a change may touch: in short, the tests, then what is reached step by step."""
        sure = [r for r in found.reached if r.certainty != "possible"]
        about = ", ".join([*(self.path(f) for f in files[:5]), *(self.symbol(r) for r in refs)])
        reach = f"{counted(len(sure), 'place')} in {counted(len(found.files), 'file')}"
        lines = [f"{about}: a change may touch {reach}, {len(found.tests)} of tests"]
        if found.tests:
            shown = [self.path(p) for p in found.tests[:_MOST_FILES]]
            more = f" and {len(found.tests) - len(shown)} more" if len(found.tests) > len(shown) else ""
            lines.append(f"tests: {' '.join(shown)}{more}")
        named = [r for r in sure if not is_test(r.path)]
        step = 0
        for one in named[:_MOST_REACHED]:
            if one.depth != step:
                step = one.depth
                lines.append(f"step {step}:")
            where = self._code.symbol(one.ref).qualified if one.ref is not None else "(module level)"
            likely = " (likely)" if one.certainty == "likely" else ""
            lines.append(f"  {self.path(one.path)}:{one.line} {where}{likely}")
        if len(named) > _MOST_REACHED:
            rest = Counter(r.path for r in named[_MOST_REACHED:])
            some = " ".join(self.path(p) for p in sorted(rest)[:_MOST_FILES])
            lines.append(f"[{len(named) - _MOST_REACHED} more places in {len(rest)} files: {some}]")
        unsure = len(found.reached) - len(sure)
        if unsure:
            lines.append(f"[{unsure} places use something of the same name and possibly mean it]")
        if not found.whole:
            lines.append("[too much to follow all of it; lower depth or ask for a single symbol]")
        return lines

    def module(self, doc: ModuleDoc) -> list[str]:
        """A module for reading."""
        facts = self._code.files[doc.path]
        lines = [f"{self.path(doc.path)}{f' ({doc.name})' if doc.name else ''}"]
        if facts.problem:
            return [*lines, f"  [not read: {facts.problem}]"]
        lines += [f"  {line.strip()}" for line in doc.doc.splitlines()[:6] if line.strip()]
        for entry in doc.entries:
            lines.append(f"  {entry.symbol.line} {_named(entry.symbol)}")
            if entry.symbol.doc:
                lines.append(f"      {short_doc(entry.symbol.doc)}")
            for inner in entry.inner:
                words = f"  # {short_doc(inner.doc, 100)}" if inner.doc else ""
                lines.append(f"    {inner.line} {inner.kind} {inner.name}{_tail(inner)}{words}")
        return lines


def _named(symbol: Symbol) -> str:
    return f"{symbol.kind} {symbol.qualified}{_tail(symbol)}"


def _tail(symbol: Symbol) -> str:
    text = symbol.signature
    return text if not text or text[0] in "(:<" else f" {text}"


def _depth(symbol: Symbol, depths: list[int]) -> int:
    if symbol.parent < 0:
        return 0
    return depths[symbol.parent] + 1 if symbol.parent < len(depths) else 0
