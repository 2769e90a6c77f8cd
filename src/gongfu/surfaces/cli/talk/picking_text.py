"""Painted lines fitted to a width: nothing of them is lost, and the paint goes on in the next line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gongfu.surfaces.cli.render.painted import PAINT, RESET, bare
from gongfu.surfaces.cli.width import char_width, width


def fitted(lines: Iterable[str], cells: int) -> list[str]:
    """Painted lines, those wider than `cells` broken at the edge; what follows is indented as its line is."""
    rows = list[str]()
    for line in lines:
        for row in line.split("\n"):
            fits = len(row) * 2 <= cells or (len(row) <= cells and row.isascii()) or width(bare(row)) <= cells
            rows += [row] if fits else _broken(row, cells)
    return rows


def _broken(line: str, cells: int) -> list[str]:
    plain = bare(line)
    margin = min(len(plain) - len(plain.lstrip(" ")), cells // 4)
    rows, row, used, paint = list[str](), "", 0, ""
    for piece in re.split(PAINT, line):
        if piece.startswith("\x1b["):
            paint = "" if piece in (RESET, "\x1b[m") else paint + piece
            row += piece
            continue
        for char in piece:
            wide = char_width(char)
            if used + wide > cells:
                rows.append(row + (RESET if paint else ""))
                row, used = " " * margin + paint, margin
            row += char
            used += wide
    return [*rows, row]


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
