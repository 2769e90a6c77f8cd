#!/usr/bin/env python3
"""What a sandbox costs: wall and processor time of one `true`, plain, by bubblewrap and by Landlock, in turn.

python benchmarks/sandbox.py [ROUNDS]
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio

from gongfu.config.settings import Sandbox as Settings
from gongfu.workspace.environment import child_env
from gongfu.workspace.process import run
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox import landlock
from gongfu.workspace.sandbox.sandbox import Sandbox

LINE = ("/bin/sh", "-c", "true")


def adopt() -> None:
    """Be the parent of what is left behind: bubblewrap's inner process, which does most of the work, outlives the outer."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def cpu() -> tuple[float, float]:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


async def once(sandbox: Sandbox, folder: Path, env: dict[str, str]) -> tuple[float, float, float]:
    own, children = cpu()
    began = time.perf_counter()
    start = await sandbox.launch(LINE, cwd=folder, env=env)
    done = await run(start.argv, cwd=start.cwd, env=start.env, box=start.box)
    assert done.code == 0, done
    wall = time.perf_counter() - began
    reap()
    own_after, children_after = cpu()
    return wall, own_after - own, children_after - children


async def main(rounds: int) -> None:
    adopt()
    kinds = ["off", *(["bwrap"] if shutil.which("bwrap") else []), *(["landlock"] if landlock.abi() else [])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        env = child_env(os.environ)
        workspace = Workspace(folder, folder)
        boxes = {kind: Sandbox(Settings(kind=kind), workspace, os.environ) for kind in kinds}  # type: ignore[arg-type]
        first = {kind: await once(box, folder, env) for kind, box in boxes.items()}
        taken = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind, box in boxes.items():
                taken[kind].append(await once(box, folder, env))
        for box in boxes.values():
            await box.close()
    print(f"milliseconds for one command, median of {rounds} in turn; the first one finds out what there is")
    print(f"{'':10} {'wall':>8} {'own CPU':>8} {'its CPU':>8} {'first':>8}")
    for kind, samples in taken.items():
        wall, own, children = (statistics.median(column) * 1000 for column in zip(*samples, strict=True))
        print(f"{kind:10} {wall:8.2f} {own:8.2f} {children:8.2f} {first[kind][0] * 1000:8.1f}")


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 40)
