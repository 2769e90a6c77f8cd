"""Named documents with history and one active version."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.store.database import Database
from gongfu.store.versions import Versions


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return Database.open(tmp_path / "gongfu.db")


def test_a_document_keeps_its_history_and_has_one_active_version(db: Database) -> None:
    plans = Versions(db, "plan", "/work")
    assert plans.get("a") is None
    assert [plans.put("a", body, at=n).version for n, body in enumerate(("one", "two", "two", "三"))] == [1, 2, 2, 3]
    found = plans.get("a")
    assert found is not None
    assert (found.body, found.version, found.active) == ("三", 3, True)
    assert [d.body for d in plans.history("a")] == ["三", "two", "one"]
    assert plans.activate("a", 1)
    assert not plans.activate("a", 9)
    assert [(d.version, d.active) for d in plans.history("a")] == [(3, False), (2, False), (1, True)]
    assert plans.put("a", "four", at=9).version == 4
    again = plans.get("a", 2)
    assert again is not None
    assert again.body == "two"


def test_kinds_and_scopes_do_not_see_each_other(db: Database) -> None:
    mine, other, note = Versions(db, "plan", "/a"), Versions(db, "plan", "/b"), Versions(db, "note", "/a")
    mine.put("x", "1", at=1)
    mine.put("y", "2", at=2)
    assert [d.name for d in mine.all()] == ["y", "x"]
    assert other.all() == note.all() == []
    assert not other.delete("x")
    assert mine.delete("x")
    assert [d.name for d in mine.all()] == ["y"]


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["put", "delete", "activate"]), st.integers(1, 3)), max_size=25
    )
)
@settings(max_examples=30, deadline=None)
def test_there_is_one_active_version_or_no_document(steps: list[tuple[str, str, int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, Database.open(Path(folder, "x.db")) as db:
        versions = Versions(db, "k")
        for at, (name, what, number) in enumerate(steps):
            if what == "put":
                versions.put(name, f"body {number}", at=at)
            elif what == "delete":
                versions.delete(name)
            else:
                versions.activate(name, number)
            for one in "ab":
                history = versions.history(one)
                assert sum(d.active for d in history) == bool(history)
                assert len({d.version for d in history}) == len(history)
