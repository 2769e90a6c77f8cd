"""The operator's words: by project, added and never taken back."""

from __future__ import annotations

from pathlib import Path

from gongfu.core.duties import Word
from gongfu.store.database import Database
from gongfu.store.rulebook import Rulebook

FIRST = Word(
    path="AGENTS.md", heading="A > B", sha256="a" * 64, duty="excluded", why="superseded", at=1.5, by="classify"
)
SECOND = Word(path="AGENTS.md", heading="A > B", sha256="a" * 64, duty="mandatory", at=2.0, by="refresh")


def test_words_come_back_in_order_by_project(tmp_path: Path) -> None:
    with Database.open(tmp_path / "g.db") as db:
        book = Rulebook(db)
        book.say("/one", [FIRST])
        book.say("/two", [])
        book.say("/one", [SECOND, FIRST])
    with Database.open(tmp_path / "g.db") as db:
        assert Rulebook(db).words("/one") == [FIRST, SECOND, FIRST]
        assert Rulebook(db).words("/two") == []


def test_a_root_that_is_no_utf8(tmp_path: Path) -> None:
    with Database.open(tmp_path / "g.db") as db:
        Rulebook(db).say("/x\udcff", [FIRST])
        Rulebook(db).note_asked("/x\udcff", "optional", at=1.0)
        assert Rulebook(db).words("/x\udcff") == [FIRST]
        assert Rulebook(db).asked("/x\udcff") == "optional"


def test_a_project_is_asked_about_once(tmp_path: Path) -> None:
    with Database.open(tmp_path / "g.db") as db:
        book = Rulebook(db)
        assert book.asked("/one") is None
        book.note_asked("/one", "mandatory-all", at=1.0)
        book.note_asked("/one", "optional", at=2.0)
        assert book.asked("/one") == "optional"
        assert book.asked("/two") is None
