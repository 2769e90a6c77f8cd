"""Row 48: a repository with `core.fsmonitor` set, and its kind: configuration that runs programs. Nothing runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gongfu.workspace.environment import child_env
from gongfu.workspace.git import GitGuard, git, places_in
from gongfu.workspace.process import run
from gongfu.workspace.shells import as_argv
from tests.bugs.traps import COMMANDS, person, plain_repository, trap
from tests.bugs.traps import git as plain_git

pytestmark = pytest.mark.anyio

READS = (
    ["status", "--porcelain=v2", "-z"], ["ls-files", "-z", "--others", "--cached", "--exclude-standard"], ["diff"],
    ["diff", "HEAD"], ["log", "-p"], ["show"], ["diff-index", "-p", "HEAD"], ["rev-parse", "HEAD"], ["check-ignore",
    "x"],
    ["blame", "b.t"], ["hash-object", "b.t"], ["hash-object", "s.sly"], ["grep", "one"], ["branch", "--list"],
    ["cat-file", "--textconv", "HEAD:b.t"],
)  # fmt: skip


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return person(tmp_path / "home")


@pytest.fixture
def trapped(tmp_path: Path, env: dict[str, str]) -> Path:
    repository = plain_repository(tmp_path / "repo", env)
    trap(repository, env, tmp_path / "sprung")
    (repository / "b.t").write_text("changed\n")
    (repository / "s.sly").write_text("sly\n")
    return repository


def sprung(tmp_path: Path) -> set[str]:
    return {p.name for p in (tmp_path / "sprung").iterdir()}


async def through_the_shell(command: str, cwd: Path, env: dict[str, str], guard: GitGuard) -> bytes:
    child = child_env(env)
    child.update(await guard.variables(child, places_in(command, cwd)))
    done = await run(command, cwd=cwd, env=child, timeout=20)
    return done.output


def test_the_traps_are_real(tmp_path: Path, trapped: Path, env: dict[str, str]) -> None:
    """The control: without the guard they are sprung, by the very same commands."""
    for command in COMMANDS:
        subprocess.run(
            as_argv(command, env), cwd=trapped, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            start_new_session=True,
        )  # fmt: skip
    found = sprung(tmp_path)
    assert found >= {
        "fsmonitor", "ssh", "clean", "smudge", "external", "textconv", "merge", "alias", "hidden", "editor",
        "uploadpack",
        "receivepack", "ext", "hook-pre-commit", "hook-post-checkout", "hook-pre-push", "credential", "difftool",
    }, found  # fmt: skip


async def test_nothing_runs_through_the_shell(tmp_path: Path, trapped: Path, env: dict[str, str]) -> None:
    guard = GitGuard(env)
    for command in COMMANDS:
        output = await through_the_shell(command, trapped, env, guard)
        assert not sprung(tmp_path), (command, output)


async def test_work_goes_on_as_usual(tmp_path: Path, trapped: Path, env: dict[str, str]) -> None:
    """What is added is what was written, differences are shown, and the commit is the person's."""
    guard = GitGuard(env)
    difference = await through_the_shell("git diff -- b.t", trapped, env, guard)
    assert b"-zero" in difference
    assert b"+changed" in difference
    await through_the_shell("git add -A && git commit -qm mine", trapped, env, guard)
    assert not sprung(tmp_path)
    for name in ("diff.external", "core.fsmonitor", "log.showSignature", "filter.trap.required"):
        plain_git(trapped, env, "config", "--unset-all", name)
    (trapped / ".git" / "hooks").rename(tmp_path / "hooks")
    assert plain_git(trapped, env, "log", "-1", "--format=%an %ae %s") == "Ann Example ann@example.org mine\n"
    assert plain_git(trapped, env, "show", "HEAD:b.t") == "changed\n"


async def test_nothing_runs_when_gongfu_reads(tmp_path: Path, trapped: Path, env: dict[str, str]) -> None:
    for args in READS:
        done = await git(args, cwd=trapped, env=env)
        assert not sprung(tmp_path), (args, done.output)
    status = await git(["status", "--porcelain"], cwd=trapped, env=env)
    assert status.output == b" M .gitattributes\n M b.t\n?? s.sly\n"


