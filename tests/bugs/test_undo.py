"""Row 48 of the wire: undo with untracked files and a shell `rm` gives the exact tree back, with the real program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gongfu.models.scripted import Call, Calls, Say
from tests.app.undoing import picture
from tests.surfaces.cli.conftest import Program, program, serve  # noqa: F401 - fixtures

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]


def git(folder: Path, *args: str) -> str:
    return subprocess.run([*GIT, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def furnish(root: Path) -> None:
    """Tracked, untracked and ignored files, modes, links, an empty folder, a repository inside."""
    for name, text in {
        "a.py": "one\ntwo\n", "c": "c", "m": "m", "crlf.txt": "a\r\nb\r\n", "src/sub/deep/x.py": "x",
        ".gitignore": "ignored\n",
        "ignored": "before\n", "inner/f": "f", "run.sh": "#!/bin/sh\n", "name with\nnewline": "n", "ünï/é": "e",
    }.items():  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (root / "run.sh").chmod(0o755)
    (root / "c").chmod(0o640)
    (root / "bin").write_bytes(bytes(range(256)) * 40)
    (root / "empty").mkdir()
    (root / "empty").chmod(0o700)
    (root / "link").symlink_to("a.py")
    (root / "dangling").symlink_to("nowhere")
    git(root / "inner", "init", "-q")
    git(root / "inner", "add", "f")


COMMAND = (
    "rm -rf src/sub; mv m n; chmod 600 c; rm link; ln -s run.sh link; rmdir empty; rm dangling; echo > 'name with\n"
    "newline'; printf changed >> bin; rm inner/f; mkdir -p fresh/one; echo 1 > fresh/one/two; rm -rf ünï; echo 2 > ünï;"
    " chmod 700 fresh; echo x > empty"
)


@pytest.mark.parametrize("inside", [True, False], ids=["git", "no-git"])
def test_files_come_back_to_the_byte(program: Program, serve, inside: bool) -> None:  # noqa: F811
    root = program.folder
    furnish(root)
    if inside:
        git(root, "init", "-q")
        git(root, "add", "a.py", "c", ".gitignore", "crlf.txt", "run.sh")
        git(root, "commit", "-qm", "start")
    before = picture(root)
    index = git(root, "status", "--porcelain") if inside else ""
    moves = " && git mv crlf.txt moved.txt" if inside else "; mv crlf.txt moved.txt"
    serve(
        Call("read_file", {"path": "a.py"}),
        Call("edit_file", {"path": "a.py", "edits": [{"old": "one", "new": "1"}]}),
        Calls((Call("write_file", {"path": "new/n.txt", "content": "n"}), Call("read_file", {"path": "ignored"}))),
        Call("write_file", {"path": "ignored", "content": "after\n"}),
        Call("shell", {"command": COMMAND + moves}),
        Say("Done."),
        Call("shell", {"command": "echo second > a.py; rm c"}),
        Say("Done again."),
    )
    assert program.run("run", "--permission", "full", "Change a lot.").code == 0
    first = picture(root)
    assert first != before
    assert program.call("run", "-c", "--permission", "full", "Change more.").code == 0
    second = picture(root)
    assert second != first

    undone = program.run("undo")
    assert undone.code == 0, undone
    assert "Change more." in undone.out
    assert picture(root) == first
    assert program.call("undo", LANG="zh_CN.UTF-8").out.startswith("已撤销")
    assert picture(root) == before
    if inside:  # what git itself keeps (its index, its commits) is not touched: only the tree is given back
        git(root, "reset", "-q")
        assert git(root, "status", "--porcelain") == index
    nothing = program.call("undo")
    assert nothing.code == 1
    assert "nothing more to undo" in nothing.err

    assert program.call("redo").code == 0
    assert picture(root) == first
    assert program.call("redo").code == 0
    assert picture(root) == second
    assert program.call("redo").code == 1
    assert program.call("undo", "--turns", "2").code == 0
    assert picture(root) == before
    assert program.call("redo").code == 0
    assert picture(root) == second


def test_a_turn_that_was_killed_is_undone(program: Program, serve) -> None:  # noqa: F811
    furnish(program.folder)
    before = picture(program.folder)
    serve(
        Call("shell", {"command": "rm -rf src; echo half > a.py; echo new > n; touch started; exec sleep 60"}),
        Say("never"),
    )
    run = program.start("run", "--permission", "full", "Break it.")
    while not (program.folder / "started").exists():
        assert run.poll() is None, run.communicate()
    os.killpg(run.pid, 9)
    run.communicate()
    assert picture(program.folder) != before
    undone = program.call("undo")
    assert undone.code == 0, undone
    assert picture(program.folder) == before


def test_no_store_is_made_where_nothing_was_touched(program: Program, serve) -> None:  # noqa: F811
    (program.folder / "a").write_text("a")
    serve(Call("read_file", {"path": "a"}), Say("Read."))
    assert program.call("run", "--permission", "full", "Read.").code == 0
    assert not (program.home / "checkpoints.sqlite").exists()
    for command in ("undo", "redo"):
        ended = program.call(command)
        assert ended.code == 1, ended
        assert "nothing to" in ended.err
    assert not (program.home / "checkpoints.sqlite").exists()


def test_what_a_person_changed_since_is_kept_and_named(program: Program, serve) -> None:  # noqa: F811
    root = program.folder
    for name in ("a", "b"):
        (root / name).write_text("old")
    serve(Call("shell", {"command": "echo new > a; echo new > b; mkdir d; echo 1 > d/x"}), Say("Done."))
    assert program.call("run", "--permission", "full", "Change.").code == 0
    (root / "b").write_text("by hand")
    (root / "d" / "mine").write_text("mine")
    shown = program.call("undo", "--dry-run")
    assert shown.code == 0
    assert "Would undo" in shown.out
    assert (root / "a").read_text() == "new\n"
    undone = program.call("undo")
    assert undone.code == 0, undone
    assert "--force" in undone.out
    assert undone.out.split("--force")[1].split()[-1] == "b" or "\n  b" in undone.out
    assert picture(root)["a"][2] == b"old"
    assert (root / "b").read_text() == "by hand"
    assert (root / "d" / "mine").read_text() == "mine"
    assert not (root / "d" / "x").exists()
    assert program.call("redo").code == 0
    assert (root / "a").read_text() == "new\n"
    assert (root / "b").read_text() == "by hand"
    assert program.call("undo", "--force").code == 0
    assert (root / "b").read_text() == "old"
    assert (root / "d" / "mine").read_text() == "mine"
    assert program.call("redo").code == 0
    assert (root / "b").read_text() == "by hand"
