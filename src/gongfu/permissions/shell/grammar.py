"""The parser, loaded when the first line that needs it is rated."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gongfu.permissions.shell.state import TooMuch

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_SHORT = 2_000
_PIPES = 1_000


@lru_cache(maxsize=1)
def _parser() -> Parser:
    from tree_sitter import Language, Parser  # 1 ms that only lines which need a grammar pay for

    return Parser(Language(_grammar()))


def _grammar() -> object:
    """The compiled grammar, without its package, which takes 12 ms for reading resources that are not wanted here."""
    from importlib.machinery import PathFinder

    package = PathFinder.find_spec("tree_sitter_bash")
    folders = None if package is None else package.submodule_search_locations
    spec = None if folders is None else PathFinder.find_spec("tree_sitter_bash._binding", list(folders))
    module = None if spec is None or spec.loader is None else spec.loader.create_module(spec)
    if spec is None or spec.loader is None or module is None:
        import tree_sitter_bash

        return tree_sitter_bash.language()
    spec.loader.exec_module(module)
    return module.language()


def parse(source: bytes) -> Node:
    """The root of the tree of a line in UTF-8; TooMuch when it would take too long.

    What does not fit the grammar has `has_error` set on its way up."""
    if len(source) > _SHORT and (
        b"{" * 200 in source
        or source.count(b"|\n") > _PIPES
        or any(line.count(b"|") > _PIPES for line in source.split(b"\n"))
    ):
        raise TooMuch("it takes too long to read")  # the grammar needs minutes for what it cannot close
    return _parser().parse(source).root_node


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")
