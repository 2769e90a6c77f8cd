"""Where a block of Markdown that is being written may end, told from its lines without a parser."""

from __future__ import annotations

import re

PIECE = 16  # lines of a fence or a list after which it is drawn in pieces


_STARTS = "#`~>-*+_=|:<0123456789"


class Further(str):
    """A block that goes on where the one before it ended: the inside of a long fence, or more items of a list."""

    __slots__ = ()


def fence_of(first: str) -> str:
    """The marks with which `first` opens a fence, else ""."""
    found = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", first)
    return found[1] if found else ""


def closes(line: str, fence: str) -> bool:
    """Whether `line` ends a fence that `fence` opened."""
    body = line.strip()
    return len(body) >= len(fence) and not body.strip(fence[0]) and len(line) - len(line.lstrip(" ")) < 4


def item_of(line: str) -> str:
    """The kind of list of which `line` is an item at its outermost level, else ""."""
    found = re.match(r"(?:([-*+])|\d{1,9}([.)]))(?: |$)", line)
    return (found[1] or found[2]) if found else ""


class Watch:
    """Follows the lines of the open block. `may_end` is False only where another line cannot have ended it."""

    def __init__(self) -> None:
        self.fence = ""
        self._first = ""
        self._closed = False
        self._gap = False  # the line before was empty

    def begin(self, first: str) -> None:
        """A block begins with the line `first`."""
        self._first, self.fence, self._closed, self._gap = first, fence_of(first), False, False

    def may_end(self, line: str, *, whole: bool = True) -> bool:
        """Whether the block may be final now that `line`, or the beginning of it, has come."""
        if self.fence:
            if not self._closed:
                self._closed = whole and closes(line, self.fence)
                return False
            return bool(line.strip())
        gap, self._gap = self._gap, not line.strip() if whole else self._gap
        if not line.strip():
            return False  # what follows tells
        first = self._first
        if kind := item_of(first):
            return line[0] not in " \t" and item_of(line) != kind
        if first.startswith((">", "|")):
            return not line.startswith(first[0])
        words = first[:1].isalpha() and not gap
        return not words or line.lstrip()[0] in _STARTS
