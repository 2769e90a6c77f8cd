"""Where the hunks of a patch belong in a file, and what they make of it: all of them or none."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.edits import Edit, Edited, line_at, moved, replacement
from gongfu.toolkit.matching import Match, exact, tolerant
from gongfu.toolkit.nearest import nearest
from gongfu.toolkit.patches import Hunk, PatchLine
from gongfu.toolkit.reading import lines_of
from gongfu.workspace.files import TextFile, with_spans

_BREAK = r"\r\n|\n|\r"
_NAMED = 20


class _Place(Base, frozen=True):
    """What a hunk does: characters `start` to `end` become `text`. `loosely`: white space differed."""

    start: int
    end: int
    text: str
    loosely: bool = False


def apply_hunks(file: TextFile, hunks: Sequence[Hunk], shown: str) -> Edited:
    """The file with all hunks applied, each found in the text as it is.

    A hunk stands where its number says, moved by as much as the one before, or else at the only place that its old
    lines fit: to the byte, else but for line ends, else but for white space. ToolFailure, naming the hunk and what
    would be right, when there is none or more than one; then there is no result at all.
    """
    search = _Search(file, shown)
    for number, hunk in enumerate(hunks, 1):
        which = f"hunk {number} of {len(hunks)} (line {hunk.line} of the patch)" if hunks[1:] else "the hunk"
        search.place(hunk, which)
    places = sorted(search.places, key=lambda p: (p.start, p.end))
    for one, other in pairwise(places):
        if one.end > other.start:
            raise ToolFailure(f"two hunks change the same lines of {shown}; nothing was changed. Join them.")
    changes = [(p.start, p.end, p.text) for p in places]
    spans = tuple(moved((), changes))
    return Edited(file=with_spans(file, changes), spans=spans, loosely=any(p.loosely for p in places))


def new_text(hunks: Sequence[Hunk]) -> str:
    """The text of a new file."""
    return "".join(_joined(hunk.side("-")) for hunk in hunks)


def _joined(lines: Sequence[PatchLine]) -> str:
    return "".join(line.text if line.open else f"{line.text}\n" for line in lines)


def _plain(lines: Sequence[PatchLine]) -> str:
    """The same with line feeds for all line ends."""
    return "".join(line.text.removesuffix("\r") + ("" if line.open else "\n") for line in lines)


class _Search:
    def __init__(self, file: TextFile, shown: str) -> None:
        self._file = file
        self._text = file.text
        self._shown = shown
        self._starts = [0, *(m.end() for m in re.finditer(_BREAK, file.text))]
        self._drift = 0
        self._cursor = 0
        self.places: list[_Place] = []

    def place(self, hunk: Hunk, which: str) -> None:
        """Find out where a hunk belongs."""
        old, new = hunk.side("+"), hunk.side("-")
        if not old:
            self._take(self._insertion(hunk, new, which))
            return
        anchor, why = self._anchor(hunk)
        for matches, loosely, precise in self._levels(old):
            free = [m for m in matches if self._is_free(m) and (not hunk.last or self._reaches_end(m))]
            chosen = self._chosen(hunk, free, anchor)
            if chosen is not None:
                if hunk.at:
                    self._drift = self._number(chosen.start) - hunk.at
                edit = Edit(old=_plain(old), new=_plain(new))
                text = _joined(new) if precise else replacement(self._file, chosen, edit)
                self._take(_Place(start=chosen.start, end=chosen.end, text=text, loosely=loosely))
                return
            if free:
                raise self._ambiguous(free, which, why)
        raise self._not_found(old, new, which)

    def _take(self, place: _Place) -> None:
        self.places.append(place)
        self._cursor = place.end

    def _levels(self, old: Sequence[PatchLine]) -> Iterator[tuple[list[Match], bool, bool]]:
        """Where the old lines stand, the strictest sense of it first; whether loosely so, and whether to the byte."""
        yield self._literal(_joined(old)), False, True
        plain = _plain(old)
        yield [m for m in exact(self._text, plain) if self._is_whole(m, plain)], False, False
        yield [m for m in tolerant(self._text, plain) if self._is_whole(m, plain)], True, False

    def _literal(self, old: str) -> list[Match]:
        found: list[Match] = []
        at = self._text.find(old)
        while at >= 0 and len(found) <= 1000:
            end = at + len(old)
            if (at == 0 or self._text[at - 1] == "\n") and (old.endswith("\n") or end == len(self._text)):
                found.append(Match(start=at, end=end))
            at = self._text.find(old, at + 1)
        return found

    def _is_whole(self, match: Match, old: str) -> bool:
        """Whether a match is made of whole lines."""
        if match.start and self._text[match.start - 1] not in "\r\n":
            return False
        return old.endswith("\n") or match.end == len(self._text) or self._text[match.end] in "\r\n"

    def _is_free(self, match: Match) -> bool:
        return all(match.end <= p.start or match.start >= p.end for p in self.places)

    def _reaches_end(self, match: Match) -> bool:
        return not self._text[match.end :].strip()

    def _number(self, at: int) -> int:
        """The number of the line that begins at a character."""
        return bisect_left(self._starts, at) + 1

    def _chosen(self, hunk: Hunk, matches: Sequence[Match], anchor: int) -> Match | None:
        if len(matches) == 1:
            return matches[0]
        if hunk.at:
            starts = {self._number(m.start): m for m in matches}
            return starts.get(hunk.at + self._drift) or starts.get(hunk.at)
        if anchor >= 0:
            return next((m for m in matches if m.start >= anchor), None)
        return None

    def _anchor(self, hunk: Hunk) -> tuple[int, str]:
        """Where the text after the anchors of a hunk begins; -1 and why not, when they do not tell."""
        if not hunk.anchors:
            return -1, ""
        at = self._cursor
        for anchor in hunk.anchors:
            ends = self._lines_like(anchor, at) or self._lines_like(anchor, 0)
            if len(ends) != 1:
                how = "stands nowhere" if not ends else f"stands {len(ends)} times"
                return -1, f" The line after @@ ({anchor[:80]}) {how}."
            at = ends[0]
        return at, ""

    def _lines_like(self, anchor: str, since: int) -> list[int]:
        """Where the lines end that say what an anchor says, white space at their ends apart."""
        pattern = rf"(?m)(?:^|(?<=\r))[^\S\r\n]*{re.escape(anchor.strip())}[^\S\r\n]*(?:{_BREAK}|\Z)"
        return [m.end() for m in re.compile(pattern).finditer(self._text, since)][: _NAMED + 1]

    def _insertion(self, hunk: Hunk, new: Sequence[PatchLine], which: str) -> _Place:
        """A hunk that only adds: at its number, after its anchor, or at the end."""
        at = len(self._text)
        if hunk.at:
            line = hunk.at + self._drift
            if line > len(self._starts):
                raise ToolFailure(
                    f"{which} adds lines after line {line - 1:,}, and {self._shown} has {len(self._starts):,}; "
                    "nothing was changed"
                )
            at = self._starts[line - 1] if line > 0 else 0
        elif hunk.anchors:
            at, why = self._anchor(hunk)
            if at < 0:
                raise ToolFailure(f"{which} only adds lines, and where is not clear.{why} Nothing was changed.")
        text = _joined(new)
        newline = self._file.newline
        if newline not in ("", "\n") and "\r" not in text:
            text = text.replace("\n", newline)
        if at == len(self._text) and at and self._text[-1] not in "\r\n":
            text = (newline or "\n") + text.removesuffix(newline or "\n")
        return _Place(start=at, end=at, text=text)

    def _ambiguous(self, matches: Sequence[Match], which: str, why: str) -> ToolFailure:
        numbers = ", ".join(str(self._number(m.start)) for m in matches[:_NAMED])
        more = ", …" if len(matches) > _NAMED else ""
        return ToolFailure(
            f"{which} fits {len(matches)} places of {self._shown}, at lines {numbers}{more}; nothing was changed.{why} "
            "Give more lines of context."
        )

    def _not_found(self, old: Sequence[PatchLine], new: Sequence[PatchLine], which: str) -> ToolFailure:
        wanted, after = _plain(old), _plain(new)
        done = exact(self._text, after) if after.strip() else []
        if len(done) == 1:
            at = line_at(self._text, done[0].start)
            return ToolFailure(
                f"{which} does not fit {self._shown}, but what it makes already stands at line {at}: it seems to be "
                "applied. Nothing was changed."
            )
        near = nearest(lines_of(self._text), wanted)
        if not near:
            return ToolFailure(
                f"{which} does not fit {self._shown}, and no lines come near; nothing was changed. Read the file again."
            )
        return ToolFailure(
            f"{which} does not fit {self._shown}; nothing was changed. The nearest lines (· space, → tab):\n{near}\n"
            "Copy the old lines exactly from the file."
        )
