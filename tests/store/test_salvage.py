"""A damaged store: nothing is changed by itself, and everything that can be read is saved."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gongfu.core.duties import Word
from gongfu.core.errors import UserError
from gongfu.core.events import Entry, SessionCreated, SessionTitled
from gongfu.store import database
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.rulebook import Rulebook
from gongfu.store.salvage import salvage, swap_in
from gongfu.store.sessions import SessionRow, Sessions

PAGE = 4096
NAMES = ("s_a", "s_b", "s_c")


def build(path: Path, *, count: int = 300) -> tuple[dict[str, list[Entry]], list[SessionRow]]:
    """A store of three sessions with short, long and very long events; what it holds."""
    with Database.open(path) as db:
        journal, sessions = Journal(db), Sessions(db)
        for name in NAMES:
            sessions.create(name, directory=f"/{name}", root="/r", at=1.5)
            journal.append(name, [SessionCreated(session=name, directory=f"/{name}", root="/r")], at=1.5)
        for number in range(count):
            size = (10, 3000, 4070, 5000, 60_000)[number % 5] if number % 7 == 0 else 40
            title = f"第 {number} " + "x" * size
            journal.append(NAMES[number % 3], [SessionTitled(title=title)], at=2.0 + number)
        return {name: list(journal.read(name)) for name in NAMES}, sessions.list()


def holds(path: Path) -> dict[str, list[Entry]]:
    with Database.open(path) as db:
        journal = Journal(db)
        assert db.read("PRAGMA integrity_check") == [("ok",)]
        found = {row.id: list(journal.read(row.id)) for row in Sessions(db).list()}
        assert journal.damaged == ()
        return found


def test_a_whole_store_is_copied_whole(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    entries, rows = build(path)
    with Database.open(path) as db:  # what is only in the log so far
        Sessions(db).set_title("s_b", "titled in the log")
        Journal(db).append("s_c", [SessionTitled(title="y" * 50_000)], at=99.0)
        entries["s_c"] = list(Journal(db).read("s_c"))
        rows = Sessions(db).list()
        assert db.wal_bytes > 0
        saved = salvage(path)
    assert holds(saved) == entries
    with Database.open(saved) as db:
        assert Sessions(db).list() == rows


def test_what_was_said_of_rules_is_saved_and_rows_older_than_their_table(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    script = (Path(database.__file__).parent / "migrations" / "0001_sessions_and_events.sql").read_text("utf-8")
    with closing(sqlite3.connect(path)) as old:
        old.executescript(f"{script} PRAGMA user_version=1; PRAGMA application_id={database.APPLICATION};")
        old.execute("INSERT INTO session (id, root, created, updated) VALUES ('s_old', '/r', 1.0, 2.0)")
        old.commit()
    said = [
        Word(path="AGENTS.md", heading="A", sha256="a" * 64, duty="excluded", why="superseded", at=1.5, by="classify"),
        Word(path="AGENTS.md", heading="", sha256="b" * 64, duty="mandatory", at=2.5),
    ]
    with Database.open(path) as db:
        Sessions(db).create("s_new", directory="/d", root="/r", at=3.0)
        Rulebook(db).say("/r", said)
        rows = Sessions(db).list()
        saved = salvage(path)
    with Database.open(saved) as db:
        assert Sessions(db).list() == rows
        assert Rulebook(db).words("/r") == said


def test_a_file_cut_anywhere_gives_its_first_part(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    entries, _ = build(path)
    data = path.read_bytes()
    chances = random.Random(7)
    for cut in [PAGE * 3, len(data) // 2, len(data) - 1, *(chances.randrange(PAGE * 3, len(data)) for _ in range(5))]:
        broken = tmp_path / f"cut{cut}.db"
        broken.write_bytes(data[:cut])
        found = holds(salvage(broken))
        assert broken.read_bytes() == data[:cut]
        for name, kept in found.items():
            assert set(map(repr, kept)) <= set(map(repr, entries[name]))
        if cut > len(data) // 2:
            assert sum(map(len, found.values())) > sum(map(len, entries.values())) // 3


def test_one_broken_page_costs_only_what_stood_on_it(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    entries, _ = build(path)
    data = path.read_bytes()
    total = sum(map(len, entries.values()))
    count = len(data) // PAGE
    for number in [*range(8), *random.Random(1).sample(range(8, count), 25)]:
        broken = tmp_path / f"page{number}.db"
        broken.write_bytes(data[: number * PAGE] + random.Random(number).randbytes(PAGE) + data[(number + 1) * PAGE :])
        found = holds(salvage(broken))
        assert sum(map(len, found.values())) >= total - PAGE // 40
        for name, kept in found.items():
            assert all(entry in entries[name] for entry in kept)
        for file in tmp_path.glob(f"page{number}*"):
            file.unlink()


def test_the_person_is_told_and_the_damaged_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    entries, _ = build(path)
    broken = b"\0" * 200 + path.read_bytes()[200:]
    path.write_bytes(broken)
    with pytest.raises(UserError) as raised:
        Database.open(path)
    assert raised.value.key == "store.damaged"
    assert path.read_bytes() == broken
    aside = swap_in(path, salvage(path))
    assert aside.read_bytes() == broken
    assert holds(path) == entries


def test_a_broken_page_that_is_met_while_reading_is_told(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    build(path)
    data = path.read_bytes()
    path.write_bytes(data[: 6 * PAGE] + b"\xff" * (len(data) - 6 * PAGE))
    with Database.open(path) as db, pytest.raises(UserError) as raised:
        [list(Journal(db).read(name)) for name in NAMES]
    assert raised.value.key == "store.damaged"


def test_an_empty_or_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    with pytest.raises(UserError):
        salvage(path)
    path.write_bytes(b"")
    assert holds(salvage(path)) == {}
