"""What earlier sessions of a project left open is offered to the next one, and nothing else is."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import gongfu
from gongfu.app.note import unfinished_note
from gongfu.core.events import TodoItem
from gongfu.core.messages import Message
from gongfu.models.scripted import SCRIPTED, Call, Say, Scripted
from gongfu.store.database import Database
from gongfu.store.sessions import Sessions

pytestmark = pytest.mark.anyio


def todo(**items: str) -> Call:
    return Call("todo", {"items": [{"text": text.replace("_", " "), "status": s} for text, s in items.items()]})


async def run(tmp_path: Path, *steps: Any, folder: str = "work", id: str = "") -> tuple[tuple[Message, ...], str]:
    """One session in `folder`; the messages of its last request and its id."""
    (tmp_path / folder).mkdir(exist_ok=True)
    model = Scripted([*steps, Say("ok")])
    async with gongfu.open(
        tmp_path / folder, home=tmp_path / "g", env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        model=SCRIPTED.ref, permission="full", answers="no", providers={SCRIPTED.ref: model},
    ) as app:  # fmt: skip
        session = await app.session(id)
        assert (await (await session.prompt("Go"))).status == "done"
    return model.requests[-1].messages, session.id


def notes(messages: tuple[Message, ...]) -> list[str]:
    return [m.text for m in messages if m.kind == "note"]


async def test_open_items_are_offered_once_behind_the_environment(tmp_path: Path) -> None:
    plain, first = await run(tmp_path, todo(Look="done", Fix_the_login="in_progress", Write_tests="pending"))
    assert len(notes(plain)) == 1
    messages, second = await run(tmp_path)
    assert [m.kind for m in messages[:3]] == ["note", "note", ""]
    day = time.strftime("%Y-%m-%d")
    note = messages[1].text
    assert note.startswith("<unfinished>\n")
    assert f"\n- Fix the login (begun) [session {first}, {day}]\n- Write tests [session {first}, {day}]\n" in note
    assert "Look" not in note
    again, _ = await run(tmp_path, id=second)  # a session that goes on has its note
    assert notes(again) == notes(messages)
    own, _ = await run(tmp_path, id=first)
    assert len(notes(own)) == 1


async def test_with_nothing_open_the_bytes_are_as_before(tmp_path: Path) -> None:
    none, _ = await run(tmp_path)
    await run(tmp_path, todo(A="pending"))
    await run(tmp_path, todo(A="done", B="cancelled"))
    after, _ = await run(tmp_path)
    assert [m.text for m in after] == [m.text for m in none]
    await run(tmp_path, todo(C="pending"), todo())
    assert [m.text for m in (await run(tmp_path))[0]] == [m.text for m in none]
    await run(tmp_path, todo(D="pending"), folder="other")
    assert [m.text for m in (await run(tmp_path))[0]] == [m.text for m in none]


async def test_what_is_open_is_kept_when_the_list_changes_not_when_the_turn_ends(tmp_path: Path) -> None:
    seen: list[str] = []

    def look(request: Any) -> Say:
        with closing(sqlite3.connect(tmp_path / "g" / "gongfu.db")) as store:  # as another process would
            seen.extend(row[0] for row in store.execute("SELECT todo FROM session"))
        return Say("ok")

    await run(tmp_path, todo(Half_done="in_progress"), look)
    assert seen == ['[{"text":"Half done","status":"in_progress"}]']


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    database = Database.open(tmp_path / "store.db")
    yield Sessions(database)
    database.close()


def items(*texts: str, status: str = "pending") -> tuple[TodoItem, ...]:
    return tuple(TodoItem(text=text, status=status) for text in texts)  # type: ignore[arg-type]


def add(rows: Sessions, id: str, at: float, *texts: str, parent: str = "", status: str = "pending") -> None:
    rows.create(id, directory="/w", root="/w", parent=parent, at=at)
    if texts:
        rows.set_todo(id, items(*texts, status=status))


def test_the_newest_come_first_and_only_up_to_one_that_finished(rows: Sessions) -> None:
    add(rows, "s_old", 1, "never")
    add(rows, "s_finished", 2, "all", status="done")
    add(rows, "s_3", 3, "three", "both")
    add(rows, "s_4", 4, "four", "both")
    add(rows, "s_none", 5)
    add(rows, "s_child", 6, "a child's", parent="s_4")
    assert [(u.item.text, u.session) for u in rows.unfinished("/w")] == [
        ("four", "s_4"), ("both", "s_4"), ("three", "s_3"),
    ]  # fmt: skip
    assert [u.item.text for u in rows.unfinished("/w", but="s_4")] == ["three", "both"]
    assert [u.item.text for u in rows.unfinished("/w", since=3.5)] == ["four", "both"]
    assert rows.unfinished("/other") == []


def test_the_note_is_bounded(rows: Sessions) -> None:
    for number in range(20):
        add(rows, f"s_{number}", number, *(f"{number} {n} " + "长" * 900 for n in range(90)))
    left = rows.unfinished("/w")
    assert len(left) == 10
    assert len(unfinished_note(left)) < 3000
    assert unfinished_note([]) == ""


def test_ten_thousand_sessions_cost_a_few_milliseconds(rows: Sessions) -> None:
    with rows._db.write() as connection:
        connection.executemany(
            "INSERT INTO session (id, root, created, updated, todo) VALUES (?, '/w', ?, ?, '')",
            [(f"s_{n}", n, n) for n in range(10_000)],
        )
    started = time.process_time()
    assert rows.unfinished("/w") == []
    assert time.process_time() - started < 0.5
