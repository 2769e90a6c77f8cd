"""The index of words in the store: what is found, kept, forgotten, and what a SQLite without full text search gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.core.events import MessageAdded, PromptQueued, SessionCreated, SessionTitled, TurnFinished
from gongfu.core.messages import Message, TextPart
from gongfu.retrieval.history import search_history
from gongfu.retrieval.rank import Doc, rank
from gongfu.store import search
from gongfu.store.database import Database
from gongfu.store.history import History
from gongfu.store.journal import Journal
from gongfu.store.search import Item, SearchIndex, has_full_text
from gongfu.store.sessions import Sessions

NASTY = ['"', "'", "a OR b*", "NEAR(a b)", "^a", "-", "a:b", "\x00", "\ud800", "(" * 50, "%_", "x" * 5000, "字" * 3000]
WORDS = ["apple", "river", "登录", "数据库", "parse_url", "run", "the", "的", "stone", "cloud"]


@pytest.fixture(params=[True, False], ids=["fts5", "without"])
def index(db: Database, request: pytest.FixtureRequest) -> SearchIndex:
    """An index with and without SQLite's full text search."""
    return SearchIndex(db, full_text=request.param)


def found(index: SearchIndex, query: str, kind: str = "memory") -> list[str]:
    """The ids found, best first."""
    return [match.id for match in index.find(kind, query)]


def test_texts_are_found_replaced_and_forgotten(index: SearchIndex) -> None:
    assert has_full_text(index._db.connection), "this SQLite has FTS5"
    index.add("memory", "a", "修复登录失败的问题", at=5.0)
    index.add("memory", "b", "The tests were running")
    index.add("other", "c", "登录 tests")
    assert found(index, "登录") == ["a"]
    assert found(index, "录") == ["a"]
    assert found(index, "题") == ["a"]
    assert found(index, "test runs") == ["b"]
    assert found(index, "test", "other") == ["c"]
    assert index.find("memory", "登录")[0].at == 5.0
    assert index.find("memory", "登录")[0].snippet == "修复登录失败的问题"
    assert index.find("memory", "登录", snippets=False)[0].snippet == ""
    index.add("memory", "a", "quite another text")
    assert found(index, "登录") == []
    assert found(index, "another") == ["a"]
    index.remove("memory", "a")
    index.remove("memory", "never there")
    assert found(index, "another") == []
    index.remove("memory")
    assert found(index, "test") == []
    assert found(index, "test", "other") == ["c"]
    assert index._db.read("SELECT kind, term FROM search_term WHERE kind = 'memory'") == []
    assert index._db.read("SELECT items, size FROM search_kind WHERE kind = 'memory'") == [(0, 0)]


def test_rows_survive_and_more_may_come(tmp_path: Path) -> None:
    for number in range(3):
        with Database.open(tmp_path / "x.db") as db:
            SearchIndex(db).add("memory", str(number), f"boat number {number}")
    with Database.open(tmp_path / "x.db") as one, Database.open(tmp_path / "x.db") as other:
        first, second = SearchIndex(one), SearchIndex(other)
        assert found(first, "boats") == ["0", "1", "2"]
        second.add("memory", "3", "a boat")
        second.remove("memory", "0")
        assert found(first, "boats") == ["3", "1", "2"]


@pytest.mark.parametrize("query", NASTY)
def test_no_query_and_no_text_raises(index: SearchIndex, query: str) -> None:
    index.add("memory", "nasty", query)
    index.add("memory", "a", "a b")
    index.find("memory", query)
    index.remove("memory", "nasty")


def test_a_query_may_be_as_long_as_a_book(index: SearchIndex) -> None:
    book = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(5000))
    index.add("memory", "book", book)
    index.add("memory", "page", book[:2000])
    assert found(index, book)[0] == "book"
    assert index.find("memory", book)[0].score > 0.5
    assert set(found(index, book[:400])) == {"book", "page"}


def test_a_kind_is_a_plain_name(index: SearchIndex) -> None:
    for kind in ("", "a b", "x;", "K", "_"):
        with pytest.raises(ValueError, match="no kind"):
            index.find(kind, "x")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join), min_size=1, max_size=15),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
)
def test_with_and_without_full_text_search_the_order_is_that_of_the_ranker(
    db: Database, texts: list[str], query: str
) -> None:
    wanted = rank(query, [Doc(id=str(n), text=text) for n, text in enumerate(texts)])
    for full_text in (True, False):
        index = SearchIndex(db, full_text=full_text)
        index.remove("memory")
        index.add_all("memory", [Item(id=str(n), text=text) for n, text in enumerate(texts)])
        matches = index.find("memory", query)
        assert [match.id for match in matches] == [hit.id for hit in wanted]
        assert [match.score for match in matches] == pytest.approx([hit.score for hit in wanted])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.text(), st.text())
def test_any_query_and_any_text(db: Database, query: str, text: str) -> None:
    index = SearchIndex(db)
    index.add("any", "a", text)
    index.find("any", query)
    index.find("any", text)


def test_what_was_written_without_full_text_search_is_listed_when_there_is_one(db: Database) -> None:
    plain, full = SearchIndex(db, full_text=False), SearchIndex(db)
    full.add("memory", "a", "red boat")
    plain.add("memory", "b", "blue boat")
    plain.remove("memory", "a")
    assert found(full, "boat") == ["b"]
    assert found(full, "red") == []
    full.add("memory", "c", "green boat")
    assert found(plain, "boat") == found(full, "boat") == ["b", "c"]


