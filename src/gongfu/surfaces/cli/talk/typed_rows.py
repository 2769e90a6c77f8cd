"""Up and down by the rows that are seen: a long line takes several of them."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.utils import get_cwidth

from gongfu.core.graphemes import before

_INDENT = 2  # cells in front of every row
_TAB = 4


class Rows:
    """Moves the cursor of a buffer. `drawn` tells how each character of a line (and its number) is shown, `columns` how
    many cells a row has.
    """

    def __init__(self, buffer: Buffer, drawn: Callable[[str, int], list[str]], columns: Callable[[], int]) -> None:
        self._buffer = buffer
        self._drawn = drawn
        self._columns = columns
        self._goal = (-1, "", 0)  # the column that several moves in a row keep to, and where the last one ended

    def move(self, by: int) -> bool:
        """One row up (-1) or down (1); False where there is none, and nothing was moved."""
        buffer = self._buffer
        document = buffer.document
        line, column = document.cursor_position_row, document.cursor_position_col
        here = self._places(document.lines[line], line)
        row, x = here[column]
        at, text, wanted = self._goal
        if (at, text) == (buffer.cursor_position, buffer.text):
            x = wanted
        if 0 <= row + by <= here[-1][0]:
            target, places, row = line, here, row + by
        elif 0 <= line + by < document.line_count:
            target = line + by
            places = self._places(document.lines[target], target)
            row = 0 if by > 0 else places[-1][0]
        else:
            return False
        index = _nearest(places, row, x)
        index = before(document.lines[target], index + 1) if index < len(document.lines[target]) else index
        buffer.cursor_position = document.translate_row_col_to_index(target, index)
        self._goal = (buffer.cursor_position, buffer.text, x)
        return True

    def _places(self, text: str, number: int) -> list[tuple[int, int]]:
        """The row within its line, and the column, of each character of a line and of its end."""
        columns = max(self._columns(), _INDENT + 2)
        row, x = 0, _INDENT
        places: list[tuple[int, int]] = []
        for shown in (*self._drawn(text, number), " "):
            first = True
            for char in shown:
                cells = _TAB if char == "\t" else get_cwidth(char)
                if x + cells > columns:
                    row, x = row + 1, _INDENT
                if first:
                    places.append((row, x))
                    first = False
                x += cells
            if first:
                places.append((row, x))
        return places


def _nearest(places: list[tuple[int, int]], row: int, x: int) -> int:
    """The last character of a row that begins at `x` or before, or the first of the row."""
    on_row = [(index, at) for index, (on, at) in enumerate(places) if on == row]
    return max((index for index, at in on_row if at <= x), default=on_row[0][0])
