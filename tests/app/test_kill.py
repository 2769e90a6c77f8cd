"""`kill -9` of the real program at random moments: every session opens, resumes and goes on to its end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from itertools import repeat
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from gongfu.core.events import AnswerReceived, ToolFinished, ToolStarted
from gongfu.models.scripted import serve
from gongfu.models.scripted.script import Call, Fault, Say, Step
from gongfu.models.scripted.server import Received
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions

pytestmark = pytest.mark.anyio

STEPS = 4


class Assassin:
    """Answers step by step from what a request holds, and kills the program at one chosen point of its course.

    The points: when request `step` arrives, while its answer streams, while its command runs, or some time after it.
    """

    def __init__(self, dice: random.Random, log: Path) -> None:
        self.step = dice.randrange(STEPS + 1)
        self.way = dice.choice(["request", "stream", "command", "later"])
        self.delay = dice.random() * 0.03
        self.log = log
        self.victim: subprocess.Popen[str] | None = None
        self.timer: object = None

    def kill(self) -> None:
        if self.victim is not None:
            self.victim.send_signal(signal.SIGKILL)

    def answer(self, request: Received) -> Step:
        done = sum(m["role"] == "tool" for m in request.body["messages"])
        strike = self.victim is not None and done == self.step
        command = f"echo {done} >> '{self.log}'"
        if strike and self.way == "request":
            self.kill()
        elif strike and self.way == "later":
            import asyncio

            self.timer = asyncio.get_running_loop().call_later(self.delay, self.kill)
        elif strike and self.way == "command" and self.victim is not None:
            command += f"; kill -9 {self.victim.pid}; sleep 5"
        if done >= STEPS:
            return Say("All steps are done.")
        call = Call("shell", {"command": command}, text=f"Step {done}.")
        if strike and self.way == "stream":
            import asyncio

            self.timer = asyncio.get_running_loop().call_later(self.delay, self.kill)
            return Fault("slow", seconds=0.01, answer=call)
        return call


async def killed_and_resumed(folder: Path, seed: int) -> str:
    """One program killed at a point that `seed` chooses, then continued. What was tried, for the report."""
    dice = random.Random(seed)
    work, log = folder / "work", folder / "log"
    work.mkdir(parents=True)
    assassin = Assassin(dice, log)
    async with serve(repeat(assassin.answer)) as server:
        env = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "GONGFU_HOME": str(folder / "g"), "LANG": "C.UTF-8",
            "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-none", "GONGFU_MODEL": "bench-model",
            "GONGFU_CONTEXT_WINDOW": "100000", "NO_PROXY": "127.0.0.1",
        }  # fmt: skip
        program = [sys.executable, "-m", "gongfu", "run", "--permission", "full"]
        kw = {"cwd": work, "env": env, "stdin": subprocess.DEVNULL, "text": True}
        assassin.victim = subprocess.Popen([*program, "Do the steps."], stdout=-1, stderr=-1, **kw)  # type: ignore[call-overload]
        _, said = await anyio.to_thread.run_sync(assassin.victim.communicate)
        killed = assassin.victim.returncode == -signal.SIGKILL
        assert killed or assassin.victim.returncode == 0, said
        assassin.victim = None
        resumed = await anyio.to_thread.run_sync(
            lambda: subprocess.run([*program, "--continue"], capture_output=True, check=False, timeout=60, **kw)  # type: ignore[call-overload]
        )
        if resumed.returncode != 0:  # it was killed after its last event
            assert "nothing to continue" in resumed.stderr
        elif killed:
            assert "All steps are done." in resumed.stdout
        again = await anyio.to_thread.run_sync(
            lambda: subprocess.run(
                [*program, "--continue", "More?"], capture_output=True, check=False, timeout=60, **kw
            )  # type: ignore[call-overload]
        )
        assert again.returncode == 0, again.stderr
    check_store(folder, log)
    return f"{assassin.way} at {assassin.step}: {'killed' if killed else 'had ended'}"


def check_store(folder: Path, log: Path) -> None:
    with Database.open(folder / "g" / "gongfu.db") as database:
        journal = Journal(database)
        (row,) = Sessions(database).list()
        events = [e.event for e in journal.read(row.id)]
        assert [e.seq for e in journal.read(row.id)] == list(range(1, len(events) + 1))
        assert journal.damaged == ()
    calls = [c.id for e in events if isinstance(e, AnswerReceived) and not e.cut for c in e.message.calls]
    results = Counter(e.call for e in events if isinstance(e, ToolFinished))
    started = Counter(e.call for e in events if isinstance(e, ToolStarted))
    assert set(results) == set(calls)
    assert set(results.values()) == {1}
    assert not started or max(started.values()) == 1
    ran = Counter(log.read_text().split())
    assert max(ran.values()) == 1, "a command ran twice"
    assert len(ran) >= STEPS - 1


@pytest.mark.parametrize("seed", range(8))
async def test_killed_at_a_random_moment(tmp_path: Path, seed: int) -> None:
    print(await killed_and_resumed(tmp_path / str(seed), seed))


@pytest.mark.soak
async def test_killed_at_two_hundred_random_moments(tmp_path: Path) -> None:
    ways = Counter([(await killed_and_resumed(tmp_path / str(s), 1000 + s)).split(":")[0] for s in range(200)])
    print(ways)
    assert len(ways) > 10
