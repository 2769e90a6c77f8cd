"""The database: opened by many at once, migrated, and clear about what a person must put right."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from gongfu.core.errors import UserError
from gongfu.core.events import SessionTitled
from gongfu.store import database
from gongfu.store.database import SCHEMA, Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions

from .conftest import fill

pytestmark = pytest.mark.anyio
EVENT = SessionTitled(title="x" * 2000)


def key_of(raised: pytest.ExceptionInfo[UserError]) -> str:
    assert str(raised.value)
    return raised.value.key


def test_a_new_store_has_the_newest_schema_and_is_private(tmp_path: Path) -> None:
    with Database.open(tmp_path / "gongfu.db") as db:
        assert db.read("PRAGMA user_version") == [(SCHEMA,)]
        assert db.read("PRAGMA journal_mode") == [("wal",)]
    if os.name == "posix":
        assert (tmp_path / "gongfu.db").stat().st_mode & 0o777 == 0o600


def test_every_migration_is_a_script_with_its_number() -> None:
    scripts = sorted(Path(database.__file__).with_name("migrations").glob("*.sql"))
    assert [int(script.name[:4]) for script in scripts] == list(range(1, SCHEMA + 1))


def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "gongfu.db"
    with Database.open(path) as db:
        db.connection.execute(f"PRAGMA user_version={SCHEMA + 1}")
    before = path.read_bytes()
    with pytest.raises(UserError) as raised:
        Database.open(path)
    assert key_of(raised) == "store.newer"
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, SCHEMA])
def test_a_database_of_another_program_is_left_alone(tmp_path: Path, version: int) -> None:
    path = tmp_path / "gongfu.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
        connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    with pytest.raises(UserError) as raised:
        Database.open(path)
    assert key_of(raised) == "store.foreign"
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


@pytest.mark.parametrize("content", [b"this is no database, but long enough to be looked at " * 40, b"\0" * 8192])
def test_what_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "gongfu.db"
    path.write_bytes(content)
    with pytest.raises(UserError) as raised:
        Database.open(path)
    assert key_of(raised) == "store.damaged"
    assert path.read_bytes() == content


def test_a_folder_in_the_place_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        Database.open(tmp_path)
    assert key_of(raised) == "store.not_writable"


def test_a_lock_is_waited_for_no_longer_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "gongfu.db"
    with Database.open(path) as holder, Database.open(path, busy_seconds=0.05) as db, holder.write():
        with pytest.raises(UserError) as raised:
            Journal(db).append("s_1", [EVENT], at=1.0)
        assert key_of(raised) == "store.busy"
    with Database.open(path) as db:
        assert Journal(db).append("s_1", [EVENT], at=1.0) == [1]


@pytest.mark.parametrize("events", [1, 2])
def test_an_append_that_waits_in_vain_leaves_nothing(tmp_path: Path, events: int) -> None:
    path = tmp_path / "gongfu.db"
    with Database.open(path) as holder, Database.open(path, busy_seconds=0.05) as db:
        journal = Journal(db)
        assert journal.append("s_1", [EVENT], at=1.0) == [1]
        with holder.write(), pytest.raises(UserError) as raised:
            journal.append("s_1", [EVENT] * events, at=1.0)
        assert key_of(raised) == "store.busy"
        assert journal.last("s_1") == 1
        assert journal.append("s_1", [EVENT], at=1.0) == [2]


def test_an_empty_store_that_another_holds_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "gongfu.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UserError) as raised:
        Database.open(path, busy_seconds=0.05)
    assert key_of(raised) == "store.busy"
    other.close()
    Database.open(path).close()


def test_a_failed_transaction_leaves_nothing(db: Database) -> None:
    def broken() -> None:
        with db.write() as connection:
            connection.execute("INSERT INTO session (id, created, updated) VALUES ('s_1', 0, 0)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert db.read("SELECT count(*) FROM session") == [(0,)]
    Sessions(db).create("s_1", directory="", root="", at=1.0)


async def test_a_checkpoint_moves_the_log_while_appends_go_on(db: Database) -> None:
    journal = Journal(db)
    journal.append("s_1", [EVENT] * 2000, at=1.0)
    size = db.wal_bytes
    assert size > database.WAL_LIMIT
    async with anyio.create_task_group() as group:
        group.start_soon(db.checkpoint)
        for _ in range(200):
            journal.append("s_1", [EVENT], at=2.0)
            await anyio.lowlevel.checkpoint()
    await db.checkpoint(over=0)
    assert db.wal_bytes == 0
    assert not await db.checkpoint()
    assert [entry.seq for entry in journal.read("s_1")] == list(range(1, 2201))


async def test_a_checkpoint_does_not_hold_the_loop(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread is held until the loop has gone on: it would never end if it ran in the loop."""
    went_on = threading.Event()
    real = database.checkpoint

    def held(path: Path) -> None:
        assert went_on.wait(20)
        real(path)

    monkeypatch.setattr(database, "checkpoint", held)
    Journal(db).append("s_1", [EVENT], at=1.0)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: db.checkpoint(over=0))
        await anyio.lowlevel.checkpoint()
        assert not await db.checkpoint(over=0), "one at a time"
        went_on.set()
    assert db.wal_bytes == 0


async def test_vacuum_gives_space_back(db: Database) -> None:
    sessions, journal = Sessions(db), Journal(db)
    journal.append("s_1", [EVENT] * 1000, at=1.0)
    await db.checkpoint(over=0)
    before = db.path.stat().st_size
    sessions.delete("s_1")
    await db.vacuum()
    assert db.path.stat().st_size < before / 5


def test_a_full_disk_is_told_and_nothing_is_half_written(small_disk: Path) -> None:
    path = small_disk / "gongfu.db"
    with Database.open(path) as db:
        journal = Journal(db)
        journal.append("s_1", [EVENT], at=1.0)
        filler = fill(small_disk)
        with pytest.raises(UserError) as raised:
            [journal.append("s_1", [EVENT] * 3, at=2.0) for _ in range(1000)]
        written = journal.last("s_1")
        assert written % 3 == 1, "three at once or none"
        assert key_of(raised) == "store.full"
        assert [entry.seq for entry in journal.read("s_1")] == list(range(1, written + 1))
        filler.unlink()
        assert journal.append("s_1", [EVENT], at=3.0) == [written + 1]
    with Database.open(path) as db:
        assert Journal(db).last("s_1") == written + 1


def test_a_new_store_on_a_full_disk(small_disk: Path) -> None:
    filler = fill(small_disk)
    with pytest.raises(UserError) as raised:
        Database.open(small_disk / "gongfu.db")
    assert key_of(raised) == "store.full"
    filler.unlink()
    Database.open(small_disk / "gongfu.db").close()


@pytest.mark.parametrize("existing", [False, True])
def test_a_read_only_disk(read_only: Callable[[], Path], tmp_path: Path, existing: bool) -> None:
    path = tmp_path / "read-only" / "gongfu.db"
    if existing:
        Database.open(path).close()
    read_only()
    with pytest.raises(UserError) as raised:
        Database.open(path)
    assert key_of(raised) == "store.not_writable"
