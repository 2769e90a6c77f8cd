"""Which files of a workspace are offered."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gongfu.surfaces.cli.talk.files import Files, beside, leads_out
from gongfu.workspace.root import Workspace


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (1e9, 1e9))


def every(workspace: Workspace, most: int = 100_000) -> list[str]:
    files = Files(workspace, most=most)
    found = files.now(20)
    while not found.whole:
        time.sleep(0.002)
        found = files.now()
    return [path for block in found.blocks for path in block.paths]


def test_ignored_barred_and_outer_files_are_never_offered(tmp_path: Path) -> None:
    root, out = tmp_path / "work", tmp_path / "out"
    make(root, ".git/HEAD", ".gitignore", "a.py", "build/x.o", "deep/b.log", "deep/b.py", "keys/one.pem", "x\x1b[2J.py")
    make(root, "private/only.txt", "文档/设计 一.md", "空 格/🙂.txt", ".github/ci.yml")
    make(out, "secret.txt")
    (root / ".gitignore").write_text("build/\n*.log\n")
    workspace = Workspace(root, root)
    workspace.barred = lambda path: path.endswith(".pem") or f"{os.sep}private{os.sep}" in path + os.sep
    if sys.platform != "win32":
        (root / "link").symlink_to(out)
        (root / "linked.txt").symlink_to(out / "secret.txt")
        (root / "to_key").symlink_to(root / "keys" / "one.pem")
    offered = every(workspace)
    assert sorted(offered) == [
        ".github/", ".github/ci.yml", ".gitignore", "a.py", "deep/", "deep/b.py", "文档/", "文档/设计 一.md", "空 格/",
        "空 格/🙂.txt",
    ]  # fmt: skip
    assert offered[-1] == ".github/ci.yml", "names with a leading dot come last"
    assert beside(workspace, "keys/", 10) == []
    assert beside(workspace, "to_", 10) == []


def test_what_was_changed_lately_comes_first_but_not_a_fresh_checkout(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "longer_name.py", "deep/er/c.py")
    workspace = Workspace(tmp_path, tmp_path)
    assert every(workspace) == ["a.py", "deep/", "longer_name.py", "deep/er/", "deep/er/c.py"]
    os.utime(tmp_path / "deep/er/c.py", None)
    assert every(workspace)[0] == "deep/er/c.py"
    for path in tmp_path.rglob("*.py"):
        os.utime(path, None)
    assert every(workspace)[0] != "deep/er/c.py"


def test_paths_lead_from_the_working_directory_and_to_further_folders(tmp_path: Path) -> None:
    root, other = tmp_path / "work", tmp_path / "other"
    make(root, "top.txt", "sub/in.txt", "side/s.txt")
    make(other, "o.txt")
    workspace = Workspace(root, root / "sub", extra=(other,))
    offered = [path for path in every(workspace) if not path.endswith("/")]
    assert {workspace.locate(path).path for path in offered} == {
        root / "top.txt", root / "sub" / "in.txt", root / "side" / "s.txt", other / "o.txt"
    }  # fmt: skip
    assert "../sub/in.txt" not in offered


def test_there_is_a_bound_and_it_is_told(tmp_path: Path) -> None:
    make(tmp_path, *(f"d{n // 10}/f{n}.txt" for n in range(50)))
    files = Files(Workspace(tmp_path, tmp_path), most=20)
    found = files.now(20)
    assert (found.count, found.more) == (20, True)


def test_what_is_known_serves_while_it_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.surfaces.cli.talk.files._FRESH", 0.0)
    monkeypatch.setattr("gongfu.surfaces.cli.talk.files._REST", 0.0)
    make(tmp_path, "a.txt")
    files = Files(Workspace(tmp_path, tmp_path))
    assert files.find("a", 5, wait=20) == ["a.txt"]
    make(tmp_path, "ab.txt")
    for _ in range(2000):
        if len(files.find("a", 5)) == 2:
            break
        time.sleep(0.002)
    assert files.find("a", 5) == ["a.txt", "ab.txt"]


def test_a_path_that_leads_out_is_gone_on_with_from_its_folder(tmp_path: Path) -> None:
    root = tmp_path / "here"
    make(root, "a.txt")
    make(tmp_path, "next/one.txt", "next/two.txt")
    workspace = Workspace(root, root)
    assert beside(workspace, "../next/o", 10) == ["../next/one.txt"]
    assert beside(workspace, f"{tmp_path.as_posix()}/ne", 10) == [f"{tmp_path.as_posix()}/next/"]
    assert [leads_out(workspace, p) for p in ("../n", f"{root}/a", "a", "../here/a")] == [True, False, False, False]
