#!/usr/bin/env python3
"""Time to append one event (commit included), beside the floor: one INSERT of the same bytes in the same kind of file.

Batches of both alternate, so that a busy moment of the machine meets both. Target: p50 <= 50 µs.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gongfu.core.events import ToolFinished, encode_event
from gongfu.core.messages import ResultPart
from gongfu.store.database import Database
from gongfu.store.journal import Journal

BATCH, ROUNDS = 1000, 10
EVENT = ToolFinished(call="c_1", name="shell", result=ResultPart(call_id="c_1", text="line of output\n" * 20))


def timed(call: Callable[[], object]) -> list[float]:
    times: list[float] = []
    for _ in range(BATCH):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def floor(path: Path) -> Callable[[], object]:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "wal_autocheckpoint=0"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE event (key INTEGER PRIMARY KEY, time REAL, data TEXT)")
    data = encode_event(EVENT).decode()
    return lambda: connection.execute("INSERT INTO event (time, data) VALUES (?, ?)", (1.0, data))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, Database.open(Path(folder, "gongfu.db")) as db:
        journal = Journal(db)
        calls = {
            "floor: raw INSERT": floor(Path(folder, "floor.db")),
            "Journal.append": lambda: journal.append("s_1", [EVENT], at=1.0),
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                times[name] += timed(call)
    size = len(encode_event(EVENT))
    print(f"{BATCH * ROUNDS} appends of one event of {size} bytes, load {os.getloadavg()[0]:.1f}")
    for name, found in times.items():
        found.sort()
        p50, p99 = found[len(found) // 2] * 1e6, found[len(found) * 99 // 100] * 1e6
        print(f"  {name:20} p50 {p50:6.1f} µs   p99 {p99:6.1f} µs   best {found[0] * 1e6:6.1f} µs")
    return 0 if times["Journal.append"][BATCH * ROUNDS // 2] <= 50e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
