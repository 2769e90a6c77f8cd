"""What the model has seen of each file in this session: the ground of the guards against blind and stale writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import CallPart


class Seen(Base, frozen=True):
    """A file as the model last saw or wrote it. `lines` are the spans of line numbers that were shown, in order.

    `total` is how many lines the file had. `whole` tells that all of it was shown or written by the model, `at_once`
    that one reading showed all of it.
    """

    digest: str
    mtime_ns: int = 0
    lines: tuple[tuple[int, int], ...] = ()
    total: int = 0
    whole: bool = False
    at_once: bool = False


class ReadLog:
    """Remembers files by their resolved path for one session."""

    def __init__(self) -> None:
        self._seen: dict[Path, Seen] = {}
        self._moved: dict[Path, list[Path]] = {}

    def seen(self, path: Path) -> Seen | None:
        """What the model knows of a file; None when nothing."""
        return self._seen.get(path)

    def saw(self, path: Path, digest: str, mtime_ns: int, first: int, last: int, total: int) -> None:
        """Lines `first` to `last` of `total` were shown (from 1; last < first: none). Spans of one content add up."""
        before = self._seen.get(path)
        spans = before.lines if before is not None and before.digest == digest else ()
        whole = before is not None and before.digest == digest and before.whole
        lines = _merged((*spans, (first, last)) if last >= first else spans)
        at_once = total == 0 or (first, last) == (1, total)
        at_once = at_once or (before is not None and before.digest == digest and before.at_once)
        self._seen[path] = Seen(
            digest=digest, mtime_ns=mtime_ns, lines=lines, total=total,
            whole=whole or total == 0 or lines == ((1, total),), at_once=at_once,
        )  # fmt: skip

    def wrote(self, path: Path, digest: str, mtime_ns: int = 0, *, whole: bool = True) -> None:
        """The model's own change made this content; `whole` when it knows all of it, else it knows what it knew."""
        before = self._seen.get(path)
        known = whole or (before is not None and before.whole)
        at_once = before is not None and before.at_once
        self._seen[path] = Seen(digest=digest, mtime_ns=mtime_ns, whole=known, at_once=at_once)

    def moved(self, old: Path, new: Path) -> None:
        """A file or a folder was moved: what the model knows of it, it knows under the new path."""
        for path in [p for p in self._seen if p == old or old in p.parents]:
            target = new / path.relative_to(old)
            self._seen[target] = self._seen.pop(path)
            self._moved.setdefault(path, []).append(target)

    def copied(self, old: Path, new: Path) -> None:
        """The same of a copy."""
        for path in [p for p in self._seen if p == old or old in p.parents]:
            target = new / path.relative_to(old)
            self._seen[target] = self._seen[path]
            self._moved.setdefault(path, []).append(target)

    def forget(self, path: Path) -> None:
        """The text of the file left the model's context, and with it what it knew of it under later paths."""
        self._seen.pop(path, None)
        for target in self._moved.pop(path, ()):
            self.forget(target)

    def forget_below(self, path: Path) -> None:
        """A file or a folder is gone."""
        for known in [p for p in self._seen if p == path or path in p.parents]:
            self._seen.pop(known)

    def fade(self, path: Path) -> None:
        """Only parts of the text are left in the model's context: it does not know the whole any more."""
        for target in self._moved.get(path, ()):
            self.fade(target)
        seen = self._seen.get(path)
        if seen is not None:
            self._seen[path] = replace(seen, lines=(), whole=False, at_once=False)


def forget_folded(
    reads: ReadLog, locate: Callable[[str], Path], gone: Sequence[CallPart], visible: Iterable[CallPart]
) -> None:
    """Results of `gone` left the context, those of `visible` are in it in full: of both only calls that were done.

    A file is forgotten when none of them shows it any more; when only parts of it are shown it cannot be written over.
    `locate` resolves a path as the tools do; ToolFailure for one that is none.
    """
    lost: dict[Path, int] = {}  # the newest change that left, by the number of its call; 0 for none
    for call, path, _ in _files(gone, locate):
        lost[path] = max(lost.get(path, 0), 0 if call.name == "read_file" else _number(call))
    if not lost:
        return
    whole: set[Path] = set()
    part: set[Path] = set()
    for call, path, bounded in _files(visible, locate):
        seen = reads.seen(path)
        at_once = call.name == "read_file" and not bounded and seen is not None and seen.at_once
        newer = _number(call) > lost.get(path, 0)
        (whole if newer and (at_once or call.name == "write_file") else part).add(path)
    for path in lost.keys() - whole:
        if path in part:
            reads.fade(path)
        else:
            reads.forget(path)


def _number(call: CallPart) -> int:
    return int(call.id[1:]) if call.id[1:].isdecimal() else 0


def _files(calls: Iterable[CallPart], locate: Callable[[str], Path]) -> Iterator[tuple[CallPart, Path, bool]]:
    """The calls that show text of a file, each with the file and whether only some lines were asked for."""
    for call in calls:
        if call.name not in ("read_file", "write_file", "edit_file"):
            continue
        try:
            arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
            path = next((v for name, v in arguments.items() if "path" in name.lower()), None)
            if isinstance(path, str):
                bounded = arguments.get("offset") is not None or arguments.get("limit") is not None
                yield call, locate(path), bounded
        except (msgspec.DecodeError, ToolFailure, OSError, ValueError):
            continue  # it named no file


def _merged(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)
