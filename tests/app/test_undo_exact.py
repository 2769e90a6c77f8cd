"""Undo over random changes: exact when nobody else was there, and never at the cost of what somebody else changed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.app.give_back import Given, Step, give_back, preview
from gongfu.app.shelf import Place, Shelf, keep_after, keep_before

from .undoing import picture

NAMES = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "é", "ignored"]
KINDS = ["write", "remove", "mode", "link", "folder", "rename", "append"]
change = st.tuples(st.sampled_from(KINDS), st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 3))
changes = st.lists(change, max_size=8)


def alter(root: Path, kind: str, name: str, other: str, number: int) -> None:
    """One change, as far as it is possible."""
    path = root / name
    try:
        if kind == "remove":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        elif kind == "mode" and not path.is_symlink():
            path.chmod((0o600, 0o644, 0o755, 0o700)[number])
        elif kind == "rename":
            path.rename(root / other)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "write":
                path.write_text(f"{number}\n")
            elif kind == "append":
                with path.open("a") as file:
                    file.write(f"{number}\n")
            elif kind == "link":
                path.symlink_to(other)
            elif kind == "folder":
                path.mkdir()
    except OSError:
        pass


@settings(max_examples=40, deadline=None)
@given(first=changes, turn=changes, person=changes, force=st.booleans())
def test_random_changes(first: list, turn: list, person: list, force: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder)) / "work"
        root.mkdir()
        (root / ".gitignore").write_text("/ignored\n")
        place = Place(root=root, store=root.parent / "home/checkpoints.sqlite", env={})
        touched = [str(root / "ignored")]
        for one in first:
            alter(root, *one)
        with Shelf(place) as shelf:
            kept = keep_before(shelf, "s", "t", touched)
            before = picture(root)
            for one in turn:
                alter(root, *one)
            after = picture(root)
            done, changed = keep_after(shelf, kept, touched)
        if not changed:
            assert {k: v for k, v in before.items() if k != "ignored"} == {
                k: v for k, v in after.items() if k != "ignored"
            }
            return

        def back(was: bytes, want: bytes, *, force: bool = False) -> Given:
            def steps(shelf: Shelf) -> list[Step]:
                return [Step(checkpoint="k", was=was, want=want)]

            async def run() -> Given:
                wanted = Given(action="undo", session="s")
                shown = await preview(place, steps, wanted, force=force)
                given, _ = await give_back(place, steps, wanted, force=force)
                assert (given.marks, given.failed) == (shown.marks, ())
                assert set(given.kept) >= set(shown.kept)
                return given

            return anyio.run(run)

        assert not back(done.tree, kept.tree).kept
        assert picture(root) == before
        back(kept.tree, done.tree)
        assert picture(root) == after

        for one in person:
            alter(root, *one)
        mine = picture(root)
        given = back(done.tree, kept.tree, force=force)
        left = picture(root)
        for path in {*before, *after, *mine, *left}:
            if path in given.marks:
                continue
            assert left.get(path) == mine.get(path), path
        if not force:
            for path in given.marks:
                assert mine.get(path) == after.get(path), path
                assert left.get(path) == before.get(path), path
        if given.done:
            with Shelf(place) as shelf:
                until, since = shelf.tree(given.before), shelf.tree(shelf.behind(given.before, "s"))
            back(since, until)
            assert picture(root) == mine
