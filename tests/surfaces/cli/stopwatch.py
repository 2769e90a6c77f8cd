"""Stops the real program in the middle of something, and looks at how long it takes and what is left (POSIX)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from gongfu.config.paths import places
from gongfu.core.events import AnswerReceived, ToolFinished, TurnFinished, TurnStarted
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.workspace.proctree import MARK, environ_of, read_small, snapshot

from .conftest import Ended, Program

SOON = 0.5  # seconds from the signal until the program and all that it started are gone
TRIES = 3  # the machine may be busy: the best of these counts


def left_of(mark: str) -> list[str]:
    """What carries the mark and is alive, by command line."""
    needle = mark.encode()
    return [
        read_small(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode("utf-8", "replace")
        for pid, proc in snapshot().items()
        if not proc.dead and needle in environ_of(pid)
    ]


class Run:
    """One run of the program, and everything that carries its mark."""

    def __init__(self, program: Program, *args: str, **env: str) -> None:
        self.program = program
        self.mark = f"stopwatch-{os.getpid()}-{time.monotonic_ns()}"
        self.process = program.start(*args, **{MARK: self.mark}, **env)

    def left(self) -> list[str]:
        """What is still alive of it, by command line."""
        return left_of(self.mark)

    def until(self, ready: Callable[[], object]) -> None:
        """Wait for the moment at which it is to be stopped."""
        end = time.monotonic() + 30
        while not ready():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, self.left()
            time.sleep(0.01)

    def stop(self, *signals: int) -> float:
        """Send the signals; seconds until nothing of it lives."""
        began = time.monotonic()
        for number in signals:
            self.process.send_signal(number)
        while self.process.poll() is None or self.left():
            assert time.monotonic() < began + 20, self.left()
            time.sleep(0.005)
        return time.monotonic() - began

    def ended(self) -> Ended:
        """Its exit code and words."""
        out, err = self.process.communicate(timeout=20)
        return Ended(self.process.returncode, out, err)

    def kill(self) -> None:
        """For a test that failed: leave nothing behind."""
        needle = self.mark.encode()
        for pid in snapshot():
            if needle in environ_of(pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue
        self.process.wait(10)


def best(once: Callable[[], float]) -> float:
    """The least of a few measurements; one that is good enough ends it."""
    least = once()
    for _ in range(TRIES - 1):
        if least <= SOON:
            break
        least = min(least, once())
    if log := os.environ.get("STOPWATCH_LOG"):
        name = os.environ["PYTEST_CURRENT_TEST"].split("::")[1].removesuffix(" (call)")
        with Path(log).open("a") as file:
            file.write(f"{name}\t{least * 1000:.0f} ms\n")
    return least


def check_log(program: Program) -> None:
    """In every session of the home each call has exactly one result, each turn one end, the main ones "cancelled"."""
    with Database.open(places(program.env).store) as database:
        rows = Sessions(database).list(None, limit=100, children=True)
        assert rows
        for row in rows:
            events = [e.event for e in Journal(database).read(row.id)]
            answers = [e.message for e in events if isinstance(e, AnswerReceived) and e.purpose == "main"]
            calls = [call.id for message in answers for call in message.calls]
            assert sorted(e.call for e in events if isinstance(e, ToolFinished)) == sorted(calls)
            ends = [e for e in events if isinstance(e, TurnFinished)]
            assert len(ends) == sum(isinstance(e, TurnStarted) for e in events)
            assert row.parent or ends[-1].status == "cancelled"
