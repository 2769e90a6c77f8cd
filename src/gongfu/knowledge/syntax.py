"""Symbols, imports and uses of files in languages that tree-sitter has grammars for (the extra `code`)."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from gongfu.knowledge.grammars import PACKAGES, QUERIES
from gongfu.knowledge.imports import imports_of
from gongfu.knowledge.model import TYPES, Facts, Kind, Symbol, Use, first_paragraph, one_line

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_Captures = Mapping[str, "list[Node]"]
_DEFINITIONS = frozenset(
    ["function", "method", "class", "struct", "enum", "interface", "trait", "type", "constant", "variable", "field",
     "macro", "module", "impl", "declared_function", "declared_method"]
)  # fmt: skip
_WRAPPERS = frozenset(
    ["export_statement", "lexical_declaration", "variable_declaration", "template_declaration", "type_declaration",
     "const_declaration", "var_declaration", "expression_statement", "ambient_declaration"]
)  # fmt: skip
_COMMENTS = frozenset(["comment", "line_comment", "block_comment"])
_ASIDE = frozenset(["attribute_item", "decorator", "preproc_call"])
_MARKS = re.compile(r"^[ \t]*(?:/\*+!?|\*+/|\*(?!/)|//[/!]*)[ \t]?|[ \t]*\*+/[ \t]*$")
_GENERIC = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
_NO_BASE = frozenset(
    ["extends", "implements", "public", "private", "protected", "virtual", "permits", "where", "final"]
)
_TYPE_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)\w+)*")
_MOST_MATCHES = 300_000
_SECONDS = 3.0
_PIECE = 1 << 16


@lru_cache(maxsize=16)
def _loaded(language: str) -> tuple[Language, Query] | None:
    """A grammar with its query; None when its package is not installed."""
    from importlib import import_module  # only when a file of the language is read

    from tree_sitter import Language, Query  # the same

    package, function = PACKAGES[language]
    try:
        module = import_module(package)
    except ImportError:
        return None
    grammar: object = getattr(module, function)()
    made = Language(grammar)
    return made, Query(made, QUERIES[language])


def has_grammar(language: str) -> bool:
    """Whether files of a language can be read here."""
    return language in PACKAGES and _loaded(language) is not None


def read_syntax(language: str, text: str) -> Facts:
    """What a source says; parts that do not parse are passed over. `has_grammar` must hold.

    ValueError when it takes too long, as some grammars do with what is not in their language at all.
    """
    from tree_sitter import Parser, QueryCursor  # only when a file of the language is read

    loaded = _loaded(language)
    if loaded is None:
        raise ValueError(f"no grammar for {language}")
    source = text.encode("utf-8", "replace")
    until = time.monotonic() + _SECONDS

    def piece(offset: int, _: object) -> bytes:
        return source[offset : offset + _PIECE]

    def is_over(*_: object) -> bool:
        return time.monotonic() > until

    root = Parser(loaded[0]).parse(piece, progress_callback=is_over).root_node
    found = QueryCursor(loaded[1]).matches(root)[:_MOST_MATCHES]
    reader = _Reader(language, source)
    reader.read([captures for _, captures in found])
    return Facts(
        language=language, lines=text.count("\n") + (not text.endswith("\n")), doc=reader.file_doc(root),
        symbols=tuple(reader.symbols), uses=reader.uses(), imports=imports_of(language, reader.imports, source),
        errors=int(root.has_error),
    )  # fmt: skip


class _Place:
    """A definition while the file is read: where it starts and ends, and what names inside it are called by."""

    __slots__ = ("captures", "end", "index", "kind", "node", "qualifier", "start")

    def __init__(self, kind: str, node: Node, captures: _Captures) -> None:
        self.kind = kind
        self.node = node
        self.captures = captures
        self.start = node.start_byte
        self.end = node.end_byte
        self.index = -1
        self.qualifier = ""


class _Reader:
    def __init__(self, language: str, source: bytes) -> None:
        self.symbols: list[Symbol] = []
        self.imports: list[_Captures] = []
        self._language = language
        self._source = source
        self._places: list[_Place] = []
        self._uses: list[_Captures] = []
        self._vars: list[_Captures] = []
        self._names: set[int] = set()

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # --- what is found ----------------------------------------------------------------------------------------------

    def read(self, matches: list[_Captures]) -> None:
        for captures in matches:
            if "name" in captures:
                kind = next(k for k in captures if k in _DEFINITIONS)
                self._places.append(_Place(kind, captures[kind][0], captures))
                self._names.add(captures["name"][0].end_byte)
            elif "var" in captures:
                self._vars.append(captures)
            elif "call" in captures or "ref" in captures:
                self._uses.append(captures)
            else:
                self.imports.append(captures)
        self._places = list(_best(self._places))
        self._make_symbols()
        self._note_types()

    def _make_symbols(self) -> None:
        around: list[_Place] = []
        for place in self._places:
            while around and around[-1].end <= place.start:
                around.pop()
            self._make(place, around)
            around.append(place)

    def _make(self, place: _Place, around: list[_Place]) -> None:
        outer = around[-1] if around else None
        name_node = place.captures["name"][0]
        written = self._text(name_node)
        owner, name = _owner_and_name(written)
        if "owner" in place.captures:
            owner = _bare_type(self._text(place.captures["owner"][0]))
        if place.kind == "impl":
            place.qualifier = _bare_type(written)
            place.index = outer.index if outer else -1
            return
        qualifier = ".".join(filter(None, (outer.qualifier if outer else "", owner)))
        kind = self._kind(place, name, owner=owner, outer=outer)
        place.qualifier = f"{qualifier}.{name}" if qualifier else name
        header = self._header(place.node, name_node)
        bases = _bases(header) if kind in TYPES and kind != "type" else ()
        place.index = len(self.symbols)
        self.symbols.append(
            Symbol(
                name, place.qualifier, kind, place.node.start_point[0] + 1, place.node.end_point[0] + 1,
                self._signature(place.node, kind, header), self._doc(place.node),
                outer.index if outer else -1, bases, {}, self._public(place.node, name),
                place.kind.startswith("declared"),
            )
        )  # fmt: skip

    def _kind(self, place: _Place, name: str, *, owner: str, outer: _Place | None) -> Kind:
        kind = place.kind.removeprefix("declared_")
        if kind == "function" and (owner or (outer is not None and outer.kind in (*TYPES, "impl"))):
            return "method"
        if kind in ("variable", "field") and name.isupper() and self._source[place.start : place.end].strip():
            return "constant"
        return cast("Kind", kind)

    def _header(self, node: Node, name: Node) -> str:
        """What stands between the name and the body."""
        value = node.child_by_field_name("value")
        body = node.child_by_field_name("body") or (value.child_by_field_name("body") if value is not None else None)
        if body is None:
            last = node.named_children[-1] if node.named_children else node
            body = last if last.type.endswith(("_body", "_block", "declaration_list", "field_list")) else None
        end = body.start_byte if body is not None and body.start_byte >= name.end_byte else node.end_byte
        return self._source[name.end_byte : end].decode("utf-8", "replace")

    def _signature(self, node: Node, kind: str, header: str) -> str:
        text = one_line(header)
        if kind in ("function", "method"):
            text = text.removeprefix("=").strip().removesuffix("=>").rstrip(" ;:{")
            result = node.child_by_field_name("type") if self._language in ("c", "cpp", "java") else None
            return f"{text} -> {one_line(self._text(result), 60)}" if result is not None else text
        if kind in TYPES:
            short = text.split("{")[0].rstrip(" ;{")
            return short if len(short) <= 120 else ""
        if kind == "macro":
            return one_line(header.partition(")")[0] + ")", 100) if header.startswith("(") else ""
        return text.rstrip(" ;,") if len(text) <= 100 and "{" not in text else ""

    def _doc(self, node: Node) -> str:
        outer = node
        while outer.parent is not None and outer.parent.type in _WRAPPERS and outer.prev_named_sibling is None:
            outer = outer.parent
        if outer.parent is not None and outer.parent.type in ("export_statement", "template_declaration"):
            outer = outer.parent
        return first_paragraph(_comment_text(self._before(outer)))

    def _before(self, node: Node) -> list[str]:
        """The comments right above a node, in order."""
        found: list[str] = []
        line = node.start_point[0]
        above = node.prev_sibling
        while above is not None and len(found) < 60:
            last = above.end_point[0] - (above.end_point[1] == 0)  # some grammars count the line end to a comment
            if last < line - 1 or above.type not in _COMMENTS | _ASIDE:
                break
            before = above.prev_sibling
            if before is not None and before.type not in _COMMENTS and before.end_point[0] == above.start_point[0]:
                break  # it stands behind something else
            if above.type in _COMMENTS:
                found.append(self._text(above))
            line = above.start_point[0]
            above = before
        found.reverse()
        return found

    def _public(self, node: Node, name: str) -> bool:
        start = self._source[node.start_byte : node.start_byte + 120].decode("utf-8", "replace")
        match self._language:
            case "go":
                return name[:1].isupper()
            case "rust":
                return start.startswith("pub") or (node.parent is not None and self._in_trait(node))
            case "java":
                return "public" in start.split("(")[0] or (node.parent is not None and "interface" in node.parent.type)
            case "c" | "cpp":
                return not start.startswith("static ")
            case _:
                return not name.startswith(("_", "#"))

    def _in_trait(self, node: Node) -> bool:
        outer = node.parent.parent if node.parent is not None else None
        return outer is not None and outer.type == "trait_item"

    def file_doc(self, root: Node) -> str:
        """The comment that the file begins with."""
        found: list[str] = []
        last = -1
        for child in root.children[:60]:
            if child.type not in _COMMENTS or (found and child.start_point[0] > last + 1):
                break
            last = child.end_point[0] - (child.end_point[1] == 0)
            found.append(self._text(child))
        return _comment_text(found).strip()[:2_000]

    # --- types and uses ---------------------------------------------------------------------------------------------

    def _note_types(self) -> None:
        lookup = _Innermost(self._places)
        for captures in self._vars:
            var, written = captures["var"][0], _bare_type(self._text(captures["vartype"][0]))
            inside = lookup.at(var.start_byte)
            if inside < 0 or _TYPE_NAME.fullmatch(written) is None:
                continue
            field = self.symbols[inside].kind in TYPES or self.symbols[inside].kind == "field"
            while field and inside >= 0 and self.symbols[inside].kind not in TYPES:
                inside = self.symbols[inside].parent
            if inside >= 0:
                self.symbols[inside].types.setdefault(f"self.{self._text(var)}" if field else self._text(var), written)

    def uses(self) -> tuple[Use, ...]:
        """Calls, and other uses of names that the file defines or imports, and of types."""
        lookup = _Innermost(self._places)
        imports = imports_of(self._language, self.imports, self._source)
        aliases = {i.alias for i in imports}
        outer = {s.name for s in self.symbols if s.parent < 0 or self.symbols[s.parent].kind == "module"}
        known = outer | aliases
        found: dict[tuple[int, str], Use] = {}
        for captures in sorted(self._uses, key=_order):
            node = (captures.get("call") or captures["ref"])[0]
            name = self._text(node)
            receiver = _receiver(self._text(captures["on"][0])) if "on" in captures else ""
            call = "call" in captures
            if node.end_byte in self._names or (node.start_byte, name) in found:
                continue
            inside = lookup.at(node.start_byte)
            if not call and ((inside < 0 and name in aliases) or (not receiver and self._is_variable(name, inside))):
                continue
            telling = call or node.type == "type_identifier" or receiver.split(".")[0] in known
            if telling or (not receiver and name in known):
                found[node.start_byte, name] = Use(name, receiver, node.start_point[0] + 1, inside, call)
        once = {(u.name, u.receiver, u.line, u.inside, u.call): u for u in found.values()}
        return tuple(sorted(once.values(), key=lambda u: u.line))

    def _is_variable(self, name: str, inside: int) -> bool:
        while inside >= 0:
            if name in self.symbols[inside].types:
                return True
            inside = self.symbols[inside].parent
        return False


def _order(captures: _Captures) -> tuple[bool, bool]:
    """Calls first, then what has a receiver: the first that is told of a place counts."""
    return "call" not in captures, "on" not in captures


def _best(places: list[_Place]) -> Iterator[_Place]:
    """One place for each name, the most telling one, in the order of the file."""
    chosen: dict[int, _Place] = {}
    for place in places:
        key = place.captures["name"][0].start_byte
        other = chosen.get(key)
        if other is None or _RANK.get(place.kind, 0) < _RANK.get(other.kind, 0):
            chosen[key] = place
    yield from sorted(chosen.values(), key=lambda p: (p.start, -p.end))


_RANK = {"variable": 2, "type": 1, "declared_function": 1, "declared_method": 1}


class _Innermost:
    """Which symbol is innermost around a byte; asked in any order."""

    def __init__(self, places: list[_Place]) -> None:
        self._places = places
        self._starts = [p.start for p in places]
        self._outer: list[int] = []
        around: list[int] = []
        for number, place in enumerate(places):
            while around and places[around[-1]].end <= place.start:
                around.pop()
            self._outer.append(around[-1] if around else -1)
            around.append(number)

    def at(self, byte: int) -> int:
        number = bisect_right(self._starts, byte) - 1
        while number >= 0 and self._places[number].end <= byte:
            number = self._outer[number]
        return self._places[number].index if number >= 0 else -1


def _owner_and_name(written: str) -> tuple[str, str]:
    """`A::B::c` as ("A.B", "c")."""
    plain = re.sub(r"\s+", "", _without_generics(written)).replace("::", ".")
    owner, _, name = plain.rpartition(".")
    return owner.strip("."), name or plain


def _without_generics(text: str) -> str:
    for _ in range(8):
        less = _GENERIC.sub("", text)
        if less == text:
            break
        text = less
    return text


def _bare_type(text: str) -> str:
    """A type without references, pointers, generics and modifiers."""
    plain = _without_generics(text[:300]).strip()
    plain = re.sub(r"^(?:[&*\s(]|\[\]|'\w+\s|mut\b|const\b|dyn\b|impl\b|struct\b|enum\b|final\b)+", "", plain)
    return plain.rstrip("&*)]? ").removesuffix("[").strip()


def _bases(header: str) -> tuple[str, ...]:
    plain = _without_generics(header[:1_000]).split("{")[0]
    if not re.search(r"extends|implements|:|\bpermits\b", plain):
        return ()
    names = [m[0].replace("::", ".") for m in _WORD.finditer(plain)]
    return tuple(dict.fromkeys(n for n in names if n not in _NO_BASE))[:12]


def _receiver(text: str) -> str:
    """What something is called on: a chain of names, `name()` for what a call gives, `?` for anything else."""
    plain = _without_generics(text[:200]).replace("->", ".").replace("::", ".").replace("?.", ".").strip()
    plain = re.sub(r"\s+", "", plain).lstrip("&*(").rstrip("!)") if not plain.endswith("()") else plain
    if re.fullmatch(r"[A-Za-z_$#][\w$]*(?:\.[#\w$]+)*(?:\(\))?", plain) is not None:
        return plain
    return "?"


def _comment_text(comments: list[str]) -> str:
    lines = [_MARKS.sub("", line) for comment in comments for line in comment.splitlines()]
    while lines and not lines[0].strip():
        lines.pop(0)
    return "\n".join(line.rstrip() for line in lines)
