"""What a trivial command costs: `subprocess.run`, `process.run` and the whole `shell` tool, side by side.

    python benchmarks/shell/overhead.py [rounds]

Prints milliseconds for one command: processor time of this process, of its children, and time on the clock (median).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

import anyio

from gongfu.toolkit.programs import Programs
from gongfu.toolkit.shell import ShellTools
from gongfu.workspace.environment import child_env
from gongfu.workspace.jobs import Jobs
from gongfu.workspace.process import run
from gongfu.workspace.shells import as_argv

COMMAND = "echo hi"


class Quiet:
    """A call context that nobody looks at."""

    call_id = "bench"

    def output(self, text: str, /) -> None:
        pass

    async def ask(self, *_: object, **__: object) -> tuple[str, str]:
        return "", "policy"


def no_artifact() -> NoReturn:
    """The output is short."""
    raise OSError("no artifact is needed")


async def measure(name: str, once: Callable[[], Awaitable[object]], rounds: int) -> None:
    """Run `once` `rounds` times and print what one cost."""
    await once()
    walls: list[float] = []
    before = os.times()
    for _ in range(rounds):
        started = time.perf_counter()
        await once()
        walls.append(time.perf_counter() - started)
    after = os.times()
    own = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system - before.children_user - before.children_system
    figures = (own / rounds, children / rounds, statistics.median(walls))
    print(f"{name:16}" + "".join(f"{1000 * figure:10.2f}" for figure in figures))


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        env = child_env(os.environ)
        argv = as_argv(COMMAND, env)
        jobs = Jobs(changed=lambda _: None, artifact=no_artifact)
        tools = ShellTools(Programs(directory=place, env=os.environ), jobs=jobs, artifact=no_artifact)

        async def plain() -> object:
            return subprocess.run(argv, cwd=place, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)

        async def process() -> object:
            return await run(COMMAND, cwd=place, env=env)

        async def tool() -> object:
            args = {"command": COMMAND}
            await tools.shell.facts(args)
            return await tools.shell.run(args, Quiet())

        print(f"{'ms a command':16}{'own CPU':>10}{'children':>10}{'clock':>10}")
        await measure("subprocess.run", plain, rounds)
        await measure("process.run", process, rounds)
        await measure("shell tool", tool, rounds)
        started = time.perf_counter()
        await jobs.close()
        print(f"end of the session: {1000 * (time.perf_counter() - started):.1f} ms for the last look for leftovers")


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 200)
