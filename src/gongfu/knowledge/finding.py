"""Symbols by name: exactly, by a part of it, by its parts (`rdFl` for `read_file`), or by what their comments say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from gongfu.core.base import Base
from gongfu.knowledge.code import Code, Ref, module_name
from gongfu.knowledge.model import Facts, Symbol

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_MOST_RANKED = 500
_WORDS = re.compile(r"[\s,;]+")
_LEVEL = {"class": 0, "struct": 0, "interface": 0, "trait": 0, "enum": 0, "function": 0, "type": 1, "method": 1}


class Match(Base, frozen=True):
    """A symbol that was found; the higher the `score` (0 to 1) the nearer."""

    ref: Ref
    score: float


class Finder:
    """Finds in one `Code`. What it knows of names and of words in comments it keeps, and brings up to date."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._forms: dict[str, tuple[int, str, str]] = {}
        self._seen: dict[str, Facts] = {}
        self._holding: dict[str, dict[str, list[int]]] = {}

    def near(self, low: str) -> list[tuple[str, str, str]]:
        """The names that have every sign of a folded query, each with its folded form and that without bars."""
        wanted = _signs(low.replace("_", "").replace("-", ""))
        forms = self._forms
        found: list[tuple[str, str, str]] = []
        for name in self.code.names:
            form = forms.get(name)
            if form is None:
                other = name.lower()
                short = other.replace("_", "")
                form = forms[name] = (_signs(short), other, short)
            if wanted & ~form[0] == 0:
                found.append((name, form[1], form[2]))
        return found

    def by_words(self, query: str, limit: int) -> list[tuple[Ref, float]]:
        """The symbols whose names or comments hold words of a query, best first."""
        from gongfu.core.lexical.terms import query_terms  # only when names do not answer
        from gongfu.retrieval.rank import Doc, rank  # the same

        self._read_words()
        asked = query_terms(query)
        holding = [self._refs(term) for term in asked.words if asked.telling(term)]
        holding.sort(key=len)
        refs = list(dict.fromkeys(ref for refs in holding for ref in refs))[:_MOST_RANKED]
        docs = [Doc(id=str(i), text=_text(self.code.symbol(ref))) for i, ref in enumerate(refs)]
        return [(refs[int(hit.id)], hit.score) for hit in rank(query, docs, limit=limit)]

    def _refs(self, term: str) -> list[Ref]:
        if term.endswith("*"):
            tables = [self._holding[t] for t in self._holding if t.startswith(term[0])]
        else:
            tables = [self._holding.get(term, {})]
        return sorted(Ref(path, n) for table in tables for path, numbers in table.items() for n in numbers)

    def _read_words(self) -> None:
        """Bring the table of words up to date: only files that are other than before are read."""
        from gongfu.core.lexical.terms import terms

        files = self.code.files
        for path in [p for p, facts in self._seen.items() if files.get(p) is not facts]:
            for symbol in self._seen.pop(path).symbols:
                for term in set(terms(_text(symbol))):
                    self._holding.get(term, {}).pop(path, None)
        for path, facts in files.items():
            if path not in self._seen:
                self._seen[path] = facts
                for number, symbol in enumerate(facts.symbols):
                    for term in set(terms(_text(symbol))):
                        self._holding.setdefault(term, {}).setdefault(path, []).append(number)


def _signs(text: str) -> int:
    """Which signs a text has, as bits; several signs may share one."""
    found = 0
    for sign in text:
        found |= 1 << (ord(sign) & 63)
    return found


def find(
    finder: Finder,
    query: str,
    *,
    kinds: Iterable[str] = (),
    wanted: Callable[[str], bool] | None = None,
    limit: int = 30,
) -> tuple[list[Match], int]:
    """The symbols nearest to a query, best first, and how many there are in all.

    Names count before words of comments. `wanted` says which paths are looked at.
    """
    code, chosen = finder.code, frozenset(kinds)

    def fits(ref: Ref) -> bool:
        return (not chosen or code.symbol(ref).kind in chosen) and (wanted is None or wanted(ref.path))

    query = query.strip()
    scored: dict[Ref, float] = {}
    if len(_WORDS.split(query)) == 1:
        for name, score in _names(finder, query):
            for ref in code.named(name):
                value = score if "." not in query else _qualified(code, ref, query, score)
                if value > 0 and fits(ref):
                    scored[ref] = value
    if not scored:
        for ref, score in finder.by_words(query, limit * 3):
            if ref not in scored and fits(ref):
                scored[ref] = score * 0.5
    found = [Match(ref=ref, score=_adjusted(code.symbol(ref), score)) for ref, score in scored.items()]
    found.sort(key=lambda m: (-m.score, len(code.symbol(m.ref).qualified), m.ref))
    return found[:limit], len(found)


def _adjusted(symbol: Symbol, score: float) -> float:
    """Of equal names what others call first, fields and variables last."""
    return score - 0.02 * _LEVEL.get(symbol.kind, 2) - 0.01 * (not symbol.public)


