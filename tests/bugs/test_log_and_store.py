"""Row 48, store and log: a log cut in mid-line, torn rows, 28 processes that open one store.

Everything else loads, waits are bounded, and appending goes on.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from gongfu.core.events import SessionTitled
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions

APPENDER = Path(__file__).parents[1] / "store" / "appender.py"


def test_a_log_cut_at_any_byte_keeps_what_was_committed_before(tmp_path: Path) -> None:
    """40 random places."""
    path = tmp_path / "g.db"
    with Database.open(path) as db:
        journal = Journal(db)
        for number in range(60):
            journal.append("s_a", [SessionTitled(title=str(number) * 50)], at=1.0)
        main, log = path.read_bytes(), path.with_name("g.db-wal").read_bytes()
    chances = random.Random(3)
    lengths: list[tuple[int, int]] = []
    for cut in [*sorted(chances.randrange(len(log)) for _ in range(40)), len(log)]:
        copy = tmp_path / f"c{cut}.db"
        copy.write_bytes(main)
        copy.with_name(f"{copy.name}-wal").write_bytes(log[:cut])
        with Database.open(copy) as db:
            seqs = [entry.seq for entry in Journal(db).read("s_a")]
            assert seqs == list(range(1, len(seqs) + 1))
            assert Journal(db).append("s_a", [SessionTitled(title="on")], at=2.0) == [len(seqs) + 1]
        lengths.append((cut, len(seqs)))
    assert [length for _, length in lengths] == sorted(length for _, length in lengths)
    assert lengths[-1][1] == 60


def test_rows_that_are_no_events_are_passed_over_and_named(tmp_path: Path) -> None:
    with Database.open(tmp_path / "g.db") as db:
        journal = Journal(db)
        journal.append("s_1", [SessionTitled(title=str(n)) for n in range(8)], at=1.0)
        damage = {2: b'{"type":"session_titled","ti', 3: b"", 4: b"\xff\xfe", 5: b"[[" * 4000, 6: b'{"type": "\xff"}'}
        base = db.read("SELECT number FROM session")[0][0] << 32
        with db.write() as connection:
            for seq, data in damage.items():
                connection.execute("UPDATE event SET data = CAST(? AS TEXT) WHERE key = ?", (data, base + seq))
        for _ in range(2):
            assert [entry.seq for entry in journal.read("s_1")] == [1, 7, 8]
        assert journal.damaged == tuple(("s_1", seq) for seq in damage)
        assert journal.append("s_1", [SessionTitled(title="on")], at=2.0) == [9]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the crowd is forked from one process")
def test_28_processes_on_one_empty_store(tmp_path: Path) -> None:
    store = tmp_path / "g.db"
    command = [sys.executable, str(APPENDER), "crowd", str(store), "28", "30", "2"]
    done = subprocess.run(command, capture_output=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    with Database.open(store) as db:
        journal = Journal(db)
        assert [entry.seq for entry in journal.read("s_shared")] == list(range(1, 14 * 60 + 1))
        for number in range(1, 28, 2):
            assert [entry.seq for entry in journal.read(f"s_{number}")] == list(range(1, 61))
        assert len(Sessions(db).list()) == 15
        assert db.read("PRAGMA integrity_check") == [("ok",)]
