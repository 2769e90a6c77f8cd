"""The same search with the program `rg`: quick over many files, with the same results as in Python.

ripgrep is given the files one by one, so ignore files, secrets and links are decided in one place. Files that are no
valid UTF-8, or hold control characters, are left to Python, which knows encodings and what is binary.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from gongfu.toolkit.grep import HUGE, Hits, Line, Query, Skipped
from gongfu.toolkit.grep_apart import search_safely
from gongfu.workspace.process import run

_ARGUMENTS = 24_000 if sys.platform == "win32" else 400_000
_USUAL_LINE = r"[^\x00-\x07\x0b\r-\x1a\x1c-\x1f]*\r?"
_FILES = 8000
_KEEP = 16 * 1024 * 1024
_MOST_IN_ONE = 100


class _CannotSearchError(Exception):
    """ripgrep does not take the pattern, or failed."""


def chunks(files: Sequence[Path]) -> Iterator[list[Path]]:
    """The files in groups that fit on a command line."""
    group: list[Path] = []
    size = 0
    for path in files:
        size += len(os.fsencode(path)) + 9
        if group and (size > _ARGUMENTS or len(group) >= _FILES):
            yield group
            group, size = [], len(os.fsencode(path)) + 9
        group.append(path)
    if group:
        yield group


async def search_with_rg(
    program: str, files: Sequence[Path], query: Query, skipped: Skipped, *, env: Mapping[str, str], until: float,
    most: int,
) -> AsyncGenerator[list[Hits]]:  # fmt: skip
    """The hits in `files`, in their order, a group at a time. After `most` hits only their number is told.

    Where ripgrep cannot, Python goes on; ToolFailure when it does not know the pattern either. TimeoutError after
    `until` (monotonic).
    """
    able = True
    for group in chunks(files):
        usual = _usual(group, skipped)
        hits: list[Hits] = []
        left = usual
        if able:
            try:
                odd = await _output(program, ["-l0axv", "-e", _USUAL_LINE], usual, env, until)
                strange = {Path(os.fsdecode(p)) for p in odd.split(b"\0") if p}
                plain = [p for p in usual if p not in strange]
                hits = await _plain_hits(program, plain, query, env, until, most)
                most -= sum(h.count for h in hits)
                left = [p for p in usual if p in strange]
            except _CannotSearchError:
                able = False
        if left:
            await search_safely(left, query, skipped, env=env, until=until, take=hits.append)
        by_path = {h.path: h for h in hits}
        yield [by_path[p] for p in group if p in by_path]


def _usual(group: Sequence[Path], skipped: Skipped) -> list[Path]:
    """Those that are neither huge nor unreadable."""
    usual: list[Path] = []
    for path in group:
        try:
            size = path.stat(follow_symlinks=False).st_size
        except OSError:
            skipped.unreadable.append(path)
            continue
        if size > HUGE:
            skipped.huge.append(path)
        elif os.access(path, os.R_OK):
            usual.append(path)
        else:
            skipped.unreadable.append(path)
    return usual


async def _output(
    program: str, options: Sequence[str], files: Sequence[Path], env: Mapping[str, str], until: float
) -> bytes:
    """What ripgrep prints over `files`."""
    if not files:
        return b""
    argv = [program, "--no-config", "--no-messages", "--color=never", "-j2", *options, "--", *map(str, files)]
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    try:
        done = await run(argv, cwd=files[0].parent, env=env, timeout=left, keep=_KEEP)
    except (OSError, ValueError) as error:
        raise _CannotSearchError(str(error)) from None
    if done.why_ended != "exit":
        raise TimeoutError
    if done.code not in (0, 1) or not done.whole:
        raise _CannotSearchError(done.output.decode("utf-8", "replace")[:500])
    return done.output


async def _plain_hits(
    program: str, files: Sequence[Path], query: Query, env: Mapping[str, str], until: float, most: int
) -> list[Hits]:
    """The hits in files that are plain UTF-8: first counted, then read for the lines of as many as are wanted."""
    what = [*["-F"] * query.literal, "-i" if query.ignore_case else "-s", "--crlf", "-e", query.pattern]
    counted = await _output(program, ["-c0H", *what], files, env, until)
    counts = {Path(os.fsdecode(name)): int(count) for name, count in re.findall(rb"([^\0]+)\0(\d+)\r?\n", counted)}
    wanted: list[Path] = []
    for path in files:
        if path in counts and most > 0:
            wanted.append(path)
            most -= min(counts[path], _MOST_IN_ONE)
    options = ["--json", f"-C{query.context}", f"-m{_MOST_IN_ONE + 1}", *what]
    raw = await _output(program, options, wanted, env, until)
    lines = dict(_events(raw))
    return [Hits(path=p, lines=tuple(lines.get(p, ())), count=counts[p]) for p in files if p in counts]


def _events(raw: bytes) -> Iterator[tuple[Path, list[Line]]]:
    """The lines of each file, from ripgrep's events."""
    lines: list[Line] = []
    for piece in raw.splitlines():
        event = cast("dict[str, Any]", msgspec.json.decode(piece))
        data = cast("dict[str, Any]", event["data"])
        match event["type"]:
            case "begin":
                lines = []
            case "match" | "context":
                lines.append(_line(data, hit=event["type"] == "match"))
            case "end":
                yield Path(os.fsdecode(_bytes(data["path"]))), lines
            case _:
                pass


def _line(data: dict[str, Any], *, hit: bool) -> Line:
    text = _bytes(data["lines"]).decode("utf-8", "replace")
    return Line(number=data["line_number"], text=text.removesuffix("\n").removesuffix("\r"), hit=hit)


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
