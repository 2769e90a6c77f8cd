"""`gongfu compact`: a fold by hand, told in figures and in what became of what."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gongfu.config.paths import Places
from gongfu.core.events import EpochOpened
from gongfu.models.scripted import Call, Say
from gongfu.models.scripted.server import Server
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.workspace.locks import FileLock

from .conftest import Program

Serve = Callable[..., Server]
TURNS, READS = 4, 4


def long_session(program: Program, serve: Serve) -> str:
    """A session of some turns that read files; its id."""
    steps: list[Any] = []
    for turn in range(TURNS):
        for n in range(READS):
            name = f"f{turn}{n}.txt"
            (program.folder / name).write_text("".join(f"{name} line {i} is what it is\n" for i in range(120)))
            steps.append(Call("read_file", {"path": name}))
        steps.append(Say(f"Turn {turn} is done."))
    serve(*steps, Say("further"), Say("further"))
    for turn in range(TURNS):
        args = ["run", "--yes", f"task number {turn} with words"] + (["--continue"] if turn else [])
        assert program.call(*args).code == 0
    return opened(program)[0]


def opened(program: Program) -> tuple[str, list[EpochOpened]]:
    """The latest session and its epochs, by a look at the store."""
    database = Database.open(Places(home=program.home).store)
    try:
        row = Sessions(database).list(limit=1)[0]
        events = [entry.event for entry in Journal(database).read(row.id)]
    finally:
        database.close()
    return row.id, [e for e in events if isinstance(e, EpochOpened)]


def test_a_session_is_folded_and_told_of(program: Program, serve: Serve) -> None:
    session = long_session(program, serve)
    ended = program.call("compact", "--focus", "the  value\nof x")
    assert ended.code == 0, ended
    _, epochs = opened(program)
    (epoch,) = epochs
    assert (epoch.reason, epoch.focus) == ("manual", "the value of x")
    assert epoch.after < epoch.before
    first, *rest = ended.out.splitlines()
    assert first.startswith(f"Folded session {session}: ")
    assert " → " in first
    assert any("tool result" in line or "left out" in line or "moved" in line for line in rest)
    assert "  - kept above all: the value of x" in rest
    assert rest[-1].startswith("Nothing was deleted. The model brings text back with its tool `recall` (for instance")
    assert f"`gongfu show {session}`" in rest[-1]
    shown = program.call("show").out
    assert "f00.txt" in shown  # all of it is still there
    again = program.call("--continue", "go on", "--json")
    assert again.code == 0, again


@pytest.mark.parametrize("focus", ["the value of x", "测试", "--focus x"])
def test_words_in_place_of_a_session_are_what_matters_most(program: Program, serve: Serve, focus: str) -> None:
    session = long_session(program, serve)
    ended = program.call("compact", *(["--focus", "x", session] if focus.startswith("-") else [focus]))
    assert ended.code == 0, ended
    at, (epoch,) = opened(program)
    assert (at, epoch.focus) == (session, focus.removeprefix("--focus "))


def test_as_data(program: Program, serve: Serve) -> None:
    session = long_session(program, serve)
    told = json.loads(program.call("compact", session[:10], "--json").out)
    _, (epoch,) = opened(program)
    assert (told["type"], told["session"], told["folded"]) == ("compact", session, True)
    assert (told["before"], told["after"], told["epoch"]) == (epoch.before, epoch.after, 1)
    assert told["masked"] == list(epoch.masked)
    gone = {*told["masked"], *told["dropped"]}
    assert gone
    assert all(name.startswith("c") for name in gone)
    assert all(turn.startswith("turn:") for turn in told["moved"])
    assert told["focus"] == ""


@pytest.mark.parametrize(("language", "words"), [("en", "Nothing to fold"), ("zh", "没有可折叠的内容")])
def test_nothing_to_fold_is_said_and_changes_nothing(program: Program, serve: Serve, language: str, words: str) -> None:
    serve(Say("hello"))
    assert program.call("say hello").code == 0
    ended = program.call("compact", "--lang", language)
    assert (ended.code, ended.err) == (0, "")
    assert words in ended.out
    assert json.loads(program.call("compact", "--json").out)["folded"] is False
    assert opened(program)[1] == []


def test_in_chinese(program: Program, serve: Serve) -> None:
    long_session(program, serve)
    out = program.call("compact", "--lang", "zh", "--focus", "数值").out
    assert out.startswith("已折叠会话 ")
    assert "优先保留：数值" in out
    assert "没有删除任何内容" in out


def test_a_session_that_is_open_elsewhere_is_refused(program: Program, serve: Serve) -> None:
    serve(Say("hello"))
    program.call("say hello")
    session, _ = opened(program)
    lock = FileLock(Places(home=program.home).locks / f"{session}.lock")
    assert lock.try_acquire()
    try:
        ended = program.call("compact")
        assert ended.code == 1
        assert ended.out == ""
        assert ended.err.count("\n") == 1
        assert f"Session {session} is open in another process" in ended.err
        told = json.loads(program.call("compact", "--json").out)
        assert (told["type"], told["reason_key"], told["exit_code"]) == ("result", "engine.session_busy", 1)
    finally:
        lock.release()


def test_what_cannot_be_is_told(program: Program, serve: Serve) -> None:
    ended = program.call("compact")
    assert ended.code != 0
    assert "Traceback" not in ended.err
    serve(Say("hello"))
    program.call("say hello")
    assert "s_nothere" in program.call("compact", "s_nothere").err
    assert program.call("compact", "--focus", " ").code == 2
    assert "--focus" in program.call("compact", "--help").out
