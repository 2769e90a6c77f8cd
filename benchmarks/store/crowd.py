#!/usr/bin/env python3
"""28 processes on one empty store, opening and appending at the same moment, beside the floor: one process alone.

Prints the longest wait that any append met. No process may fail, no sequence may have a gap.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from gongfu.core.events import SessionTitled
from gongfu.store.database import Database
from gongfu.store.journal import Journal

PROCESSES, APPENDS = 28, 200
EVENT = SessionTitled(title="x" * 300)


def work(path: Path, session: str) -> list[float]:
    """Seconds of the opening and of each append."""
    start = time.perf_counter()
    times: list[float] = []
    with Database.open(path) as db:
        journal = Journal(db)
        for _ in range(APPENDS):
            times.append(time.perf_counter() - start)
            start = time.perf_counter()
            journal.append(session, [EVENT], at=1.0)
        times.append(time.perf_counter() - start)
    return times


def crowd(folder: Path, path: Path) -> tuple[float, int]:
    """(seconds in all, failed processes); half of them share a session."""
    ready, go = os.pipe()
    children: list[int] = []
    for number in range(PROCESSES):
        child = os.fork()
        if not child:
            os.close(go)
            os.read(ready, 1)  # returns when the parent closes its end
            times = work(path, f"s_{number}" if number % 2 else "s_shared")
            Path(folder, f"{number}.txt").write_text("\n".join(map(str, times)))
            os._exit(0)
        children.append(child)
    start = time.perf_counter()
    os.close(go)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    return time.perf_counter() - start, failed


def main() -> int:
    if not hasattr(os, "fork"):
        print("needs fork")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = work(folder / "alone.db", "s_1")
        seconds, failed = crowd(folder, folder / "gongfu.db")
        texts = [Path(folder, f"{number}.txt") for number in range(PROCESSES)]
        times = sorted(float(line) for text in texts if text.exists() for line in text.read_text().splitlines())
        with Database.open(folder / "gongfu.db") as db:
            journal = Journal(db)
            names = ["s_shared", *(f"s_{number}" for number in range(1, PROCESSES, 2))]
            found = [[entry.seq for entry in journal.read(session)] for session in names]
    gaps = sum(seqs != list(range(1, len(seqs) + 1)) for seqs in found)
    total = sum(map(len, found))
    print(f"{PROCESSES} processes, {APPENDS} appends each, load {os.getloadavg()[0]:.1f}")
    print(
        f"  floor: one process alone    p50 {sorted(alone)[len(alone) // 2] * 1e6:8.0f} µs   longest {max(alone) * 1e3:8.1f} ms"
    )
    print(
        f"  all at once                 p50 {times[len(times) // 2] * 1e6:8.0f} µs   longest {times[-1] * 1e3:8.1f} ms"
    )
    print(
        f"  {total} events in {seconds:.2f} s, {total / seconds:.0f} a second; failed {failed}, sessions with gaps {gaps}"
    )
    return 1 if failed or gaps or total != PROCESSES * APPENDS else 0


if __name__ == "__main__":
    sys.exit(main())
