"""A change is seen also where the status of a file hides it; what did not change is not read."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from gongfu.store.contents import Contents
from gongfu.workspace.checkpoint import compare, take
from gongfu.workspace.checkpoint.reading import item_of, unchanged
from gongfu.workspace.checkpoint.tree import FILE, UNSETTLED, Tree
from tests.workspace.checkpoint.kit import ENV


class Counting:
    """A store that counts what is offered to it: each file that is read comes here."""

    def __init__(self, store: Contents) -> None:
        self.store = store
        self.offered = 0

    def missing(self, digests: Collection[bytes]) -> set[bytes]:
        self.offered += len(digests)
        return self.store.missing(digests)

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> int:
        return self.store.put(items)

    def get(self, digest: bytes) -> bytes:
        return self.store.get(digest)


@pytest.fixture
def store(tmp_path: Path) -> Counting:
    return Counting(Contents.open(tmp_path / "checkpoints.sqlite"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    for number in range(40):
        (folder / f"file{number}").write_text(f"content {number:02}")
    return folder


def settle(root: Path) -> None:
    """Wait until the clock has ticked away from every change, so that only what is touched is read again."""
    newest = max(entry.stat().st_ctime_ns for entry in root.iterdir())
    while time.time_ns() < newest + 60_000_000:
        time.sleep(0.01)


def test_changes_within_one_tick_of_the_clock_are_seen(root: Path, store: Counting) -> None:
    tree = take(root, store, known=None, env=ENV).tree
    for turn in range(30):
        (root / "file7").write_text(f"content {turn + 50:02}")  # the same size, often the same time
        again = take(root, store, known=tree, env=ENV).tree
        assert compare(tree, again).paths == ("file7",)
        tree = again


def test_a_time_that_was_set_back_hides_nothing(root: Path, store: Counting) -> None:
    settle(root)
    tree = take(root, store, known=None, env=ENV).tree
    old = (root / "file1").stat()
    (root / "file1").write_text("CONTENT 01")
    os.utime(root / "file1", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert (root / "file1").stat().st_mtime_ns == old.st_mtime_ns
    assert compare(tree, take(root, store, known=tree, env=ENV).tree).paths == ("file1",)


def test_a_file_put_in_the_place_of_another_is_seen(root: Path, store: Counting) -> None:
    settle(root)
    tree = take(root, store, known=None, env=ENV).tree
    old = (root / "file1").stat()
    (root / "new").write_text("CONTENT 01")
    (root / "file1").unlink()
    (root / "new").rename(root / "file1")
    os.utime(root / "file1", ns=(old.st_atime_ns, old.st_mtime_ns))
    (root / "file2").rename(root / "kept")
    (root / "file3").rename(root / "file2")
    (root / "kept").rename(root / "file3")
    assert compare(tree, take(root, store, known=tree, env=ENV).tree).paths == ("file1", "file2", "file3")


def test_only_what_changed_is_read(root: Path, store: Counting) -> None:
    settle(root)
    tree = take(root, store, known=None, env=ENV).tree
    assert store.offered == 40
    store.offered = 0
    assert take(root, store, known=tree, env=ENV).tree == tree
    assert store.offered == 0
    (root / "file5").write_text("other")
    taken = take(root, store, known=tree, env=ENV)
    assert (store.offered, taken.changed) == (1, 1)


@pytest.mark.parametrize(
    ("behind", "settled"),
    [(10**9, True), (60_000_000, True), (5_000_000, False), (0, False), (-3600 * 10**9, False)],
)
def test_times_count_only_behind_the_tick_and_not_from_a_clock_that_was_ahead(
    root: Path, behind: int, settled: bool
) -> None:
    status = (root / "file0").stat()
    moment = status.st_ctime_ns if os.name != "nt" else status.st_mtime_ns
    if moment % 1_000_000 == 0:
        pytest.skip("this file system has no times finer than a millisecond")
    item = item_of(FILE, status, b"x" * 20, since=moment + behind)
    assert (item.inode != UNSETTLED) == settled
    assert unchanged(item, status) == settled


def test_a_file_that_changes_while_it_is_read_is_read_again_the_next_time(
    root: Path, store: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(root)
    real, growing = os.read, root / "file9"

    def read(descriptor: int, size: int) -> bytes:
        if os.fstat(descriptor).st_ino == growing.stat().st_ino:
            with growing.open("a") as file:
                file.write("+")
        return real(descriptor, size)

    with monkeypatch.context() as patched:
        patched.setattr(os, "read", read)
        tree = take(root, store, known=None, env=ENV).tree
    item = Tree(tree).item(b"file9")
    assert item is not None
    assert item.inode == UNSETTLED
    settle(root)
    now = Tree(take(root, store, known=tree, env=ENV).tree).item(b"file9")
    assert now is not None
    assert store.get(now.mark) == growing.read_bytes()
