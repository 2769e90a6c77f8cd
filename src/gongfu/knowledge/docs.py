"""A compact outline of modules: what they are for, and what they offer."""

from __future__ import annotations

import posixpath

from gongfu.core.base import Base
from gongfu.knowledge.code import Code, Ref, module_name
from gongfu.knowledge.model import TYPES, Symbol, first_paragraph

_MOST_BELOW = 30  # files below a folder that has none itself


class Entry(Base, frozen=True):
    """One public symbol; `inner` are the public ones inside a class."""

    ref: Ref
    symbol: Symbol
    inner: tuple[Symbol, ...] = ()


class ModuleDoc(Base, frozen=True):
    """A module: `name` is what it is imported by ("" where the path is), `doc` its comment."""

    path: str
    name: str
    doc: str
    entries: tuple[Entry, ...] = ()


def module_doc(code: Code, path: str, *, private: bool = False) -> ModuleDoc:
    """The outline of one file."""
    facts = code.files[path]
    entries: list[Entry] = []
    for number, symbol in enumerate(facts.symbols):
        if symbol.parent >= 0 and facts.symbols[symbol.parent].kind != "module":
            continue
        if (
            symbol.kind in ("variable", "module")
            or not (private or symbol.public)
            or (symbol.declared and _has(code, path, symbol))
        ):
            continue
        inner: tuple[Symbol, ...] = ()
        if symbol.kind in TYPES:
            inner = tuple(s for s in _members(code, Ref(path, number)) if private or s.public)
        entries.append(Entry(ref=Ref(path, number), symbol=symbol, inner=inner))
    return ModuleDoc(path=path, name=module_name(code, path), doc=facts.doc, entries=tuple(entries))


def _has(code: Code, path: str, symbol: Symbol) -> bool:
    return any(not code.files[path].symbols[n].declared for n in code.in_file(path, symbol.name))


def _members(code: Code, ref: Ref) -> list[Symbol]:
    """What is inside a class, and what its language lets stand outside of it."""
    symbols = code.files[ref.path].symbols
    prefix = f"{symbols[ref.number].qualified}."

    def outside(symbol: Symbol) -> bool:
        return symbol.kind == "method" and symbol.qualified == f"{prefix}{symbol.name}"

    return [s for s in symbols if s.parent == ref.number or outside(s)]


def files_of(code: Code, name: str) -> list[str]:
    """The files that a name means: a path, a folder (its files, else up to 30 below it), or a module's name."""
    plain = name.strip().replace("\\", "/").removeprefix("./").rstrip("/")
    if plain in code.files:
        return [plain]
    inside = sorted(code.folder("" if plain in (".", "") else plain))
    if inside:
        return inside
    below = sorted(p for p in code.files if p.startswith(f"{plain}/")) if plain not in (".", "") else sorted(code.files)
    if 0 < len(below) <= _MOST_BELOW:
        return below
    if not plain:
        return []
    module = plain.replace("/", ".")
    for path in sorted(code.with_stem(module.rpartition(".")[2])):
        own = module_name(code, path)
        if own == module or own.endswith(f".{module}"):
            return sorted(code.folder(posixpath.dirname(path))) if path.endswith("/__init__.py") else [path]
    return [p for p in code.files if p.endswith(f"/{plain}")][:1]


def short_doc(text: str, most: int = 160) -> str:
    """The first sentence or so."""
    return first_paragraph(text, most)
