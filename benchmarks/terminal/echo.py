#!/usr/bin/env python3
"""What a person feels at the terminal: the time until the prompt, and from a key to its echo.

    python benchmarks/terminal/echo.py [start | keys ...]

`start`: a new process until its prompt is on the screen, and its processor time until then; beside it Python that does nothing, and one
that imports prompt_toolkit. `keys`: letters are typed; the time until it is on the screen, while nothing happens, and while
a command floods its output and then an answer streams 1,000 tokens a second. Beside it `cat` in the same pseudo-terminal (the least there
can be) and prompt_toolkit's own PromptSession, both idle.

Targets: the prompt within 0.4 s; an echo within 30 ms in 95 of 100 cases.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pty_program import MARK, PtyProgram, environment

ROUNDS = 7
LETTERS = "".join(map(chr, range(0x410, 0x450)))  # Cyrillic: nothing else on the screen is
SCRIPT = """
steps:
  - call: shell
    arguments: {command: "timeout 12 yes 'a line of output that goes on and on'"}
  - fault: slow
    seconds: 0.001
    answer: {say: "%s"}
"""
PLAIN = """
from prompt_toolkit import PromptSession
PromptSession("\\u203a ").prompt()
"""


def started(folder: Path, home: Path) -> tuple[float, float]:
    program = PtyProgram([sys.executable, "-m", "gongfu"], env=environment(home), folder=folder)
    try:
        return program.until(MARK) - program.began, program.cpu()
    finally:
        program.end()


def took(*args: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *args], check=True)
    return time.perf_counter() - start


def start(folder: Path, home: Path) -> int:
    started(folder, home)  # the first one makes its files
    found = [started(folder, home) for _ in range(ROUNDS)]
    nothing = min(took("-c", "pass") for _ in range(ROUNDS))
    library = min(took("-c", "from prompt_toolkit import PromptSession") for _ in range(ROUNDS))
    walls, cpus = [wall for wall, _ in found], [cpu for _, cpu in found]
    print(f"until the prompt is on the screen, load {os.getloadavg()[0]:.1f}")
    middle = statistics.median(walls)
    print(f"  gongfu                           {min(walls):.3f} s, median {middle:.3f} s; CPU {min(cpus):.2f} s")
    print(f"  floor: python -c pass            {nothing:.3f} s")
    print(f"  python, importing prompt_toolkit {library:.3f} s")
    return int(min(walls) > 0.4)


def echoes(program: PtyProgram) -> list[float]:
    """Milliseconds from each key to its echo. Every letter is another, so that a line drawn anew is not taken for one."""
    found: list[float] = []
    for number, letter in enumerate(LETTERS):
        here = len(program.output)
        pressed = time.perf_counter()
        program.press(letter)
        found.append((program.until(letter.encode(), start=here, seconds=10) - pressed) * 1e3)
        _wait(program, 0.03 + number % 7 * 0.01)  # at another moment of the frame each time
    program.press("\x15")  # control-U
    _wait(program, 0.3)
    return found


def _wait(program: PtyProgram, seconds: float) -> None:
    last = time.perf_counter() + seconds
    while (left := last - time.perf_counter()) > 0:
        program.take(left)


def line(name: str, found: Sequence[float]) -> str:
    steps = statistics.quantiles(found, n=20)
    return f"  {name:34} {steps[9]:7.1f} {steps[18]:7.1f} {max(found):7.1f}"


def keys(folder: Path, home: Path) -> int:
    script = folder.parent / "flood.yaml"
    script.write_text(SCRIPT % ("word " * 15_000), "utf-8")
    plain = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    print(f"milliseconds from a key to its echo, load {os.getloadavg()[0]:.1f}      p50     p95     max")
    for name, command, mark in (
        ("floor: cat", ["cat"], b""), ("PromptSession", [sys.executable, "-c", PLAIN], MARK.strip())
    ):  # fmt: skip
        program = PtyProgram(command, env=plain, folder=folder)
        program.until(mark)
        program.quiet()
        print(line(name, echoes(program)), flush=True)
        program.end()
    env = environment(home, GONGFU_MODEL=f"scripted:{script}")
    program = PtyProgram([sys.executable, "-m", "gongfu", "--permission", "full"], env=env, folder=folder)
    try:
        program.until(MARK)
        program.quiet(2.0)
        idle = echoes(program)
        print(line("gongfu, idle", idle), flush=True)
        program.press("Go on.\r")
        program.until(b"on and on", seconds=30)
        flood = echoes(program)
        print(line("gongfu, a command floods", flood), flush=True)
        program.until(b"word word", start=len(program.output), seconds=30)
        stream = echoes(program)
        print(line("gongfu, an answer streams", stream), flush=True)
    finally:
        program.end()
    return int(max(statistics.quantiles(found, n=20)[18] for found in (idle, flood, stream)) > 30)


def main() -> int:
    wanted = sys.argv[1:] or ["start", "keys"]
    with tempfile.TemporaryDirectory() as top:
        folder, home = Path(top, "work"), Path(top, "home")
        (folder / ".git").mkdir(parents=True)
        return sum({"start": start, "keys": keys}[name](folder, home) for name in wanted)


if __name__ == "__main__":
    sys.exit(main())
