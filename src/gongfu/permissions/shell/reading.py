"""From the tree of a line to simple commands: words, assignments, redirections."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gongfu.permissions.shell.grammar import text_of
from gongfu.permissions.shell.state import State, TooMuch
from gongfu.permissions.shell.words import Pieces, Word, ansi_c, in_double_quotes, unescaped

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NODES = 40_000
WORDS = frozenset(
    [
        "word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "simple_expansion",
        "expansion", "command_substitution", "process_substitution", "arithmetic_expansion", "number",
        "brace_expression", "extglob_pattern", "regex", "variable_name", "test_operator", "array", "subscript",
        "command_name",
    ]
)  # fmt: skip
_TEXTS = frozenset(["string", "heredoc_body", "heredoc_redirect", "expansion", "arithmetic_expansion", "regex"])
_ONE_LINE = frozenset(
    ["command", "declaration_command", "unset_command", "redirected_statement", "file_redirect", "herestring_redirect"]
)
_SUBSTITUTIONS = frozenset(["command_substitution", "process_substitution"])


def fault(root: Node, source: bytes) -> str:
    """Why a tree cannot be trusted; "" when it can: all of the source is in it, and nothing was made up."""
    if root.has_error:
        return "it does not fit the grammar of a shell"
    waiting, seen = [root], 0
    if source[: root.start_byte].strip(b" \t\n") or source[root.end_byte :].strip(b" \t\n"):
        return "it does not fit the grammar of a shell"
    while waiting:
        node = waiting.pop()
        children = node.children
        seen += len(children)
        if seen > MAX_NODES:
            return "it is too long"
        if node.is_missing or node.type == "ERROR":
            return "it does not fit the grammar of a shell"
        if children and node.type not in _TEXTS:
            for left, right in itertools.pairwise(children):
                gap = source[left.end_byte : right.start_byte]
                if not gap:
                    continue
                if dash_before(right, left.end_byte, source):
                    continue
                bare = gap.replace(b"\\\n", b"")
                if bare.strip(b" \t\n") or not bare or (b"\n" in bare and node.type in _ONE_LINE):
                    return "it does not fit the grammar of a shell"
        waiting.extend(children)
    return ""


def dash_before(node: Node, end: int, source: bytes) -> bool:
    """Whether a lone `-` stands between `end` and a here-document: the grammar takes it for nothing."""
    return node.type == "heredoc_redirect" and source[end : node.start_byte].strip(b" \t") == b"-"


def no_more(text: str) -> None:
    """TooMuch when a text that should be plain has a substitution in it that the grammar did not see."""
    if re.search(r"(?s)(?<!\\)(?:\\\\)*(?:`|\$[({])", text):
        raise TooMuch("it does not fit the grammar of a shell")


class Reader:
    """Reads words. `substituted` is called with each command or process substitution that it meets."""

    __slots__ = ("_source", "_state", "_substituted")

    def __init__(self, state: State, source: bytes, substituted: Callable[[Node], None]) -> None:
        self._state = state
        self._source = source
        self._substituted = substituted

    def words(self, node: Node) -> list[Word]:
        """What a node of a word stands for; more than one by braces."""
        pieces = Pieces(text_of(node))
        self._read(node, pieces, inside=False)
        return pieces.words(self._state.variables)

    def word(self, node: Node) -> Word:
        """As `words`, where the shell makes no more than one."""
        found = self.words(node)
        return found[0] if len(found) == 1 else Word(text="", source=text_of(node), literal=False)

    def visit(self, node: Node) -> None:
        """All substitutions in a node whose text does not matter."""
        self._state.enter()
        if node.type in _SUBSTITUTIONS:
            self._substituted(node)
        elif not node.named_child_count:
            if node.type not in ("raw_string", "ansi_c_string", "comment"):
                no_more(text_of(node))
        else:
            for child in node.named_children:
                self.visit(child)
        self._state.leave()

    def _read(self, node: Node, pieces: Pieces, *, inside: bool) -> None:
        kind = node.type
        if kind in ("word", "number", "variable_name", "test_operator") and not node.child_count:
            text = text_of(node)
            no_more(text)
            if re.search(r"(?<!\\)\s", text):
                raise TooMuch("it does not fit the grammar of a shell")
            pieces.add(unescaped(text), quoted=False)
        elif kind == "raw_string":
            pieces.add(text_of(node)[1:-1], quoted=True)
        elif kind == "ansi_c_string":
            inner = ansi_c(text_of(node)[2:-1])
            pieces.add(inner or "", quoted=True)
            if inner is None:
                pieces.unknown()
        elif kind == "string":
            self._string(node, pieces)
        elif kind in ("concatenation", "command_name"):
            self._joined(node, pieces)
        elif kind == "brace_expression":
            pieces.add(text_of(node), quoted=False)
        elif kind in ("simple_expansion", "expansion"):
            self._variable(node, pieces, inside=inside)
        else:
            pieces.unknown()
            self.visit(node)

    def _joined(self, node: Node, pieces: Pieces) -> None:
        self._state.enter()
        at = node.start_byte
        for child in node.children:
            if child.start_byte != at:
                raise TooMuch("it does not fit the grammar of a shell")
            at = child.end_byte
            if child.is_named:
                self._read(child, pieces, inside=False)
            else:
                pieces.unknown()
        self._state.leave()

    def _string(self, node: Node, pieces: Pieces) -> None:
        """A string in double quotes; the grammar gives no node to some of its blanks and signs."""
        self._state.enter()
        at = node.start_byte + 1
        for child in node.named_children:
            if child.type == "string_content":
                continue
            before = self._source[at : child.start_byte].decode("utf-8", "replace")
            no_more(before)
            pieces.add(in_double_quotes(before), quoted=True)
            self._read(child, pieces, inside=True)
            at = child.end_byte
        rest = self._source[at : node.end_byte - 1].decode("utf-8", "replace")
        no_more(rest)
        pieces.add(in_double_quotes(rest), quoted=True)
        self._state.leave()

    def _variable(self, node: Node, pieces: Pieces, *, inside: bool) -> None:
        match = re.fullmatch(r"\$(?:(\w+)|\{(\w+)\})", text_of(node))
        value = None
        if match is not None and not self._state.tainted:
            value = self._value(match[1] or match[2])
        if match is not None and value is not None and (match[1] or match[2]) in self._state.patterns:
            pieces.add(value, quoted=False)  # a name that fits the pattern, as the shell puts it in
            if not inside:
                pieces.unknown()
        elif value is None or (not inside and re.search(r"[\s*?\[\\~{]|^$", value)):
            pieces.unknown()
            self.visit(node)
        else:
            pieces.add(value, quoted=True)

    def _value(self, name: str) -> str | None:
        if name == "PWD":
            places = self._state.places
            return places[0] if len(places) == 1 else None
        return self._state.variables.get(name)


def named(node: Node, field: str) -> Iterator[Node]:
    """The children of a field."""
    yield from node.children_by_field_name(field)
