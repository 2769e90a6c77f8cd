#!/usr/bin/env python3
"""Long sessions: opening one of 10,000 messages, and what the process holds after thousands of turns.

    python benchmarks/terminal/sessions.py [open | memory ...] [--messages N] [--turns N]

`open`: the session lies in a store. A new process opens it with `app.session(id)`; then so does `gongfu --session ID` on a terminal, until
the prompt is on the screen, and until the session is there. The floor reads the same rows with SQLite and decodes none.
`memory`: the scripted model in process, a call in each turn: 5,000 turns with small results, then 500 with results of 10 KB. RSS is what
the process holds, `traced` what Python's objects hold (tracemalloc, in a run of its own: it is slow).

Targets: opened within 0.5 s; memory flat, but for what is kept of each turn by number: 100 bytes a turn.
"""

from __future__ import annotations

import argparse
import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from msgspec.structs import replace

SESSION = "s_long"
ROUNDS = 5
OPEN = """
import os, sys, time
began = time.monotonic()
import anyio, gongfu
async def work():
    async with gongfu.open({work!r}, home={home!r}, env={{"PATH": os.environ["PATH"]}}, model="scripted/x") as app:
        app.journal
        ready = time.monotonic()
        await app.session({session!r})
        now = time.monotonic()
        print(now - began, time.process_time(), now - ready, flush=True)
        os._exit(0)
anyio.run(work)
"""


def best(code: str, rounds: int = ROUNDS) -> list[float]:
    """What the fastest of several new processes prints."""
    found: list[list[float]] = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        found.append([float(word) for word in done.stdout.split()])
    return min(found)


def floor(store: Path) -> float:
    start = time.perf_counter()
    connection = sqlite3.connect(store)
    try:
        rows = connection.execute("SELECT key, time, data FROM event ORDER BY key").fetchall()
    finally:
        connection.close()
    assert rows
    return time.perf_counter() - start


def on_terminal(home: Path, work: Path) -> tuple[float, float, float, float]:
    """Seconds until the prompt is on the screen, until the end of the session is, and until it is read whole, and of
    processor time until then.
    """
    from pty_program import MARK, READ, STATUS, PtyProgram, environment

    program = PtyProgram([sys.executable, "-m", "gongfu", "--session", SESSION], env=environment(home), folder=work)
    try:
        prompt = program.until(MARK) - program.began
        shown = program.until(STATUS, start=program.output.find(MARK)) - program.began
        there = program.until(READ, start=program.output.find(STATUS)) - program.began
        return prompt, shown, there, program.cpu()
    finally:
        program.end()


def opening(messages: int) -> int:
    from long_log import told, written

    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        (work / ".git").mkdir(parents=True)
        home.mkdir()
        store = home / "gongfu.db"
        what = told(written(store, SESSION, str(work), messages))
        size = store.stat().st_size / 1e6
        print(f"{', '.join(f'{n} {name}' for name, n in what.items())}, {size:.0f} MB, load {os.getloadavg()[0]:.1f}")
        print(f"  floor: the rows, read by SQLite         {min(floor(store) for _ in range(3)):.3f} s")
        wall, cpu, alone = best(OPEN.format(work=str(work), home=str(home), session=SESSION))
        print(
            f"  a process with app.session(id)          {wall:.3f} s, CPU {cpu:.3f} s; the session alone {alone:.3f} s"
        )
        prompt, shown, there, cpu = min(on_terminal(home, work) for _ in range(ROUNDS))
        print(
            f"  on a terminal: the prompt               {prompt:.3f} s; its last turns {shown:.3f} s; read whole {there:.3f} s, CPU {cpu:.2f} s"
        )
        return int(shown > 0.5)


def resident() -> float:
    """Megabytes that the process holds (Linux)."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def turns(count: int, size: int, marks: list[int], *, traced: bool) -> int:
    """Run so many turns in one session, and print what the process holds at `marks`; bytes a turn between the last two."""
    import tracemalloc

    import gongfu
    from gongfu.models.scripted import Scripted
    from gongfu.models.scripted.provider import SCRIPTED
    from gongfu.models.scripted.script import Call, Say

    class Forgetful(Scripted):
        """Keeps nothing of what it is sent."""

        async def complete(self, request: Any, /) -> Any:
            self.requests.clear()
            self.bodies.clear()
            async for delta in super().complete(request):
                yield delta

    def script() -> Any:
        while True:
            yield Call("read_file", {"path": "a.txt"})
            yield Say("It is as it should be.")

    found: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        (work / ".git").mkdir(parents=True)
        (work / "a.txt").write_text("a line of a file that is read again and again\n" * max(1, size // 46))
        models = {"scripted/scripted": Forgetful(script(), info=replace(SCRIPTED, window=32_768, max_output=4096))}
        env = {"PATH": os.environ["PATH"], "HOME": folder}
        async with gongfu.open(work, home=home, env=env, model="scripted/scripted", yes=True, providers=models) as app:
            session = await app.session()
            if traced:
                tracemalloc.start()
            for turn in range(1, count + 1):
                finished = await (await session.prompt(f"Look at it, number {turn}."))
                assert finished.status == "done", finished
                if turn in marks:
                    gc.collect()
                    held = tracemalloc.get_traced_memory()[0] / 1e6 if traced else resident()
                    found.append((turn, held))
                    print(f"  turn {turn:5}: {held:7.2f} MB {'traced' if traced else 'RSS'}", flush=True)
            if traced and os.environ.get("WHERE"):
                for line in tracemalloc.take_snapshot().statistics("lineno")[:25]:
                    print("   ", line)
    (first, before), (last, after) = found[len(found) // 2 - 1], found[-1]
    return round((after - before) * 1e6 / (last - first))


def memory(count: int) -> int:
    """Each measurement in a process of its own."""
    failed = 0
    for many, size in ((count, 40), (count // 10, 10_000)):
        for traced in ("", "traced"):
            print(f"{many} turns with a result of {size} bytes each{', traced' if traced else ''}")
            command = [sys.executable, __file__, "turns", "--turns", str(many), "--size", str(size)]
            failed += subprocess.run([*command, *(["--traced"] if traced else [])], check=False).returncode != 0
    return failed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["open", "memory"])
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=5_000)
    parser.add_argument("--size", type=int, default=40)
    parser.add_argument("--traced", action="store_true")
    given = parser.parse_args()
    failed = 0
    if "open" in given.what:
        failed += opening(given.messages)
    if "memory" in given.what:
        failed += memory(given.turns)
    if "turns" in given.what:
        start = time.process_time()
        marks = [given.turns * share // 50 for share in (1, 10, 25, 50)]
        each = anyio.run(lambda: turns(given.turns, given.size, marks, traced=given.traced))
        print(f"  {each} bytes a turn, CPU {(time.process_time() - start) / given.turns * 1e3:.1f} ms a turn")
        failed += each > 1000
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
