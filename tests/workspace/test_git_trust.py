"""What git would run in a repository: seen, shown, and kept from running by odd ways round."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gongfu.workspace.environment import child_env
from gongfu.workspace.git import (
    GitGuard,
    active_hooks,
    find_head,
    git,
    has_hooks,
    is_repository,
    may_run_programs,
    places_in,
    strangers,
)
from gongfu.workspace.process import run
from tests.bugs.traps import git as plain_git
from tests.bugs.traps import person, plain_repository, trap

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX"),
]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return person(tmp_path / "home")


@pytest.fixture
def repository(tmp_path: Path, env: dict[str, str]) -> Path:
    return plain_repository(tmp_path / "repo", env)


async def through_the_shell(command: str, cwd: Path, env: dict[str, str], guard: GitGuard) -> bytes:
    child = child_env(env)
    child.update(await guard.variables(child, places_in(command, cwd)))
    return (await run(command, cwd=cwd, env=child, timeout=20)).output


async def test_a_plain_repository_runs_nothing(repository: Path, env: dict[str, str], tmp_path: Path) -> None:
    assert not may_run_programs(repository)
    assert active_hooks(repository) == ()
    assert await GitGuard(env).programs(repository) == []
    assert not may_run_programs(tmp_path / "home")


async def test_all_that_would_run_is_shown(repository: Path, env: dict[str, str], tmp_path: Path) -> None:
    trap(repository, env, tmp_path / "sprung")
    plain_git(repository, env, "config", "core.fsmonitor", "true")  # git's own
    plain_git(repository, env, "config", "user.email", "a@b")
    assert may_run_programs(repository)
    shown = {key for key, _ in await GitGuard(env).programs(repository)}
    assert {
        "core.sshcommand", "core.gitproxy", "core.pager", "core.editor", "sequence.editor", "core.askpass",
        "core.alternaterefscommand", "pager.status", "filter.trap.clean", "filter.trap.smudge", "filter.sly.clean",
        "diff.external", "diff.trap.textconv", "merge.trap.driver", "gpg.program", "credential.helper", "alias.st",
        "alias.sly", "interactive.difffilter", "trailer.see.command", "difftool.trap.cmd", "mergetool.trap.cmd",
        "remote.local.uploadpack", "remote.ext.url",
    } <= shown  # fmt: skip
    assert not {"core.fsmonitor", "user.email", "remote.origin.url", "filter.trap.required", "include.path"} & shown
    assert "pre-commit" in active_hooks(repository)


@pytest.mark.parametrize("name", ["config", "HEAD", "commondir", "config.worktree", "packed-refs", "hooks"])
async def test_a_pipe_in_place_of_a_file_of_git_holds_nothing_up(repository: Path, name: str) -> None:
    place = repository / ".git" / name
    if place.is_dir():
        place.rename(tmp := place.with_name("old"))
        assert tmp.is_dir()
    else:
        place.unlink(missing_ok=True)
    os.mkfifo(place)
    find_head(repository)
    has_hooks(repository)
    may_run_programs(repository)
    strangers([repository], repository.parent)


@pytest.mark.parametrize("kind", ["pipe", "circle", "nowhere", "huge"])
async def test_odd_things_called_git(tmp_path: Path, env: dict[str, str], kind: str) -> None:
    entry = tmp_path / "odd" / ".git"
    entry.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(entry)
    elif kind == "circle":
        entry.symlink_to(".git")
    elif kind == "nowhere":
        entry.write_text("gitdir: /no/such\n")
    else:
        with entry.open("wb") as file:
            file.truncate(10 << 30)
    assert not is_repository(entry.parent)
    assert await GitGuard(env).settings([entry.parent]) == []


async def test_a_file_of_git_that_leads_elsewhere_is_followed(
    repository: Path, env: dict[str, str], tmp_path: Path
) -> None:
    trap(repository, env, tmp_path / "sprung")
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {repository}/.git\n")
    (other / "b.t").write_text("changed\n")
    guard = GitGuard(env)
    for command in ("git status", "git diff", "git st", "git add -A", "git commit -qm x"):
        await through_the_shell(command, other, env, guard)
    assert list((tmp_path / "sprung").iterdir()) == []


async def test_what_is_included_on_a_condition_that_the_command_fulfils(
    repository: Path, env: dict[str, str], tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    (repository / "late").write_text(f'[filter "trap"]\n\tclean = "sh -c \'touch {sprung}; cat\'"\n')
    plain_git(repository, env, "config", "includeIf.onbranch:other.path", "../late")
    output = await through_the_shell(
        "git checkout -q other && echo x >> b.t && git add b.t", repository, env, GitGuard(env)
    )
    assert not sprung.exists(), output


async def test_what_is_included_may_change_between_commands(
    repository: Path, env: dict[str, str], tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    late = repository / "late"
    late.write_text("[user]\n\tname = A\n")
    plain_git(repository, env, "config", "include.path", "../late")
    guard = GitGuard(env)
    assert await guard.settings([repository]) == []
    late.write_text(f'[filter "trap"]\n\tclean = "sh -c \'touch {sprung}; cat\'"\n')
    await through_the_shell("echo x >> b.t; git add b.t", repository, env, guard)
    assert not sprung.exists()


async def test_files_that_git_would_wait_for(repository: Path, env: dict[str, str]) -> None:
    pipe = repository.parent / "pipe"
    os.mkfifo(pipe)
    for key in ("core.excludesFile", "core.attributesFile", "commit.template"):
        plain_git(repository, env, "config", key, str(pipe))
    (repository / "new").write_text("x")
    done = await git(["ls-files", "-z", "--others", "--exclude-standard"], cwd=repository, env=env, timeout=15)
    assert (done.why_ended, done.output) == ("exit", b"new\0")
    done = await git(["diff", "HEAD"], cwd=repository, env=env, timeout=15)
    assert done.why_ended == "exit"


async def test_strangers_are_other_repositories_that_would_run_something(
    repository: Path, env: dict[str, str], tmp_path: Path
) -> None:
    quiet = plain_repository(repository / "quiet", env)
    loud = plain_repository(repository / "loud", env)
    trap(loud, env, tmp_path / "sprung")
    plain_git(repository, env, "worktree", "add", "-q", str(tmp_path / "tree"), "other")
    trap(repository, env, tmp_path / "sprung")
    places = [repository, quiet, loud, tmp_path / "tree", tmp_path]
    assert strangers(places, repository) == [loud]
    assert loud in strangers(places_in("git status", repository), repository)
    assert strangers([repository], tmp_path) == [repository]
    sub = repository / "src"
    sub.mkdir()
    assert strangers([sub], sub) == [sub]  # the repository is that of a folder above, which nobody trusted


def test_folders_behind_an_option_or_a_variable_are_places(repository: Path) -> None:
    (repository / "inner").mkdir()
    for command in ("git --git-dir=inner status", "GIT_DIR=inner git st", "git -C inner st", "cd inner; git st"):
        assert repository / "inner" in places_in(command, repository)


async def test_a_bare_repository_deep_in_the_tree(repository: Path, env: dict[str, str], tmp_path: Path) -> None:
    """One that a clone can bring: its files are tracked like any other."""
    bare = repository / "a" / "b"
    bare.parent.mkdir()
    plain_git(repository, env, "clone", "-q", "--bare", str(repository), str(bare))
    trap(bare, env, tmp_path / "sprung")
    guard = GitGuard(env)
    for command in ("cd a/b && git st; git log -p", "cd a && cd b && git st && git log -p", "git -C a -C b st"):
        await through_the_shell(command, repository, env, guard)
        await through_the_shell("git st; git log -p", bare, env, guard)
    assert list((tmp_path / "sprung").iterdir()) == []
