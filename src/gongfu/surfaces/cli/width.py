"""Cells of a terminal: wide characters take two, combining ones none."""

from __future__ import annotations

from unicodedata import category, east_asian_width

NARROW = 60  # a terminal of fewer columns has room for the most important things only


def char_width(char: str) -> int:
    """Cells of one character: 0, 1 or 2."""
    if char < "\x7f":
        return 1 if char >= " " else 0
    if category(char) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1


def width(text: str) -> int:
    """Cells of a text without escape sequences."""
    if text.isascii():
        return len(text)
    return sum(map(char_width, text))


def clip(text: str, cells: int) -> str:
    """`text` cut to at most `cells`, with an ellipsis where something is missing."""
    if width(text) <= cells:
        return text
    used = 0
    for index, char in enumerate(text):
        used += char_width(char)
        if used > cells - 1:
            return text[:index] + "…"
    return text


def pad(text: str, cells: int) -> str:
    """`text` with spaces up to `cells`."""
    return text + " " * max(0, cells - width(text))


def wrap(text: str, cells: int) -> list[str]:
    """Lines of at most `cells`, broken at spaces and between wide characters. Line feeds in `text` stay breaks."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _wrap_paragraph(paragraph, max(cells, 2))
    return lines


_CLOSING = "，。、；：！？）】》〉」』〕…—”’·％,.;:!?)]}%"
_OPENING = "（【《〈「『〔“‘"
_JOINER = "\u200d"


def _wrap_paragraph(text: str, cells: int) -> list[str]:
    starts = breaks(text, cells)
    if not starts:
        return [text]
    lines = [text[start:end].rstrip() for start, end in zip((0, *starts), starts, strict=False)]
    last = text[starts[-1] :]
    return [*lines, last if width(last) <= cells else last.rstrip()]


def breaks(text: str, cells: int) -> list[int]:
    """Where lines of at most `cells` begin in a text without line feeds, but for the first; spaces at their ends hang.

    Broken is behind spaces and beside wide characters, but neither before a mark that closes nor behind one that opens
    something; where there is no such place, anywhere.
    """
    starts: list[int] = []
    start = used = 0
    place = -1  # where the line may be broken: index of the first character of the next one
    for index, char in enumerate(text):
        wide = char_width(char)
        if used + wide > cells and char != " ":
            start = place if place > start else index
            starts.append(start)
            place = -1
            used = width(text[start:index])
        used += wide
        if char == " " or _parts(char, wide, text[index + 1 : index + 2]):
            place = index + 1
    return starts


def _parts(char: str, wide: int, following: str) -> bool:
    """Whether a line may end between two characters without a space."""
    if not following or following in _CLOSING or char in _OPENING or char == _JOINER:
        return False
    next_wide = char_width(following)
    return next_wide > 0 and 2 in (wide, next_wide)
