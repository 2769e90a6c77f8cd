"""What is covered beyond the ordinary: ignored files that were touched, what is named as not covered, bounds."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from gongfu.core.errors import UserError
from gongfu.store.contents import Contents
from gongfu.workspace.checkpoint import Limits, compare, extend, restore, take
from tests.workspace.checkpoint.kit import ENV, look


@pytest.fixture
def store(tmp_path: Path) -> Contents:
    return Contents.open(tmp_path / "checkpoints.sqlite")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "out/deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("out\n*.log\n")
    (folder / "a").write_text("a")
    (folder / "out/one").write_text("one")
    (folder / "out/two").write_text("two")
    (folder / "x.log").write_text("log")
    return folder


def test_an_ignored_file_is_added_before_it_is_touched(root: Path, store: Contents) -> None:
    paths = [root / "out/one", root / "out/new/file", root / "y.log", root / "a"]
    before = take(root, store, known=None, env=ENV)
    added = extend(root, store, before.tree, paths)
    assert added is not None
    assert added.files == 1
    assert extend(root, store, added.tree, paths) is None
    was = look(root)
    (root / "a").write_text("changed")
    (root / "out/one").write_text("changed")
    (root / "out/two").write_text("changed by a command")
    (root / "out/new").mkdir()
    (root / "out/new/file").write_text("new")
    (root / "y.log").write_text("new")
    after = take(root, store, known=added.tree, touched=paths, env=ENV)
    became = look(root)
    assert compare(added.tree, after.tree).paths == ("a", "out/new/", "out/new/file", "out/one", "y.log")
    done = restore(root, store, want=added.tree, now=after.tree)
    assert (done.kept, done.failed) == ((), ())
    assert look(root) == was | {"out/two": became["out/two"]}
    now = take(root, store, known=after.tree, touched=paths, env=ENV)
    restore(root, store, want=after.tree, now=now.tree)
    assert look(root) == became


def test_what_a_command_did_to_ignored_files_is_named_and_left(root: Path, store: Contents) -> None:
    before = take(root, store, known=None, env=ENV)
    (root / "x.log").write_text("longer than before")
    shutil.rmtree(root / "out")
    (root / "z.log").write_text("new")
    after = take(root, store, known=before.tree, env=ENV)
    assert compare(before.tree, after.tree).ignored == ("out", "x.log", "z.log")
    assert compare(before.tree, after.tree).paths == ()
    seen = look(root)
    done = restore(root, store, want=before.tree, now=after.tree)
    assert (done.written, done.deleted) == (0, 0)
    assert look(root) == seen


def test_a_file_that_was_ignored_is_not_deleted_when_it_no_longer_is(root: Path, store: Contents) -> None:
    before = take(root, store, known=None, env=ENV)
    (root / ".gitignore").write_text("")
    (root / "new").write_text("new")
    after = take(root, store, known=before.tree, beside=before.tree, env=ENV)
    done = restore(root, store, want=before.tree, now=after.tree)
    assert set(done.kept) >= {"out/one", "out/two", "x.log"}
    assert not (root / "new").exists()
    assert (root / "out/one").read_text() == "one"
    assert (root / "x.log").read_text() == "log"
    assert (root / ".gitignore").read_text() == "out\n*.log\n"


def test_a_file_that_becomes_ignored_stays_covered(root: Path, store: Contents) -> None:
    (root / "data").mkdir()
    (root / "data/kept").write_text("kept")
    before, was = take(root, store, known=None, env=ENV), look(root)
    (root / ".gitignore").write_text("*\n")
    (root / "data/kept").write_text("changed")
    (root / "a").unlink()
    after, became = take(root, store, known=before.tree, beside=before.tree, env=ENV), look(root)
    done = restore(root, store, want=before.tree, now=after.tree)
    assert (done.kept, done.failed) == ((), ())
    assert look(root) == was
    now = take(root, store, known=after.tree, beside=after.tree, env=ENV)
    restore(root, store, want=after.tree, now=now.tree)
    assert look(root) == became


def test_a_file_that_no_checkpoint_holds_is_never_written_over(root: Path, store: Contents) -> None:
    before = take(root, store, known=None, env=ENV)
    (root / "a").write_text("by the turn")
    after = take(root, store, known=before.tree, env=ENV)
    (root / "a").write_text("by the person, after it")
    (root / "b").write_text("new by the person")
    done = restore(root, store, want=before.tree, now=after.tree)
    assert done.kept == ("a",)
    assert (root / "a").read_text() == "by the person, after it"
    assert (root / "b").exists()


def test_special_files_and_large_ones_are_named_and_never_read(root: Path, store: Contents) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
    with (root / "sparse").open("wb") as file:
        file.truncate(10 << 30)
    with (root / "x.log").open("wb") as file:
        file.truncate((10 << 20) + 1)
    before = take(root, store, known=None, touched=[root / "x.log"], env=ENV)
    assert before.uncovered == ("pipe", "socket", "sparse", "x.log")
    assert store.size() < 1 << 20
    again = take(root, store, known=before.tree, touched=[root / "x.log"], env=ENV)
    assert (again.uncovered, again.changed) == ((), 0)
    with (root / "sparse").open("r+b") as file:
        file.write(b"x")
    (root / "pipe").unlink()
    after = take(root, store, known=before.tree, touched=[root / "x.log"], env=ENV)
    assert set(after.uncovered) == {"pipe", "sparse"}
    assert compare(before.tree, after.tree).uncovered == ("pipe", "sparse")
    restore(root, store, want=before.tree, now=after.tree)
    assert (root / "sparse").stat().st_size == 10 << 30


@pytest.mark.parametrize("limits", [Limits(files=20), Limits(total=100)])
def test_a_folder_that_is_too_large_covers_what_is_touched(root: Path, store: Contents, limits: Limits) -> None:
    for number in range(30):
        (root / f"file{number}").write_text("ten bytes.")
    paths = [root / "file3", root / "out/one", root / "new"]
    before = take(root, store, known=None, touched=paths, env=ENV, limits=limits)
    assert before.narrow
    assert before.files == 2
    for path in (*paths, root / "file4", root / "made"):
        path.write_text("changed")
    after = take(root, store, known=before.tree, touched=paths, env=ENV, limits=limits)
    done = restore(root, store, want=before.tree, now=after.tree)
    assert not (root / "new").exists()
    assert [(root / name).read_text() for name in ("file3", "out/one")] == ["ten bytes.", "one"]
    assert [(root / name).read_text() for name in ("file4", "made")] == ["changed", "changed"]
    assert (done.written, done.deleted) == (2, 1)
    again = take(root, store, known=after.tree, touched=paths, env=ENV)  # no look at all of it each time
    assert again.narrow
    for _ in range(20):
        again = take(root, store, known=again.tree, touched=paths, env=ENV)
    assert not again.narrow
    whole = take(root, store, known=None, touched=paths, env=ENV)  # it shrank: nothing that is new to it goes
    done = restore(root, store, want=before.tree, now=whole.tree)
    assert done.deleted == 0
    assert (root / "file4").exists()


def test_only_some_paths_are_given_back(root: Path, store: Contents) -> None:
    (root / "sub").mkdir()
    (root / "sub/x").write_text("x")
    before = take(root, store, known=None, env=ENV)
    (root / "sub/x").write_text("changed")
    (root / "sub/y").write_text("new")
    (root / "a").write_text("changed")
    after = take(root, store, known=before.tree, env=ENV)
    done = restore(root, store, want=before.tree, now=after.tree, only=["sub/"])
    assert set(done.paths) == {"sub/x", "sub/y"}
    assert (root / "a").read_text() == "changed"


def test_git_s_own_data_is_not_touched_and_its_loss_is_named(root: Path, store: Contents) -> None:
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / "nested/.git").mkdir(parents=True)
    (root / "nested/.git/HEAD").write_text("x")
    (root / "nested/file").write_text("x")
    before = take(root, store, known=None, env=ENV)
    shutil.rmtree(root / "nested")
    (root / ".git/HEAD").write_text("ref: refs/heads/other\n")
    after = take(root, store, known=before.tree, env=ENV)
    assert after.uncovered == compare(before.tree, after.tree).uncovered == ("nested/.git",)
    restore(root, store, want=before.tree, now=after.tree)
    assert (root / "nested/file").read_text() == "x"
    assert not (root / "nested/.git").exists()
    assert (root / ".git/HEAD").read_text() == "ref: refs/heads/other\n"


def test_a_root_that_cannot_be_read_is_told(tmp_path: Path, store: Contents) -> None:
    with pytest.raises(UserError) as told:
        take(tmp_path / "gone", store, known=None, env=ENV)
    assert told.value.key == "checkpoints.no_root"


def test_taking_stops_between_files(root: Path, store: Contents) -> None:
    calls = iter(range(1))

    def check() -> None:
        if next(calls, None) is None:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        take(root, store, known=None, env=ENV, check=check)
    assert store.rows() == []
    assert take(root, store, known=None, env=ENV).files == 2