def test_texts_are_split_anew_when_the_splitting_changed(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "terms", lambda text: iter(text.upper().split()))
    SearchIndex(db).add("memory", "a", "red boat")
    monkeypatch.undo()
    assert found(SearchIndex(db), "boat") == []
    monkeypatch.setattr(search, "VERSION", search.VERSION + 1)
    assert found(SearchIndex(db), "boat") == ["a"]


def test_rare_words_are_looked_up_first_in_a_crowd(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CHEAP", 5)
    index = SearchIndex(db)
    index.add_all("memory", [Item(id=str(n), text=f"common words, item {n}") for n in range(300)])
    index.add("memory", "rare", "common walrus")
    asked: list[str] = []
    db.connection.set_trace_callback(asked.append)
    assert found(index, "common walrus item")[0] == "rare"
    db.connection.set_trace_callback(None)
    (matching,) = [sql for sql in asked if "MATCH" in sql]
    assert "walru" in matching
    assert "common" not in matching
    assert len(index.find("memory", "common", limit=50)) == 50


# --- what was said in sessions


@pytest.fixture
def journal(db: Database) -> Iterator[Journal]:
    """The events of the store."""
    return Journal(db)


def ask(db: Database, journal: Journal, session: str, prompt: str, answer: str, *, at: float = 1.0, **row: str) -> None:
    """A turn of a session, which is made when it is new."""
    if not journal.last(session):
        Sessions(db).create(session, directory="/d", root=row.get("root", "/r"), parent=row.get("parent", ""), at=at)
        journal.append(session, [SessionCreated(session=session, directory="/d", root="/r")], at=at)
    message = Message(role="user", parts=(TextPart(text=prompt),))
    note = Message(role="user", kind="note", parts=(TextPart(text="a secret note"),))
    steer = Message(role="user", kind="steer", parts=(TextPart(text=f"rather the penguin than {prompt}"),))
    events = [
        PromptQueued(prompt="p", message=message),
        MessageAdded(message=note),
        MessageAdded(message=steer),
        TurnFinished(turn="t", status="done", text=answer),
    ]
    journal.append(session, events, at=at)
    Sessions(db).touch(session, at=at)


def test_what_people_said_and_were_answered_is_found(db: Database, journal: Journal) -> None:
    ask(db, journal, "s_a", "修复登录页面", "It reads an expired session.", at=5.0)
    ask(db, journal, "s_b", "write the docs", "文档写好了", at=6.0)
    Sessions(db).set_title("s_b", "Documentation of the walrus")
    journal.append("s_b", [SessionTitled(title="Documentation of the walrus")], at=7.0)

    def places(words: str) -> list[tuple[str, str]]:
        return [(place.session, place.where) for place in History(db).find(words)]

    assert places("登录")[0] == ("s_a", "prompt")
    assert places("expired sessions") == [("s_a", "answer")]
    assert places("文档") == [("s_b", "answer")]
    assert places("walrus") == [("s_b", "title")]
    assert places("secret note") == []
    assert {session for session, _ in places("penguin")} == {"s_a", "s_b"}
    assert History(db).catch_up() == 0, "everything is there"
    ask(db, journal, "s_a", "the narwhal", "", at=9.0)
    assert places("narwhal")[0] == ("s_a", "prompt")


def test_sessions_come_once_by_place_and_never_those_of_sub_agents(db: Database, journal: Journal) -> None:
    ask(db, journal, "s_here", "boat", "the boat is red", root="/r", at=100.0)
    ask(db, journal, "s_there", "boat", "boat boat", root="/elsewhere", at=200.0)
    ask(db, journal, "s_child", "boat", "boat", parent="s_here")
    here = search_history(db, "boat", root="/r")
    assert [found.row.id for found in here] == ["s_here"]
    everywhere = search_history(db, "boat")
    assert {found.row.id for found in everywhere} == {"s_here", "s_there"}
    assert search_history(db, "boat", limit=1) == everywhere[:1]
    now = 300.0 + 400 * 86_400
    ask(db, journal, "s_new", "boat", "boat boat", at=now)
    assert search_history(db, "boat", now=now)[0].row.id == "s_new", "the newer of equals"


def test_a_deleted_session_leaves_no_word_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Database.open(path) as db:
        journal = Journal(db)
        ask(db, journal, "s_a", "the qwertzuiop plan", "asdfghjkl")
        ask(db, journal, "s_aa", "boat", "boat")
        History(db).catch_up()
        assert Sessions(db).delete("s_a") == ["s_a"]
        assert History(db).find("qwertzuiop") == []
        assert len(History(db).find("boat")) == 3
        assert db.read("SELECT count(*) FROM search_session") == [(1,)]
    for file in tmp_path.iterdir():
        data = file.read_bytes()
        assert b"qwertzuiop" not in data, file
        assert b"asdfghjkl" not in data, file


def test_damaged_events_are_passed_over(db: Database, journal: Journal) -> None:
    ask(db, journal, "s_a", "boat", "boat")
    with db.write() as connection:
        connection.execute("UPDATE event SET data = '{\"type\":\"prompt_queued\",' WHERE data LIKE '%prompt_queued%'")
    assert {place.where for place in History(db).find("boat")} == {"answer", "prompt"}
