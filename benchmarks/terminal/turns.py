#!/usr/bin/env python3
"""Memory of a conversation in a pseudo-terminal, turn after turn.

    python benchmarks/terminal/turns.py [TURNS]

Each turn is a typed prompt and a short answer of a scripted model; the process's RSS is read at a few of them. Its floor is what the
process holds when its prompt is there. Target: flat over 5,000 turns; what grows at first is the context, until it is folded.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pty_program import MARK, PtyProgram, environment

MARKS = (50, 100, 200, 400, 800, 1600, 3200, 5000)
SCRIPT = """
- say: "An answer with some words in it, and `code`."
  times: 0
"""


def resident(pid: int) -> float:
    """Megabytes (Linux)."""
    fields = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    return int(fields[1]) * 4096 / 1e6


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 800
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        (work / ".git").mkdir(parents=True)
        Path(folder, "script.yaml").write_text(SCRIPT, "utf-8")
        env = environment(home, GONGFU_CONTEXT_WINDOW="32000")
        program = PtyProgram([sys.executable, "-m", "gongfu"], env=env, folder=work)
        try:
            program.until(MARK)
            program.quiet(1.0)
            print(f"  at the prompt: {resident(program.pid):6.1f} MB")
            for turn in range(1, count + 1):
                del program.output[:]
                program.press(f"prompt number {turn}\r")
                program.until(b"done in")
                if turn in MARKS or turn == count:
                    print(f"  turn {turn:5}:    {resident(program.pid):6.1f} MB, CPU {program.cpu():.1f} s", flush=True)
        finally:
            program.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
