"""Changes of several files at once: previewed as one diff, written all or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.display import Display, diff_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.diffs import diff_of
from gongfu.workspace.files import TextFile, write_atomic
from gongfu.workspace.root import Workspace

_SHOWN = 30_000  # characters of a diff for the model
_KEPT = 200_000  # of one for the person


class Change(Base, frozen=True):
    """A file as it is and as it would be."""

    shown: str
    before: TextFile
    after: TextFile


def changed(changes: Iterable[Change]) -> list[Change]:
    """Those that change something."""
    return [change for change in changes if change.after.raw != change.before.raw]


def diff_display_of(changes: Sequence[Change]) -> Display:
    """All changes as one diff."""
    diffs = [diff_of(change.shown, change.before.text, change.after.text) for change in changes]
    added, removed = sum(d["added"] for d in diffs), sum(d["removed"] for d in diffs)
    path = changes[0].shown if len(changes) == 1 else ""
    text = redact("".join(d["diff"] for d in diffs))
    if len(text) > _KEPT:
        text = text[:_KEPT].rpartition("\n")[0] + "\n... the rest of the diff is left out ...\n"
    return diff_display(path, text, added=added, removed=removed)


def diff_text(display: Display) -> str:
    """The diff of a display for the model."""
    text: str = display["diff"]
    if len(text) <= _SHOWN:
        return text.rstrip()
    return text[:_SHOWN].rpartition("\n")[0] + "\n[the rest of the diff is left out]"


def write_all(changes: Sequence[Change], workspace: Workspace) -> None:
    """Write all changes; when one fails those before it are taken back. ToolFailure then."""
    done: list[Change] = []
    try:
        for change in changes:
            write_atomic(change.before.path, change.after.raw, expect=change.before.digest, workspace=workspace)
            done.append(change)
    except (ToolFailure, OSError) as error:
        for change in reversed(done):
            with suppress(ToolFailure, OSError):
                write_atomic(change.before.path, change.before.raw, expect=change.after.digest, workspace=workspace)
        shown = changes[len(done)].shown
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolFailure(f"{shown}: {why}; no file was changed") from None


class Agreed:
    """The files that calls were judged by: when such a call runs it may change these, and no others."""

    def __init__(self) -> None:
        self._paths: dict[str, frozenset[str]] = {}

    def note(self, call: object, changes: Iterable[Change]) -> None:
        """Remember what a call would change; `call` are its arguments."""
        self._paths[repr(call)] = frozenset(paths_of(changes))

    def check(self, call: object, changes: Iterable[Change]) -> None:
        """ToolFailure when the call would change files that it was not judged by."""
        paths = frozenset(paths_of(changes))
        if not paths <= self._paths.pop(repr(call), paths):
            raise ToolFailure("other files would change than when the call was judged; nothing was changed")


def paths_of(changes: Iterable[Change]) -> tuple[str, ...]:
    """The files that would change."""
    return tuple(str(Path(change.before.path)) for change in changes)
