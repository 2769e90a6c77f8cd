"""Where a text that a model wants replaced stands in a file: exactly, or but for white space and typography."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gongfu.core.base import Base

_SPACE = r"[^\S\r\n]"
_ANY = f"{_SPACE}*+"  # possessive: nothing that follows is white space, and long runs would take quadratic time
_END = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"
_PIECE = r"(?s)[^\S\r\n]+|\.\.\.|."
_LIKE = (("'", "'‘’‚‛′´`"), ('"', '"“”„‟″'), ("-", "-‐‑‒–—―−"))
_ALIKE = {c: f"[{re.escape(group)}]" for _, group in _LIKE for c in group}
_NUMBER = r"[ \t]*\d+[|→\t]"
MOST = 200_000


class Match(Base, frozen=True):
    """A place in the text, as indices of characters."""

    start: int
    end: int


def exact(text: str, old: str) -> list[Match]:
    """All places of `old` (overlapping ones too), where any kind of line end counts as any other. At most 200,000."""
    plain = old.replace("\r\n", "\n")
    if "\r" not in text or "\n" not in plain:
        return list(_literal(text, plain if "\r" not in text else old.replace("\r\n", "\n")))
    pattern = _END.join(re.escape(line) for line in plain.split("\n"))
    return _overlapping(text, pattern)


def _literal(text: str, old: str) -> Iterator[Match]:
    at = text.find(old)
    count = 0
    while at >= 0 and count < MOST:
        yield Match(start=at, end=at + len(old))
        count += 1
        at = text.find(old, at + 1)


def _overlapping(text: str, source: str) -> list[Match]:
    pattern = re.compile(source)
    found: list[Match] = []
    match = pattern.search(text)
    while match is not None and len(found) < MOST:
        found.append(Match(start=match.start(), end=match.end()))
        match = pattern.search(text, match.start() + 1)
    return found


def apart(matches: list[Match]) -> list[Match]:
    """Those of `matches` that do not overlap an earlier one."""
    kept: list[Match] = []
    for match in matches:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def tolerant(text: str, old: str) -> list[Match]:
    """Places that differ from `old` only in white space inside lines, line ends, quotes and dashes.

    A line's indent belongs to the match; a line end at the end of `old` may be missing at the end of the file.
    """
    if not old.strip():
        return []
    lines = old.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    sources = [_line_source(line) for line in lines]
    last = len(lines) - 1
    between = f"{_ANY}{_END}{_ANY}"
    if not lines[last] and last:
        source = between.join(sources[:last]) + rf"{_ANY}(?:{_END}|\Z)"
    else:
        source = between.join(sources) + (_ANY if lines[last][-1:] in (" ", "\t") else "")
    if last or lines[0][:1].isspace():
        source = f"(?<!{_SPACE}){_ANY}{source}"
    return _overlapping(text, source)


def _line_source(line: str) -> str:
    """One line without its indent: runs of white space stand for any others, alike characters for each other."""
    parts: list[str] = []
    for token in re.findall(_PIECE, line.strip()):
        if token[0].isspace():
            parts.append(f"{_SPACE}++")
        elif token in ("...", "…"):
            parts.append(r"(?:\.\.\.|…)")
        else:
            parts.append(_ALIKE.get(token) or re.escape(token))
    return "".join(parts)


def unnumbered(text: str) -> str | None:
    """The text without the line numbers that read_file shows, if every line with something on it has one."""
    lines = text.split("\n")
    if not all(re.match(_NUMBER, line) for line in lines if line.strip()) or not text.strip():
        return None
    return "\n".join(re.sub(_NUMBER, "", line, count=1) for line in lines)


def tokens(line: str) -> list[str]:
    """A line in the pieces that `tolerant` compares."""
    return re.findall(_PIECE, line)
