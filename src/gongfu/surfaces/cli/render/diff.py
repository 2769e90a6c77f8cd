"""A unified diff with line numbers and colours, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, laid_open

_HUNK = r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@"
_FILE = "="


def diff_lines(diff: str, style: Style, speech: Speech, *, limit: int = 40) -> list[str]:
    """The changed lines of a unified diff, each with the number it has in the new file (removed ones: in the old).

    More than `limit` lines are cut and the rest is counted.
    """
    rows = list(_rows(diff))
    digits = max((len(str(number)) for number, _, _ in rows), default=1)
    lines = [_painted(number, sign, text, digits, style) for number, sign, text in rows[:limit]]
    if len(rows) > limit:
        lines.append(style.dim(speech("more_lines", count=len(rows) - limit)))
    return lines


def _rows(diff: str) -> Iterator[tuple[int, str, str]]:
    """Number, sign and text of every line; `=` names the next file of several, `⋮` stands between hunks."""
    old = new = old_left = new_left = 0
    files = diff.count("\n+++ ") + diff.startswith("+++ ")
    between = False
    for line in diff.split("\n"):
        sign, text = line[:1], laid_open(line[1:].rstrip("\r")).replace("\t", "    ")
        if old_left > 0 or new_left > 0:
            if sign in ("+", "-", " ", ""):
                yield (old if sign == "-" else new), sign or " ", text
                old, old_left = old + (sign != "+"), old_left - (sign != "+")
                new, new_left = new + (sign != "-"), new_left - (sign != "-")
        elif hunk := re.match(_HUNK, line):
            if between:
                yield 0, "⋮", ""
            old, new, between = int(hunk[1]), int(hunk[3]), True
            old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
        elif line.startswith("+++ "):
            between = False
            if files > 1:
                yield 0, _FILE, laid_open(line[4:].strip().removeprefix("b/"))


def _painted(number: int, sign: str, text: str, digits: int, style: Style) -> str:
    if sign == _FILE:
        return style.bold(text)
    line = f"{number or '':>{digits}} {sign} {text}".rstrip()
    if sign == "+":
        return style.green(line)
    return style.red(line) if sign == "-" else style.dim(line)
