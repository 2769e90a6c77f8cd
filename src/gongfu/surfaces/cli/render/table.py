"""Columns of text that line up, with wide characters too."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gongfu.surfaces.cli.width import clip, pad, width


def table(
    rows: Sequence[Sequence[str]],
    *,
    columns: int = 0,
    right: Collection[int] = (),
    spare: Sequence[int] = (),
    least: int = 0,
) -> list[str]:
    """One line a row. Columns named in `right` are set flush right; with `columns` the last one is cut to fit.

    `spare` are the columns that are left out, one after the other, while the last one has fewer than `least` cells (0:
    fewer than it needs).
    """
    if not rows:
        return []
    widths = [max(width(row[at]) for row in rows) for at in range(len(rows[0]))]
    shown = list(range(len(widths)))
    for at in spare if columns else ():
        last = widths[shown[-1]]
        if sum(widths[at] + 2 for at in shown[:-1]) + (min(last, least) if least else last) <= columns:
            break
        shown.remove(at)
    lines: list[str] = []
    for row in rows:
        cells = [
            " " * (widths[at] - width(row[at])) + row[at] if at in right else pad(row[at], widths[at]) for at in shown
        ]
        line = "  ".join(cells).rstrip()
        lines.append(clip(line, columns) if columns else line)
    return lines
