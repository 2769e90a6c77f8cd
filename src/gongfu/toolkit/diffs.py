"""Unified diffs for the person: quick also for large files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gongfu.core.display import Display, diff_display

_LINES = r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+"
_UNITS = r"[^\n]*\n|[^\n]+"
_CONTEXT = 3
_MOST = 3000
_MAX_DIFF = 200_000


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends; only line feeds and carriage returns end one."""
    return re.findall(_LINES, text)


def diff_of(path: str, old: str, new: str, *, created: bool = False) -> Display:
    """The display of a change from `old` to `new`; a very long diff is cut at its end."""
    before, after = split_lines(old), split_lines(new)
    head, tail = _common(before, after)
    left, right = before[head : len(before) - tail], after[head : len(after) - tail]
    lines: list[str] = []
    added = removed = 0
    for start_a, end_a, start_b, end_b, body in _hunks(before, after, head, left, right):
        lines.append(f"@@ -{_span(start_a, end_a)} +{_span(start_b, end_b)} @@")
        lines += body
        added += sum(line.startswith("+") for line in body)
        removed += sum(line.startswith("-") for line in body)
    name = "/dev/null" if created else f"a/{path}"
    text = "\n".join([f"--- {name}", f"+++ b/{path}", *lines, ""]) if lines else ""
    if len(text) > _MAX_DIFF:
        text = text[:_MAX_DIFF].rpartition("\n")[0] + "\n... the rest of the diff is left out ...\n"
    return diff_display(path, text, added=added, removed=removed, new=created)


def units_of(text: str) -> list[str]:
    """The lines of `text` with their ends as patches count them: only line feeds end one."""
    return text.splitlines(keepends=True) if text.isascii() and not _has_odd(text) else re.findall(_UNITS, text)


def exact_diff(old: str, new: str, before: str, after: str) -> str:
    """A unified diff that makes `new` of `old` to the byte; "" when they are the same. `before` and `after` are the
    names in its head, which begin with `a/` and `b/` or are `/dev/null`."""
    left, right = units_of(old), units_of(new)
    head, tail = _common(left, right)
    middle = left[head : len(left) - tail], right[head : len(right) - tail]
    lines: list[str] = []
    for start_a, end_a, start_b, end_b, body in _hunks(left, right, head, *middle, shown=_marked):
        lines.append(f"@@ -{_span(start_a, end_a)} +{_span(start_b, end_b)} @@")
        lines += body
    return "\n".join([f"--- {before}", f"+++ {after}", *lines, ""]) if lines else ""


def joined_diff(diffs: Sequence[Display]) -> Display:
    """The displays of several changes in one."""
    if len(diffs) == 1:
        return diffs[0]
    text = "".join(str(one["diff"]) for one in diffs)
    if len(text) > _MAX_DIFF:
        text = text[:_MAX_DIFF].rpartition("\n")[0] + "\n... the rest of the diff is left out ...\n"
    added, removed = sum(int(one["added"]) for one in diffs), sum(int(one["removed"]) for one in diffs)
    return diff_display(f"{len(diffs)} files", text, added=added, removed=removed)


def _has_odd(text: str) -> bool:
    """Whether `str.splitlines` would end a line at something else than a line feed."""
    return any(c in text for c in "\r\v\f\x1c\x1d\x1e")


def _marked(line: str) -> str:
    return line[:-1] if line.endswith("\n") else f"{line}\n\\ No newline at end of file"


def _common(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    most = min(len(before), len(after))
    head = next((i for i in range(most) if before[i] != after[i]), most)
    most -= head
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    return head, tail


def _span(start: int, end: int) -> str:
    """A range as diffs write it, from indices."""
    size = end - start
    first = start + 1 if size else start
    return str(first) if size == 1 else f"{first},{size}"


def _changes(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """What was replaced by what, as index ranges; one range for all when a fine comparison would take too long."""
    if len(left) + len(right) > _MOST or not left or not right:
        if left or right:
            yield 0, len(left), 0, len(right)
        return
    from difflib import SequenceMatcher  # only when there is something to compare

    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a, b, c, d


def _hunks(
    before: Sequence[str],
    after: Sequence[str],
    head: int,
    left: Sequence[str],
    right: Sequence[str],
    *,
    shown: Callable[[str], str] | None = None,
) -> Iterator[tuple[int, int, int, int, list[str]]]:
    groups: list[list[tuple[int, int, int, int]]] = []
    shown = shown or _bare
    for a, b, c, d in _changes(left, right):
        change = (a + head, b + head, c + head, d + head)
        if groups and change[0] - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    for group in groups:
        start, end = max(0, group[0][0] - _CONTEXT), min(len(before), group[-1][1] + _CONTEXT)
        shift, back = group[0][2] - group[0][0], group[-1][3] - group[-1][1]
        body: list[str] = []
        at = start
        for a, b, c, d in group:
            body += [f" {shown(x)}" for x in before[at:a]]
            body += [f"-{shown(x)}" for x in before[a:b]]
            body += [f"+{shown(x)}" for x in after[c:d]]
            at = b
        body += [f" {shown(x)}" for x in before[at:end]]
        yield start, end, start + shift, end + back, body


def _bare(line: str) -> str:
    return line.rstrip("\r\n").replace("\r", "")
