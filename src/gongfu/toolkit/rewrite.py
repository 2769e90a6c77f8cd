"""The new text for a matched place, in the file's own hand: its line ends, its indents, its quotes.

Lines that the model left as they were keep the bytes they have in the file; only what it changed is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import gcd

from gongfu.core.base import Base
from gongfu.toolkit.matching import tokens

_BREAK = r"(\r\n|\n|\r)"
_INDENT = r"[^\S\r\n]*"
_FINE = 2000


class _Pair(Base, frozen=True):
    """Line `at` of the match: its indent in the model's text and in the file."""

    at: int
    model: str
    file: str


def rewrite(matched: str, old: str, new: str, *, newline: str, at_line_start: bool) -> str:
    """What replaces `matched` (a piece of the file that `old` was found to mean) so that it means `new`.

    `newline` ends lines that have no pattern near them. `at_line_start` tells that the match begins a line.
    """
    pieces = re.split(_BREAK, matched)
    file_lines, ends = pieces[0::2], pieces[1::2]
    old_lines, new_lines = _plain_lines(old), _plain_lines(new)
    if len(file_lines) < len(old_lines) and not old_lines[-1]:  # the file has no line end at its end
        old_lines.pop()
        if len(new_lines) > 1 and not new_lines[-1]:
            new_lines.pop()
    hand = _Hand(old_lines, file_lines, new_lines, skip_first=not at_line_start)
    out: list[str] = []
    breaks: list[str] = []
    for a, b, c, d, equal in _opcodes(old_lines, new_lines):
        for j in range(c, d):
            i = a + (j - c)
            if i < b:
                out.append(file_lines[i] if equal else hand.changed(i, new_lines[j]))
            else:
                out.append(hand.inserted(max(a, b - 1), new_lines[j]))
            near = min(i, len(ends) - 1) if i < b else min(b, len(ends)) - 1
            breaks.append(ends[near] if 0 <= near < len(ends) else ends[0] if ends else newline)
    joined = [line + end for line, end in zip(out, breaks, strict=True)]
    if joined:
        joined[-1] = out[-1]
    return "".join(joined)


def _plain_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int, bool]]:
    """What of `new` comes from what of `old`, as index ranges; whether they are equal."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    found = [(0, head, 0, head, True)] if head else []
    if len(left) + len(right) > _FINE:
        found.append((head, head + len(left), head, head + len(right), False))
    elif left or right:
        from difflib import SequenceMatcher  # only when lines in the middle differ

        for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            found.append((a + head, b + head, c + head, d + head, tag == "equal"))
    if tail:
        found.append((len(old) - tail, len(old), len(new) - tail, len(new), True))
    return found


class _Hand:
    """Turns lines as the model writes them into lines as the file has them."""

    def __init__(self, old: Sequence[str], file: Sequence[str], new: Sequence[str], *, skip_first: bool) -> None:
        self._old = old
        self._file = file
        self._pairs = [
            _Pair(at=i, model=_indent(o), file=_indent(f))
            for i, (o, f) in enumerate(zip(old, file, strict=False))
            if o.strip() and not (skip_first and i == 0)
        ]
        self._same = all(p.model == p.file for p in self._pairs)
        self._skip_first = skip_first
        self._unit = _unit([*old, *new])

    def changed(self, at: int, line: str) -> str:
        """The new text of line `at`."""
        old, file = self._old[at], self._file[at]
        if self._skip_first and at == 0:
            return _keep_typography(old, file, line)
        if old == file:
            return self.inserted(at, line)
        body = _keep_typography(old.lstrip(), file.lstrip(), line.lstrip())
        return self._indented(at, line) + body if line.strip() else line.strip()

    def inserted(self, near: int, line: str) -> str:
        """A further line beside line `near`."""
        if self._same or not line.strip():
            return line
        return self._indented(near, line) + line.lstrip()

    def _indented(self, near: int, line: str) -> str:
        """The file's indent for a line of the model."""
        wanted = _indent(line)
        if self._same:
            return wanted
        known = [p for p in self._pairs if p.model == wanted]
        if known:
            return min(known, key=lambda p: abs(p.at - near)).file
        shorter = [p for p in self._pairs if wanted.startswith(p.model)]
        if shorter:
            base = max(shorter, key=lambda p: (len(p.model), -abs(p.at - near)))
            return base.file + self._converted(wanted[len(base.model) :])
        longer = [p for p in self._pairs if p.model.startswith(wanted)]
        if longer:
            base = min(longer, key=lambda p: len(p.model))
            surplus = self._converted(base.model[len(wanted) :])
            return base.file[: len(base.file) - len(surplus)] if base.file.endswith(surplus) else base.file
        return wanted

    def _converted(self, extra: str) -> str:
        """White space of the model beyond a known indent, in the units of the file."""
        levels, rest = divmod(len(extra.expandtabs(self._unit)), self._unit)
        return self._file_unit() * levels + " " * rest

    def _file_unit(self) -> str:
        """One level of indent in the file, as its pairs tell."""
        if any("\t" in p.file for p in self._pairs):
            return "\t"
        widths = sorted({(len(p.model.expandtabs(self._unit)), len(p.file)) for p in self._pairs})
        for (a, x), (b, y) in pairwise(widths):
            if b > a and y > x:
                return " " * max(1, (y - x) * self._unit // (b - a))
        model, file = widths[-1]
        return " " * max(1, file * self._unit // model) if model and file else " " * self._unit


def _indent(line: str) -> str:
    match = re.match(_INDENT, line)
    return match[0] if match else ""


def _unit(lines: Sequence[str]) -> int:
    """How wide one level of indent is in the model's text; 4 when it does not tell."""
    widths = {len(i) for i in (_indent(line) for line in lines if line.strip()) if i and "\t" not in i}
    width = gcd(*widths) if widths else 4
    return width if width > 1 else 4


def _keep_typography(old: str, file: str, new: str) -> str:
    """`new` with the file's own spelling of what it has in common with `old` at its beginning and end."""
    mine, theirs, wanted = tokens(old.rstrip()), tokens(file.rstrip()), tokens(new)
    if len(mine) != len(theirs) or mine == theirs:
        return new
    head = 0
    while head < min(len(mine), len(wanted)) and mine[head] == wanted[head]:
        head += 1
    tail = 0
    while tail < min(len(mine), len(wanted)) - head and mine[-1 - tail] == wanted[-1 - tail]:
        tail += 1
    middle = wanted[head : len(wanted) - tail]
    return "".join(theirs[:head] + middle + theirs[len(theirs) - tail :])
