"""The open block of an answer as it stands: drawn without a parser, close to what it will look like."""

from __future__ import annotations

import re

from gongfu.surfaces.cli.render.blocks import closes, fence_of
from gongfu.surfaces.cli.render.painted import cells, folded
from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.style import Style, clean
from gongfu.surfaces.cli.width import width

_SHOWN = 6000  # characters at the end of a block: more than a third of any screen


def standing(text: str, columns: int, rows: int, style: Style, *, symbols: bool = True) -> list[str]:
    """The last `rows` rows of the block `text`, none wider than `columns`."""
    text = text.strip("\n")
    if not text.strip() or rows <= 0:
        return []
    end = text if len(text) <= _SHOWN else text[-_SHOWN:].partition("\n")[2] or text[-_SHOWN:]
    lines = end.split("\n")
    fence = fence_of(text.partition("\n")[0])
    if fence and len(end) == len(text):
        lines = lines[1:]
    if fence:
        lines = [line for line in lines[-rows - 1 :] if not closes(line, fence)]
        return [row for line in lines for row in _code(line, columns)][-rows:]
    return [row for line in lines[-rows - 1 :] for row in _words(_laid(line), columns, style, symbols=symbols)][-rows:]


def plainly(text: str, columns: int, style: Style, *, symbols: bool = True) -> str:
    """A whole text drawn in the same cheap way, where a thorough one would take too long."""
    rows, fence, cut = list[str](), "", list[str]()
    for line in [*text.strip().split("\n"), ""]:
        if not fence and line.startswith("|"):
            cut.append(line)
            continue
        if cut:
            rows += _table(cut, columns, style, symbols=symbols)
            cut = []
        if fence and closes(line, fence):
            fence = ""
        elif not fence and (begun := fence_of(line)):
            fence = begun
        elif fence:
            rows += _code(line, columns)
        else:
            rows += _words(_laid(line), columns, style, symbols=symbols)
    return "\n".join(rows).rstrip()


def _table(lines: list[str], columns: int, style: Style, *, symbols: bool) -> list[str]:
    """A table with its columns lined up, where it has the room; else its lines as they are."""
    cells_of = [[cell.strip() for cell in _laid(line).strip().strip("|").split("|")] for line in lines]
    rule = len(cells_of) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in cells_of[1])
    plain = [[re.sub(r"\*\*|`", "", cell) for cell in row] for row in (cells_of[:1] + cells_of[2:])]
    if rule and len({len(row) for row in plain}) == 1:
        rows = table(plain)
        if max(map(width, rows)) < columns:
            line = style.dim(("─" if symbols else "-") * max(map(width, rows)))
            return [f" {style.bold(rows[0])}", f" {line}", *(f" {row}" for row in rows[1:])]
    return [row for line in lines for row in _words(_laid(line), columns, style, symbols=symbols)]


def _laid(line: str) -> str:
    return clean(line).expandtabs(4)


def _code(line: str, columns: int) -> list[str]:
    return folded(f" {_laid(line)}".rstrip(), columns, " ")


def _words(line: str, columns: int, style: Style, *, symbols: bool) -> list[str]:
    heading = re.match(r" {0,3}#{1,6} +(.*)", line)
    if heading:
        return folded(style.bold(heading[1]), columns)
    item = re.match(r"(\s*)[-*+] +(?=\S)", line)
    if item:
        mark = f"{item[1]} {'•' if symbols else '*'} "
        return folded(mark + _inline(line[item.end() :], style), columns, " " * min(len(mark), columns // 2))
    if number := re.match(r"(\s*)(\d{1,9})[.)] +(?=\S)", line):
        mark = f"{number[1]} {style.cyan(number[2])} "
        return folded(mark + _inline(line[number.end() :], style), columns, " " * min(cells(mark), columns // 2))
    quote = re.match(r" {0,3}> ?", line)
    if quote and symbols:
        return folded(style.dim("▌ ") + _inline(line[quote.end() :], style), columns, "  ")
    return folded(_inline(line, style), columns)


def _inline(text: str, style: Style) -> str:
    """Bold words and code that are whole already; without colour they only lose their marks."""
    text = re.sub(r"\*\*(?=\S)([^*`]+?)(?<=\S)\*\*", lambda found: style.bold(found[1]), text)
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", lambda found: style.cyan(found[1]), text)
