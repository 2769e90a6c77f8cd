"""Errors of syntax in files of languages for which no language server is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gongfu.toolkit.checkers import Finding

_GRAMMARS = {
    ".js": ("tree_sitter_javascript", "language"), ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"), ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"), ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"), ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"), ".c": ("tree_sitter_c", "language"),
    ".h": ("tree_sitter_cpp", "language"), ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"), ".cxx": ("tree_sitter_cpp", "language"),
    ".hpp": ("tree_sitter_cpp", "language"), ".sh": ("tree_sitter_bash", "language"),
    ".bash": ("tree_sitter_bash", "language"),
}  # fmt: skip
DATA = (".json", ".toml")
_MOST = 20  # in a file
_LARGEST = 2 * 1024 * 1024


def can_check(path: Path) -> bool:
    """Whether the syntax of a file is known here."""
    suffix = path.suffix.lower()
    return suffix in _GRAMMARS or suffix in DATA


def syntax_errors(path: Path, text: str) -> list[Finding]:
    """What cannot be parsed in a file. ImportError when its grammar is not installed."""
    if len(text) > _LARGEST:
        return []
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _json(path, text)
    if suffix == ".toml":
        return _toml(path, text)
    return list(_by_grammar(path, text, *_GRAMMARS[suffix]))


def _json(path: Path, text: str) -> list[Finding]:
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return [_finding(path, error.lineno, error.colno, error.msg, "json")]
    except RecursionError:
        return [_finding(path, 1, 1, "nested too deeply", "json")]
    return []


def _toml(path: Path, text: str) -> list[Finding]:
    import re
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(at[1]), int(at[2])) if at else (1, 1)
        return [_finding(path, line, column, str(error), "toml")]
    except RecursionError:
        return [_finding(path, 1, 1, "nested too deeply", "toml")]
    return []


def _by_grammar(path: Path, text: str, module: str, function: str) -> Iterator[Finding]:
    import importlib

    sitter: Any = importlib.import_module("tree_sitter")
    grammar: Any = importlib.import_module(module)
    tree: Any = sitter.Parser(sitter.Language(getattr(grammar, function)())).parse(text.encode("utf-8", "replace"))
    if not tree.root_node.has_error:
        return
    waiting: list[Any] = [tree.root_node]
    count = 0
    while waiting and count < _MOST:
        node = waiting.pop()
        if node.is_missing or node.is_error:
            count += 1
            row, column = node.start_point
            what = f"{node.type!r} is missing" if node.is_missing else "this cannot be parsed"
            yield _finding(path, row + 1, column + 1, what, "tree-sitter")
        elif node.has_error:
            waiting.extend(reversed(node.children))


def _finding(path: Path, line: int, column: int, message: str, source: str) -> Finding:
    return Finding(path=str(path), line=line, column=column, severity="error", message=message, source=source)
