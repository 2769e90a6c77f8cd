"""Kills: what was promised is there, sequences have no gaps, and appending goes on.

Tried: `kill -9` at 20 random moments (200 with `-m soak`), among them while opening.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from gongfu.core.events import SessionTitled
from gongfu.store.database import Database
from gongfu.store.journal import Journal

APPENDER = Path(__file__).with_name("appender.py")


def start(store: Path, session: str, count: int, batch: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(APPENDER), str(store), session, str(count), str(batch)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def killed(store: Path, moment: random.Random) -> dict[str, int]:
    """Kill two appenders, each after a random number of answers; return the last sequence promised by session."""
    batch = moment.choice([1, 1, 5, 50])
    running = {"s_own": start(store, "s_own", 10**6, batch), "s_shared": start(store, "s_shared", 10**6, 1)}
    promised: dict[str, int] = {}
    for session, process in running.items():
        assert process.stdout is not None
        for _ in range(moment.choice([0, 1, 2, moment.randrange(400)])):
            promised[session] = int(process.stdout.readline())
        process.kill()
    for session, process in running.items():
        rest, _ = process.communicate(timeout=60)
        whole = [line for line in rest.splitlines(keepends=True) if line.endswith(b"\n")]
        if whole:
            promised[session] = int(whole[-1])
    return promised


def check(store: Path, promised: dict[str, int]) -> None:
    with Database.open(store) as db:
        journal = Journal(db)
        assert db.read("PRAGMA integrity_check") == [("ok",)]
        for session, last in promised.items():
            seqs = [entry.seq for entry in journal.read(session)]
            assert seqs == list(range(1, len(seqs) + 1))
            assert len(seqs) >= last
            assert journal.append(session, [SessionTitled(title="on")], at=1.0) == [len(seqs) + 1]
        assert journal.damaged == ()


def kill_often(store: Path, times: int, seed: int) -> None:
    moment = random.Random(seed)
    seen: dict[str, int] = {}
    for _ in range(times):
        seen |= killed(store, moment)
        check(store, seen)


def test_20_kills_at_random_moments(tmp_path: Path) -> None:
    kill_often(tmp_path / "g.db", 10, seed=random.randrange(1 << 30))


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_200_kills_at_random_moments(tmp_path: Path) -> None:
    kill_often(tmp_path / "g.db", 100, seed=random.randrange(1 << 30))
