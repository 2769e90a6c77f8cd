#!/usr/bin/env python3
"""Checkpoints of 5,000 files and of 10, beside a shadow repository of git (`add -A`, `commit` into another GIT_DIR).

Both keep the same folder, one after the other in each round. Targets: the first of 5,000 files <= 2 s, the next <= 150 ms
when one file changed. Times are of the wall, with the CPU of this process and its children in brackets. An argument
sets the number of rounds.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gongfu.store.contents import CheckpointRow, Contents
from gongfu.workspace.checkpoint import restore, take

FILES = 5000
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def make(root: Path, files: int) -> None:
    """A project: source files of some 4 KB in folders of 20, a repository, an ignore file."""
    chance = random.Random(files)
    words = ["def", "return", "value", "import", "self", "result", "for", "in", "None", "print"]
    for number in range(files):
        folder = root / f"package_{number // 400}" / f"part_{number // 20}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = (" ".join(chance.choices(words, k=8)) + f" {chance.random()}" for _ in range(60))
        (folder / f"module_{number}.py").write_text("\n".join(lines))
    (root / ".gitignore").write_text("__pycache__/\n*.pyc\n/build/\n.venv/\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=ENV)
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True, env=ENV)


def cpu() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def timed(call: Callable[[], object]) -> tuple[float, float]:
    start, used = time.perf_counter(), cpu()
    call()
    return time.perf_counter() - start, cpu() - used


class Own:
    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.store = Contents.open(home / "checkpoints.sqlite")
        self.home = home
        self.tree: bytes | None = None
        self.count = 0

    def keep(self) -> None:
        known = self.store.latest_tree(str(self.root))
        taken = take(self.root, self.store, known=known, env=os.environ)
        self.count += 1
        self.store.save(CheckpointRow(id=f"k_{self.count}", session="s", root=str(self.root)), taken.tree)
        self.tree = taken.tree

    def back(self) -> None:
        now = take(self.root, self.store, known=self.tree, env=os.environ)
        restore(self.root, self.store, want=self.store.tree("k_1"), now=now.tree)

    def size(self) -> int:
        return self.store.size()


class Shadow:
    def __init__(self, root: Path, home: Path) -> None:
        self.home = home / "shadow.git"
        self.env = {**ENV, "GIT_DIR": str(self.home), "GIT_WORK_TREE": str(root)}
        self.env |= {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.root = root
        subprocess.run(["git", "init", "-q"], check=True, env=self.env)

    def git(self, *args: str) -> None:
        subprocess.run(["git", *args], check=True, env=self.env, cwd=self.root, stdout=subprocess.DEVNULL)

    def keep(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def back(self) -> None:
        self.git("add", "-A")
        first = subprocess.run(
            ["git", "rev-list", "--max-parents=0", "HEAD"], capture_output=True, check=True, env=self.env
        )
        self.git("read-tree", "-u", "--reset", first.stdout.decode().strip())

    def size(self) -> int:
        return sum(f.stat().st_size for f in self.home.rglob("*") if f.is_file())


def change(root: Path, number: int) -> None:
    file = sorted(root.rglob("module_*.py"))[number]
    file.write_text(file.read_text() + f"\nchanged = {number}\n")


def course(kind: type[Own | Shadow], base: Path, files: int) -> dict[str, tuple[float, float]]:
    root, home = base / "work", base / "home"
    root.mkdir(parents=True)
    home.mkdir()
    make(root, files)
    time.sleep(0.2)  # beyond the tick of the clock, as a project is that was not written this very moment
    keeper = kind(root, home)
    times = {"first": timed(keeper.keep)}
    change(root, files // 2)
    times["next, one changed"] = timed(keeper.keep)
    time.sleep(0.2)
    keeper.keep()
    times["next, none changed"] = timed(keeper.keep)
    for number in range(0, files, max(files // 10, 1)):
        change(root, number)
    times["restore ten files"] = timed(keeper.back)
    times["bytes"] = (keeper.size(), 0)
    shutil.rmtree(base)
    return times


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        for files in (FILES, 10):
            rounds: dict[str, list[dict[str, tuple[float, float]]]] = {"gongfu": [], "git": []}
            for number in range(ROUNDS):
                rounds["gongfu"].append(course(Own, Path(folder, f"own-{files}-{number}"), files))
                rounds["git"].append(course(Shadow, Path(folder, f"git-{files}-{number}"), files))
            print(f"{files} files, best of {ROUNDS} rounds, load {os.getloadavg()[0]:.1f}")
            for step in rounds["gongfu"][0]:
                shown: list[str] = []
                for name, found in rounds.items():
                    wall, used = min(r[step] for r in found)
                    text = f"{wall / 1e6:.1f} MB" if step == "bytes" else f"{wall * 1e3:.0f} ms ({used * 1e3:.0f} CPU)"
                    shown.append(f"{name} {text:22}")
                print(f"  {step:22} {'   '.join(shown)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
