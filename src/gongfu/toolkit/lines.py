"""Changes of lines by their numbers: all of them or none, each guarded by the text that is expected there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.edits import Edited, moved
from gongfu.toolkit.reading import fit, lines_of
from gongfu.workspace.files import TextFile, with_spans

_BREAK = r"\r\n|\n|\r"
_NAMED = 10

Action: TypeAlias = Literal["insert", "delete", "replace"]


class LineEdit(Base, frozen=True):
    """`text` before `line`, or in place of the lines `line` to `last`, or those lines gone.

    `expect` is the text of `line` as it is now, or of all those lines.
    """

    action: Action
    line: int
    expect: str
    last: int | None = None
    text: str = ""


class _Span(Base, frozen=True):
    """An edit as lines from `first` up to, not including, `end` (indices), and the new ones; `at` is its place."""

    first: int
    end: int
    lines: tuple[str, ...]
    at: int


def apply_line_edits(file: TextFile, edits: Sequence[LineEdit], shown: str) -> Edited:
    """Apply all edits; each counts lines as the file has them now, as `read_file` shows them.

    ToolFailure, naming the edit and what is there, when one does not fit or two overlap.
    """
    lines = lines_of(file.text)
    spans = [_span(lines, edit, at, len(edits), shown) for at, edit in enumerate(edits, 1)]
    spans.sort(key=lambda s: (s.first, s.end, s.at))
    reached, last = 0, 0
    for span in spans:
        if span.first < reached:
            raise ToolFailure(f"edits {last} and {span.at} change the same lines; nothing was changed. Join them.")
        reached, last = max(reached, span.end), span.at
    changes = _changes(file, spans, len(lines))
    return Edited(file=with_spans(file, changes), spans=tuple(moved((), changes)))


def _span(lines: Sequence[str], edit: LineEdit, at: int, count: int, shown: str) -> _Span:
    which = f"edit {at} of {count}: " if count > 1 else ""
    total = len(lines)
    most = total + 1 if edit.action == "insert" else total
    if not 1 <= edit.line <= most:
        raise ToolFailure(
            f"{which}there is no line {edit.line}: {shown} has {total:,} line{'s' * (total != 1)}; nothing was changed"
        )
    last = edit.line if edit.last is None else edit.last
    if edit.action == "insert":
        if edit.last not in (None, edit.line):
            raise ToolFailure(f"{which}an insert goes before `line` and has no last; nothing was changed")
    elif not edit.line <= last <= total:
        raise ToolFailure(
            f"{which}last must be from {edit.line} to {total:,}, the last line of {shown}; arrived: {last}"
        )
    if edit.action == "delete" and edit.text:
        raise ToolFailure(f"{which}a delete has no text; did you mean replace? Nothing was changed.")
    _check(lines, edit, last, which, shown)
    first = edit.line - 1
    new = () if edit.action == "delete" else _new_lines(edit.text)
    return _Span(first=first, end=first if edit.action == "insert" else last, lines=new, at=at)


def _check(lines: Sequence[str], edit: LineEdit, last: int, which: str, shown: str) -> None:
    """ToolFailure unless the lines say what is expected; white space at the ends of lines does not count."""
    expected = [line.rstrip() for line in lines_of(edit.expect)] or [""]
    now = [line.rstrip() for line in lines[edit.line - 1 : edit.line - 1 + len(expected)]] or [""]
    bare = [line.strip() for line in expected]
    if bare == [line.strip() for line in now]:
        if edit.action == "insert" or len(expected) <= last - edit.line + 1:
            return
        raise ToolFailure(
            f"{which}expect has {len(expected)} lines, the edit changes {last - edit.line + 1}; nothing was changed"
        )
    found = [
        n for n in range(1, len(lines) + 1)
        if lines[n - 1].strip() == bare[0] and [x.strip() for x in lines[n - 1 : n - 1 + len(bare)]] == bare
    ]  # fmt: skip
    what = "is after the last" if edit.line > len(lines) else f"is now {fit(lines[edit.line - 1], 200)!r}"
    where = f" What you expect stands at line {', '.join(map(str, found[:_NAMED]))}." if found and any(bare) else ""
    raise ToolFailure(f"{which}line {edit.line} of {shown} {what}, not as expected; nothing was changed.{where}")


def _new_lines(text: str) -> tuple[str, ...]:
    lines = re.split(_BREAK, text)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return tuple(lines)


def _changes(file: TextFile, spans: Sequence[_Span], total: int) -> list[tuple[int, int, str]]:
    """The edits as characters of the text and what replaces them. A file without a line end at its end keeps that."""
    text = file.text
    starts = [0, *(m.end() for m in re.finditer(_BREAK, text))][:total]
    starts.append(len(text))
    is_open = bool(text) and text[-1] not in "\r\n"
    begun = not is_open  # whether what is added at the end begins a line
    changes: list[tuple[int, int, str]] = []
    for span in spans:
        newline = _newline(file, starts, span)
        new = "".join(line + newline for line in span.lines)
        if is_open and span.end == total:
            if span.lines:
                new = new.removesuffix(newline)
                new = new if span.first < total or begun else newline + new
            begun = not span.lines
        changes.append((starts[span.first], starts[span.end], new))
    return changes


def _newline(file: TextFile, starts: Sequence[int], span: _Span) -> str:
    """The line end that is used beside the place, else the file's."""
    for at in (span.first, span.first + 1):
        if 0 < at < len(starts):
            before = file.text[max(0, starts[at] - 2) : starts[at]]
            if before == "\r\n":
                return "\r\n"
            if before[-1:] in ("\r", "\n"):
                return before[-1:]
    return file.newline or "\n"
