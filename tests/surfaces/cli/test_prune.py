"""Old sessions go for good: rows, words, outputs, checkpoints, locks, and the bytes of the files."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gongfu.core.events import MessageAdded, SessionCreated
from gongfu.core.messages import user
from gongfu.models.scripted.script import Say
from gongfu.models.scripted.server import Server
from gongfu.store.artifacts import Artifacts
from gongfu.store.contents import CheckpointRow, Contents
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.workspace.locks import try_lock

from .conftest import Program

MARKER = "zanzibar-marker"
DAY = 86_400


def fill(program: Program, ages: dict[str, float], *, parent: str = "", root: str = "") -> None:
    """Sessions last used so many days ago, each with events, words that are searched, outputs, a lock."""
    home, now = program.home, time.time()
    (home / "locks").mkdir(parents=True, exist_ok=True)
    with Database.open(home / "gongfu.db") as db:
        journal, sessions, artifacts = Journal(db), Sessions(db), Artifacts(home / "artifacts")
        for name, days in ages.items():
            at = now - days * DAY
            place = root or str(program.folder)
            sessions.create(name, directory=place, root=place, parent=parent, at=at)
            created = SessionCreated(session=name, directory=place, root=place, parent=parent)
            words = f"{MARKER} {name} " + "words of the past " * 400
            journal.append(name, [created, *(MessageAdded(message=user(f"{words} {n}")) for n in range(20))], at=at)
            sessions.set_title(name, f"{MARKER} {name}")
            artifacts.put(name, f"{MARKER} {name} output".encode() * 1000)
            (home / "locks" / f"{name}.lock").touch()


def everything(home: Path) -> bytes:
    """All bytes below the home of Gongfu."""
    return b"".join(p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file())


def ids(program: Program) -> set[str]:
    with Database.open(program.home / "gongfu.db") as db:
        return {row.id for row in Sessions(db).list(limit=1000, children=True)}


AGES = {"s_old1": 100, "s_old2": 50, "s_new1": 5, "s_new2": 1}


def test_old_sessions_go_and_no_byte_of_them_is_left(program: Program) -> None:
    fill(program, AGES)
    assert program.call("sessions", "search", "--all", MARKER).code == 0  # their words are listed
    store = program.home / "gongfu.db"
    before = store.stat().st_size
    done = program.call("sessions", "prune", "--older-than", "30", "--yes")
    assert done.code == 0, done
    assert "s_old1" in done.out
    assert "2 sessions" in done.out
    assert ids(program) == {"s_new1", "s_new2"}
    left = everything(program.home)
    assert b"s_old" not in left
    assert left.count(f"{MARKER} s_new1".encode()) > 20
    assert store.stat().st_size < before * 0.7
    assert not [p for p in program.home.glob("gongfu.db-wal") if p.stat().st_size]
    assert sorted(p.name for p in (program.home / "artifacts").iterdir()) == ["s_new1", "s_new2"]
    assert sorted(p.name for p in (program.home / "locks").glob("s_*")) == ["s_new1.lock", "s_new2.lock"]
    found = json.loads(program.call("sessions", "search", "--all", "--json", MARKER).out)
    assert {row["id"] for row in found["sessions"]} == {"s_new1", "s_new2"}


def test_their_checkpoints_go_with_them(program: Program) -> None:
    fill(program, AGES)
    path = program.home / "checkpoints.sqlite"
    with Contents.open(path) as contents:
        for number, name in enumerate(AGES):
            data = os.urandom(300_000)
            contents.put([(bytes([number]) * 20, data)])
            tree = msgspec.msgpack.encode([[msgspec.msgpack.Ext(1, bytes([number]) * 20)]])
            contents.save(CheckpointRow(id=f"c_{name}", session=name, root="/r", at=1.0), tree)
    before = path.stat().st_size
    done = program.call("sessions", "prune", "--older-than", "30", "--yes", "--json")
    assert done.code == 0, done
    with Contents.open(path) as contents:
        assert {row.session for row in contents.rows()} == {"s_new1", "s_new2"}
    assert path.stat().st_size < before * 0.7
    assert json.loads(done.out)["freed"] > 500_000


def test_the_newest_are_kept(program: Program) -> None:
    fill(program, AGES)
    fill(program, {"s_child": 99}, parent="s_old1")
    fill(program, {"s_busy_child": 2}, parent="s_old2")
    done = program.call("sessions", "prune", "--keep", "3", "--yes")
    assert done.code == 0, done
    assert ids(program) == {"s_new1", "s_new2", "s_old2", "s_busy_child"}, "a sub-agent's use counts for its parent"


def test_other_folders_are_left_unless_asked_for(program: Program) -> None:
    fill(program, {"s_here": 90})
    fill(program, {"s_there": 90}, root="/somewhere/else")
    assert program.call("sessions", "prune", "--older-than", "30", "-y").code == 0
    assert ids(program) == {"s_there"}
    done = program.call("sessions", "prune", "--older-than", "30", "-y")
    assert done.code == 0
    assert "--everywhere" in done.err
    assert program.call("sessions", "prune", "--older-than", "30", "-y", "--everywhere").code == 0
    assert ids(program) == set()


def test_nothing_goes_without_a_choice_and_a_yes(program: Program) -> None:
    fill(program, AGES)
    for args, code in (
        (["--older-than", "30"], 2), ([], 2), (["--older-than", "30", "--keep", "1", "--yes"], 2),
        (["--older-than", "30", "--dry-run"], 0), (["--keep", "1", "--dry-run", "--json"], 0),
        (["--older-than", "0", "--yes"], 2), (["--keep", "-1", "--yes"], 2),
    ):  # fmt: skip
        done = program.call("sessions", "prune", *args)
        assert done.code == code, (args, done)
        assert ids(program) == set(AGES)
    shown = json.loads(program.call("sessions", "prune", "--keep", "2", "--dry-run", "--json").out)
    assert [one["id"] for one in shown["sessions"]] == ["s_old1", "s_old2"]
    assert all(one["bytes"] > 100_000 for one in shown["sessions"])
    assert shown["deleted"] == []


def test_what_another_process_has_open_is_left_and_named(program: Program) -> None:
    fill(program, AGES)
    fill(program, {"s_child": 99}, parent="s_old1")
    with try_lock(program.home / "locks" / "s_child.lock") as held:
        assert held
        done = program.call("sessions", "prune", "--older-than", "30", "--yes")
        assert done.code == 0, done
        assert "s_old1" in done.err
        assert ids(program) == {"s_old1", "s_child", "s_new1", "s_new2"}
    assert program.call("sessions", "prune", "--older-than", "30", "--yes").code == 0
    assert ids(program) == {"s_new1", "s_new2"}


def test_a_reader_in_the_way_is_no_fault(program: Program) -> None:
    fill(program, AGES)
    reader = sqlite3.connect(program.home / "gongfu.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM event").fetchone()
    try:
        done = program.call("sessions", "prune", "--older-than", "30", "--yes")
    finally:
        reader.close()
    assert done.code == 0, done
    assert "used again" in done.err
    assert ids(program) == {"s_new1", "s_new2"}


def test_an_empty_home_has_nothing_to_prune(program: Program) -> None:
    done = program.call("sessions", "prune", "--older-than", "1", "--yes")
    assert done.code == 0, done


# --- retention -----------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(program: Program, serve: Callable[..., Server]) -> Program:
    """A program whose settings keep sessions for 30 days."""
    serve(*[Say("Done.")] * 4)
    program.home.mkdir()
    (program.home / "config.yaml").write_text("retention: {days: 30}\n")
    return program


def test_retention_deletes_at_the_end_of_a_run_and_says_so_at_most_once_a_day(kept: Program) -> None:
    fill(kept, AGES)
    fill(kept, {"s_there": 90}, root="/somewhere/else")
    done = kept.call("run", "--yes", "Hello")
    assert done.code == 0, done
    assert "Done." in done.out
    assert "3 sessions unused for 30 days were deleted" in done.err
    left = ids(kept)
    assert {"s_new1", "s_new2"} < left
    assert not left & {"s_old1", "s_old2", "s_there"}
    assert b"s_old" not in everything(kept.home)
    fill(kept, {"s_old3": 60})
    done = kept.call("run", "--yes", "Hello")
    assert "deleted" not in done.err
    assert "s_old3" in ids(kept)
    mark = kept.home / "cache" / "retention"
    os.utime(mark, (1, 1))
    done = kept.call("run", "--yes", "--json", "Hello")
    assert json.loads(done.out)["text"] == "Done."
    assert "s_old3" not in ids(kept)


def test_retention_leaves_what_is_open_and_the_session_that_goes_on(kept: Program) -> None:
    fill(kept, {"s_open": 90, "s_mine": 80})
    with try_lock(kept.home / "locks" / "s_open.lock"):
        done = kept.call("run", "--yes", "--session", "s_mine", "Hello")
    assert done.code == 0, done
    assert {"s_open", "s_mine"} <= ids(kept)


def test_without_the_setting_nothing_is_looked_at(program: Program, serve: Callable[..., Server]) -> None:
    fill(program, AGES)
    serve(Say("Done."))
    assert program.call("run", "--yes", "Hello").code == 0
    assert set(AGES) < ids(program)
    assert not (program.home / "cache" / "retention").exists()


def test_the_setting_is_the_choice_of_prune(kept: Program) -> None:
    fill(kept, AGES)
    assert kept.call("sessions", "prune", "--yes").code == 0
    assert ids(kept) == {"s_new1", "s_new2"}


# --- sizes ---------------------------------------------------------------------------------------------------------


def test_doctor_tells_how_much_room_is_taken(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(program, AGES)
    with Contents.open(program.home / "checkpoints.sqlite"):
        pass
    (program.home / "logs").mkdir()
    (program.home / "logs" / "faults.log").write_bytes(b"x" * 4321)

    def sizes() -> dict[str, object]:
        checks = json.loads(program.call("doctor", "--json").out)["checks"]
        return next(check for check in checks if check["name"] == "sizes")

    check = sizes()
    found = check["bytes"]
    assert isinstance(found, dict)
    assert set(found) == {"store", "artifacts", "checkpoints", "logs", "cache", "models", "total"}
    assert found["store"] > 100_000
    assert found["artifacts"] > 100_000
    assert found["checkpoints"] > 0
    assert found["logs"] >= 4321
    assert found["total"] >= found["store"] + found["artifacts"] + found["checkpoints"] + found["logs"]
    assert (check["level"], check["fix"]) == ("info", "")
    assert "checkpoints" in program.call("doctor").out
    monkeypatch.setattr("gongfu.surfaces.cli.sizes.MUCH", 1000)
    check = sizes()
    assert check["level"] == "warn"
    assert str(check["fix"]).startswith("gongfu sessions prune")
    assert program.call(*str(check["fix"]).split()[1:], "--yes").code == 0, "the command that helps is one"
    assert ids(program) == {"s_new1", "s_new2"}


def test_reports_of_crashes_do_not_pile_up(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    import gongfu.surfaces.cli.settings as broken

    logs = program.home / "logs"
    logs.mkdir(parents=True)
    for number in range(30):
        (logs / f"crash-20200101-{number:06}-1.txt").write_text("old")
    monkeypatch.setattr(broken, "list_settings", lambda *_, **__: 1 / 0)
    assert program.call("config", "list").code == 1
    left = sorted(logs.glob("crash-*.txt"))
    assert len(left) == 20
    assert "ZeroDivisionError" in left[-1].read_text()
