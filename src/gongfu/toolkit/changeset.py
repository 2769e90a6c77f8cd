"""Changes of several files, worked out in memory, shown as one diff and made all or none."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gongfu.core.display import Display, diff_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.diffs import diff_of, joined_diff
from gongfu.toolkit.edits import Edited, changed_lines
from gongfu.toolkit.files import check_fresh
from gongfu.toolkit.places import Places, explained
from gongfu.toolkit.readlog import ReadLog
from gongfu.workspace.files import NotText, TextFile, as_text, digest, read_bytes
from gongfu.workspace.root import Located
from gongfu.workspace.together import Change, change_together

_ROOM = 6000
MOST_FILES = 500
_MOST_BYTES = 256 * 1024 * 1024


class FileState:
    """One file: how it is on the disk, and how it would be. `raw` None is a file that is not there."""

    def __init__(self, located: Located, raw: bytes | None, mode: int) -> None:
        self.located = located
        self.before = raw
        self.after = raw
        self.old_mode = mode
        self.mode: int | None = None
        self.edited: Edited | None = None
        self.moved_from: Located | None = None
        self.gone_to: Located | None = None

    @property
    def changed(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after or (self.mode is not None and self.mode != self.old_mode)

    def text(self) -> TextFile:
        """The file as it would be. ToolFailure when it is gone or no text."""
        if self.after is None:
            raise ToolFailure(f"{self.located.shown} does not exist; nothing was changed")
        if self.edited is not None:
            return self.edited.file
        return as_text(self.located.path, self.after, self.old_mode)


class Changeset:
    """The files of one call. Paths are located by `places`, anew when `again`."""

    def __init__(self, places: Places, reads: ReadLog, *, again: bool) -> None:
        self._places = places
        self._reads = reads
        self._again = again
        self._states: dict[Path, FileState] = {}
        self._bytes = 0

    @property
    def changed(self) -> list[FileState]:
        """The files that would change, in the order in which they were named."""
        return [state for state in self._states.values() if state.changed]

    def file(self, path: str) -> FileState:
        """One file. ToolFailure when it is a folder, cannot be read, or is not what the model last saw of it."""
        located = self._places.again(path) if self._again else self._places.judge(path)
        known = self._states.get(located.path)
        if known is not None:
            return known
        if len(self._states) >= MOST_FILES:
            raise ToolFailure(f"more than {MOST_FILES} files in one call; nothing was changed. Make several calls.")
        raw, mode = None, 0o644
        with explained(located):
            if os.path.lexists(located.path):
                raw, status = read_bytes(located.path)
                mode = status.st_mode & 0o7777
        if raw is not None:
            self._check(located, raw)
        state = self._states[located.path] = FileState(located, raw, mode)
        return state

    def _check(self, located: Located, raw: bytes) -> None:
        self._bytes += len(raw)
        if self._bytes > _MOST_BYTES:
            raise ToolFailure(f"the files have more than {_MOST_BYTES:,} bytes together; make several calls")
        seen = self._reads.seen(located.path)
        if seen is not None:
            check_fresh(located, seen.digest, digest(raw))

    def existing(self, path: str) -> FileState:
        """One that is there, or would be. ToolFailure, with the names that come near, when it is not."""
        state = self.file(path)
        if state.after is None:
            if state.before is None:
                raise self._places.missing(state.located)
            raise ToolFailure(f"{state.located.shown} is removed before in this call; nothing was changed")
        return state

    def edit(self, state: FileState, edited: Edited) -> None:
        """Give a file its new text."""
        once = state.after == state.before
        state.edited = edited
        state.after = edited.file.raw
        if not once:  # where the first changes stand by now nobody knows
            state.edited = Edited(file=edited.file, spans=())

    def create(self, path: str, data: bytes, mode: int | None) -> FileState:
        """Make a file that is not there."""
        state = self.file(path)
        if state.after is not None and state.after != data:
            raise ToolFailure(f"{state.located.shown} exists already; nothing was changed. Update it instead.")
        state.after = data
        state.mode = mode
        return state

    def remove(self, state: FileState) -> None:
        """Take a file away. ToolFailure for a link, whose target is not what was meant."""
        if state.located.asked.is_symlink():
            raise ToolFailure(
                f"{self._places.workspace.show(state.located.asked)} is a link; nothing was changed. delete_file and "
                "move_file work on links themselves."
            )
        state.after, state.edited = None, None

    def move(self, state: FileState, to: str, *, stays: bool) -> FileState:
        """Move a file with its mode to a name that is free, or copy it (`stays`)."""
        target = self.file(to)
        if target is state:
            return state
        if target.after is not None:
            raise ToolFailure(f"{target.located.shown} exists already; nothing was changed. Choose another name.")
        target.after, target.edited = state.after, state.edited
        target.mode = state.mode if state.mode is not None else state.old_mode
        target.moved_from = state.located
        if not stays:
            self.remove(state)
            state.gone_to = target.located
        return target

    def display(self) -> Display:
        """All changes as one diff; {} when there is none."""
        diffs = [self._diff(state) for state in self.changed]
        return joined_diff(diffs) if diffs else {}

    def _diff(self, state: FileState) -> Display:
        shown = state.located.shown
        try:
            old, new = _decoded(state, state.before), _decoded(state, state.after)
        except NotText:
            return diff_display(shown, f"Binary file {shown}\n", added=0, removed=0, new=state.before is None)
        found = diff_of(shown, old, new, created=state.before is None)
        head = f"mode {state.old_mode:o} → {state.mode:o} {shown}\n" if state.before and self._new_mode(state) else ""
        return {**found, "diff": head + str(found["diff"])} if head else found

    @staticmethod
    def _new_mode(state: FileState) -> bool:
        return state.mode is not None and state.mode != state.old_mode

    def make(self) -> None:
        """Change all files, or none. ToolFailure says why not."""
        states = self.changed
        changes = [
            Change(path=s.located.path, data=s.after, expect="" if s.before is None else digest(s.before), mode=s.mode)
            for s in states
        ]
        with _explained(states):
            change_together(changes)
        for state in states:
            self._note(state)

    def _note(self, state: FileState) -> None:
        path = state.located.path
        if state.after is None:
            if state.gone_to is not None:
                self._reads.moved(path, state.gone_to.path)
                moved = next(s for s in self.changed if s.located == state.gone_to)
                self._reads.wrote(moved.located.path, digest(moved.after or b""), whole=False)
            else:
                self._reads.forget(path)
        elif state.moved_from is None:
            self._reads.wrote(path, digest(state.after), whole=state.before is None)

    def told(self, verb: str) -> str:
        """What was done, for the model: the files, and how the lines are now as far as there is room."""
        states = [state for state in self.changed if state.gone_to is None]
        if len(states) == 1 and states[0].edited is not None:
            return f"{verb} {_line(states[0])}. Now:\n{changed_lines(states[0].edited)}"
        head = f"{verb} {len(states)} files:\n" + "\n".join(_line(state) for state in states)
        blocks: list[str] = []
        room = _ROOM
        for state in states:
            if state.edited is None or not state.edited.spans:
                continue
            block = f"{state.located.shown} now:\n{changed_lines(state.edited)}"
            room -= len(block)
            if room < 0:
                break
            blocks.append(block)
        return "\n".join([head, *blocks])


def _decoded(state: FileState, raw: bytes | None) -> str:
    return "" if raw is None else as_text(state.located.path, raw).text


def _line(state: FileState) -> str:
    shown = state.located.shown
    if state.moved_from is not None:
        return f"{state.moved_from.shown} → {shown}"
    if state.after is None:
        return f"{shown} removed"
    if state.before is None:
        return f"{shown} created"
    how = " (white space differed; the file's own was kept)" if state.edited and state.edited.loosely else ""
    if state.before == state.after:
        return f"{shown} mode {state.mode:o}"
    try:
        display = diff_of(shown, _decoded(state, state.before), _decoded(state, state.after))
    except NotText:
        return f"{shown} changed"
    return f"{shown} (+{display['added']} -{display['removed']}){how}"


@contextmanager
def _explained(states: Sequence[FileState]) -> Generator[None]:
    """As `places.explained`, for the one of several files that the error names."""
    try:
        yield
    except OSError as error:
        name = str(error.filename or "")
        found = next((s.located for s in states if s.located.path.name in name), states[0].located)
        with explained(found):
            raise
