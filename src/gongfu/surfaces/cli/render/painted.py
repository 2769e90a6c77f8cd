"""Painted lines by cells: text with graphic renditions, and no other escape sequences."""

from __future__ import annotations

import re

from gongfu.surfaces.cli.width import char_width, width

PAINT = r"(\x1b\[[0-9;]*m)"
RESET = "\x1b[0m"


def bare(line: str) -> str:
    """`line` without its paint."""
    return re.sub(PAINT, "", line) if "\x1b" in line else line


def cells(line: str) -> int:
    """The width of a painted line."""
    return width(bare(line))


def clipped(line: str, columns: int) -> str:
    """`line` cut to at most `columns` cells, with an ellipsis where something is missing; paint never runs on."""
    if cells(line) <= columns:
        return line
    shown, used, on = list[str](), 0, ""
    for at, piece in enumerate(re.split(PAINT, line)):
        if at % 2:
            shown.append(piece)
            on = "" if piece == RESET else piece
            continue
        for char in piece:
            wide = char_width(char)
            if used + wide > columns - 1:
                return "".join(shown) + "…" + (RESET if on else "")
            shown.append(char)
            used += wide
    return "".join(shown)


def folded(line: str, columns: int, indent: str = "") -> list[str]:
    """`line` as rows of at most `columns` cells, broken at spaces where there are any; each row has its own paint.

    Rows after the first begin with `indent`.
    """
    if cells(line) <= columns:
        return [line]
    rows, row = list[str](), list[str]()
    used, on, begun = 0, "", False  # cells of the row, its paint, and whether it holds words
    cut: tuple[int, int, str] | None = None  # where it may be broken: index in the row, cells before, paint there
    for at, piece in enumerate(re.split(PAINT, line)):
        if at % 2:
            row.append(piece)
            on = "" if piece == RESET else piece
            continue
        for char in piece:
            wide = char_width(char)
            if used + wide > columns:
                index, before, paint = cut or (len(row), used, on)
                rest = row[index:]
                rows.append("".join(row[:index]).rstrip(" ") + (RESET if paint else ""))
                row = [paint, indent, *rest] if paint else [indent, *rest]
                used, cut, begun = used - before + width(indent), None, bool(rest)
            row.append(char)
            used += wide
            begun = begun or char != " "
            if begun and (char == " " or wide == 2):
                cut = (len(row), used, on)
    rows.append("".join(row).rstrip(" "))
    return rows


def fitted(text: str, columns: int) -> str:
    """Every line of `text` folded to `columns`; rows that continue a line are set in like the line."""
    if text.isascii() and "\x1b" not in text and all(len(line) <= columns for line in text.split("\n")):
        return text
    return "\n".join(row for line in text.split("\n") for row in folded(line, columns, _margin(line, columns)))


def _margin(line: str, columns: int) -> str:
    plain = bare(line)
    spaces = len(plain) - len(plain.lstrip(" "))
    return " " * min(spaces + 2 * (plain[spaces : spaces + 2] in ("● ", "✗ ", "⚠ ", "› ", "» ")), columns // 3)
