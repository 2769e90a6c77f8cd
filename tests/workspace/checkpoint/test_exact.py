"""Whatever was done to a folder, a checkpoint gives it back to the byte, and what came after it as well."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from gongfu.store.contents import Contents
from gongfu.workspace.checkpoint import compare
from tests.workspace.checkpoint.kit import Desk, Edit, begin, edits, look, play, split, template

_NUMBER = itertools.count()


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all folders of this module lie."""
    folder = tmp_path_factory.mktemp("exact")
    template(folder / "template")
    return folder


def exact(ground: Path, git: Path | None, first: list[Edit], second: list[Edit]) -> None:
    """`first` makes the folder, `second` is the turn; it is undone, redone and undone again."""
    place = ground / f"n{next(_NUMBER)}"
    place.mkdir()
    root = place / "work"
    begin(root, git)
    play(root, first)
    with Contents.open(place / "checkpoints.sqlite") as store:
        desk = Desk(root, store)
        before, was = desk.take(), look(root)
        play(root, second)
        after, became = desk.take(before.tree), look(root)
        expected = split(was, git=git is not None)[0] | split(became, git=git is not None)[1]
        for _ in range(2):
            undone = desk.restore(before, after)
            assert not undone.failed
            assert look(root) == expected
            again = desk.take(after.tree)
            assert compare(before.tree, again.tree).paths == ()
            redone = desk.restore(after, again)
            assert not redone.failed
            assert look(root) == became
            after = desk.take(before.tree)
        assert set(undone.paths) == set(redone.paths)
    assert not (ground / "canary").exists()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=edits(), second=edits())
def test_in_a_repository(ground: Path, first: list[Edit], second: list[Edit]) -> None:
    exact(ground, ground / "template/.git", first, second)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=edits(), second=edits())
def test_outside_any_repository(ground: Path, first: list[Edit], second: list[Edit]) -> None:
    exact(ground, None, first, second)


def readable(script: list[Edit]) -> list[Edit]:
    """The same without modes that keep the test itself from looking."""
    return [(*edit[:-1], edit[-1] | 0o500) if edit[0] in ("write", "chmod") else edit for edit in script]


def test_as_an_ordinary_user(commons: Path, as_nobody: Callable[[Callable[[], None]], None]) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(first=edits(), second=edits())
    def run(first: list[Edit], second: list[Edit]) -> None:
        exact(commons, commons / "template/.git", readable(first), readable(second))

    def act() -> None:
        template(commons / "template")
        run()

    as_nobody(act)


@pytest.mark.soak
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=edits(), second=edits())
def test_for_long(ground: Path, first: list[Edit], second: list[Edit]) -> None:
    exact(ground, ground / "template/.git", first, second)