@pytest.mark.parametrize(
    "command", ["cd inner && git status && git add -A", "git -C inner status; git -C inner add -A", "git status"]
)
async def test_nested_repositories_and_submodules(tmp_path: Path, env: dict[str, str], command: str) -> None:
    outer = plain_repository(tmp_path / "outer", env)
    source = plain_repository(tmp_path / "source", env)
    add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "inner"]
    plain_git(outer, env, *add)
    plain_git(outer, env, "commit", "-qm", "with a submodule")
    trap(outer / "inner", env, tmp_path / "sprung")
    (outer / "inner" / "b.t").write_text("changed\n")
    await through_the_shell(command, outer, env, GitGuard(env))
    assert not sprung(tmp_path)
    await git(["status", "--porcelain"], cwd=outer, env=env)
    assert not sprung(tmp_path)


async def test_a_worktree_and_a_bare_repository(tmp_path: Path, env: dict[str, str]) -> None:
    repository = plain_repository(tmp_path / "repo", env)
    plain_git(repository, env, "worktree", "add", "-q", str(tmp_path / "tree"), "other")
    plain_git(repository, env, "config", "extensions.worktreeConfig", "true")
    trap(repository, env, tmp_path / "sprung")
    sly = f"sh -c 'touch {tmp_path}/sprung/worktree; cat'"
    plain_git(tmp_path / "tree", env, "config", "--worktree", "filter.trap.clean", sly)
    (tmp_path / "tree" / "b.t").write_text("changed\n")
    guard = GitGuard(env)
    await through_the_shell(
        "git status; git add -A; git diff --cached; git commit -qm x", tmp_path / "tree", env, guard
    )
    assert not sprung(tmp_path)
    bare = tmp_path / "bare"  # a folder that only looks like a git directory
    plain_git(tmp_path, env, "clone", "-q", "--bare", str(repository), str(bare))
    (tmp_path / "sprung").rename(tmp_path / "before")
    trap(bare, env, tmp_path / "sprung")
    await through_the_shell("git log -p; git st; git show main:b.t; git diff main other", bare, env, guard)
    assert not sprung(tmp_path)


async def test_what_the_person_has_set_for_all_stays(tmp_path: Path, trapped: Path, env: dict[str, str]) -> None:
    """Hooks, filters, ssh and helpers of the person's own configuration run, those of the repository do not."""
    own = tmp_path / "own"
    own.mkdir()
    hooks = tmp_path / "person-hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text(f"#!/bin/sh\ntouch {own}/hook\n")
    (hooks / "pre-commit").chmod(0o755)
    for key, value in {
        "core.hooksPath": str(hooks), "filter.trap.clean": f"sh -c 'touch {own}/clean; cat'",
        "core.sshCommand": f"sh -c 'touch {own}/ssh; false'", "credential.helper": f"!touch {own}/credential;:",
        "alias.st": f"!touch {own}/alias;:",
    }.items():  # fmt: skip
        plain_git(tmp_path, env, "config", "--global", key, value)
    guard = GitGuard(env)
    for command in ("git add -A", "git commit -qm x", "git fetch origin", "git st"):
        await through_the_shell(command, trapped, env, guard)
    variables = await guard.variables(child_env(env), [trapped])
    helpers = [variables[k.replace("KEY", "VALUE")] for k, v in variables.items() if v == "credential.helper"]
    assert helpers[-1] == f"!touch {own}/credential;:"
    assert {p.name for p in own.iterdir()} == {"hook", "clean", "ssh", "alias"}
    assert not sprung(tmp_path)


async def test_a_change_of_the_configuration_is_seen(tmp_path: Path, env: dict[str, str]) -> None:
    repository = plain_repository(tmp_path / "repo", env)
    guard = GitGuard(env)
    assert await guard.settings([repository]) == []
    trap(repository, env, tmp_path / "sprung")
    await through_the_shell("git add -A; git st", repository, env, guard)
    assert not sprung(tmp_path)
