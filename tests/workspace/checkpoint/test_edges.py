"""Restoring where something is in the way: rights, full disks, links, other names, damage."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gongfu.core.errors import UserError
from gongfu.store.contents import Contents
from gongfu.workspace.checkpoint import places, restore, take
from tests.store.conftest import fill
from tests.workspace.checkpoint.kit import ENV, look


@pytest.fixture
def store(tmp_path: Path) -> Contents:
    return Contents.open(tmp_path / "checkpoints.sqlite")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder / "sub/b").write_text("b")
    return folder


@pytest.mark.parametrize("held", [64, 1])
def test_an_ordinary_user_gets_back_what_is_locked(
    commons: Path, as_nobody: Callable[..., None], monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(places, "_OPEN", held)  # folders that are open at a time

    def act() -> None:
        root = commons / "root"
        (root / "locked/deep").mkdir(parents=True)
        (root / "locked/file").write_text("in a locked folder")
        (root / "locked/deep/file").write_text("deeper")
        (root / "locked/file").chmod(0o400)
        (root / "locked/deep").chmod(0o555)
        (root / "locked").chmod(0o555)
        (root / "secret").write_text("secret")
        (root / "secret").chmod(0o600)
        (root / "program").write_text("program")
        (root / "program").chmod(0o4755)
        store = Contents.open(commons / "checkpoints.sqlite")
        was = look(root)
        before = take(root, store, known=None, env=ENV)
        assert before.uncovered == ()
        (root / "locked").chmod(0o755)
        (root / "locked/deep").chmod(0o755)
        (root / "locked/file").unlink()
        shutil.rmtree(root / "locked/deep")
        (root / "locked/new").write_text("new")
        (root / "locked").chmod(0o500)
        (root / "secret").chmod(0o644)
        (root / "program").write_text("changed")
        became = look(root)
        after = take(root, store, known=before.tree, env=ENV)
        done = restore(root, store, want=before.tree, now=after.tree)
        assert (done.failed, done.kept) == ((), ())
        assert look(root) == was
        now = take(root, store, known=after.tree, env=ENV)
        assert restore(root, store, want=after.tree, now=now.tree).failed == ()
        assert look(root) == became

    as_nobody(act)


def test_what_cannot_be_read_is_named_and_never_taken_for_gone(commons: Path, as_nobody: Callable[..., None]) -> None:
    def act() -> None:
        root = commons / "root"
        (root / "shut").mkdir(parents=True)
        (root / "shut/inside").write_text("inside")
        (root / "file").write_text("file")
        store = Contents.open(commons / "checkpoints.sqlite")
        was = look(root)
        before = take(root, store, known=None, env=ENV)
        (root / "shut").chmod(0)
        (root / "file").chmod(0)
        after = take(root, store, known=before.tree, env=ENV)
        assert set(after.uncovered) == {"shut", "file"}
        done = restore(root, store, want=before.tree, now=after.tree)
        assert done.failed == ()
        (root / "file").chmod(0o644)
        assert look(root) == was
        shut = take(root, store, known=before.tree, env=ENV)
        assert restore(root, store, want=after.tree, now=shut.tree).deleted == 0  # `after` does not know `shut/inside`
        (root / "shut").chmod(0o755)
        assert (root / "shut/inside").read_text() == "inside"

    as_nobody(act)


def test_a_folder_of_somebody_else_fails_in_words_and_the_rest_is_done(
    commons: Path, as_nobody: Callable[..., None]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder of somebody else")
    root = commons / "root"
    (root / "theirs").mkdir(parents=True)
    (root / "theirs/file").write_text("old")
    (root / "mine").write_text("old")
    store = Contents.open(commons / "checkpoints.sqlite")
    before = take(root, store, known=None, env=ENV)
    for name in ("theirs/file", "mine"):
        (root / name).write_text("new")
    root.chmod(0o777)
    (root / "mine").chmod(0o666)
    store.close()
    (commons / "checkpoints.sqlite").chmod(0o666)

    def act() -> None:
        mine = Contents.open(commons / "checkpoints.sqlite")
        now = take(root, mine, known=before.tree, env=ENV)
        done = restore(root, mine, want=before.tree, now=now.tree, only=["theirs", "mine"])
        assert [path for path, _ in done.failed] == ["theirs/file"]
        assert done.paths == ("mine",)
        assert (root / "theirs/file").read_text() == "new"

    as_nobody(act)


def test_a_folder_that_became_a_link_leads_nowhere(root: Path, store: Contents, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b").write_text("not ours")
    before = take(root, store, known=None, env=ENV)
    (root / "sub/b").write_text("changed")
    after = take(root, store, known=before.tree, env=ENV)
    (root / "sub/b").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)  # after the last look: the plan still believes in a folder
    done = restore(root, store, want=before.tree, now=after.tree)
    assert (outside / "b").read_text() == "not ours"
    assert sorted(outside.iterdir()) == [outside / "b"]
    assert [*(path for path, _ in done.failed), *done.kept] == ["sub/b"]
    now = take(root, store, known=after.tree, env=ENV)
    assert restore(root, store, want=before.tree, now=now.tree).failed == ()
    assert (root / "sub/b").read_text() == "b"
    assert (outside / "b").read_text() == "not ours"


def test_without_descriptors_of_folders_the_paths_are_checked(
    root: Path, store: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_CAN", False)  # as on Windows
    test_a_folder_that_became_a_link_leads_nowhere(root, store, tmp_path)
    was, before = look(root), take(root, store, known=None, env=ENV)
    shutil.rmtree(root / "sub")
    (root / "sub").write_text("a file")
    (root / "a").unlink()
    (root / "a").mkdir()
    (root / "a/link").symlink_to("gone")
    after = take(root, store, known=before.tree, env=ENV)
    assert restore(root, store, want=before.tree, now=after.tree).failed == ()
    assert look(root) == was


def test_other_names_of_a_file_keep_what_they_have_and_are_told(root: Path, store: Contents) -> None:
    (root / "other").hardlink_to(root / "a")
    before = take(root, store, known=None, env=ENV)
    (root / "a").write_text("changed")
    after = take(root, store, known=before.tree, env=ENV)
    done = restore(root, store, want=before.tree, now=after.tree)
    assert set(done.unlinked) == {"a"}
    assert [(root / name).read_text() for name in ("a", "other")] == ["a", "a"]


def test_a_mode_alone_is_given_back_in_place(root: Path, store: Contents) -> None:
    before = take(root, store, known=None, env=ENV)
    (root / "a").chmod(0o640)
    inode = (root / "a").stat().st_ino
    after = take(root, store, known=before.tree, env=ENV)
    assert restore(root, store, want=before.tree, now=after.tree).paths == ("a",)
    assert ((root / "a").stat().st_ino, stat.S_IMODE((root / "a").stat().st_mode)) == (inode, 0o644)


def test_a_mode_is_not_given_back_to_another_name_of_the_file(root: Path, store: Contents) -> None:
    for name, mode in (("one", 0o444), ("two", 0o644)):
        (root / name).write_text("same")
        (root / name).chmod(mode)
    was, before = look(root), take(root, store, known=None, env=ENV)
    (root / "one").unlink()
    (root / "one").hardlink_to(root / "two")
    (root / "two").chmod(0o600)
    after = take(root, store, known=before.tree, env=ENV)
    assert restore(root, store, want=before.tree, now=after.tree).failed == ()
    assert look(root) == was


def test_files_of_another_user_stay_theirs_when_root_restores(root: Path, store: Contents) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in (root, root / "sub", root / "a", root / "sub/b"):
        os.chown(path, 65534, 65534)
    before = take(root, store, known=None, env=ENV)
    (root / "a").write_text("changed")
    (root / "sub/b").unlink()
    after = take(root, store, known=before.tree, env=ENV)
    restore(root, store, want=before.tree, now=after.tree)
    assert {(root / name).stat().st_uid for name in ("a", "sub/b")} == {65534}


def test_a_full_disk_leaves_whole_files_and_restoring_again_goes_on(small_disk: Path, tmp_path: Path) -> None:
    root = small_disk / "root"
    root.mkdir()
    for number in range(40):
        (root / f"file{number}").write_bytes(bytes([number]) * 8000)
    store = Contents.open(tmp_path / "checkpoints.sqlite")
    was, before = look(root), take(root, store, known=None, env=ENV)
    for number in range(40):
        (root / f"file{number}").write_text("short")
    after = take(root, store, known=before.tree, env=ENV)
    filler = fill(small_disk)
    with filler.open("r+b") as file:
        file.truncate(filler.stat().st_size - 100_000)
    done = restore(root, store, want=before.tree, now=after.tree)
    assert done.failed
    assert done.written
    for path, (_, _, content) in look(root).items():
        assert not path or content in (b"short", was[path][2])
    filler.unlink()
    again = restore(root, store, want=before.tree, now=after.tree)
    assert again.failed == ()
    assert again.written + done.written == 40
    assert look(root) == was


def test_a_full_disk_of_the_store_is_told_and_keeps_what_was(small_disk: Path, root: Path) -> None:
    store = Contents.open(small_disk / "checkpoints.sqlite")
    before = take(root, store, known=None, env=ENV)
    (root / "large").write_bytes(os.urandom(2 << 20))
    with pytest.raises(UserError) as told:
        take(root, store, known=before.tree, env=ENV)
    assert told.value.key == "store.full"
    (small_disk / "other").write_bytes(b"x" * (200 << 10))  # others have room to go on
    (small_disk / "other").unlink()
    (root / "large").unlink()
    (root / "a").unlink()
    after = take(root, store, known=before.tree, env=ENV)
    assert restore(root, store, want=before.tree, now=after.tree).paths == ("a",)


@pytest.mark.parametrize("damage", ["gone", "other bytes", "not packed", "cut", "garbage"])
def test_a_damaged_store_is_told_and_nothing_is_touched(
    root: Path, store: Contents, tmp_path: Path, damage: str
) -> None:
    (root / "a").write_text("long enough to be packed " * 20)
    (root / "c").write_text("another")
    before = take(root, store, known=None, env=ENV)
    for name in ("a", "c", "sub/b"):
        (root / name).write_text("changed")
    after = take(root, store, known=before.tree, env=ENV)
    seen = look(root)
    store.close()
    file = tmp_path / "checkpoints.sqlite"
    if damage in ("cut", "garbage"):
        raw = file.read_bytes()
        file.write_bytes(raw[: len(raw) // 2] if damage == "cut" else b"\x13\x37" * (len(raw) // 2))
    else:
        with sqlite3.connect(file) as connection:
            connection.execute({
                "gone": "DELETE FROM content WHERE packed = 1",
                "other bytes": "UPDATE content SET data = x'00', packed = 0",
                "not packed": "UPDATE content SET packed = 1",
            }[damage])  # fmt: skip
    with pytest.raises(UserError) as told:
        restore(root, Contents.open(file), want=before.tree, now=after.tree)
    assert told.value.key.startswith("checkpoints.")
    assert look(root) == seen


def test_what_is_no_tree_is_told(root: Path, store: Contents) -> None:
    now = take(root, store, known=b"nonsense", env=ENV).tree
    for data in (b"", b"nonsense", b"\x90", b"\x91\x91\x02", b"\x92\x91\x01\x94\xc4\x00\x00\x00\x91\xc4\x01a"):
        with pytest.raises(UserError):
            restore(root, store, want=data, now=now)


def test_what_a_killed_run_left_is_cleared_and_never_covered(root: Path, store: Contents) -> None:
    (root / ".gongfu-0123456789abcdef.tmp").write_text("half")
    before = take(root, store, known=None, env=ENV)
    assert before.files == 2
    (root / "a").write_text("changed")
    (root / "made").mkdir()
    (root / "made/.gongfu-0123456789abcdef.tmp").write_text("half")
    after = take(root, store, known=before.tree, env=ENV)
    restore(root, store, want=before.tree, now=after.tree)
    assert sorted(look(root)) == ["", "a", "sub", "sub/b"]
