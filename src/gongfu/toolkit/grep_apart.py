"""Searching in Python so that it always ends: what may take for ever runs in a process that can be stopped.

Python's expressions hold the whole program while they match, and some need more than a lifetime for one line.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from gongfu.core.backtracking import longest_line
from gongfu.core.base import Base
from gongfu.toolkit.grep import Hits, Line, Query, Skipped, compile_query, in_thread, search
from gongfu.workspace.process import run

_KEEP = 16 * 1024 * 1024
_MOST_IN_ONE = 300


class Order(Base, frozen=True):
    """What the process is told. File names are the bytes of the system, as Latin-1."""

    files: list[str]
    query: Query
    seconds: float


class Found(Base, frozen=True):
    """One line of what it says: the hits of a file, or in the end what was skipped."""

    file: str = ""
    lines: tuple[Line, ...] = ()
    count: int = 0
    skipped: dict[str, list[str]] = {}


async def search_safely(
    files: Sequence[Path], query: Query, skipped: Skipped, *, env: Mapping[str, str], until: float,
    take: Callable[[Hits], None], defer: bool = False,
) -> list[Path]:  # fmt: skip
    """Give the hits in `files` to `take`: those of usual files first, then those with very long lines, in order.

    With `defer` the latter are not searched but given back. TimeoutError after `until` (monotonic); what was found by
    then has been given. ToolFailure for a bad pattern.
    """
    compile_query(query)
    apart: list[Path] = []

    def here(stop: Callable[[], bool]) -> None:
        for hits in search(files, query, skipped, stop, until, apart):
            take(hits)

    if query.literal or longest_line(query.pattern):
        await in_thread(here)
    else:
        apart += files
    if apart and not defer:
        await _in_process(apart, query, skipped, env, until, take)
        apart = []
    return apart


async def _in_process(
    files: Sequence[Path], query: Query, skipped: Skipped, env: Mapping[str, str], until: float,
    take: Callable[[Hits], None],
) -> None:  # fmt: skip
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    order = Order(files=[os.fsencode(p).decode("latin-1") for p in files], query=query, seconds=left)
    # -P: nothing is imported from the folder that is searched
    argv = [sys.executable, "-P", "-m", "gongfu.toolkit.grep_apart"]
    home = Path(__file__).parent
    done = await run(argv, cwd=home, env=env, timeout=left, stdin=msgspec.json.encode(order), keep=_KEEP)
    for line in done.output.split(b"\n"):
        try:
            found = msgspec.json.decode(line, type=Found)
        except msgspec.DecodeError:  # the line at which it was stopped, or one cut out of very much output
            continue
        if found.file:
            take(Hits(path=_path(found.file), lines=found.lines, count=found.count))
        for reason, names in found.skipped.items():
            getattr(skipped, reason).extend(_path(name) for name in names)
    if done.why_ended != "exit" or done.code != 0:
        raise TimeoutError


def _path(name: str) -> Path:
    return Path(os.fsdecode(name.encode("latin-1")))


def main() -> None:
    """The process: reads an `Order`, writes a `Found` a line as it finds them."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    skipped = Skipped()
    until = time.monotonic() + order.seconds

    def say(found: Found) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        sys.stdout.buffer.flush()

    names = {_path(name): name for name in order.files}
    for hits in search(list(names), order.query, skipped, lambda: False, until):
        say(Found(file=names[hits.path], lines=hits.lines[:_MOST_IN_ONE], count=hits.count))
    reasons = {reason: [names[p] for p in paths] for reason, paths in vars(skipped).items()}
    say(Found(skipped=reasons))


if __name__ == "__main__":
    main()
