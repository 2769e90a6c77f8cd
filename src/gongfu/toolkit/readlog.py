"""What the model has seen of each file in this session: the ground of the guards against blind and stale writes."""

from __future__ import annotations

from pathlib import Path

from gongfu.core.base import Base


class Seen(Base, frozen=True):
    """A file as the model last saw or wrote it. `lines` are the spans of line numbers that were shown, in order.

    `total` is how many lines the file had. `whole` tells that all of it was shown or written by the model.
    """

    digest: str
    mtime_ns: int = 0
    lines: tuple[tuple[int, int], ...] = ()
    total: int = 0
    whole: bool = False


class ReadLog:
    """Remembers files by their resolved path for one session."""

    def __init__(self) -> None:
        self._seen: dict[Path, Seen] = {}

    def seen(self, path: Path) -> Seen | None:
        """What the model knows of a file; None when nothing."""
        return self._seen.get(path)

    def saw(self, path: Path, digest: str, mtime_ns: int, first: int, last: int, total: int) -> None:
        """Lines `first` to `last` of `total` were shown (from 1; last < first: none). Spans of one content add up."""
        before = self._seen.get(path)
        spans = before.lines if before is not None and before.digest == digest else ()
        whole = before is not None and before.digest == digest and before.whole
        lines = _merged((*spans, (first, last)) if last >= first else spans)
        self._seen[path] = Seen(
            digest=digest, mtime_ns=mtime_ns, lines=lines, total=total,
            whole=whole or total == 0 or lines == ((1, total),),
        )  # fmt: skip

    def wrote(self, path: Path, digest: str, mtime_ns: int = 0, *, whole: bool = True) -> None:
        """The model's own change made this content; `whole` when it knows all of it, else it knows what it knew."""
        before = self._seen.get(path)
        known = whole or (before is not None and before.whole)
        self._seen[path] = Seen(digest=digest, mtime_ns=mtime_ns, whole=known)

    def forget(self, path: Path) -> None:
        """The text of the file left the model's context."""
        self._seen.pop(path, None)


def _merged(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)
