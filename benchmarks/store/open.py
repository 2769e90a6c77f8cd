#!/usr/bin/env python3
"""Time to open a store and to read 100,000 events, beside the floor: the same rows fetched and not decoded.

Targets: opening an existing store <= 3 ms, 100,000 events <= 0.5 s.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from gongfu.core.events import AnswerReceived, AnyEvent, MessageAdded, ToolFinished, ToolStarted
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart, user
from gongfu.store.database import Database
from gongfu.store.journal import Journal

COUNT = 100_000
CALL = CallPart(id="c_1", name="read_file", arguments='{"path": "src/main.py"}')
ANSWER = Message(role="assistant", parts=(TextPart(text="I look at the file first. " * 4), CALL))
EVENTS: list[AnyEvent] = [
    MessageAdded(message=user("Find the bug in src/main.py and fix it. " * 3)),
    AnswerReceived(request="r_1", message=ANSWER),
    ToolStarted(call="c_1", name="read_file", arguments={"path": "src/main.py"}, title="src/main.py"),
    ToolFinished(call="c_1", name="read_file", result=ResultPart(call_id="c_1", text="def main(): ...\n" * 10)),
]


def best(times: list[float]) -> str:
    return f"best {min(times) * 1e3:7.2f} ms   median {sorted(times)[len(times) // 2] * 1e3:7.2f} ms"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "gongfu.db")
        with Database.open(path) as db:
            Journal(db).append("s_1", EVENTS * (COUNT // len(EVENTS)), at=1.0)
        opened: list[float] = []
        raw: list[float] = []
        read: list[float] = []
        for _ in range(7):
            start = time.perf_counter()
            db = Database.open(path)
            opened.append(time.perf_counter() - start)
            start = time.perf_counter()
            count = sum(1 for _ in Journal(db).read("s_1"))
            read.append(time.perf_counter() - start)
            db.close()
            assert count == COUNT
            connection = sqlite3.connect(path)
            start = time.perf_counter()
            count = sum(1 for _ in connection.execute("SELECT key, time, data FROM event ORDER BY key"))
            raw.append(time.perf_counter() - start)
            connection.close()
        size = path.stat().st_size / 1e6
    print(f"{COUNT} events, {size:.0f} MB, load {os.getloadavg()[0]:.1f}")
    print(f"  open an existing store      {best(opened)}")
    print(f"  floor: rows not decoded     {best(raw)}")
    print(f"  Journal.read, all decoded   {best(read)}")
    return 0 if min(read) <= 0.5 and min(opened) <= 3e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
