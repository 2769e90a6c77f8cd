"""Killed at any moment, in taking and in restoring: files are whole, and the next run makes all right."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gongfu.store.contents import CheckpointRow, Contents
from gongfu.workspace.checkpoint import Taken, compare, restore, take
from tests.workspace.checkpoint.kit import ENV, look

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
FILES = 150


def fill(root: Path, mark: str) -> None:
    for number in range(FILES):
        folder = root / f"{mark if number % 3 else 'both'}{number % 5}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}").write_text(f"{mark} {number} " * 50)


def killed(act: Callable[[], None], after: float) -> None:
    """Run something over and over in a process that is killed after some seconds."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                act()
        finally:
            os._exit(1)
    time.sleep(after)  # the moment of the kill is what is tried, nothing is waited for
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def rounds(tmp_path: Path, count: int) -> None:
    root, file = tmp_path / "root", tmp_path / "checkpoints.sqlite"
    chance = random.Random(7)
    fill(root, "first")
    with Contents.open(file) as store:
        first, one = take(root, store, known=None, env=ENV), look(root)
        for path in sorted(root.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        fill(root, "second")
        second, two = take(root, store, known=None, env=ENV), look(root)
        for name, taken in (("k_1", first), ("k_2", second)):
            store.save(CheckpointRow(id=name, session="s", root=str(root)), taken.tree)
    contents = {(path, seen[2]) for seens in (one, two) for path, seen in seens.items()}

    def swing() -> None:
        with Contents.open(file) as inner:
            for want in (first, second):
                now = take(root, inner, known=want.tree, env=ENV)
                restore(root, inner, want=want.tree, now=now.tree)

    def keep() -> None:
        with Contents.open(file) as inner:
            (root / "both0" / "file0").write_text(f"first {time.time_ns()}")
            taken = take(root, inner, known=None, env=ENV)
            inner.save(CheckpointRow(id=f"k_{time.time_ns()}", session="t", root=str(root)), taken.tree)

    def whole(want: Taken, expected: object) -> None:
        with Contents.open(file) as inner:
            now = take(root, inner, known=inner.latest_tree(str(root)), env=ENV)
            assert restore(root, inner, want=want.tree, now=now.tree).failed == ()
            assert look(root) == expected or all(".gongfu-" in path for path in set(look(root)) - set(two) - set(one))
            again = take(root, inner, known=None, env=ENV)
            assert compare(want.tree, again.tree).paths == ()

    for number in range(count):
        killed(swing, chance.uniform(0.02, 0.3))
        for path, seen in look(root).items():
            assert ".gongfu-" in path or (path, seen[2]) in contents
        whole(*((first, one) if number % 2 else (second, two)))
        killed(keep, chance.uniform(0.02, 0.3))
        with Contents.open(file) as store:
            now = take(root, store, known=None, env=ENV).tree
            for row in store.rows(session="t", limit=5):
                held = {p for p in compare(now, store.tree(row.id)).paths if not p.endswith("/")}
                assert held <= set(compare(store.tree(row.id), now).paths)
                restore(root, store, want=store.tree(row.id), now=now, only=sorted(held))
                now = take(root, store, known=None, env=ENV).tree
        whole(first, one)


def test_a_kill_leaves_whole_files_and_whole_checkpoints(tmp_path: Path) -> None:
    rounds(tmp_path, 4)


@pytest.mark.soak
def test_many_kills(tmp_path: Path) -> None:
    rounds(tmp_path, 200)
