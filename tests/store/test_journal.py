"""The journal: what is appended comes back, in order, without gaps, past what is damaged."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.core.errors import UserError
from gongfu.core.events import AnyEvent, MessageAdded, SessionCreated, SessionTitled, ToolStarted, UnknownEvent
from gongfu.core.ids import new_id
from gongfu.core.messages import Message, RawPart, user
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions

TEXTS = st.text(st.characters(codec="utf-8"), max_size=50)
EVENTS: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(SessionTitled, title=TEXTS),
    st.builds(MessageAdded, message=st.builds(user, TEXTS)),
    st.builds(ToolStarted, call=TEXTS, name=TEXTS, arguments=st.dictionaries(TEXTS, TEXTS | st.integers(0, 9))),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 2), st.lists(EVENTS, max_size=4)), max_size=12))
def test_sequences_have_no_gaps_and_events_come_back_as_they_were(
    db: Database, batches: list[tuple[int, list[AnyEvent]]]
) -> None:
    journal = Journal(db)
    names = [new_id("s") for _ in range(3)]  # one store for all examples, new sessions in each
    told: dict[str, list[AnyEvent]] = {name: [] for name in names}
    for which, events in batches:
        before = told[names[which]]
        seqs = journal.append(names[which], events, at=2.5)
        assert seqs == list(range(len(before) + 1, len(before) + len(events) + 1))
        before += events
    for session, events in told.items():
        assert journal.last(session) == len(events)
        entries = list(journal.read(session))
        assert [entry.seq for entry in entries] == list(range(1, len(events) + 1))
        assert [entry.event for entry in entries] == events
        assert {entry.time for entry in entries} <= {2.5}


def test_reading_a_span(db: Database) -> None:
    journal = Journal(db)
    journal.append("s_1", [SessionTitled(title=str(n)) for n in range(1, 1201)], at=1.0)
    assert [entry.seq for entry in journal.read("s_1", after=3, before=7)] == [4, 5, 6]
    assert [entry.seq for entry in journal.read("s_1", after=600)] == list(range(601, 1201))
    assert list(journal.read("s_1", after=1200)) == []
    assert list(journal.read("s_2")) == []
    assert journal.last("s_2") == 0


def test_the_end_of_a_session_is_read_without_the_rest(db: Database) -> None:
    journal, other = Journal(db), new_id("s")
    name = new_id("s")
    journal.append(name, [SessionTitled(title=str(n)) for n in range(10)], at=1.0)
    journal.append(other, [SessionTitled(title="other")], at=1.0)
    assert [entry.seq for entry in journal.tail(name, 3)] == [8, 9, 10]
    assert journal.tail(name, 3, before=3) == list(journal.read(name, before=3))
    assert len(journal.tail(name, 99)) == 10
    assert journal.tail("s_none", 3) == []


def test_reading_while_appending(db: Database) -> None:
    journal = Journal(db)
    journal.append("s_1", [SessionTitled(title="x")] * 600, at=1.0)
    seen = 0
    for entry in journal.read("s_1"):
        seen += 1
        if entry.seq == 1:
            journal.append("s_1", [SessionTitled(title="late")], at=2.0)
    assert seen == 601


def test_two_processes_share_a_session(tmp_path: Path) -> None:
    with Database.open(tmp_path / "g.db") as one, Database.open(tmp_path / "g.db") as two:
        first, second = Journal(one), Journal(two)
        event = SessionTitled(title="x")
        assert first.append("s_1", [event], at=1.0) == [1]
        assert second.append("s_1", [event, event], at=1.0) == [2, 3]
        assert first.append("s_1", [event], at=1.0) == [4]
        assert second.append("s_2", [event], at=1.0) == [1]


def test_what_a_newer_version_wrote_is_kept(db: Database) -> None:
    journal = Journal(db)
    journal.append("s_1", [SessionTitled(title="x")] * 3, at=1.0)
    base = db.read("SELECT number FROM session")[0][0] << 32
    newer = {"type": "dream_dreamt", "of": ["sheep"]}
    part = {"type": "hologram", "beams": 3}
    message = {"type": "message_added", "message": {"role": "user", "parts": [part, 7]}}
    with db.write() as connection:
        for seq, value in ((1, newer), (2, message)):
            connection.execute(
                "UPDATE event SET data = ? WHERE key = ?", (msgspec.json.encode(value).decode(), base + seq)
            )
    events = [entry.event for entry in journal.read("s_1")]
    assert events[0] == UnknownEvent(kind="dream_dreamt", value=newer)
    raw = (RawPart(value=part), RawPart(value={"value": 7}))
    assert events[1] == MessageAdded(message=Message(role="user", parts=raw))
    assert journal.damaged == ()


def test_half_a_surrogate_pair_does_not_lose_the_event(db: Database) -> None:
    journal = Journal(db)
    journal.append("s_1", [MessageAdded(message=user("a\ud83d b")), SessionTitled(title="好")], at=1.0)
    first, second = (entry.event for entry in journal.read("s_1"))
    assert first == MessageAdded(message=user("a? b"))
    assert second == SessionTitled(title="好")


def test_a_copy_keeps_sequences_and_the_first_event_of_the_fork(db: Database) -> None:
    journal = Journal(db)
    source = [SessionCreated(session="s_1", directory="/", root="/"), *[SessionTitled(title=str(n)) for n in range(5)]]
    journal.append("s_1", source, at=1.0)
    own = SessionCreated(session="s_2", directory="/", root="/", forked_from="s_1", forked_seq=4)
    journal.append("s_2", [own], at=2.0)
    assert journal.copy("s_1", "s_2", 4) == 3
    entries = list(journal.read("s_2"))
    assert [entry.event for entry in entries] == [own, *source[1:4]]
    assert [entry.seq for entry in entries] == [1, 2, 3, 4]
    assert journal.copy("s_1", "s_3", 6) == 6
    assert [entry.event for entry in journal.read("s_3")] == source
    assert journal.append("s_2", [source[1]], at=3.0) == [5]
    assert journal.copy("s_none", "s_4", 9) == 0
    with pytest.raises(ValueError, match="already has"):
        journal.copy("s_1", "s_2", 2)


@pytest.mark.parametrize("events", [1, 2])
def test_a_session_deleted_elsewhere_takes_no_more_events(tmp_path: Path, events: int) -> None:
    with Database.open(tmp_path / "g.db") as one, Database.open(tmp_path / "g.db") as two:
        journal = Journal(one)
        journal.append("s_1", [SessionTitled(title="x")], at=1.0)
        assert Sessions(two).delete("s_1") == ["s_1"]
        with pytest.raises(UserError) as raised:
            journal.append("s_1", [SessionTitled(title="y")] * events, at=2.0)
        assert raised.value.key == "store.session_gone"
        assert two.read("SELECT count(*) FROM event") == [(0,)]


def test_nothing_is_appended_when_one_event_cannot_be(db: Database) -> None:
    journal = Journal(db)
    good = SessionTitled(title="x")
    with pytest.raises(TypeError):
        journal.append("s_1", [good, ToolStarted(call="c", name="n", arguments={"bad": object()})], at=1.0)
    assert journal.last("s_1") == 0


def test_a_hundred_thousand_events_open_in_half_a_second(db: Database) -> None:
    """Generous here, for busy machines; `benchmarks/store` prints the figure."""
    import time

    journal = Journal(db)
    journal.append("s_1", [MessageAdded(message=user("x" * 200))] * 100_000, at=1.0)
    start = time.process_time()
    assert sum(1 for _ in journal.read("s_1")) == 100_000
    assert time.process_time() - start < 1.5
