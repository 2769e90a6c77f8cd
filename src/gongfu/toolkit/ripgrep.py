"""The same search with the program `rg`: quick over many files, with the same results as in Python.

ripgrep is given the files one by one, so ignore files, secrets and links are decided in one place. Files that are no
valid UTF-8, or hold control characters, are left to Python, which knows encodings and what is binary.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec

from gongfu.toolkit.grep import HUGE, Hits, Line, Query, Skipped, in_thread, search
from gongfu.workspace.process import run

_ARGUMENTS = 60_000
_USUAL_LINE = r"[^\x00-\x07\x0b\r-\x1a\x1c-\x1f]*\r?"
_FILES = 1500
_KEEP = 64 * 1024 * 1024


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
    program: str, files: Sequence[Path], query: Query, skipped: Skipped, *, env: Mapping[str, str], until: float
) -> AsyncGenerator[list[Hits]]:
    """The hits in `files`, in their order, a group at a time.

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
                odd = await _lines(program, ["-l0axv", "-e", _USUAL_LINE], usual, env, until, split=b"\0")
                strange = {Path(os.fsdecode(p)) for p in odd}
                hits = await _plain_hits(program, [p for p in usual if p not in strange], query, env, until)
                left = [p for p in usual if p in strange]
            except _CannotSearchError:
                able = False
        if left:
            hits = [*hits, *await in_thread(partial(_searched, left, query, skipped, until))]
        by_path = {h.path: h for h in hits}
        yield [by_path[p] for p in group if p in by_path]


def _searched(
    files: Sequence[Path], query: Query, skipped: Skipped, until: float, stop: Callable[[], bool]
) -> list[Hits]:
    return list(search(files, query, skipped, stop, until))


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


async def _lines(
    program: str, options: Sequence[str], files: Sequence[Path], env: Mapping[str, str], until: float, *, split: bytes
) -> list[bytes]:
    if not files:
        return []
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
    return [line for line in done.output.split(split) if line]


async def _plain_hits(
    program: str, files: Sequence[Path], query: Query, env: Mapping[str, str], until: float
) -> list[Hits]:
    options = ["--json", "--crlf", "--no-heading", f"-C{query.context}"]
    options += ["-F"] * query.literal + ["-i" if query.ignore_case else "-s", "-e", query.pattern]
    found: list[Hits] = []
    lines: list[Line] = []
    for raw in await _lines(program, options, files, env, until, split=b"\n"):
        event = cast("dict[str, Any]", msgspec.json.decode(raw))
        data = cast("dict[str, Any]", event["data"])
        match event["type"]:
            case "begin":
                lines = []
            case "match" | "context":
                lines.append(_line(data, hit=event["type"] == "match"))
            case "end":
                count = sum(line.hit for line in lines)
                found.append(Hits(path=Path(os.fsdecode(_bytes(data["path"]))), lines=tuple(lines), count=count))
            case _:
                pass
    return found


def _line(data: dict[str, Any], *, hit: bool) -> Line:
    text = _bytes(data["lines"]).decode("utf-8", "replace")
    return Line(number=data["line_number"], text=text.removesuffix("\n").removesuffix("\r"), hit=hit)


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
