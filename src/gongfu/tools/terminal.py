"""What a terminal would show in the end: colours gone, the last state of progress bars kept."""

from __future__ import annotations

import re

_PIECE = (
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # 1, 2: parameters and end of a control sequence
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]"  # short escapes
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|(\r+(?=\n))"  # 3: ends of lines as Windows writes them
    r"|([\n\r\b])"  # 4: movements
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # what nobody sees
)
_SPECIAL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_MAX_COLUMN = 10_000


def clean_terminal(text: str) -> str:
    """`text` as it would stand on the screen of an endless terminal: plain lines that end in a line feed.

    Carriage returns, backspaces, erasing and moving up are carried out, so each progress bar shows its last state;
    colours, titles, links and other control characters are removed.
    """
    if re.search(_SPECIAL, text) is None:
        return text
    screen = _Screen()
    at = 0
    for match in re.finditer(_PIECE, text):
        if match.start() > at:
            screen.write(text[at : match.start()])
        at = match.end()
        if match[2]:
            screen.control(match[1], match[2])
        elif match[4]:
            screen.move(match[4])
    screen.write(text[at:])
    return screen.text()


class _Screen:
    """Lines without end; each is a list of characters only while it is being overwritten."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._line: list[str] = []
        self._row = 0
        self._column = 0

    def text(self) -> str:
        self._leave()
        return "\n".join(line.rstrip(" ") if line.isspace() else line for line in self._done)

    def write(self, text: str) -> None:
        if not text:
            return
        line, column = self._line, self._column
        if column > len(line):
            line.extend(" " * (column - len(line)))
        line[column : column + len(text)] = text
        self._column = column + len(text)

    def move(self, character: str) -> None:
        if character == "\n":
            self._go(self._row + 1)
            self._column = 0
        elif character == "\r":
            self._column = 0
        else:
            self._column = max(0, self._column - 1)

    def control(self, parameters: str, end: str) -> None:
        first = parameters.partition(";")[0]
        count = int(first) if first.isascii() and first.isdigit() and len(first) < 6 else 0
        steps = max(1, count)
        match end:
            case "A" | "F":
                self._go(max(0, self._row - steps))
            case "B" | "E":
                self._go(min(self._row + steps, max(self._row, len(self._done) - 1)))
            case "C":
                self._column = min(self._column + steps, _MAX_COLUMN)
            case "D":
                self._column = max(0, self._column - steps)
            case "G":
                self._column = min(steps - 1, _MAX_COLUMN)
            case "K":
                self._erase_line(count)
            case "J" if count == 0:
                self._erase_line(0)
                del self._done[self._row + 1 :]
            case "P":
                del self._line[self._column : self._column + steps]
            case _:
                return
        if end in "EF":
            self._column = 0

    def _erase_line(self, how: int) -> None:
        if how == 0:
            del self._line[self._column :]
        elif how == 1:
            count = min(self._column + 1, len(self._line))
            self._line[:count] = " " * count
        else:
            self._line.clear()

    def _leave(self) -> None:
        line = "".join(self._line)
        if self._row < len(self._done):
            self._done[self._row] = line
        else:
            self._done.append(line)

    def _go(self, row: int) -> None:
        self._leave()
        self._row = row
        if row < len(self._done):
            self._line = list(self._done[row])
        else:
            self._line = []
