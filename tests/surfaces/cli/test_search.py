"""`gongfu sessions search`: sessions found by what was said in them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from .conftest import Program


def said(program: Program, prompt: str, answer: str) -> None:
    """One session of one prompt and its answer."""
    path = program.folder.parent / "script.yaml"
    path.write_text(json.dumps({"steps": [{"say": answer, "times": 0}]}), encoding="utf-8")
    done = program.call("run", "--yes", "--model", f"scripted:{path}", prompt)
    assert done.code == 0, done


def test_sessions_are_found_by_words_of_prompts_and_answers_in_both_languages(program: Program) -> None:
    said(program, "修复登录页面的空指针问题", "The login handler read a session that had expired.")
    said(program, "Write parse_config for the settings", "写好了，测试全部通过。")

    found = program.call("sessions", "search", "登录")
    assert "修复登录页面的空指针问题" in found.out
    assert "parse_config" not in found.out

    answers = program.call("sessions", "search", "expire", "sessions")
    assert "answer: The login handler read a session that had expired." in answers.out

    one = json.loads(program.call("sessions", "search", "parse config", "--json").out)
    assert [s["title"] for s in one["sessions"]] == ["Write parse_config for the settings"]
    assert one["sessions"][0]["score"] > 0.5
    assert "测" in program.call("sessions", "search", "测").out, "one sign is enough"


def test_what_was_said_since_the_last_search_is_found_and_what_was_deleted_is_not(program: Program) -> None:
    said(program, "look for the walrus", "There is none.")
    assert "nothing" not in program.call("sessions", "search", "walrus").err.lower()
    said(program, "look for the narwhal", "There is none either.")
    assert "narwhal" in program.call("sessions", "search", "narwhals").out
    id = json.loads(program.call("sessions", "search", "walrus", "--json").out)["sessions"][0]["id"]

    assert program.call("sessions", "delete", id, "--yes").code == 0
    gone = program.call("sessions", "search", "walrus", "--lang", "zh")
    assert gone.code == 0
    assert gone.out == ""
    assert "没有匹配的内容" in gone.err
    assert b"walrus" not in store(program).read_bytes()


def test_other_folders_are_searched_only_when_asked(program: Program, tmp_path: Path) -> None:
    said(program, "tune the carburettor", "Done.")
    other = tmp_path / "elsewhere"
    other.mkdir()
    program.folder = other
    here = program.call("sessions", "search", "carburettor")
    assert here.out == ""
    assert "--all" in here.err
    assert "carburettor" in program.call("sessions", "search", "carburettor", "--all").out


def test_odd_queries_are_no_error(program: Program) -> None:
    said(program, "hello", "hi")
    for query in ('"', "NEAR(", "a OR b*", "--- '", "^", "'; DROP TABLE event"):
        assert program.call("sessions", "search", "--", query).code == 0, query
    assert program.call("sessions", "search", " ").code == 2


def store(program: Program) -> Path:
    """The store of the program, its log written into it."""
    path = next(program.home.rglob("*.db"))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


START = """
import runpy, sys
sys.argv = ["gongfu", "run", "--yes", "--model", sys.argv[1], "hello"]
try:
    runpy.run_module("gongfu", run_name="__main__")
except SystemExit:
    pass
print("LOADED", *sorted(name for name in sys.modules if name.startswith("gongfu.")))
"""


def test_a_run_that_searches_nothing_loads_nothing_of_it(program: Program) -> None:
    path = program.folder.parent / "script.yaml"
    path.write_text(json.dumps({"steps": [{"say": "hi"}]}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", START, f"scripted:{path}"], cwd=program.folder, env=program.env, timeout=60,
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    modules = set(done.stdout.rpartition("LOADED ")[2].split())
    assert "gongfu.store.sessions" in modules, done
    ours = ("gongfu.core.lexical", "gongfu.retrieval.", "gongfu.store.search", "gongfu.store.history")
    assert not {name for name in modules if name.startswith(ours)}
