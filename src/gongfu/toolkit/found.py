"""What a search found, as text for the model: files in order, lines with numbers, bounded, everything counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gongfu.toolkit.grep import HUGE, Hits, Line, Skipped
from gongfu.toolkit.reading import fit
from gongfu.workspace.root import Workspace

MOST_HITS = 300
_LINE = 400
_MOST_IN_ONE = 100


class Report:
    """Takes hits file by file. `show` is "lines", "files" or "count"; `room` bounds the text in bytes.

    What does not fit is counted all the same. `single` tells that one file was searched, whose name is known.
    """

    def __init__(self, workspace: Workspace, show: str, room: int, *, single: bool) -> None:
        self._workspace = workspace
        self.show = show
        self._room = room
        self._single = single
        self._lines: list[str] = []
        self.shown = 0
        self._full = False
        self.files = 0
        self.count = 0

    def add(self, hits: Hits) -> None:
        """The next file."""
        self.files += 1
        self.count += hits.count
        if self._full:
            return
        name = self._workspace.show(hits.path)
        if self.show == "files":
            self._put([name], 1)
        elif self.show == "count":
            self._put([f"{name}: {hits.count}"], hits.count)
        else:
            self._put_lines(name, hits)

    def _put_lines(self, name: str, hits: Hits) -> None:
        if not hits.lines:
            self._full = True
            return
        block = [] if self._single else [name]
        hit = 0
        last = 0
        for line in hits.lines:
            hit += line.hit
            if hit > _MOST_IN_ONE or self.shown + hit > MOST_HITS:
                hit -= line.hit
                break
            if last and line.number > last + 1 and any(not x.hit for x in hits.lines):
                block.append("--")
            block.append(f"{line.number}{':' if line.hit else '-'}{_excerpt(line)}")
            last = line.number
        if hit < hits.count:
            block.append(f"[{hits.count - hit} more in this file]")
        self._put(block, hit)
        self._full = self._full or self.shown >= MOST_HITS

    def _put(self, lines: Sequence[str], hits: int) -> None:
        size = sum(len(line.encode("utf-8")) + 1 for line in lines)
        if size <= self._room:
            self._room -= size
            self._lines += lines
            self.shown += hits
            return
        self._full = True
        for line in lines:
            self._room -= len(line.encode("utf-8")) + 1
            if self._room < 0:
                break
            self._lines.append(line)

    def text(self) -> str:
        """All that is shown, with a last line that counts; "" when nothing was found."""
        if not self.count:
            return ""
        matches = f"{self.count:,} match{'es' if self.count != 1 else ''}"
        files = f"{self.files:,} file{'s' if self.files != 1 else ''}"
        more = "; not all are shown: narrow by path, glob or pattern" if self._full else ""
        return "\n".join([*self._lines, f"[{matches} in {files}{more}]"])

    def notes(self, skipped: Skipped, protected: Sequence[str]) -> list[str]:
        """What was not searched, and why."""
        notes: list[str] = []
        if protected:
            notes.append(f"not searched, protected: {_names(protected)}")
        if skipped.huge:
            notes.append(f"not searched, over {HUGE >> 20} MB: {self._paths(skipped.huge)}")
        if skipped.unreadable:
            notes.append(f"not readable: {self._paths(skipped.unreadable)}")
        if skipped.binary and self._single:
            notes.append("the file is binary")
        return notes

    def _paths(self, paths: Sequence[Path]) -> str:
        return _names([self._workspace.show(p) for p in paths])


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _excerpt(line: Line) -> str:
    return fit(line.text, _LINE)
