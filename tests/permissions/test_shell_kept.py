"""Removing what no undo brings back is grave; what a tool makes again is not missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rate, build_workspace, rater


@pytest.fixture(scope="module")
def rate(tmp_path_factory: pytest.TempPathFactory) -> Rate:
    workspace = build_workspace(tmp_path_factory.mktemp("kept"))
    root = workspace.root
    (root / ".gitignore").write_text("data/\n*.log\nnotes.local\n*.db\n*.json\nnode_modules\n")
    for name in ("data/sub", "node_modules/x", "src/data", "inner/.git", "build/data", "plain"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("data/f", "notes.local", "x.log", "app.db", "out.json", "plain/f", "src/data/f"):
        (root / name).write_text("x\n")
    (root / "l").symlink_to("data")
    return rater(workspace)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf data", "rm -r ./data/", "rm -rf data/sub", "rm data/f", "rm data/*", "rm notes.local", "rm *.local",
        "unlink notes.local", "rm -rf src/data", "cd data && rm f", "rm -rf inner", "d=data; rm -rf $d", "rm app.db",
        "for f in data/*; do rm $f; done", "> app.db", ": >| app.db", "truncate -s 0 app.db", "cp a.txt app.db",
        "tee app.db < a.txt", "mv a.txt app.db", "cd src; rm -rf data", "bash -c 'rm -rf data'", "rm -rf l/sub",
    ],
)  # fmt: skip
def test_what_is_not_kept_is_not_removed_freely(rate: Rate, command: str) -> None:
    assert "destructive" in rate(command).ratings


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf plain", "rm a.txt", "rm -rf node_modules build", "rm x.log", "rm *.log", "rm -rf build/data", "rm l",
        "rm missing.local", "> x.log", "echo x > out.json", "echo x >> app.db", "cp app.db b.txt", "tee -a app.db",
    ],
)  # fmt: skip
def test_what_is_kept_or_made_again_is_removed_as_before(rate: Rate, command: str) -> None:
    assert rate(command).ratings <= {"read", "write"}


def test_nothing_of_another_folder_is_read_for_that(tmp_path: Path) -> None:
    rate = rater(build_workspace(tmp_path))
    assert "outside" in rate("rm out/data.txt").ratings