def _names(finder: Finder, query: str) -> list[tuple[str, float]]:
    """The names that are near to one word."""
    plain = query.replace("::", ".").strip("().").rpartition(".")[2]
    low = plain.lower()
    if not low:
        return []
    parts = [p.lower() for p in _PARTS.findall(plain)]
    squeezed = low.replace("_", "").replace("-", "")
    found: list[tuple[str, float]] = []
    for name, other, short in finder.near(low):
        score = _near((name, other, short), plain, low, squeezed, parts)
        if score > 0:
            found.append((name, score))
    return found


def _near(forms: tuple[str, str, str], plain: str, low: str, squeezed: str, parts: Sequence[str]) -> float:
    name, other, short = forms
    if name == plain:
        return 1.0
    if other == low:
        return 0.97
    if short == squeezed:
        return 0.95
    if other.startswith(low):
        return 0.9 - min(len(other) - len(low), 30) * 0.003
    if len(low) > 1 and low in other:
        return 0.8 - min(len(other) - len(low), 30) * 0.003
    if len(squeezed) > 2 and _is_spread(squeezed, short):
        return _by_parts(name, squeezed, parts)
    return 0.0


def _is_spread(wanted: str, name: str) -> bool:
    """Whether the signs of `wanted` stand in `name` in order."""
    at = -1
    for sign in wanted:
        at = name.find(sign, at + 1)
        if at < 0:
            return False
    return True


def _by_parts(name: str, squeezed: str, parts: Sequence[str]) -> float:
    """How well a query such as `rtrn`, `runT` or `readPdf` fits the parts of a name: only from their beginnings."""
    others = [p.lower() for p in _PARTS.findall(name)]
    if len(parts) > 1 and _begin(parts, others):
        return 0.75
    if _from_beginnings(squeezed, others):
        return 0.6
    starts = name.lower().startswith(squeezed[0]) and len(name) <= 4 * len(squeezed)
    return 0.45 if starts else 0.0


def _begin(parts: Sequence[str], others: Sequence[str]) -> bool:
    rest = iter(others)
    return all(any(other.startswith(part) for other in rest) for part in parts)


def _from_beginnings(wanted: str, others: Sequence[str]) -> bool:
    """Whether `wanted` can be cut into beginnings of parts of a name, in their order."""
    ends = {0}
    for other in others:
        for start in tuple(ends):  # it grows meanwhile
            length = 0
            while start + length < len(wanted) and length < len(other) and wanted[start + length] == other[length]:
                length += 1
                ends.add(start + length)
    return len(wanted) in ends


def _qualified(code: Code, ref: Ref, query: str, score: float) -> float:
    """The score of a name whose query has dots in it: what stands before the last must fit, too."""
    wanted = query.replace("::", ".").strip("().").lower()
    whole = (
        f"{module_name(code, ref.path) or ref.path.rpartition('.')[0].replace('/', '.')}.{code.symbol(ref).qualified}"
    )
    before = wanted.rpartition(".")[0]
    return score if f".{whole.lower()}".endswith(f".{wanted}") or before in whole.lower().split(".") else 0.0


def _text(symbol: Symbol) -> str:
    return f"{symbol.qualified} {symbol.doc}"


def pick(code: Code, text: str) -> list[Ref]:
    """The symbols that somebody means who writes a name: `name`, `Class.name`, `module.Class.name`, `path:name` or
    `path:line`; the nearest, and several where they are equally near. [] when there is none."""
    wanted = text.strip().replace("::", ".").removesuffix("()")
    place, colon, rest = wanted.rpartition(":")
    if colon:
        files = [p for p in code.files if p == place or p.endswith(f"/{place.lstrip('/')}")]
        if rest.isdigit():
            return [ref for path in files if (ref := _at_line(code, path, int(rest))) is not None]
        return [r for r in pick(code, rest) if r.path in files]
    name = wanted.rpartition(".")[2]
    refs = code.named(name)
    if "." not in wanted:
        top = [r for r in refs if code.symbol(r).parent < 0]
        return _whole(code, top or refs)
    exact = [r for r in refs if code.symbol(r).qualified == wanted or _whole_name(code, r) == wanted]
    return _whole(code, exact or [r for r in refs if f".{_whole_name(code, r)}".endswith(f".{wanted}")])


def _whole(code: Code, refs: list[Ref]) -> list[Ref]:
    """Definitions rather than what only declares them; calls rather than fields of the same name."""
    bodies = [r for r in refs if not code.symbol(r).declared] or refs
    telling = [r for r in bodies if code.symbol(r).kind not in ("field", "variable")]
    return telling or bodies


def _whole_name(code: Code, ref: Ref) -> str:
    module = module_name(code, ref.path) or ref.path.rpartition(".")[0].replace("/", ".")
    return f"{module}.{code.symbol(ref).qualified}"


def _at_line(code: Code, path: str, line: int) -> Ref | None:
    """The innermost symbol around a line."""
    best: int | None = None
    for number, symbol in enumerate(code.files[path].symbols):
        if symbol.line <= line <= symbol.end and symbol.kind not in ("field", "variable"):
            best = number
    return Ref(path, best) if best is not None else None
