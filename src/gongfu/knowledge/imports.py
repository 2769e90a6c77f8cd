"""What files in languages with a grammar import, from the captures of their queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gongfu.knowledge.model import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 5_000


def imports_of(language: str, captures: Sequence[Mapping[str, list[Node]]], source: bytes) -> tuple[Import, ...]:
    """The imports of a file, each once, in its order."""
    found: dict[Import, None] = {}
    for one in captures:
        texts = {name: _text(nodes[0], source) for name, nodes in one.items()}
        line = next(iter(one.values()))[0].start_point[0] + 1
        for made in _imports(language, texts, line):
            found[made] = None
            if len(found) >= _MOST:
                break
    bound = {(i.module, i.line) for i in found if i.alias}
    kept = [i for i in found if i.alias or (i.module, i.line) not in bound]
    return tuple(sorted(kept, key=lambda i: i.line))


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _imports(language: str, texts: dict[str, str], line: int) -> Iterator[Import]:
    if "use" in texts:
        reader = _rust if language == "rust" else _java
        yield from reader(texts["use"], line)
        return
    if "module" not in texts or texts.get("_called", "require") != "require":
        return
    module = texts["module"].strip("\"'`<>")
    match language:
        case "go":
            alias = texts.get("all", "") or _go_name(module)
            yield Import("" if alias == "_" else alias, module, "*" if alias == "." else "", line)
        case "c" | "cpp":
            yield Import("", module, "*", line)
        case _:
            yield _script(texts, module, line)


def _go_name(module: str) -> str:
    """The name of the package at an import path, by the usual rules: the last part that is no version."""
    parts = [p for p in module.split("/") if re.fullmatch(r"v\d+", p) is None]
    return re.sub(r"\.v\d+$", "", parts[-1] if parts else module).removeprefix("go-").replace("-", "_")


def _script(texts: dict[str, str], module: str, line: int) -> Import:
    if "item" in texts:
        return Import(texts.get("alias", texts["item"]), module, texts["item"], line)
    if "default" in texts:
        return Import(texts["default"], module, "default", line)
    if "all" in texts:
        return Import(texts["all"], module, "", line)
    return Import("", module, "*" if "everything" in texts else "", line)


def _java(text: str, line: int) -> Iterator[Import]:
    path = re.sub(r"^import\s+|\s*;\s*$|\s+", "", text.replace("import static ", "import ", 1))
    module, _, name = path.rpartition(".")
    yield Import("" if name == "*" else name, module, name, line)


def _rust(text: str, line: int) -> Iterator[Import]:
    """`a::{b, c as d, e::*}` one by one; read with a stack, so that depth does not matter."""
    plain = re.sub(r"\s+as\s+", " as ", re.sub(r"//[^\n]*", "", text)[:20_000])
    prefixes: list[str] = [""]
    current = ""
    for piece in re.findall(r"[{},]|[^{},]+", plain):
        match piece:
            case "{":
                prefixes.append(prefixes[-1] + current)
                current = ""
            case "," | "}":
                yield from _rust_one(prefixes[-1] + current, line)
                current = ""
                if piece == "}" and len(prefixes) > 1:
                    prefixes.pop()
            case _:
                current = "".join(piece.split()) if " as " not in piece else piece.strip()
    yield from _rust_one(prefixes[-1] + current, line)


def _rust_one(path: str, line: int) -> Iterator[Import]:
    path, _, alias = path.partition(" as ")
    if not path or path.endswith("::"):
        return
    module, _, name = path.rpartition("::")
    if name == "self":
        module, _, name = module.rpartition("::")
    local = "" if name == "*" else alias.strip() or name
    yield Import("" if local == "_" else local, module.strip(), name.strip(), line)
