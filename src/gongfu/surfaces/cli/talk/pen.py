"""Writes to a terminal from a thread of its own: a slow line never keeps the keys waiting."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from threading import Condition, Thread
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from gongfu.surfaces.cli.width import char_width

_BEGIN, _END = (
    "\x1b[?2026h",
    "\x1b[?2026l",
)  # what lies between is shown at once; terminals that do not know it ignore it


class Pen(Vt100_Output):
    """An output of prompt_toolkit for terminals that understand escape sequences."""

    def __init__(self, stream: TextIO, size: tuple[int, int], *, term: str, color: bool) -> None:
        self.columns, self.rows = size
        self._color = color
        self._held = False
        self._waiting: deque[str] = deque()
        self._news = Condition()
        self._busy = False
        self._broken = False
        self._stream = stream
        super().__init__(stream, lambda: Size(rows=self.rows, columns=self.columns), term=term, enable_cpr=False)
        Thread(target=self._write, daemon=True, name="gongfu-screen").start()

    @property
    def busy(self) -> bool:
        """Whether the terminal has not taken yet what it was given: a further frame would only come late."""
        return self._busy or bool(self._waiting)

    @property
    def broken(self) -> bool:
        """Whether the terminal has gone."""
        return self._broken

    @contextmanager
    def together(self) -> Generator[None]:
        """Everything that is written in this block reaches the terminal in one piece."""
        if self._held:
            yield
            return
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self.flush()

    def flush(self) -> None:
        """Hand over what was written."""
        if self._held or not self._buffer:
            return
        data = "".join(self._buffer)
        self._buffer.clear()
        if len(data) > 64:
            data = f"{_BEGIN}{data}{_END}"
        with self._news:
            self._waiting.append(data)
            self._news.notify()

    def drain(self, seconds: float = 5.0) -> None:
        """Wait until the terminal has taken everything, or for so long."""
        self.flush()
        with self._news:
            self._news.wait_for(lambda: not self.busy or self._broken, seconds)

    def _write(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: bool(self._waiting))
                data = "".join(self._waiting)
                self._waiting.clear()
                self._busy = True
            try:
                self._stream.buffer.write(encoded(data, self._stream.encoding or "utf-8"))
                self._stream.buffer.flush()
            except (OSError, ValueError):
                self._broken = True
            with self._news:
                self._busy = False
                self._news.notify_all()
                if self._broken:
                    return


_PLAINER = str.maketrans({
    "●": "*", "•": "*", "✓": "+", "✗": "x", "→": ">", "←": "<", "↶": "<", "↳": ">", "↑": "^", "↓": "v", "›": ">",
    "▶": ">", "…": ".", "·": "-", "—": "-", "–": "-", "─": "-", "━": "-", "═": "=", "│": "|", "┃": "|", "▌": "|",
    "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+", "╭": "+", "╮": "+",
    "╰": "+", "╯": "+", "⟳": "~", "⚠": "!", "☐": "o", "☑": "x", "█": "#", "“": '"', "”": '"', "‘": "'", "’": "'",
})  # fmt: skip


def encoded(text: str, encoding: str) -> bytes:
    """`text` for a terminal of that encoding; what it cannot hold gives way to as many plain cells."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        held = "".join(_held(char, encoding) for char in text)
        return held.encode(encoding, "replace")


def _held(char: str, encoding: str) -> str:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        plainer = char.translate(_PLAINER)
        return plainer if plainer != char else "?" * char_width(char)
    return char


def takes_escapes() -> bool:
    """Whether this system's terminals are written to with escape sequences, through a file."""
    return sys.platform != "win32"
