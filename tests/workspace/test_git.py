"""What is known of a repository without git, and which settings are switched off."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.workspace.git import find_git_dir, find_head, git, git_argv, has_hooks, is_repository, places_in
from gongfu.workspace.git_guard import neutral, parse_listing, replacements, suspect, with_settings
from tests.bugs.traps import git as plain_git
from tests.bugs.traps import person, plain_repository


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return person(tmp_path / "home")


@pytest.fixture
def repository(tmp_path: Path, env: dict[str, str]) -> Path:
    return plain_repository(tmp_path / "repo", env)


def test_head_is_what_git_says(repository: Path, env: dict[str, str]) -> None:
    (repository / "deep" / "er").mkdir(parents=True)
    commit = plain_git(repository, env, "rev-parse", "HEAD").strip()
    head = find_head(repository / "deep" / "er")
    assert head is not None
    assert (head.branch, head.commit, str(head)) == ("main", commit, "branch main")
    plain_git(repository, env, "pack-refs", "--all")
    assert find_head(repository) == head
    plain_git(repository, env, "checkout", "-q", "--detach")
    assert str(find_head(repository)) == f"detached at {commit[:12]}"


def test_worktrees_submodules_and_new_repositories(tmp_path: Path, repository: Path, env: dict[str, str]) -> None:
    plain_git(repository, env, "worktree", "add", "-q", str(tmp_path / "tree"), "other")
    head = find_head(tmp_path / "tree")
    assert head is not None
    assert (head.branch, head.commit) == ("other", plain_git(repository, env, "rev-parse", "other").strip())
    new = tmp_path / "new"
    new.mkdir()
    plain_git(new, env, "init", "-q", "-b", "feature/x")
    assert str(find_head(new)) == "branch feature/x"


def test_what_is_no_repository(tmp_path: Path) -> None:
    assert find_head(tmp_path) is None
    assert not is_repository(tmp_path)
    (tmp_path / ".git").mkdir()
    assert not is_repository(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_bytes(b"gitdir: \xff\0/nowhere")
    assert find_git_dir(tmp_path / "sub") is None
    assert find_head(tmp_path / "sub" / "gone") is None


@pytest.mark.anyio
async def test_git_reads(repository: Path, env: dict[str, str]) -> None:
    done = await git(["rev-parse", "--abbrev-ref", "HEAD"], cwd=repository, env=env)
    assert (done.code, done.output) == (0, b"main\n")
    done = await git(["hash-object", "--stdin"], cwd=repository, env=env, stdin=b"x" * 100_000)
    assert len(done.output) == 41
    outer = {**env, "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere"}  # as inside a hook of another repository
    assert (await git(["ls-files"], cwd=repository, env=outer)).output == b".gitattributes\na.txt\nb.t\n"


def test_arguments_switch_programs_off(tmp_path: Path) -> None:
    argv = git_argv(["diff", "--stat"], tmp_path)
    assert argv[argv.index("diff") + 1 : argv.index("--stat")] == ["--no-ext-diff", "--no-textconv"]
    assert "core.fsmonitor=false" in argv
    assert "--no-ext-diff" not in git_argv(["status"], tmp_path)


def test_places_are_the_folders_that_a_command_names(tmp_path: Path) -> None:
    for name in ("one", "two words", "three"):
        (tmp_path / name).mkdir()
    found = places_in(
        f"cd one && git -C three status; (cd {tmp_path}/one); ls nothing ~nobody-here; git log a..b \0", tmp_path
    )
    assert found == [tmp_path, tmp_path / "one", tmp_path / "three"]


def test_repositories_just_below_are_places_too(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert places_in("for d in */; do git -C $d status; done", tmp_path) == [tmp_path, repository]
    assert places_in("git status", repository) == [repository]


def test_hooks_are_seen(repository: Path, env: dict[str, str]) -> None:
    assert not has_hooks(repository)
    (repository / ".git" / "hooks").mkdir(exist_ok=True)
    hook = repository / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/bin/sh\n")
    assert not has_hooks(repository)
    hook.chmod(0o755)
    assert has_hooks(repository)
    hook.unlink()
    plain_git(repository, env, "config", "core.hooksPath", ".husky")
    assert has_hooks(repository)
    assert not has_hooks(repository.parent)


RUNS = [
    ("filter.x.clean", "a"), ("filter.x.y.process", "a"), ("diff.external", "a"), ("diff.x.command", "a"),
    ("diff.x.textconv", "a"), ("merge.x.driver", "a"), ("gpg.program", "a"), ("gpg.x509.program", "a"),
    ("gpg.ssh.defaultkeycommand", "a"), ("credential.helper", "a"), ("credential.https://x.y/z.helper", "a"),
    ("alias.x", "!a"), ("alias.x", "-c core.fsmonitor=a status"), ("pager.log", "a"), ("submodule.x.update", "!a"),
    ("difftool.x.cmd", "a"), ("mergetool.x.path", "a"),
    ("browser.x.cmd", "a"), ("man.x.path", "a"), ("trailer.x.command", "a"), ("trailer.x.cmd", "a"),
    ("interactive.difffilter", "a"), ("sendemail.smtpserver", "a"), ("sendemail.x.tocmd", "a"), ("tar.x.command", "a"),
    ("core.alternaterefscommand", "a"), ("lfs.customtransfer.x.path", "a"), ("lfs.extension.x.clean", "a"),
    ("hook.x.command", "a"), ("gc.recentobjectshook", "a"), ("imap.tunnel", "a"), ("instaweb.httpd", "a"),
]  # fmt: skip
RUNS_NOTHING = [
    ("user.name", "x"), ("core.autocrlf", "true"), ("alias.st", "status -s"), ("submodule.x.update", "rebase"),
    ("branch.main.merge", "refs/heads/main"), ("remote.origin.url", "x"), ("diff.renames", "true"), ("merge.ff",
    "only"),
    ("filter.x.other", "a"), ("lfs.url", "https://x"), ("difftool.prompt", "false"), ("credential.username", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), RUNS)
def test_what_would_run_a_program_is_replaced(key: str, value: str) -> None:
    assert neutral(key, value) not in (None, value)
    assert [k for k, _ in replacements([("local", key, value)])] == [key]
    assert replacements([("global", key, value), ("system", key, value)]) == []


@pytest.mark.parametrize(("key", "value"), RUNS)
def test_a_file_with_it_is_suspect_however_it_is_written(key: str, value: str) -> None:
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    heading = f'[{section} "{middle}"]' if middle else f"[{section}]"
    for text in (
        f"{heading}\n\t{name} = {value}\n",
        f"{heading.upper()} {name.upper()}={value}",
        f"[ {heading[1:]}{name}={value}",
    ):
        assert suspect(text.encode())
    assert suspect(b"[include]\npath=x")
    assert suspect(b'[includeIf "gitdir:x"]\npath=x')


@pytest.mark.parametrize(("key", "value"), RUNS_NOTHING)
def test_what_runs_nothing_is_left(key: str, value: str) -> None:
    assert replacements([("local", key, value)]) == []


def test_a_usual_configuration_is_not_suspect(repository: Path, env: dict[str, str]) -> None:
    plain_git(repository, env, "config", "remote.origin.url", "git@example.org:x/y.git")
    plain_git(repository, env, "config", "branch.main.remote", "origin")
    assert not suspect((repository / ".git" / "config").read_bytes())


def test_the_persons_value_comes_back() -> None:
    entries = [("global", "filter.lfs.clean", "git-lfs clean"), ("local", "filter.lfs.clean", "evil")]
    assert replacements(entries) == [("filter.lfs.clean", "git-lfs clean")]
    helpers = [
        ("system", "credential.helper", "a"),
        ("global", "credential.helper", "b"),
        ("local", "credential.helper", "evil"),
    ]
    assert replacements(helpers) == [("credential.helper", ""), ("credential.helper", "a"), ("credential.helper", "b")]


@given(
    st.lists(st.tuples(st.sampled_from(["local", "global"]), st.text("abc.", min_size=1), st.text("x\n=é")), max_size=5)
)
def test_a_listing_is_read_whole(entries: list[tuple[str, str, str]]) -> None:
    data = "".join(f"{scope}\0{key}\n{value}\0" for scope, key, value in entries).encode()
    assert parse_listing(data) == entries


@pytest.mark.parametrize("key", ["remote.x.uploadpack", "remote.a.b.receivepack"])
def test_the_other_end_of_a_path_is_not_started(key: str) -> None:
    assert replacements([("local", key, "evil")]) == [("protocol.file.allow", "never")]
    assert suspect(f'[remote "x"]\n{key.rpartition(".")[2]}=evil'.encode())


def test_settings_follow_those_that_are_there() -> None:
    env = with_settings({}, [("a", "1"), ("b", "2")])
    assert with_settings(env, [("c", "3")]) == {
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_2": "c",
        "GIT_CONFIG_VALUE_2": "3",
    }
    assert with_settings({"GIT_CONFIG_COUNT": "junk"}, [])["GIT_CONFIG_COUNT"] == "0"
