"""`kill -9` of the real program at random moments: every session opens, resumes and goes on to its end."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from itertools import repeat
from pathlib import Path

import pytest
from anyio import from_thread

from gongfu.core.events import AnswerReceived, ToolFinished, ToolStarted
from gongfu.models.scripted import serve
from gongfu.models.scripted.script import Call, Fault, Say, Step
from gongfu.models.scripted.server import Received
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.surfaces.cli.main import invoke

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


def continued(work: Path, env: dict[str, str], *words: str) -> tuple[int, str, str]:
    """The program inside this process, going on in the same home: exit code, output, what was said beside it."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(b, encoding="utf-8", write_through=True) for b in (out, err)]
    here = Path.cwd()
    os.chdir(work)
    try:
        args = ["run", "--permission", "full", "--continue", *words]
        code = invoke(args, env, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), *streams)
    finally:
        os.chdir(here)
    return code, out.getvalue().decode(), err.getvalue().decode()


def killed_and_resumed(folder: Path, seed: int) -> str:
    """One program killed at a point that `seed` chooses, then continued. What was tried, for the report."""
    dice = random.Random(seed)
    work, log = folder / "work", folder / "log"
    work.mkdir(parents=True)
    assassin = Assassin(dice, log)
    answers = serve(repeat(assassin.answer))
    with from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(answers) as server:
        env = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "GONGFU_HOME": str(folder / "g"), "LANG": "C.UTF-8",
            "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-none", "GONGFU_MODEL": "bench-model",
            "GONGFU_CONTEXT_WINDOW": "100000", "NO_PROXY": "127.0.0.1",
        }  # fmt: skip
        assassin.victim = subprocess.Popen(
            [sys.executable, "-m", "gongfu", "run", "--permission", "full", "Do the steps."],
            cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True,
        )  # fmt: skip
        _, said = assassin.victim.communicate(timeout=60)
        killed = assassin.victim.returncode == -signal.SIGKILL
        assert killed or assassin.victim.returncode == 0, said
        assassin.victim = None
        code, out, err = continued(work, env)
        if code != 0:  # it was killed after its last event
            assert "nothing to continue" in err
        elif killed:
            assert "All steps are done." in out
        code, _, err = continued(work, env, "More?")
        assert code == 0, err
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
def test_killed_at_a_random_moment(tmp_path: Path, seed: int) -> None:
    print(killed_and_resumed(tmp_path / str(seed), seed))


@pytest.mark.soak
def test_killed_at_two_hundred_random_moments(tmp_path: Path) -> None:
    ways = Counter([(killed_and_resumed(tmp_path / str(s), 1000 + s)).split(":")[0] for s in range(200)])
    print(ways)
    assert len(ways) > 10
