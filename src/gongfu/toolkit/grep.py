"""Searching text files line by line, as ripgrep does; in Python, where that program is missing or not able."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.encodings import detect
from gongfu.workspace.files import NotText, read_bytes

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
    """The lines to show of one file, in order, and how many of them match."""

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
    files: Iterable[Path], query: Query, skipped: Skipped, stop: Callable[[], bool], until: float
) -> Iterator[Hits]:
    """The hits in `files`, in their order. Ends early when `stop` says so; TimeoutError after `until` (monotonic)."""
    regex = compile_query(query)
    needle = query.pattern.encode() if is_plain(query) and not query.ignore_case else b""
    for path in files:
        if stop():
            return
        if time.monotonic() > until:
            raise TimeoutError
        hits = _in_file(path, regex, needle, query.context, skipped)
        if hits is not None:
            yield hits


def _in_file(path: Path, regex: re.Pattern[str], needle: bytes, context: int, skipped: Skipped) -> Hits | None:
    try:
        raw, _ = read_bytes(path, HUGE)
    except NotText:
        skipped.huge.append(path)
        return None
    except (OSError, ToolFailure):
        skipped.unreadable.append(path)
        return None
    if needle and needle not in raw and b"\0" not in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    encoding = detect(raw)
    if encoding is None:
        skipped.binary.append(path)
        return None
    return in_text(path, encoding.decode(raw), regex, context)


def in_text(path: Path, text: str, regex: re.Pattern[str], context: int) -> Hits | None:
    """The hits in one text, whose lines end in a line feed, with or without a carriage return before it."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    lines = [line.removesuffix("\r") for line in lines]
    found = [i for i, line in enumerate(lines) if regex.search(line)]
    if not found:
        return None
    return Hits(path=path, lines=tuple(_with_context(lines, found, context)), count=len(found))


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
