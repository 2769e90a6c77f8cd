#!/usr/bin/env python3
"""Runs every benchmark here, one after the other, each in its own process: `make bench`.

python benchmarks/run.py [PART ...]     # only those whose path contains PART
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIP = {"run.py", "tasks_own.py"}


def main() -> int:
    wanted = sys.argv[1:]
    failed = 0
    for script in sorted(HERE.rglob("*.py")):
        name = script.relative_to(HERE).as_posix()
        text = script.read_text("utf-8")
        if script.name in SKIP or "__main__" not in text or (wanted and not any(w in name for w in wanted)):
            continue
        print(f"=== {name}", flush=True)
        started = time.monotonic()
        code = subprocess.run([sys.executable, script], check=False).returncode
        failed += code != 0
        print(f"--- {name}: {'ok' if code == 0 else f'exit {code}'}, {time.monotonic() - started:.0f} s\n", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
