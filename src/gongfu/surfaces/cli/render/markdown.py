"""Markdown as it streams in: finished blocks are drawn once, the open one is shown as it stands."""

from __future__ import annotations

import re
from typing import Any

from gongfu.surfaces.cli.style import clean

_SGR = r"\x1b\[[0-9;]*m"
_ENOUGH = 8  # characters of a line that tell what kind of block it belongs to


class MarkdownStream:
    """Splits a stream of text into finished blocks (paragraphs, lists, fences, tables …) and one that is still open."""

    def __init__(self) -> None:
        self.open = ""
        self._parser: Any = None
        self._enough = 0  # a large block is not parsed again before it has grown by a tenth

    def feed(self, text: str) -> list[str]:
        """Add text; the blocks that are finished by it, as Markdown."""
        before = len(self.open) - self.open.rfind("\n")
        self.open += text
        if "\n" not in text and not before <= _ENOUGH < before + len(text):
            return []
        if len(self.open) < self._enough:
            return []
        last = self._last_block()
        self._enough = 0 if last or len(self.open) < 4000 else len(self.open) * 11 // 10
        if last == 0:
            return []
        lines = self.open.split("\n")
        done, self.open = "\n".join(lines[:last]), "\n".join(lines[last:])
        return [done] if done.strip() else []

    def finish(self) -> list[str]:
        """The end of the text: what was still open."""
        done, self.open, self._enough = self.open, "", 0
        return [done] if done.strip() else []

    def _last_block(self) -> int:
        """Line at which the last block begins: everything above is final."""
        if self._parser is None:
            self._parser = _parser()
        starts = [token.map[0] for token in self._parser.parse(self.open) if token.level == 0 and token.map]
        return starts[-1] if starts else 0


def _parser() -> Any:
    """CommonMark with tables; HTML is text like any other, so that nothing the model wrote gets lost."""
    from markdown_it import MarkdownIt  # comes with rich; needed once Markdown streams into a terminal

    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


def draw(markdown: str, columns: int, *, color: bool) -> str:
    """Finished Markdown as text of at most `columns` cells, with escape sequences for colour only when wanted.

    Line ends inside a paragraph stay line ends.
    """
    from io import StringIO

    from rich.console import Console  # only a terminal needs it
    from rich.theme import Theme

    sink = StringIO()
    console = Console(
        file=sink, width=columns, force_terminal=color, color_system="standard" if color else None,
        legacy_windows=False, highlight=False, emoji=False, markup=False, _environ={},
        theme=Theme({"markdown.code": "cyan"}),
    )  # fmt: skip
    console.print(_document(clean(markdown)))
    lines = [line.rstrip() for line in sink.getvalue().split("\n")]
    shown = [at for at, line in enumerate(lines) if re.sub(_SGR, "", line).strip()]
    return "\n".join(lines[shown[0] : shown[-1] + 1]) if shown else ""


def _document(text: str) -> Any:
    from rich.markdown import Heading, Markdown

    class Left(Heading):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            self.text.justify = "left"
            yield self.text

    class Document(Markdown):
        elements = {**Markdown.elements, "heading_open": Left}

    document = Document(text, hyperlinks=False, code_theme="ansi_dark")
    document.parsed = _parser().parse(text)
    for token in document.parsed:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
    return document
