"""The parser, loaded when the first line that needs it is rated."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash  # 8 ms that only lines which need a grammar pay for
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(source: bytes) -> Node:
    """The root of the tree of a line in UTF-8. What does not fit the grammar has `has_error` set on its way up."""
    return _parser().parse(source).root_node


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")
