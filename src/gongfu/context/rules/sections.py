"""A rule text in its parts: front matter, and sections by Markdown headings."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from gongfu.core.base import Base

_FRONT: Final = re.compile(r"---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|\Z)")
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_NO_PARAGRAPH: Final = re.compile(r"\s*$| {4}|\t| {0,3}(?:[-*+>|]|\d+[.)])")


class Part(Base, frozen=True, gc=False):
    """A section: its heading path ("Build > Tests", "" before the first heading) and its text with the heading."""

    heading: str
    text: str


def mark_of(nonce: str) -> str:
    """The name in the delimiters of envelopes."""
    return f"rule-{nonce}"


def sha256_of(text: str) -> str:
    """The hash that a rule text is bound by, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def front_matter(text: str) -> tuple[str, str]:
    """The YAML between the first two lines of dashes ("" when there is none), and the text behind them."""
    match = _FRONT.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def split(text: str) -> tuple[Part, ...]:
    """The sections of a text in order; joined they are the text again.

    What stands before the first heading is a section of its own, unless it is only front matter or blank. Headings
    inside of code are none. A heading path that comes twice is told apart by a number.
    """
    front = len(text) - len(front_matter(text)[1])
    starts = [(0, "")]
    path: list[tuple[int, str]] = []
    for offset, level, title in _headings(text, front):
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, title))
        if not text[front:offset].strip() and starts == [(0, "")]:
            starts = []
        starts.append((offset if starts else 0, " > ".join(t for _, t in path)))
    parts: list[Part] = []
    seen: dict[str, int] = {}
    for at, (offset, heading) in enumerate(starts):
        end = starts[at + 1][0] if at + 1 < len(starts) else len(text)
        seen[heading] = number = seen.get(heading, 0) + 1
        parts.append(Part(heading=heading if number == 1 else f"{heading} ({number})", text=text[offset:end]))
    return tuple(parts)


def _headings(text: str, front: int) -> list[tuple[int, int, str]]:
    """(offset, level, title) of each heading behind the front matter."""
    found: list[tuple[int, int, str]] = []
    fence = ""
    offset, before, before_offset = front, "", front
    for line in text[front:].split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif match := _ATX.match(line):
            found.append((offset, len(match[1]), _title(match[2] or "")))
            line = ""  # noqa: PLW2901 - a heading is no paragraph for a line of dashes below it
        elif (match := _SETEXT.match(line)) and not _NO_PARAGRAPH.match(before):
            found.append((before_offset, 1 if match[1][0] == "=" else 2, _title(before)))
            line = ""  # noqa: PLW2901
        before, before_offset = ("", offset) if fence else (line, offset)
        offset = text.find("\n", offset) + 1 or len(text)
    return found


def _title(text: str) -> str:
    return " ".join(text.replace(" > ", " ").split())[:200] or "-"
