"""The list of sessions: found by id, part of an id or folder; counted; really deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.core.errors import UserError
from gongfu.core.events import SessionTitled
from gongfu.core.ids import new_id
from gongfu.core.specs import Usage
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import SessionRow, Sessions


@pytest.fixture
def sessions(db: Database) -> Sessions:
    made = Sessions(db)
    for number, (name, root, parent) in enumerate(
        [("s_01ab", "/a", ""), ("s_01cd", "/b", ""), ("s_02ef", "/a", ""), ("s_02gh", "/a", "s_02ef")]
    ):
        made.create(name, directory=f"{root}/sub", root=root, parent=parent, at=float(number))
    return made


def test_a_new_session_has_its_places_and_no_use(sessions: Sessions) -> None:
    assert sessions.get("s_01ab") == SessionRow(
        id="s_01ab",
        title="",
        directory="/a/sub",
        root="/a",
        parent="",
        created=0.0,
        updated=0.0,
        turns=0,
        tokens=0,
        cost=None,
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [("s_01ab", "s_01ab"), ("s_01a", "s_01ab"), ("01c", "s_01cd"), ("cd", "s_01cd"), ("h", "s_02gh")],
)
def test_part_of_an_id_is_enough_when_it_is_unique(sessions: Sessions, text: str, found: str) -> None:
    assert sessions.get(text).id == found


@pytest.mark.parametrize(
    ("text", "key", "named"),
    [
        ("s_0", "store.session_ambiguous", "s_01ab"),
        ("s_02", "store.session_ambiguous", "s_02gh"),
        ("s_01xb", "store.session_unknown", "s_01ab"),
        ("a fix of the parsr", "store.session_unknown", "s_01cd"),
        ("2g", "store.session_unknown", "s_02gh"),
        ("??", "store.session_unknown_none", "??"),
        ("", "store.session_unknown_none", ""),
        ("%", "store.session_unknown_none", "%"),
    ],
)
def test_what_is_not_one_session_is_told_with_the_nearest(sessions: Sessions, text: str, key: str, named: str) -> None:
    sessions.set_title("s_01cd", "A fix of the parser")
    with pytest.raises(UserError) as raised:
        sessions.get(text)
    assert raised.value.key == key
    assert named in str(raised.value)


def test_the_last_active_comes_first_and_children_only_when_asked_for(sessions: Sessions) -> None:
    assert [row.id for row in sessions.list()] == ["s_02ef", "s_01cd", "s_01ab"]
    assert [row.id for row in sessions.list("/a")] == ["s_02ef", "s_01ab"]
    assert [row.id for row in sessions.list("/a", children=True)] == ["s_02gh", "s_02ef", "s_01ab"]
    assert [row.id for row in sessions.list(limit=1, offset=1)] == ["s_01cd"]
    sessions.touch("s_01ab", at=9.0)
    latest = sessions.latest("/a")
    assert latest is not None
    assert latest.id == "s_01ab"
    assert sessions.latest("/nowhere") is None
    sessions.touch("s_01ab", at=3.0)
    assert sessions.get("s_01ab").updated == 9.0, "a clock that jumps back changes nothing"


def test_turns_add_up_and_unknown_money_stays_unknown(sessions: Sessions) -> None:
    sessions.note_turn("s_01ab", usage=Usage(input=10, cached=4, output=5), cost=None, at=20.0)
    row = sessions.get("s_01ab")
    assert (row.turns, row.tokens, row.cost, row.updated) == (1, 15, None, 20.0)
    sessions.note_turn("s_01ab", usage=Usage(input=1), cost=0.25, at=21.0)
    sessions.note_turn("s_01ab", usage=Usage(), cost=0.5, at=22.0)
    row = sessions.get("s_01ab")
    assert (row.turns, row.tokens, row.cost) == (3, 16, 0.75)


def test_a_session_whose_events_came_first_gets_its_places(db: Database) -> None:
    journal, sessions = Journal(db), Sessions(db)
    journal.append("s_1", [SessionTitled(title="x")], at=5.0)
    sessions.create("s_1", directory="/d", root="/r", at=6.0)
    assert (sessions.get("s_1").root, sessions.get("s_1").created) == ("/r", 5.0)
    assert journal.last("s_1") == 1


def test_deleting_takes_descendants_and_leaves_no_byte(tmp_path: Path) -> None:
    secret = "the-secret-words-of-a-deleted-session"
    path = tmp_path / "g.db"
    with Database.open(path) as db:
        journal, sessions = Journal(db), Sessions(db)
        family = ["s_a", "s_b", "s_c"]
        for name, parent in zip(family, ["", "s_a", "s_b"], strict=True):
            sessions.create(name, directory="/", root="/", parent=parent, at=1.0)
            journal.append(name, [SessionTitled(title=secret + "x" * n) for n in (0, 900, 9000)], at=1.0)
        sessions.create("s_other", directory="/", root="/", at=1.0)
        journal.append("s_other", [SessionTitled(title="stays")] * 3, at=1.0)
        assert sorted(sessions.delete("s_a")) == family
        assert sessions.delete("s_a") == []
        assert [row.id for row in sessions.list(children=True)] == ["s_other"]
        assert journal.last("s_other") == 3
        assert [list(journal.read(name)) for name in family] == [[], [], []]
    # Closing the last connection has brought the log into the file.
    assert secret.encode() not in path.read_bytes()
    assert not path.with_name("g.db-wal").exists()


def test_many_ids_of_one_moment_are_told_apart(db: Database) -> None:
    sessions = Sessions(db)
    made = [new_id("s") for _ in range(300)]
    for name in made:
        sessions.create(name, directory="/", root="/", at=1.0)
    assert [sessions.get(name).id for name in made] == made
    assert len(sessions.list(limit=1000)) == 300
