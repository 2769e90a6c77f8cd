"""Markdown as it streams in: finished blocks are drawn once, the open one is shown as it stands."""

from __future__ import annotations

import re
from typing import Any

from gongfu.surfaces.cli.render.blocks import PIECE, Further, Watch, closes, fence_of, item_of
from gongfu.surfaces.cli.render.code import code_lines
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.width import breaks

_SGR = r"\x1b\[[0-9;]*m"
_ENOUGH = 8  # characters of a line that tell what kind of block it belongs to


class MarkdownStream:
    """Splits a stream of text into finished blocks (paragraphs, lists, fences, tables …) and one that is still open.

    Long fences and lists come in pieces; those after the first are `Further`. The time for a text is in proportion to
    its length.
    """

    def __init__(self) -> None:
        self.open = ""
        self._parser: Any = None
        self._enough = 0  # a large block is not parsed again before it has grown by a tenth
        self._watch = Watch()
        self._seen = 0  # characters of the open block whose lines were watched
        self._count = 0  # lines of them
        self._begun = False  # the open block has a first line
        self._further = False  # a part of the open block was given already

    def feed(self, text: str) -> list[str]:
        """Add text; the blocks that are finished by it, as Markdown."""
        before = len(self.open) - self.open.rfind("\n")
        self.open += text
        if "\n" not in text and not before <= _ENOUGH < before + len(text):
            return []
        done = list[str]()
        if self._may_end(newline="\n" in text):
            done += self._finished()
        if self._count > PIECE:
            done += self._piece()
        return done

    @property
    def further(self) -> bool:
        """Whether the open block goes on where the one before it ended."""
        return self._further

    def _may_end(self, *, newline: bool = False) -> bool:
        """Look at the lines that have come; whether one of them may have ended the block."""
        ends = False
        while (end := self.open.find("\n", self._seen)) >= 0:
            ends = self._watched(self.open[self._seen : end]) or ends
            self._seen, self._count = end + 1, self._count + 1
        newest = self.open[self._seen :]
        if self._begun and (newline or len(newest) >= _ENOUGH):
            return self._watch.may_end(newest, whole=False) or ends
        return ends

    def _watched(self, line: str) -> bool:
        if self._begun:
            return self._watch.may_end(line)
        if line.strip():
            self._watch.begin(line)
            self._begun = True
        return False

    def _finished(self) -> list[str]:
        if len(self.open) < self._enough:
            return []
        last = self._last_block()
        self._enough = 0 if last or len(self.open) < 4000 else len(self.open) * 11 // 10
        if last == 0:
            return []
        lines = self.open.split("\n")
        done, rest = "\n".join(lines[:last]), "\n".join(lines[last:])
        blocks = self._given(done)
        self._again(rest)
        return blocks

    def _given(self, block: str) -> list[str]:
        further, self._further = self._further, False
        if not block.strip():
            return []
        return [Further(block) if further else block]

    def _again(self, rest: str) -> None:
        """`rest` is the open block now."""
        self.open = rest
        self._seen = self._count = self._enough = 0
        self._begun = False
        self._may_end()

    def _piece(self) -> list[str]:
        """The first part of a long fence or list, when it can be cut."""
        lines = self.open.split("\n")
        start = next((at for at, line in enumerate(lines) if line.strip()), 0)
        fence = fence_of(lines[start])
        cut = _cut_in_fence(lines, start, fence) if fence else _cut_in_list(lines, start)
        if not cut:
            self._count = 0 if not fence and not item_of(lines[start]) else self._count - PIECE // 4
            return []
        done, rest = "\n".join(lines[:cut]), "\n".join(lines[cut:])
        if fence:
            done, rest = f"{done}\n{fence}", f"{lines[start]}\n{rest}"
        blocks = self._given(done)
        self._again(rest)
        self._further = True
        return blocks

    def finish(self) -> list[str]:
        """The end of the text: what was still open."""
        done = self._given(self.open)
        self._again("")
        return done

    def _last_block(self) -> int:
        """Line at which the last block begins: everything above is final."""
        if self._parser is None:
            self._parser = _parser().disable("inline")
        starts = [token.map[0] for token in self._parser.parse(self.open) if token.level == 0 and token.map]
        return starts[-1] if starts else 0


