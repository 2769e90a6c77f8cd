"""Exact replacements in a text file: all of them or none, and words that help when one does not fit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.matching import MOST, Match, apart, exact, tolerant, unnumbered
from gongfu.toolkit.nearest import nearest
from gongfu.toolkit.reading import fit, lines_of
from gongfu.toolkit.rewrite import rewrite
from gongfu.workspace.files import TextFile, with_spans

_BREAK = r"\r\n|\n|\r"
_AROUND = 2
_LONGEST = 40
_ROOM = 6000


class Edit(Base, frozen=True):
    """Replace `old` by `new`; `all` of its places, else there must be exactly one."""

    old: str
    new: str
    all: bool = False


class Edited(Base, frozen=True):
    """The file with its changes; `spans` are where they stand in the new text, in order."""

    file: TextFile
    spans: tuple[Match, ...]
    loosely: bool = False


def apply_edits(file: TextFile, edits: Sequence[Edit], shown: str) -> Edited:
    """Apply `edits` one after the other, each to what the ones before left.

    ToolFailure, naming the edit and what would be right, when one does not fit; then there is no result at all.
    """
    spans: list[Match] = []
    loosely = False
    for number, edit in enumerate(edits, 1):
        which = f"edit {number} of {len(edits)}: " if len(edits) > 1 else ""
        matches, edit, loose = _places(file, edit, shown, which)  # noqa: PLW2901 - without line numbers by now
        loosely = loosely or loose
        changes = [(m.start, m.end, replacement(file, m, edit)) for m in matches]
        file = with_spans(file, changes)
        spans = moved(spans, changes)
    return Edited(file=file, spans=tuple(spans), loosely=loosely)


def _places(file: TextFile, edit: Edit, shown: str, which: str) -> tuple[list[Match], Edit, bool]:
    """Where to replace, and the edit without line numbers, if it had any."""
    if not edit.old:
        raise ToolFailure(
            f"{which}old is empty. To insert, give a line beside the place as old, and that line with the addition as "
            "new; to replace the whole file use write_file."
        )
    if edit.old == edit.new:
        raise ToolFailure(f"{which}old and new are the same; there is nothing to change")
    bare_old, bare_new = unnumbered(edit.old), unnumbered(edit.new)
    candidates = [edit]
    if bare_old is not None:
        candidates.append(Edit(old=bare_old, new=edit.new if bare_new is None else bare_new, all=edit.all))
    for candidate in candidates:
        matches, loose = exact(file.text, candidate.old), False
        if not matches:
            matches, loose = tolerant(file.text, candidate.old), True
        if not matches:
            continue
        if len(matches) >= MOST:
            raise ToolFailure(f"{which}old stands in {shown} more than {MOST:,} times; nothing was changed. Say more.")
        if len(matches) == 1 or (edit.all and not loose):
            return apart(matches), candidate, loose
        raise ToolFailure(f"{which}{_ambiguous(file, candidate, matches, shown, loose=loose)}")
    raise ToolFailure(f"{which}{_not_found(file, edit, shown)}")


def replacement(file: TextFile, match: Match, edit: Edit) -> str:
    """What stands at `match`, where `edit.old` was found, once it means `edit.new`: in the file's own hand."""
    start = match.start
    begins = start == 0 or file.text[start - 1] in "\r\n"
    before = file.text.rfind("\n", 0, start)
    near = "\r\n" if before > 0 and file.text[before - 1] == "\r" else "\n" if before >= 0 else ""
    newline = near or file.newline or "\n"
    if file.newline == "\r" and not near:
        newline = "\r"
    return rewrite(file.text[start : match.end], edit.old, edit.new, newline=newline, at_line_start=begins)


