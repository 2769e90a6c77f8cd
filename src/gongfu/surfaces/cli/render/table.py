"""Columns of text that line up, with wide characters too."""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.surfaces.cli.width import clip, pad, width


def table(rows: Sequence[Sequence[str]], *, columns: int = 0, right: Sequence[int] = ()) -> list[str]:
    """One line a row. Columns named in `right` are set flush right; with `columns` the last one is cut to fit."""
    if not rows:
        return []
    widths = [max(width(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        cells = [
            " " * (widths[at] - width(cell)) + cell if at in right else pad(cell, widths[at])
            for at, cell in enumerate(row)
        ]
        line = "  ".join(cells).rstrip()
        lines.append(clip(line, columns) if columns else line)
    return lines
