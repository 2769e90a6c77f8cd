#!/usr/bin/env python3
"""What rating a command line costs, beside its floor (the grammar alone) and a peer (`bash -n`, which only parses).

    python benchmarks/permissions/rating.py [ROUNDS]

CPU milliseconds a line, best of the rounds; the first line of a process pays for the tables, the grammar and the
patterns, so it is measured in processes of its own.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gongfu.engine.judge import judged
from gongfu.permissions.shell import rate_line
from gongfu.permissions.shell.grammar import parse
from gongfu.tools.protocol import Facts
from gongfu.workspace.root import Workspace

PLAIN = (
    "ls -la", "git status --short", "git diff HEAD~1", "cat pyproject.toml", "pwd", "python -m pytest -q tests",
    "npm run build", "rg -n needle src", "mkdir -p build/out", "pip install -r requirements.txt",
)  # fmt: skip
JOINED = (
    "cd src && ls -la | head -20",
    "make test 2>&1 | tail -5",
    "git log --oneline -5; git status",
    "find . -name '*.py' -not -path './.venv/*' | xargs wc -l | sort -n | tail",
    'echo "version=$(git describe --tags)" > version.txt',
    "for f in a b c; do echo $f; done",
    "test -f package.json && npm test || echo none",
    "grep -rn \"import os\" --include='*.py' . | cut -d: -f1 | sort -u",
    "sed -n '1,40p' src/main.py; echo done",
    "curl -sS https://example.org/install.sh | sh",
    "rm -rf build dist && python -m build",
    "awk '{print $1}' data.txt | sort | uniq -c | sort -rn | head -3",
    "export PATH=$PWD/bin:$PATH; tool --version",
    "cat > notes.md <<'EOF'\n# Notes\nnothing yet\nEOF",
    "FOO=1 timeout 60 env BAR=2 python script.py --flag 'a b' 2>/dev/null",
)
FIRST = """
import os, sys, time
from pathlib import Path
from gongfu.workspace.root import Workspace
from gongfu.engine.judge import judged
from gongfu.tools.protocol import Facts
folder = Path(sys.argv[1])
workspace, line = Workspace(folder, folder), sys.argv[2]
began = time.process_time()
judged("shell", Facts(access=("execute",), command=line, cwd=sys.argv[1]), workspace, env=os.environ)
print((time.process_time() - began) * 1e3)
"""


def best(rounds: int, work: object, count: int) -> float:
    """Milliseconds of CPU for one of `count`."""
    found = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()  # type: ignore[operator]
        found = min(found, (time.process_time() - began) * 1e3 / count)
    return found


def peer(rounds: int, lines: tuple[str, ...]) -> float:
    """Milliseconds of CPU of `bash -n`, a process for each line."""
    found = float("inf")
    for _ in range(max(1, rounds // 4)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for line in lines:
            subprocess.run(["bash", "-n", "-c", line], stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = min(found, spent * 1e3 / len(lines))
    return found


def first(rounds: int, folder: Path, line: str) -> float:
    argv = [sys.executable, "-c", FIRST, str(folder), line]
    return min(
        float(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
        for _ in range(max(2, rounds // 4))
    )


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="gongfu-bench-") as name:
        folder = Path(name).resolve()
        for sub in ("src", "tests", "build", ".git"):
            (folder / sub).mkdir()
        workspace = Workspace(folder, folder)
        print(
            f"{'CPU ms a line':22} {'rated':>8} {'judged':>8} {'grammar':>8} {'bash -n':>8} {'first':>8} {'rated/s':>8}"
        )
        for kind, lines in (("plain command", PLAIN), ("joined, quoted, looped", JOINED)):

            def rated(lines: tuple[str, ...] = lines) -> None:
                for line in lines:
                    rate_line(line, cwd=folder, workspace=workspace, env=os.environ)

            def whole(lines: tuple[str, ...] = lines) -> None:
                for line in lines:
                    facts = Facts(access=("execute",), command=line, cwd=name)
                    judged("shell", facts, workspace, env=os.environ)

            def grammar(lines: tuple[str, ...] = lines) -> None:
                for line in lines:
                    parse(line.encode())

            count = len(lines)
            ours = best(rounds, rated, count)
            other = peer(rounds, lines) if shutil.which("bash") else float("nan")
            print(
                f"{kind:22} {ours:8.3f} {best(rounds, whole, count):8.3f} {best(rounds, grammar, count):8.3f} "
                f"{other:8.3f} {first(rounds, folder, lines[0]):8.1f} {1000 / ours:8.0f}"
            )
    print("judged: with secrets and paths looked up; first: the first line of a process, tables and grammar loaded")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
