"""Painted lines fitted to a width: nothing of them is lost, and the paint goes on in the next line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gongfu.surfaces.cli.width import char_width, clip, width

_PAINT = r"(\x1b\[[0-9;]*m)"
_RESET = "\x1b[0m"


def unpainted(line: str) -> str:
    """The line without colours."""
    return re.sub(_PAINT, "", line) if "\x1b" in line else line


def fitted(lines: Iterable[str], cells: int) -> list[str]:
    """Painted lines, those wider than `cells` broken at the edge; what follows is indented as its line is."""
    rows = list[str]()
    for line in lines:
        for row in line.split("\n"):
            fits = len(row) * 2 <= cells or (len(row) <= cells and row.isascii()) or width(unpainted(row)) <= cells
            rows += [row] if fits else _broken(row, cells)
    return rows


def _broken(line: str, cells: int) -> list[str]:
    plain = unpainted(line)
    margin = min(len(plain) - len(plain.lstrip(" ")), cells // 4)
    rows, row, used, paint = list[str](), "", 0, ""
    for piece in re.split(_PAINT, line):
        if piece.startswith("\x1b["):
            paint = "" if piece in (_RESET, "\x1b[m") else paint + piece
            row += piece
            continue
        for char in piece:
            wide = char_width(char)
            if used + wide > cells:
                rows.append(row + (_RESET if paint else ""))
                row, used = " " * margin + paint, margin
            row += char
            used += wide
    return [*rows, row]


def cut(line: str, cells: int) -> str:
    """A painted line of at most `cells`, with an ellipsis where something is missing."""
    if width(unpainted(line)) <= cells:
        return line
    left, shown, painted = cells - 1, "", False
    for piece in re.split(_PAINT, line):
        if piece.startswith("\x1b["):
            shown, painted = shown + piece, True
            continue
        if width(piece) > left:
            shown += clip(piece, left + 1) if width(piece) > left + 1 else clip(piece + "  ", left + 1)
            break
        shown, left = shown + piece, left - width(piece)
    return shown + (_RESET if painted else "")


def typed_rows(text: str, at: int, cells: int) -> tuple[list[str], int, int]:
    """What is typed, broken into rows of `cells`, with the row and the character in it where the cursor `at` stands."""
    rows, used, place = [""], 0, (0, 0)
    for index, char in enumerate(text):
        wide = char_width(char)
        if used + wide > cells:
            rows.append("")
            used = 0
        if index == at:
            place = (len(rows) - 1, len(rows[-1]))
        rows[-1] += char
        used += wide
    if at >= len(text):
        if used >= cells:
            rows.append("")
        place = (len(rows) - 1, len(rows[-1]))
    return rows, *place
