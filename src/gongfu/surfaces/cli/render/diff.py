"""A unified diff with line numbers and colours, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, clean

_HUNK = r"@@ -(\d+)(?:,\d+)? \+(\d+)"


def diff_lines(diff: str, style: Style, speech: Speech, *, limit: int = 40) -> list[str]:
    """The changed lines of a unified diff, each with the number it has in the new file (removed ones: in the old).

    More than `limit` lines are cut and the rest is counted.
    """
    rows = list(_rows(diff))
    digits = max((len(str(number)) for number, _, _ in rows), default=1)
    lines = [_paint(f"{number or '':>{digits}} {sign} {text}", sign, style) for number, sign, text in rows[:limit]]
    if len(rows) > limit:
        lines.append(style.dim(speech("more_lines", count=len(rows) - limit)))
    return lines


def _rows(diff: str) -> Iterator[tuple[int, str, str]]:
    old = new = 0
    inside = False
    for line in diff.split("\n"):
        hunk = re.match(_HUNK, line)
        if hunk:
            if inside:
                yield 0, "⋮", ""
            old, new, inside = int(hunk[1]), int(hunk[2]), True
        elif inside and line[:1] in ("+", "-", " "):
            sign, text = line[0], clean(line[1:].rstrip("\r")).replace("\t", "    ")
            yield (old if sign == "-" else new), sign, text
            old += sign != "+"
            new += sign != "-"


def _paint(line: str, sign: str, style: Style) -> str:
    if sign == "+":
        return style.green(line)
    if sign == "-":
        return style.red(line)
    return style.dim(line)
