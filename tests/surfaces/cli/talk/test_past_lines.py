"""What was typed before: the file of it, and the ways through it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.surfaces.cli.talk.past_lines import LARGEST, MOST, PastLine, PastLines, read_lines

from .typing import a_cli, typing

pytestmark = pytest.mark.anyio

ENTER, UP, DOWN, ESC = "\r", "\x1b[A", "\x1b[B", "\x1b"


def filled(path: Path, *lines: str, root: str = "/here") -> PastLines:
    past = PastLines(path, root)
    for line in lines:
        past.add(line)
    past.flush()
    return past


def texts(past: PastLines) -> list[str]:
    past.load()
    return [line.text for line in past.newest()]


def test_this_folder_comes_first_and_each_line_once(tmp_path: Path) -> None:
    path = tmp_path / "home" / "prompts.jsonl"
    filled(path, "a", "b", root="/there")
    filled(path, "c", "a", "c", "!ls", root="/here")
    filled(path, "d", root="/there")
    past = PastLines(path, "/here")
    past.add("new")
    assert texts(past) == ["new", "!ls", "c", "a", "d", "b"]
    past.flush()
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_secrets_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    past = PastLines(path, "/here")
    past.add(f"use {token} \ufffc", [f"export GITHUB_TOKEN={token}\n" * 9])
    past.flush()
    assert token.encode() not in path.read_bytes()
    assert token in past.newest()[0].text  # whoever typed it has it as long as they stay


def test_the_file_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    past = PastLines(path, "/here", redact=str)
    for number in range(40):
        past.add(f"{number} " + "x" * 60_000)
        past.flush()
    assert path.stat().st_size <= LARGEST
    assert texts(PastLines(path, "/here"))[0].startswith("39 ")
    path.write_bytes(b"".join(msgspec.json.encode(PastLine(text=f"n{n}")) + b"\n" for n in range(MOST + 10)))
    past = PastLines(path, "")
    assert len(texts(past)) == MOST + 10
    past.add("last")
    past.flush()
    kept = texts(PastLines(path, ""))
    assert len(kept) <= MOST
    assert kept[:2] == ["last", f"n{MOST + 9}"]
    assert not list(tmp_path.glob(".*.tmp"))


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    code = (
        "import sys; from pathlib import Path; from gongfu.surfaces.cli.talk.past_lines import PastLines\n"
        "past = PastLines(Path(sys.argv[1]), 'r')\n"
        "for n in range(150): past.add(f'{sys.argv[2]} {n}')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "abc"]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    lines = [line.text for line in read_lines(path)]
    for name in "abc":
        assert [line for line in lines if line[0] == name] == [f"{name} {n}" for n in range(150)]


def test_a_line_cut_off_by_a_crash_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    filled(path, "one")
    with path.open("ab") as file:
        file.write(b'{"text":"tw')
    filled(path, "three")
    assert texts(PastLines(path, "/here")) == ["three", "one"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([
    b'{"text":1}', b'{"text":"a","pasted":3}', b"[" * 9000, b'{"text":"\\u0000\\u001b[2J"}', b'{"text":"\\ufffc"}',
    b"null", b'{"text":"' + b"x" * 400_000 + b'"}', b'{"text":"\xff\xfe"}', b'{"text":"\\ud800"}',
])), max_size=8))  # fmt: skip
def test_a_hostile_file_is_survived(tmp_path_factory: pytest.TempPathFactory, rows: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("h") / "prompts.jsonl"
    path.write_bytes(b"\n".join([*rows, b'{"text":"good"}']))
    past = PastLines(path, "")
    found = texts(past)
    assert "good" in found
    assert all("\x1b" not in text and "\0" not in text for text in found)
    past.add("more")
    past.flush()
    assert texts(PastLines(path, ""))[0] == "more"


@pytest.mark.skipif(os.name == "nt", reason="there are none")
@pytest.mark.parametrize("kind", ["folder", "pipe", "closed", "device", "loop"])
def test_no_file_at_all(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "prompts.jsonl"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path)
        case _:
            path = tmp_path / "file" / "prompts.jsonl"
            (tmp_path / "file").write_text("")
    past = filled(path, "one")
    assert texts(past) == ["one"]
    assert texts(PastLines(path, "")) == []


def test_words_are_found_in_any_order_and_case() -> None:
    past = PastLines(None)
    past.add("修复 登录 Bug")
    past.add("fix \ufffc", ["a Login page"])
    assert [line.text for line in past.matching("bug 登录")] == ["修复 登录 Bug"]
    assert [line.text for line in past.matching("LOGIN fix")] == ["fix \ufffc"]


async def test_up_and_down_keep_the_draft(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    filled(path, "first", "second\nline two", "third")
    async with typing(past=PastLines(path, "/here")) as typist:
        await typist.type("draft", UP)
        await typist.until(lambda: typist.text == "third")
        await typist.type(UP)
        assert typist.text == "second\nline two"
        await typist.type(UP, UP, UP)
        assert typist.text == "first"
        await typist.type(DOWN)
        assert typist.text == "second\nline two"
        await typist.type(DOWN, DOWN, DOWN)
        assert typist.text == "draft"
        await typist.type(UP, "!", UP)  # what was changed is a draft of its own
        assert typist.text == "third"
        await typist.type(DOWN)
        assert typist.text == "third!"
        await typist.type(ENTER, UP)
        assert typist.text == "third!"


async def test_up_and_down_move_in_the_text_first() -> None:
    async with typing() as typist:
        await typist.type("old", ENTER, "one\ntwo", UP, "X")
        assert typist.text == "oneX\ntwo"
        await typist.type(UP)
        assert typist.text == "old"


async def test_long_lines_do_not_hold_up_the_way_through_the_past() -> None:
    async with typing() as typist:
        await typist.type("old", ENTER, "w" * 300, ENTER, UP, UP)
        assert typist.text == "old"
        await typist.type(DOWN, "\x1b[D", UP, UP, UP)
        assert typist.text == "w" * 300
        await typist.type(UP)
        assert typist.text == "old"


async def test_a_pasted_text_comes_back_from_the_past(tmp_path: Path) -> None:
    path, long = tmp_path / "prompts.jsonl", "row\n" * 40
    async with typing(past=PastLines(path, "/here")) as typist:
        await typist.type("see ")
        await typist.paste(long)
        await typist.type(" now", ENTER)
        typist.editor.past.flush()
    async with typing(past=PastLines(path, "/here")) as typist:
        await typist.type(UP)
        await typist.until(lambda: typist.text == "see [pasted #1, 40 lines] now")
        await typist.type(ENTER)
        assert typist.sent[0].text == f"see {long} now"


async def test_search(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    filled(path, "修复登录", "fix the login", "登录 again", "other")
    async with typing(past=PastLines(path, "/here")) as typist:
        await typist.type("draft", "\x12", "登录")
        await typist.until(lambda: typist.text == "登录 again")
        typist.app._redraw()
        assert "search: " in typist.screen
        assert "1/2" in typist.screen
        await typist.type("\x12")
        assert typist.text == "修复登录"
        await typist.type(ESC)
        assert typist.text == "draft"
        await typist.type("\x12", "LOGIN", ENTER, " page", ENTER)
        assert [one.text for one in typist.sent] == ["fix the login page"]
        await typist.type("\x12")
        await typist.paste("nowhere\r\nat\tall")
        await typist.type("\x04", "?")
        assert typist.editor.search.buffer.text == "nowhere at all?"
        assert "nothing found" in typist.hint
        assert typist.text == ""


async def test_search_in_chinese_words() -> None:
    async with typing(a_cli("zh")) as typist:
        await typist.type("\x12")
        typist.app._redraw()
        assert "搜索" in typist.screen.replace("\x00", "").replace(" ", "")
