"""A workspace for the ratings of command lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from gongfu.core.words.permissions import TEXT
from gongfu.permissions.rating import Line
from gongfu.permissions.shell import rate_line
from gongfu.workspace.root import Workspace

Rate: TypeAlias = Callable[[str], Line]


def build_workspace(folder: Path) -> Workspace:
    """A small project with a secret, and with links that lead out of it and to the secret."""
    root, outside = folder / "project", folder / "elsewhere"
    for name in ("src/deep", ".git/hooks", "build", "tests"):
        (root / name).mkdir(parents=True)
    outside.mkdir()
    for name in ("a.txt", "src/main.py", "src/x.pyc", "run.sh", "Makefile", "msg", ".env", ".git/config"):
        (root / name).write_text("x\n")
    (outside / "data.txt").write_text("x\n")
    (root / "out").symlink_to(outside)
    (root / "link-env").symlink_to(root / ".env")
    return Workspace(root, root)


def rater(workspace: Workspace) -> Rate:
    """Rates lines that start at the root of the workspace."""

    def rate(command: str) -> Line:
        env = {"HOME": "/home/me", "PATH": "/usr/local/bin:/usr/bin:/bin"}
        return rate_line(command, cwd=workspace.root, workspace=workspace, env=env, windows=False)

    return rate


@pytest.fixture
def rate(tmp_path: Path) -> Rate:
    """Rates a line in a fresh workspace."""
    return rater(build_workspace(tmp_path))


@pytest.fixture(scope="module")
def rate_often(tmp_path_factory: pytest.TempPathFactory) -> Rate:
    """The same in a workspace that the tests of a module share; rating changes nothing."""
    return rater(build_workspace(tmp_path_factory.mktemp("rated")))


def check_rating(line: Line, ratings: str) -> None:
    """A row of a table: what a whole line is rated, in the order of the alphabet, and that all of it can be told."""
    assert " ".join(sorted(line.ratings)) == ratings, line
    assert ("unknown" in line.ratings) or not line.problem
    assert all(not part.why or part.why in TEXT for part in line.parts), line