def _cut_in_fence(lines: list[str], start: int, fence: str) -> int:
    """The line before which a fence is cut: an empty one where there is any, and not inside quoted text, for its
    colours are found piece by piece; 0: none.
    """
    if any(closes(line, fence) for line in lines[start + 1 : -1]):
        return 0
    places = [at for at in range(len(lines) - 2, start + 2, -1) if lines[at - 1].strip()]
    apart = [at for at in places if not lines[at].strip() and at > start + PIECE // 3]
    for at in (*apart, *places):
        before = "\n".join(lines[start:at])
        if before.count('"""') % 2 == 0 and before.count("'''") % 2 == 0:
            return at
    return places[0] if places and len(lines) > PIECE * 3 else 0


def _cut_in_list(lines: list[str], start: int) -> int:
    """The line before which a list is cut: its last item but the open one; 0: none."""
    kind = item_of(lines[start])
    if not kind:
        return 0
    return next((at for at in range(len(lines) - 2, start + 2, -1) if item_of(lines[at]) == kind), 0)


def _parser() -> Any:
    """CommonMark with tables; HTML is text like any other, so that nothing the model wrote gets lost."""
    from markdown_it import MarkdownIt  # comes with rich; needed once Markdown streams into a terminal

    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


def draw(markdown: str, columns: int, *, color: bool) -> str:
    """Finished Markdown as text of at most `columns` cells, with escape sequences for colour only when wanted.

    Line ends inside a paragraph stay line ends. Between two blocks there is one empty line.
    """
    from io import StringIO

    from rich.console import Console  # only a terminal needs it
    from rich.theme import Theme

    console = Console(
        file=StringIO(), width=columns, force_terminal=color, color_system="standard" if color else None,
        legacy_windows=False, highlight=False, emoji=False, markup=False, _environ={},
        theme=Theme({"markdown.code": "cyan"}),
    )  # fmt: skip
    document = _document(clean(markdown))
    blocks: list[str] = []
    for tokens in _blocks(document.parsed):
        if tokens[0].type in ("fence", "code_block"):
            language = tokens[0].info.strip().partition(" ")[0]
            blocks.append("\n".join(code_lines(tokens[0].content, language, columns, color=color)))
            continue
        document.parsed = tokens
        console.file = StringIO()
        console.print(document)
        blocks.append(_trimmed(console.file.getvalue()))
    return "\n\n".join(filter(None, blocks))


def _trimmed(drawn: str) -> str:
    """Without spaces at the end of lines, and without empty lines around."""
    lines = [line.rstrip() for line in drawn.split("\n")]
    shown = [at for at, line in enumerate(lines) if re.sub(_SGR, "", line).strip()]
    return "\n".join(lines[shown[0] : shown[-1] + 1]) if shown else ""


def _blocks(tokens: list[Any]) -> list[list[Any]]:
    """The tokens of each block at the outermost level."""
    blocks: list[list[Any]] = []
    depth = 0
    for token in tokens:
        if depth == 0 and token.nesting >= 0:
            blocks.append([])
        blocks[-1].append(token)
        depth += token.nesting
    return blocks


def _elements() -> dict[str, Any]:
    """How some elements are drawn otherwise than rich does."""
    from rich.markdown import Heading, Paragraph, TableDataElement, TableElement

    broken = _broken()

    class Words(Paragraph):
        def on_enter(self, context: Any) -> None:
            super().on_enter(context)
            self.text = broken(justify="left")

    class Cell(TableDataElement):
        def __init__(self, justify: Any) -> None:
            super().__init__(justify)
            self.content = broken("", justify=justify)

    class Left(Heading):
        def on_enter(self, context: Any) -> None:
            super().on_enter(context)
            self.text = broken(justify="left")

        def __rich_console__(self, console: Any, options: Any) -> Any:
            self.text.justify = "left"
            yield self.text

    class Whole(TableElement):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            for table in super().__rich_console__(console, options):
                for column in getattr(table, "columns", ()):
                    column.overflow = "fold"  # nothing that the model wrote is cut
                yield table

    return {"heading_open": Left, "table_open": Whole, "paragraph_open": Words, "td_open": Cell}


def _document(text: str) -> Any:
    from rich.markdown import Markdown

    class Document(Markdown):
        elements = {**Markdown.elements, **_elements()}

    document = Document("", hyperlinks=False, code_theme="ansi_dark")
    document.parsed = _parser().parse(text)
    for token in document.parsed:
        if token.children:
            token.children = _plain(token.children)
    return document


def _broken() -> Any:
    """A text that is broken into lines as Chinese is, too: between characters, and no mark begins a line."""
    from rich.containers import Lines
    from rich.text import Text

    class Broken(Text):
        def wrap(self, console: Any, width: int, **options: Any) -> Lines:
            if self.plain.isascii():
                return super().wrap(console, width, **options)
            lines = Lines()
            for line in self.split(allow_blank=True):
                line.expand_tabs(8)
                rows = line.divide(breaks(line.plain, max(2, width)))
                for row in rows:
                    row.rstrip_end(width)
                rows.justify(console, width, justify=options.get("justify") or self.justify or "left", overflow="fold")
                lines.extend(rows)
            return lines

    return Broken


def _told(image: Any) -> None:
    """A picture becomes its words and its address: there is nothing else of it to be seen."""
    address = str(image.attrs.get("src", ""))
    image.type, image.tag, image.children = "text", "", None
    image.content = f"{image.content} ({address})" if image.content else address


def _plain(tokens: list[Any]) -> list[Any]:
    """The words of a block: line ends stay, pictures are told, and links that are bare addresses stand once."""
    for token in tokens:
        if token.type == "softbreak":
            token.type = "hardbreak"
        elif token.type == "image":
            _told(token)
    return _bare(tokens)


def _bare(tokens: list[Any]) -> list[Any]:
    """Links whose words are their address become words alone: it would stand there twice."""
    kept: list[Any] = []
    at = 0
    while at < len(tokens):
        link = tokens[at : at + 3]
        if [token.type for token in link] == ["link_open", "text", "link_close"]:
            address = str(link[0].attrs.get("href", ""))
            if link[1].content in (address, address.removeprefix("mailto:")):
                kept.append(link[1])
                at += 3
                continue
        kept.append(tokens[at])
        at += 1
    return kept
