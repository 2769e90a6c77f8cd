"""Searching text files line by line, as ripgrep does; in Python, where that program is missing or not able."""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from gongfu.core.backtracking import longest_line, loops
from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.encodings import detect
from gongfu.workspace.files import NotText

Result = TypeVar("Result")
HUGE = 16 * 1024 * 1024
_LITERAL = r"[^\\.^$*+?{}\[\]|()]*"
_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:lower:]": "a-z", "[:upper:]": "A-Z",
    "[:space:]": r"\s", "[:word:]": r"\w", "[:xdigit:]": "0-9A-Fa-f", "[:punct:]": r"!-/:-@\[-`{-~",
}  # fmt: skip
_SCRIPTS = {
    "Han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "Hiragana": "\u3040-\u309f", "Katakana": "\u30a0-\u30ff",
    "Hangul": "\u1100-\u11ff\uac00-\ud7af", "Cyrillic": "\u0400-\u052f", "Greek": "\u0370-\u03ff", "Latin": "A-Za-zÀ-ɏ",
}  # fmt: skip


class Query(Base, frozen=True):
    """What is looked for. `pattern` is a regular expression, or plain text when `literal`."""

    pattern: str
    literal: bool = False
    ignore_case: bool = False
    context: int = 0


class Line(Base, frozen=True):
    """A line that is shown: its number and text; `hit` for one that matches, else it is context."""

    number: int
    text: str
    hit: bool = True


class Hits(Base, frozen=True):
    """The lines to show of one file, in order, and how many of its lines match (of those all need not be there)."""

    path: Path
    lines: tuple[Line, ...]
    count: int


class Skipped:
    """What was not searched, by reason; filled while searching."""

    def __init__(self) -> None:
        self.binary: list[Path] = []
        self.huge: list[Path] = []
        self.unreadable: list[Path] = []


def compile_query(query: Query) -> re.Pattern[str]:
    """The expression for Python. ToolFailure when it is none."""
    source = re.escape(query.pattern) if query.literal else _for_python(query.pattern)
    try:
        return re.compile(source, re.IGNORECASE if query.ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFailure(
            f"the pattern is no regular expression: {error}. Escape special characters with a backslash, or set "
            "literal=true to search for plain text."
        ) from None


def _for_python(pattern: str) -> str:
    """The few things that ripgrep's expressions have and Python's have not."""
    for name, inner in _CLASSES.items():
        pattern = pattern.replace(name, inner)
    pattern = re.sub(r"\\p\{(\w+)\}", lambda m: f"[{_SCRIPTS[m[1]]}]" if m[1] in _SCRIPTS else m[0], pattern)
    pattern = re.sub(r"\\x\{([0-9A-Fa-f]{1,6})\}", lambda m: re.escape(chr(min(int(m[1], 16), 0x10FFFF))), pattern)
    return re.sub(r"(?<!\\)((?:\\\\)*)\\z", r"\1\\Z", pattern)


def is_plain(query: Query) -> bool:
    """Whether the query is for plain ASCII text, which bytes alone can answer."""
    text = query.pattern
    return text.isascii() and (query.literal or re.fullmatch(_LITERAL, text) is not None)


def search(
    files: Iterable[Path],
    query: Query,
    skipped: Skipped,
    stop: Callable[[], bool],
    until: float,
    apart: list[Path] | None = None,
) -> Iterator[Hits]:
    """The hits in `files`, in their order. Ends early when `stop` says so; TimeoutError after `until` (monotonic).

    Files with lines so long that the expression may need very long for them go into `apart`, when it is given, and are
    not searched.
    """
    seeker = _Seeker(query)
    for path in files:
        if stop():
            return
        if time.monotonic() > until:
            raise TimeoutError
        text = seeker.text_of(path, skipped)
        if text is not None and apart is not None and seeker.is_long(text):
            apart.append(path)
            continue
        hits = None if text is None else seeker.hits(path, text)
        if hits is not None:
            yield hits


class _Seeker:
    """Looks for one query in one file after the other."""

    def __init__(self, query: Query) -> None:
        self._regex = compile_query(query)
        self._context = query.context
        self._needle = query.pattern.encode() if is_plain(query) and not query.ignore_case else b""
        source = self._regex.pattern
        self._longest = 1 << 60 if query.literal else longest_line(query.pattern)
        # a text without any match needs not be cut into lines, unless what matches depends on where lines end, or a
        # repeat could run over all of it
        odd = not query.literal and (
            loops(query.pattern) > 0 or any(part in source for part in ("(?", r"\A", r"\Z", r"\B"))
        )
        self._anywhere = None if odd else re.compile(source, self._regex.flags | re.MULTILINE)
        self._at_end = "$" in source

    def text_of(self, path: Path, skipped: Skipped) -> str | None:
        """The text of a file; None, noted in `skipped`, when it is not searched, or cannot have a match."""
        try:
            raw = _read(path)
        except NotText:
            skipped.huge.append(path)
            return None
        except OSError:
            skipped.unreadable.append(path)
            return None
        if self._needle and self._needle not in raw and b"\0" not in raw and raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            return None
        encoding = detect(raw)
        if encoding is None:
            skipped.binary.append(path)
            return None
        return encoding.decode(raw)

    def is_long(self, text: str) -> bool:
        """Whether the text has a line that the expression may need very long for."""
        return len(text) > self._longest and any(len(line) > self._longest for line in text.split("\n"))

    def hits(self, path: Path, text: str) -> Hits | None:
        """The hits in one text, whose lines end in a line feed, with or without a carriage return before it."""
        if self._anywhere is not None and not (self._at_end and "\r" in text) and not self._anywhere.search(text):
            return None
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        lines = [line.removesuffix("\r") for line in lines]
        find = self._regex.search
        found = [i for i, line in enumerate(lines) if find(line)]
        if not found:
            return None
        return Hits(path=path, lines=tuple(_with_context(lines, found, self._context)), count=len(found))


def _read(path: Path) -> bytes:
    """The bytes of a regular file, no link followed at its name; the folders above it were walked just now."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > HUGE:
            raise NotText
        return file.read(HUGE)


def _with_context(lines: list[str], found: list[int], context: int) -> Iterator[Line]:
    hits = set(found)
    last = -1
    for at in found:
        for i in range(max(last + 1, at - context), min(len(lines), at + context + 1)):
            if i in hits or i > last:
                yield Line(number=i + 1, text=lines[i], hit=i in hits)
            last = i


async def in_thread(work: Callable[[Callable[[], bool]], Result]) -> Result:
    """Run `work(stop)` in a thread; when the call is cancelled, `stop()` tells the thread, which ends by itself."""
    stopped = threading.Event()
    try:
        return await anyio.to_thread.run_sync(work, stopped.is_set, abandon_on_cancel=True)
    finally:
        stopped.set()