def moved(spans: Sequence[Match], changes: Sequence[tuple[int, int, str]]) -> list[Match]:
    """Earlier spans where they are after further changes, and the new ones; those that were replaced are gone."""
    now: list[Match] = []
    shift = 0
    before = list(spans)
    for start, end, text in changes:
        while before and before[0].end <= start:
            now.append(_shifted(before.pop(0), shift))
        while before and before[0].start < end:
            before.pop(0)
        now.append(Match(start=start + shift, end=start + shift + len(text)))
        shift += len(text) - (end - start)
    return [*now, *(_shifted(s, shift) for s in before)]


def _shifted(span: Match, by: int) -> Match:
    return Match(start=span.start + by, end=span.end + by)


def line_at(text: str, index: int) -> int:
    """The number (from 1) of the line that holds character `index`."""
    return sum(1 for _ in re.finditer(_BREAK, text[:index])) + 1


def _ends(text: str) -> list[int]:
    """Where each line end ends: `bisect_right` of an index in it counts the lines before."""
    return [match.end() for match in re.finditer(_BREAK, text)]


def _ambiguous(file: TextFile, edit: Edit, matches: list[Match], shown: str, *, loose: bool) -> str:
    numbers = sorted({line_at(file.text, _content(file.text, m)) for m in matches[:50]})
    listed = ", ".join(str(n) for n in numbers[:20]) + (", …" if len(numbers) > 20 or len(matches) > 50 else "")
    if loose:
        return (
            f"old is not in {shown} as written, and but for white space it fits {len(matches)} places, at lines "
            f"{listed}; nothing was changed. Copy one place exactly, with a neighbouring line."
        )
    hint = "" if edit.all else ", or set all=true to replace each"
    return (
        f"old stands {len(matches)} times in {shown}, at lines {listed}; nothing was changed. Add neighbouring lines "
        f"to make it unique{hint}."
    )


def _content(text: str, match: Match) -> int:
    """Where the first visible character of a match stands."""
    at = match.start
    while at < match.end and text[at].isspace():
        at += 1
    return at if at < match.end else match.start


def _not_found(file: TextFile, edit: Edit, shown: str) -> str:
    if not file.text:
        return f"{shown} is empty, so old is not in it; use write_file"
    done = exact(file.text, edit.new) if len(edit.new.strip()) > 3 else []
    if len(done) == 1:
        at = line_at(file.text, _content(file.text, done[0]))
        return (
            f"old is not in {shown}, but new already stands at line {at}: this edit seems to be done. Nothing changed."
        )
    near = nearest(lines_of(file.text), edit.old)
    if not near:
        return f"old is not in {shown}, and no lines come near; nothing was changed. Read the file again."
    return (
        f"old is not in {shown}; nothing was changed. The nearest lines (· space, → tab):\n{near}\n"
        "Copy old exactly from the file."
    )


def changed_lines(edited: Edited) -> str:
    """The changed lines with their numbers and two lines around, for the model; long ones are cut in the middle."""
    text = edited.file.text
    lines, ends = lines_of(text), _ends(text)
    ranges: list[list[int]] = []
    for span in edited.spans:
        last = span.end - 1 if span.end > span.start and text[span.end - 1] in "\r\n" else span.end
        first = max(1, bisect_right(ends, span.start) + 1 - _AROUND)
        end = min(len(lines), bisect_right(ends, max(span.start, last)) + 1 + _AROUND)
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1][1] = max(ranges[-1][1], end)
        else:
            ranges.append([first, end])
    blocks: list[str] = []
    room = _ROOM
    for first, end in ranges:
        block = _block(lines, first, end)
        room -= len(block)
        if room < 0 and blocks:
            blocks.append(f"[{len(ranges) - len(blocks)} more places changed]")
            break
        blocks.append(block)
    return "\n...\n".join(blocks)


def _block(lines: list[str], first: int, end: int) -> str:
    numbered = [f"{n}|{fit(lines[n - 1], 500)}" for n in range(first, end + 1)]
    if len(numbered) > _LONGEST:
        half = _LONGEST // 2
        numbered[half:-half] = [f"[{len(numbered) - 2 * half} lines]"]
    return "\n".join(numbered)
