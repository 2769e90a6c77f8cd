"""A terminal of a fixed size, just enough to see what a program that redraws leaves on it."""

from __future__ import annotations

import re

from gongfu.surfaces.cli.width import char_width

_TOKEN = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n])", re.DOTALL)


class FakeTerminal:
    """Understands line ends, carriage returns, wrapping, cursor up and erase below; colours are dropped."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    def write(self, text: str) -> None:
        for number, command, back, feed, char in _TOKEN.findall(text):
            if command == "A":
                self.row = max(0, self.row - int(number or 1))
            elif command == "J":
                self.rows[self.row :] = [self.rows[self.row][: self.column]]
            elif back:
                self.column = 0
            elif feed:
                self._down()
                self.column = 0
            elif char:
                self._put(char)

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def _put(self, char: str) -> None:
        cells = char_width(char)
        if self.column + cells > self.columns:
            self._down()
            self.column = 0
        line = self.rows[self.row]
        line += [" "] * (self.column + cells - len(line))
        if cells:
            line[self.column : self.column + cells] = [char] + [""] * (cells - 1)
        self.column += cells

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]
