"""`gongfu undo|redo|rewind|checkpoints` as a person and a script see them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from gongfu.models.scripted import Call, Say
from gongfu.models.scripted.server import Server

from .conftest import Program

Serve = Callable[..., Server]


def changed(program: Program, serve: Serve) -> None:
    """A session of two turns that changed files and one that did not."""
    (program.folder / "a.txt").write_text("one\ntwo\n")
    (program.folder / "bin").write_bytes(b"\0\1")
    serve(
        Call("shell", {"command": "echo three >> a.txt; printf '\\0\\2' > bin"}),
        Say("Done."),
        Say("Words."),
        Call("shell", {"command": "rm bin; echo > b.txt"}),
        Say("Done."),
        Say("further"),
    )
    for args in (["First, with a\nlong prompt."], ["-c", "Only words."], ["-c", "Third."]):
        ended = program.call("run", "--permission", "full", *args)
        assert ended.code == 0, ended


def of(program: Program, *args: str) -> dict:
    ended = program.call(*args, "--json")
    assert ended.code == 0, ended
    return json.loads(ended.out)


def test_the_turns_that_changed_files_are_listed(program: Program, serve: Serve) -> None:
    changed(program, serve)
    ended = program.call("checkpoints")
    assert ended.code == 0, ended
    head, first, third = ended.out.splitlines()
    assert head.split() == ["turn", "checkpoint", "time", "changes", "stored", "state", "prompt"]
    assert first.lstrip().startswith("1 ")
    assert "+0 -0 ~2" in first
    assert first.endswith("First, with a long prompt.")
    assert third.lstrip().startswith("3 ")
    assert "+1 -1 ~0" in third
    assert program.call("undo").code == 0
    assert "undone" in program.call("checkpoints").out.splitlines()[-1]
    assert "已撤销" in program.call("checkpoints", "--lang", "zh").out.splitlines()[-1]
    told = of(program, "checkpoints")
    assert [(row["number"], row["undone"], row["changed"]) for row in told["checkpoints"]] == [
        (1, False, 2),
        (3, True, 0),
    ]


def test_what_a_turn_changed_is_shown(program: Program, serve: Serve) -> None:
    changed(program, serve)
    first = of(program, "checkpoints")["checkpoints"][0]
    plain = program.call("checkpoints", "show", first["before"])
    assert plain.out.splitlines() == ["~ a.txt", "~ bin"]
    shown = program.call("checkpoints", "show", first["after"][-6:], "--diff")
    assert "~ a.txt  +1 -0" in shown.out
    assert "three" in shown.out
    files = of(program, "checkpoints", "show", first["before"])["files"]
    assert [(f["path"], f["mark"], bool(f["diff"])) for f in files] == [("a.txt", "~", True), ("bin", "~", False)]
    unknown = program.call("checkpoints", "show", "k_nothing")
    assert unknown.code == 1
    assert "Traceback" not in unknown.err


def test_one_checkpoint_is_given_back_as_a_whole(program: Program, serve: Serve) -> None:
    changed(program, serve)
    first = of(program, "checkpoints")["checkpoints"][0]
    ended = program.call("checkpoints", "restore", first["before"])
    assert ended.code == 0, ended
    assert (program.folder / "a.txt").read_text() == "one\ntwo\n"
    assert (program.folder / "bin").read_bytes() == b"\0\1"
    assert not (program.folder / "b.txt").exists()
    assert program.call("redo").code == 0
    assert (program.folder / "b.txt").exists()


def test_undo_and_redo_tell_what_they_did(program: Program, serve: Serve) -> None:
    changed(program, serve)
    ended = program.call("undo")
    assert ended.out.splitlines() == [
        "Undid the file changes of:", "  3. Third.", "  - b.txt", "  + bin", "`gongfu redo` takes this back.",
    ]  # fmt: skip
    told = of(program, "redo")
    assert (told["type"], told["done"], told["kept"], told["failed"]) == ("redo", True, [], [])
    assert told["files"] == [{"path": "b.txt", "mark": "+"}, {"path": "bin", "mark": "-"}]
    assert program.call("undo", "--turns", "5", "--dry-run").out.splitlines()[:3] == [
        "Would undo the file changes of:", "  3. Third.", "  1. First, with a long prompt.",
    ]  # fmt: skip
    chinese = program.call("undo", "--lang", "zh")
    assert chinese.out.splitlines()[0] == "已撤销以下各轮的文件改动："
    assert program.call("undo", "--turns", "0").code == 2


def test_undo_names_what_a_turn_did_beyond_files(program: Program, serve: Serve) -> None:
    (program.folder / "a.txt").write_text("one\n")
    settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for args in (
        ["init", "-q"],
        ["config", "user.name", "Ada"],
        ["config", "user.email", "ada@example.org"],
        ["add", "."],
    ):
        subprocess.run(["git", *args], cwd=program.folder, check=True)
    subprocess.run(["git", *settings, "commit", "-qm", "First"], cwd=program.folder, check=True)
    serve(
        Call("write_file", {"path": "new.txt", "content": "x\n"}),
        Call("use_tool", {"name": "git_commit", "arguments": {"message": "Second", "paths": ["new.txt"]}}),
        Call("use_tool", {"name": "git_branch", "arguments": {"action": "list"}}),
        Call("use_tool", {"name": "git_branch", "arguments": {"action": "create", "name": "main"}}),
        Say("Done."),
        Say("further"),
    )
    assert program.call("run", "--permission", "full", "Write and commit.").code == 0
    undone = program.call("undo")
    lasting = undone.out.partition("Not undone, since it is more than files of this workspace:\n")[2].splitlines()
    assert lasting[0] == "  commit: Second"
    assert "branches" not in undone.out
    assert "Not undone" not in program.call("redo").out


def test_who_reads_the_talk_sees_where_it_was_undone(program: Program, serve: Serve) -> None:
    changed(program, serve)
    (program.folder / "b.txt").write_text("mine")
    undone = program.call("undo")
    assert "`gongfu redo`, then `gongfu undo --force`" in undone.out, undone
    program.call("redo")
    program.call("undo", "--force")
    assert not (program.folder / "b.txt").exists()
    program.call("run", "-c", "Further.")
    shown = program.call("show").out.splitlines()
    lines = [line for line in shown if line.startswith("↶")]
    assert lines == [
        "↶ Undone, given back as before the turn: bin (left as they are: 1)",
        "↶ Undo taken back: bin",
        "↶ Undone, given back as before the turn: b.txt, bin",
    ]
    assert shown.index("› Third.") < shown.index(lines[0]) < shown.index(lines[-1]) < shown.index("› Further.")
    assert "↶ 已收回撤销：bin" in program.call("--lang", "zh", "show").out


def test_rewind_prints_the_prompt_and_goes_on_in_a_new_session(program: Program, serve: Serve) -> None:
    changed(program, serve)
    listed = program.call("rewind", "--list").out.splitlines()
    assert [line.split()[0] for line in listed] == ["1", "2", "3"]
    assert [p["prompt"] for p in of(program, "rewind", "--list")["prompts"]][1] == "Only words."
    ended = program.call("rewind", "--to", "1")
    assert ended.code == 0, ended
    assert ended.out.endswith("First, with a\nlong prompt.\n")
    assert (program.folder / "a.txt").read_text() == "one\ntwo\n"
    assert (program.folder / "bin").read_bytes() == b"\0\1"
    sessions = of(program, "sessions")["sessions"]
    assert sessions[0]["id"] in ended.out
    assert program.call("run", "-c", "First, put otherwise.").code == 0
    assert of(program, "sessions")["sessions"][0]["id"] == sessions[0]["id"]
    assert program.call("rewind", "--to", "9").code == 2
    assert program.call("rewind", "--talk-only", "--files-only").code == 2


def test_a_rewind_past_turns_that_changed_nothing_says_where_it_would_go(program: Program, serve: Serve) -> None:
    serve(Say("Words."), Say("More."))
    program.call("run", "Only words.")
    would = program.call("rewind", "--dry-run")
    assert would.out.splitlines() == ["Would go back to before:", "  1. Only words.", "No file had to be changed."]
    assert program.call("rewind").out.startswith("The talk goes on in session ")


@pytest.mark.parametrize("command", ["undo", "redo", "rewind", "checkpoints"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_where_there_is_nothing(program: Program, command: str, language: str) -> None:
    ended = program.call(command, "--lang", language)
    assert ended.code == 1
    assert ended.err.strip()
    assert not (program.home / "checkpoints.sqlite").exists()
    assert program.call(command, "--help", "--lang", language).code == 0


def test_a_person_is_asked_where_something_is_kept(program: Program, serve: Serve) -> None:
    pytest.importorskip("pty")
    from .test_pty import Terminal

    changed(program, serve)
    (program.folder / "b.txt").write_text("mine")
    terminal = Terminal(program, "undo")
    terminal.until("Do it?")
    assert "b.txt" in terminal.plain
    terminal.type("n\n")
    assert terminal.end() == 1
    assert not (program.folder / "bin").exists()
    terminal = Terminal(program, "undo")
    terminal.until("Do it?")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert (program.folder / "bin").exists()
    assert (program.folder / "b.txt").read_text() == "mine"
