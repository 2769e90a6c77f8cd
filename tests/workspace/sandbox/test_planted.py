"""What git obeys: a confined command can neither change nor make it, git's own work goes on or says why not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gongfu.workspace.sandbox.planted import absent, set_aside
from tests.workspace.sandbox.scene import USERS, Scene


def _outside(scene: Scene, *words: str, cwd: str = "") -> str:
    """Git as the person runs it: with all that the repository says."""
    env = {"PATH": os.environ["PATH"], "HOME": str(scene.home), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "safe.directory=*", "-c", "protocol.file.allow=always", *words]
    done = subprocess.run(command, cwd=scene.work / cwd, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _owned(scene: Scene) -> None:
    owner = scene.top.stat()
    for path in scene.top.rglob("*"):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


@pytest.fixture(params=USERS)
def scene(request: pytest.FixtureRequest, scene_folder: Path) -> Scene:
    """A repository with a submodule, a worktree and a nested repository."""
    scene = Scene(scene_folder, request.param)
    _populate(scene)
    return scene


def _populate(scene: Scene) -> None:
    _outside(scene, "init", "-q", str(scene.beside))
    _outside(scene, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "x", "--allow-empty",
             cwd="../beside")  # fmt: skip
    _outside(scene, "submodule", "-q", "add", str(scene.beside), "sub")
    _outside(scene, "add", "-A")
    _outside(scene, "commit", "-qm", "first")
    _outside(scene, "worktree", "add", "-q", "tree")
    _outside(scene, "init", "-q", "nested")
    _outside(scene, "config", "extensions.worktreeConfig", "true")
    _owned(scene)


EVIL = "printf '[core]\\n\\tfsmonitor = touch %s/owned; false\\n' $PWD"
PLANTS = (
    f"mkdir -p e/objects e/refs; {EVIL} > e/config; echo ref: refs/heads/main > e/HEAD; echo ../e > .git/commondir",
    f"{EVIL} > .git/config.worktree",
    f"{EVIL} > .git/worktrees/tree/config.worktree",
    f"{EVIL} > .git/modules/sub/config.worktree",
    f"{EVIL} >> .git/config",
    f"{EVIL} >> .git/modules/sub/config",
    f"{EVIL} >> nested/.git/config",
    "echo $PWD/e > .git/worktrees/tree/commondir; echo gitdir: $PWD/e > tree/.git; echo gitdir: $PWD/e > sub/.git",
    "mv .git/hooks h; mkdir .git/hooks",
    *(
        f"echo touch $PWD/owned > {h}/post-checkout; chmod +x {h}/post-checkout"
        for h in (".git/hooks", ".git/modules/sub/hooks", "nested/.git/hooks")
    ),
    "rm -rf nested/.git/hooks .git/modules/sub/hooks",
    "mv nested/.git nested/old; cp -r nested/old nested/.git",
    "mv .git/modules/sub .git/modules/old; mv .git/worktrees .git/old",
)
LOOKS = (("status",), ("checkout", "-q", "-B", "again"))


def _look_around(scene: Scene) -> bool:
    """Whether anything of the plants ran when the person used git in all four places."""
    for cwd in ("", "sub", "tree", "nested"):
        for words in LOOKS:
            _outside(scene, *words, cwd=cwd)
    return (scene.work / "owned").exists()


def test_nothing_runs_when_the_person_uses_git_afterwards(scene: Scene) -> None:
    told = scene.run(*PLANTS, kind="bwrap")
    assert not _look_around(scene), told
    assert [Path(p).name for done in told for p in done["aside"]] == ["commondir", *["config.worktree"] * 3]


@pytest.mark.parametrize("number", [0, 1, 4, 5, 6, 9, 10])
def test_the_plants_are_real(scene_folder: Path, number: int) -> None:
    scene = Scene(scene_folder, USERS[0])
    _populate(scene)
    scene.run(PLANTS[number], kind="bwrap", leave={"free": True})
    assert _look_around(scene)


WORK = (
    "echo 1 > one && git add one && git commit -qm second && git status --short",
    "git checkout -qb other && echo 2 > one && git commit -qam third && git checkout -q - && git merge -q other",
    "echo 3 > one && git stash -q && git stash pop -q && git checkout -q one",
    "echo 4 > two && git add two && git commit -qm fourth && git rebase -q HEAD~1 && git rebase -qf HEAD~2",
    "git worktree add -q wt && git -C wt commit -q --allow-empty -m in && git worktree list | wc -l",
    "git -C sub commit -q --allow-empty -m in && git -C nested commit -q --allow-empty -m in && git gc -q",
    "git tag t && git reset -q --hard t && git branch -D other && git bundle create -q b HEAD && rm b",
)


def test_the_work_of_git_goes_on(scene: Scene) -> None:
    who = {f"GIT_{kind}_{name}": value for kind in ("AUTHOR", "COMMITTER")
           for name, value in (("NAME", "A"), ("EMAIL", "a@example.org"))}  # fmt: skip
    for line, done in zip(WORK, scene.run(*WORK, kind="bwrap", env=who), strict=True):
        assert (done["code"], done["aside"]) == (0, []), (line, done)
    told = scene.one("git config user.name B", kind="bwrap")
    assert (told["code"] != 0, "busy" in told["text"]) == (True, True), told


@pytest.mark.parametrize("line", ["git commit -qam x", "git stash", "git rebase HEAD~1", "git add -A"])
def test_a_committed_secret_is_not_committed_as_empty(scene: Scene, line: str) -> None:
    """What git cannot read it refuses; nothing of it is lost."""
    (scene.work / ".env").write_text("TOKEN=1")
    _outside(scene, "add", ".env")
    _outside(scene, "commit", "-qm", "second")
    (scene.work / "file").write_text("changed")
    _owned(scene)
    told = scene.one(line, kind="bwrap")
    assert told["code"] != 0, told
    assert _outside(scene, "show", "HEAD:.env") == (scene.work / ".env").read_text() == "TOKEN=1"
    assert "deleted" not in _outside(scene, "status")


def test_nothing_is_lost_that_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "info").mkdir()
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "a.sample").touch()
    (tmp_path / "config.worktree").write_text("mine")
    names = absent([str(tmp_path)])
    assert [Path(n).name for n in names] == ["commondir", "attributes", "hooks"]
    for text in ("first", "second"):
        (tmp_path / "commondir").write_text(text)
        assert set_aside(names) == [str(tmp_path / "commondir")]
    (tmp_path / "hooks" / "post-commit").touch()
    assert set_aside(names) == [str(tmp_path / "hooks")]
    assert [(tmp_path / f"commondir.refused{n}").read_text() for n in ("", "2")] == ["first", "second"]
    assert (tmp_path / "config.worktree").read_text() == "mine"
    assert set_aside(names) == []
