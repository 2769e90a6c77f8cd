"""Writes to a terminal from a thread of its own: a slow line never keeps the keys waiting."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from threading import Condition, Thread
from time import monotonic
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from gongfu.surfaces.cli.width import char_width

_BEGIN, _END = (
    "\x1b[?2026h",
    "\x1b[?2026l",
)  # what lies between is shown at once; terminals that do not know it ignore it


_BLOCKED = 0.02  # seconds of a write that had to wait for a place in the buffers on the way
_MEASURED = 0.5  # seconds in which the buffers stayed full that tell how fast the line is
_BUFFER = 4096  # bytes that they hold: those of a terminal device
_SLOWEST, _FAST = 100, 20_000  # bytes a second; what is slower has been stopped, what is faster needs no care


class Line:
    """How fast a terminal takes what it is given. Buffers hide that until they are full; then it is remembered, and
    what has been given since is taken to be under way for as long as that lasts. `rate` is that of a serial line
    (bytes a second; 0: not known).
    """

    def __init__(self, rate: float = 0.0) -> None:
        self._rate = 0.8 * rate  # 0: not known to be slow
        self._told = bool(rate)
        self._free = 0.0
        self._full_since = 0.0  # the end of the first of the writes in a row that had to wait; 0: none
        self._given = 0  # bytes since then

    def wrote(self, size: int, began: float, ended: float) -> None:
        """So many bytes were taken between two times (seconds of one clock)."""
        if ended - began >= _BLOCKED:
            self._measure(size, ended)
        else:
            self._full_since = 0.0
        if self._rate:
            self._free = max(self._free, ended) + size / self._rate
            self._rate *= 1.0 if self._told else 1.002  # it may have become faster
        if self._rate > _FAST:
            self._rate = self._free = 0.0

    def _measure(self, size: int, ended: float) -> None:
        if not self._full_since:
            self._full_since, self._given = ended, 0
            return
        self._given += size
        took = ended - self._full_since
        if took >= _MEASURED:
            self._full_since = 0.0
            if self._given / took >= _SLOWEST:
                self._rate = 0.8 * self._given / took  # the rest is for what is typed
                self._free = ended + _BUFFER / self._rate

    def full(self, now: float) -> bool:
        """Whether what was given is still under way."""
        return now < self._free


class Pen(Vt100_Output):
    """An output of prompt_toolkit for terminals that understand escape sequences."""

    def __init__(self, stream: TextIO, size: tuple[int, int], *, term: str) -> None:
        self.columns, self.rows = size
        self._held = False
        self._waiting: deque[str] = deque()
        self._news = Condition()
        self._busy = False
        self._broken = False
        self._line = Line(speed_of(stream))
        self._stream = stream
        super().__init__(stream, lambda: Size(rows=self.rows, columns=self.columns), term=term, enable_cpr=False)
        Thread(target=self._write, daemon=True, name="gongfu-screen").start()

    @property
    def busy(self) -> bool:
        """Whether the terminal has not taken yet what it was given: a further frame would only come late."""
        return self._writing or self._line.full(monotonic())

    @property
    def _writing(self) -> bool:
        return self._busy or bool(self._waiting)

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
            self._news.wait_for(lambda: not self._writing or self._broken, seconds)

    def _write(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: bool(self._waiting))
                data = "".join(self._waiting)
                self._waiting.clear()
                self._busy = True
            try:
                given, began = encoded(data, self._stream.encoding or "utf-8"), monotonic()
                self._stream.buffer.write(given)
                self._stream.buffer.flush()
                self._line.wrote(len(given), began, monotonic())
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


def speed_of(stream: TextIO) -> float:
    """Bytes a second of the serial line that a stream is written to; 0 for what is none, or a fast one."""
    if sys.platform == "win32":
        return 0.0
    import termios  # not on Windows

    try:
        speed = termios.tcgetattr(stream.fileno())[5]
    except (OSError, ValueError, termios.error):
        return 0.0
    slow = (300, 600, 1200, 2400, 4800, 9600, 19200)
    return next((baud / 10 for baud in slow if getattr(termios, f"B{baud}", None) == speed), 0.0)


def takes_escapes() -> bool:
    """Whether this system's terminals are written to with escape sequences, through a file."""
    return sys.platform != "win32"
