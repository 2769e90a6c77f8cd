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


_CLOSING = "，。、；：！？）】》”’,.;:!?)]}"


def _wrap_paragraph(text: str, cells: int) -> list[str]:
    lines: list[str] = []
    start = used = 0
    space = -1  # where the line may be broken: index of the first character of the next one
    for index, char in enumerate(text):
        wide = char_width(char)
        if used + wide > cells:
            cut = space if space > start else index
            lines.append(text[start:cut].rstrip())
            start, space = cut, -1
            used = width(text[start:index])
        used += wide
        following = text[index + 1 : index + 2]
        if char == " " or ((wide == 2 or (following and char_width(following) == 2)) and following not in _CLOSING):
            space = index + 1
    lines.append(text[start:])
    return lines
