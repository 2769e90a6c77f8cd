"""Streams that take any text: no encoding, closed pipe or stray surrogate makes them fail with a traceback."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TextIO

from gongfu.core.errors import UserError

_ASCII = str.maketrans({
    "●": "*", "✓": "+", "✗": "x", "→": "->", "…": "...", "·": "-", "—": "-", "–": "-", "│": "|", "⟳": "~",
    "☐": "[ ]", "☑": "[x]", "▶": "[>]", "⚠": "!", "↑": "^", "›": ">", "“": '"', "”": '"', "‘": "'", "’": "'",
})  # fmt: skip


def encodable(text: str, encoding: str) -> str:
    """`text` with what `encoding` cannot hold replaced: known symbols by ASCII, the rest by `\\u....` escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plainer = text.translate(_ASCII)
        return plainer.encode(encoding, "backslashreplace").decode(encoding)
    return text


class Output:
    """One of the two standard streams.

    `write` raises BrokenPipeError when the reader is gone and UserError when the place is full, and nothing else.
    `fragile=False` makes it silent from the first failure on instead (for standard error).
    """

    def __init__(self, stream: TextIO | None, *, fragile: bool = True) -> None:
        self._stream = stream
        self._fragile = fragile
        self.broken = False
        self.tty = stream is not None and _is_tty(stream)
        self.encoding: str = getattr(stream, "encoding", None) or "utf-8"

    @property
    def pipe(self) -> int:
        """The file descriptor when somebody reads this through a pipe, else -1."""
        try:
            fd = -1 if self._stream is None else self._stream.fileno()
            return fd if fd >= 0 and stat.S_ISFIFO(os.fstat(fd).st_mode) else -1
        except (OSError, ValueError):
            return -1

    def write(self, text: str, *, flush: bool = True) -> None:
        """Write `text`, at once unless `flush` is False."""
        stream = self._stream
        if stream is None or self.broken or not text:
            return
        try:
            try:
                stream.write(text)
            except UnicodeEncodeError:
                stream.write(encodable(text, self.encoding))
            if flush:
                stream.flush()
        except (OSError, ValueError) as error:
            self._fail(error)

    def line(self, text: str = "") -> None:
        """Write `text` and a line end."""
        self.write(text + "\n")

    def flush(self) -> None:
        """Push out what is buffered."""
        if self._stream is None or self.broken:
            return
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._fail(error)

    def _fail(self, error: OSError | ValueError) -> None:
        self.broken = True
        silence(self._stream)
        if not self._fragile:
            return
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError) and error.errno not in (None, 22):
            raise UserError("cli.output_lost", reason=error.strerror or str(error)) from error
        raise BrokenPipeError from error  # EINVAL is what Windows says of a closed pipe, ValueError a closed file


def silence(stream: TextIO | None) -> None:
    """Point a broken stream at the null device, so that nothing complains when the interpreter flushes it at exit."""
    if stream is None:
        return
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _is_tty(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False


def wants_color(out: Output, env: Mapping[str, str], *, refused: bool) -> bool:
    """Whether colour may be written: a terminal that is not dumb, and neither NO_COLOR nor `--no-color`."""
    return out.tty and not refused and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def enable_ansi() -> None:
    """Let an old Windows console understand escape sequences; does nothing elsewhere."""
    if sys.platform != "win32":
        return
    import ctypes  # only there

    kernel = ctypes.windll.kernel32
    for handle in (-11, -12):  # standard output and standard error
        mode = ctypes.c_ulong()
        console = kernel.GetStdHandle(handle)
        if kernel.GetConsoleMode(console, ctypes.byref(mode)):
            kernel.SetConsoleMode(console, mode.value | 4)  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
