"""git_commit, git_branch, git_worktree and git_push on real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.git_remote import host_of
from gongfu.toolkit.git_tools import git_tools
from gongfu.toolkit.programs import Programs
from gongfu.workspace.root import Workspace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play
from tests.toolkit.repos import environment, hostile, repository, sh, with_origin

pytestmark = pytest.mark.anyio
TOKEN = "ghp_" + "a1B2" * 9


def tools(folder: Path, trusted: Path | None = None) -> dict:
    programs = Programs(directory=folder, env=environment(folder.parent), trusted=trusted)
    return {t.spec.name: t for t in git_tools(Workspace(folder, folder), programs)}


async def call(folder: Path, called: str, /, trusted: Path | None = None, **args) -> str:
    tool = tools(folder, trusted)[called]
    await tool.facts(args)
    return (await tool.run(args, Ctx())).text


# --- git_commit -------------------------------------------------------------------------------------------------------


async def test_commit_takes_the_named_files_with_the_persons_name(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").write_text("alpha 2\n")
    (work / "b.txt").unlink()
    (work / "新 file.py").write_text("x = 1\n")
    args = {"message": "Change\n\nReason.", "paths": ["a.txt", "b.txt", "新 file.py"]}
    played = await play(work, ("git_commit", args), env=environment(tmp_path))
    assert played.status == "done"
    assert "Change" in played.text
    assert "by Ada <ada@example.org>, 3 files:" in played.text
    assert {"  M a.txt", "  D b.txt", "  A 新 file.py"} <= set(played.text.splitlines())
    assert sh(work, "git", "log", "-1", "--format=%an|%B").startswith("Ada|Change\n\nReason.")
    assert sh(work, "git", "status", "--porcelain") == ""
    assert played.started[0].title == "commit: Change"


async def test_a_change_of_the_same_size_in_the_same_moment_is_committed(tmp_path: Path) -> None:
    work = repository(tmp_path)
    sh(work, "git", "config", "core.trustctime", "false")
    path = work / "a.txt"
    path.write_text("first!\n")
    at = 1_700_000_000 * 10**9  # as coarse clocks have it: index and file of one moment
    os.utime(path, ns=(at, at))
    sh(work, "git", "add", "a.txt")
    sh(work, "git", "commit", "-qm", "First")
    path.write_text("second\n")
    os.utime(path, ns=(at, at))
    os.utime(work / ".git/index", ns=(at, at))
    assert "  M a.txt" in await call(work, "git_commit", message="Second", all=True)


async def test_a_commit_says_what_it_left_out(tmp_path: Path) -> None:
    work = repository(tmp_path)
    for name in ("a.txt", "b.txt", "新.txt"):
        (work / name).write_text("changed here\n")
    told = await call(work, "git_commit", message="One", paths=["a.txt"])
    assert "[not in it, changed: b.txt; untracked: 新.txt]" in told
    assert "not in it" not in await call(work, "git_commit", message="All", paths=["."])


async def test_a_commit_tells_renames_as_git_does(tmp_path: Path) -> None:
    work = repository(tmp_path)
    sh(work, "git", "mv", "a.txt", "新 名.txt")
    told = await call(work, "git_commit", message="Move")
    assert told.splitlines()[1:] == ["by Ada <ada@example.org>, 1 file:", "  R a.txt -> 新 名.txt"]


async def test_a_merge_over_uncommitted_changes_says_what_to_do(tmp_path: Path) -> None:
    work = repository(tmp_path)
    sh(work, "git", "switch", "-qc", "other")
    (work / "a.txt").write_text("theirs\n")
    sh(work, "git", "commit", "-qam", "Other")
    sh(work, "git", "switch", "-q", "main")
    (work / "a.txt").write_text("mine  \n")
    with pytest.raises(ToolFailure, match="not merged: uncommitted changes would be lost; commit them first") as caught:
        await call(work, "git_branch", action="merge", name="other")
    assert "a.txt" in str(caught.value)


async def test_commit_of_all_takes_no_untracked_file(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").write_text("alpha 2\n")
    (work / "new.txt").write_text("new\n")
    assert "1 file:" in await call(work, "git_commit", message="All", all=True)
    with pytest.raises(ToolFailure, match=r"nothing to commit\. Untracked: new\.txt\. Name them"):
        await call(work, "git_commit", message="Again", all=True)


async def test_amend_keeps_or_replaces_the_message_and_asks_in_every_mode_but_full(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").write_text("alpha 2\n")
    assert "Amended" in await call(work, "git_commit", amend=True, paths=["a.txt"])
    assert sh(work, "git", "log", "--format=%s") == "Begin\n"
    assert "Better" in await call(work, "git_commit", amend=True, message="Better")
    args = {"amend": True, "message": "Worse"}
    played = await play(work, ("git_commit", args), env=environment(tmp_path), permission="auto", answers="no")
    assert played.status == "refused"
    assert sh(work, "git", "log", "--format=%s") == "Better\n"


@pytest.mark.parametrize("name", [".env", "notes.txt"])
async def test_secrets_are_not_committed_and_nothing_is_staged(tmp_path: Path, name: str) -> None:
    work = repository(tmp_path)
    (work / name).write_text(f"GITHUB_TOKEN={TOKEN}\n")
    (work / "a.txt").write_text("alpha 2\n")
    with pytest.raises(ToolFailure, match="nothing was committed: it would take up") as failure:
        await call(work, "git_commit", message="Add", paths=["a.txt", name])
    assert name in str(failure.value)
    assert TOKEN not in str(failure.value)
    assert sh(work, "git", "diff", "--cached", "--name-only") == ""
    assert [p.name for p in (work / ".git").glob("gongfu*")] == []
    args = {"message": "Add", "paths": [name], "allow_secrets": True}
    for mode in ("ask", "auto"):
        played = await play(work, ("git_commit", args), env=environment(tmp_path), permission=mode, answers="no")
        assert played.status == "refused"
    assert "1 file:" in await call(work, "git_commit", **args)


async def test_ignored_files_are_refused_whole(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / ".gitignore").write_text("*.log\n")
    (work / "x.log").write_text("x")
    with pytest.raises(ToolFailure, match=r"git ignores x\.log"):
        await call(work, "git_commit", message="Add", paths=[".gitignore", "x.log"])
    assert sh(work, "git", "diff", "--cached", "--name-only") == ""
    assert ".gitignore" in await call(work, "git_commit", message="Add", paths=["."])
    assert sh(work, "git", "ls-files") == ".gitignore\na.txt\nb.txt\n"


async def test_hooks_speak_where_the_folder_is_trusted(tmp_path: Path) -> None:
    work = repository(tmp_path)
    hook = work / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho lint says no; exit 1\n")
    hook.chmod(0o755)
    (work / "a.txt").write_text("2\n")
    with pytest.raises(ToolFailure, match=r"(?s)stays staged.*lint says no"):
        await call(work, "git_commit", trusted=work, message="Try", all=True)
    hook.write_text("#!/bin/sh\necho lint is fine\n")
    assert "hooks said:\nlint is fine" in await call(work, "git_commit", trusted=work, message="Try", all=True)
    (work / "a.txt").write_text("3\n")
    assert "did not run: its folder is not trusted" in await call(work, "git_commit", message="Again", all=True)


async def test_commit_without_an_identity_says_what_the_user_does(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").write_text("2\n")
    sh(work, "git", "config", "user.useConfigOnly", "true")
    env = {n: v for n, v in environment(tmp_path).items() if not n.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))}
    played = await play(work, ("git_commit", {"message": "x", "all": True}), env=env)
    assert played.status == "failed"
    assert "git config --global user.name" in played.text


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"message": " "}, "message is empty"),
        ({"message": "a\0"}, "character"),
        ({"message": "a\ud800"}, "character"),
        ({"message": "# only"}, "begins with '#'"),
        ({"message": "x" * 200_000}, "at most"),
        ({"message": "x", "paths": ["nope"]}, "did not match any files"),
        ({"message": "x", "paths": ["../../etc/passwd"]}, "outside the repository"),
        ({"message": "x"}, "nothing is staged"),
        ({"amend": True}, "nothing is staged"),
    ],
)
async def test_a_bad_commit_changes_nothing(tmp_path: Path, args: dict, says: str) -> None:
    work = repository(tmp_path)
    before = sh(work, "git", "log", "--format=%H")
    with pytest.raises(ToolFailure, match=says):
        await call(work, "git_commit", **args)
    assert sh(work, "git", "log", "--format=%H") == before
    assert sh(work, "git", "status", "--porcelain") == ""


# --- git_branch -------------------------------------------------------------------------------------------------------


async def test_branches_through_their_life(tmp_path: Path) -> None:
    work = repository(tmp_path)
    played = await play(
        work,
        ("git_branch", {"action": "create", "name": "topic"}),
        ("git_branch", {"action": "switch", "name": "topic"}),
        ("git_branch", {"action": "rename", "name": "topic", "to": "feature/一"}),
        ("git_branch", {"action": "list"}),
        env=environment(tmp_path),
    )
    assert [r.status for r in played.results] == ["done"] * 4
    assert "* feature/一" in played.text
    assert "  main" in played.text
    told = [r.text for r in played.results]
    assert told[0] == "created topic; still on main"
    assert told[2] == "renamed topic to feature/一; on feature/一"
    (work / "c.txt").write_text("c\n")
    await call(work, "git_commit", message="C", paths=["c.txt"])
    (work / "a.txt").write_text("changed\n")
    assert "1 file with uncommitted changes came along" in await call(work, "git_branch", action="switch", name="main")
    with pytest.raises(ToolFailure, match="1 commit found in no other place"):
        await call(work, "git_branch", action="delete", name="feature/一")
    args = {"action": "delete", "name": "feature/一", "force": True}
    refused = await play(work, ("git_branch", args), env=environment(tmp_path), permission="auto", answers="no")
    assert refused.status == "refused"
    assert "on main" in await call(work, "git_branch", action="merge", name="feature/一")
    assert "Deleted branch" in await call(work, "git_branch", action="delete", name="feature/一")


async def test_a_switch_never_loses_changes(tmp_path: Path) -> None:
    work = repository(tmp_path)
    await call(work, "git_branch", action="switch", name="other", create=True)
    (work / "a.txt").write_text("other\n")
    await call(work, "git_commit", message="Other", all=True)
    await call(work, "git_branch", action="switch", name="main")
    (work / "a.txt").write_text("mine\n")
    with pytest.raises(ToolFailure, match=r"(?s)not switched.*a\.txt"):
        await call(work, "git_branch", action="switch", name="other")
    assert (work / "a.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"action": "create"}, "needs name"),
        ({"action": "create", "name": "-D"}, "cannot be the name"),
        ({"action": "create", "name": "a b"}, "cannot be the name"),
        ({"action": "create", "name": "x" * 300}, "cannot be the name"),
        ({"action": "create", "name": "main"}, "already exists"),
        ({"action": "create", "name": "y", "start": "nope"}, "git: "),
        ({"action": "switch", "name": "nope"}, "no branch nope; create=true makes it. There are: main"),
        ({"action": "switch", "name": "main", "start": "HEAD"}, "create=true"),
        ({"action": "rename", "name": "main"}, "to '' cannot"),
        ({"action": "delete", "name": "main"}, "git: "),
        ({"action": "merge", "name": "--abort"}, "revision"),
        ({"action": "abort"}, "no merge to abort"),
    ],
)
async def test_a_bad_branch_call_is_told(tmp_path: Path, args: dict, says: str) -> None:
    work = repository(tmp_path)
    with pytest.raises(ToolFailure, match=says):
        await call(work, "git_branch", **args)


# --- git_worktree -----------------------------------------------------------------------------------------------------


async def test_worktrees_come_and_go(tmp_path: Path) -> None:
    work = repository(tmp_path)
    add = {"action": "add", "path": "wt", "branch": "topic", "create": True}
    played = await play(work, ("git_worktree", add), ("git_worktree", {"action": "list"}), env=environment(tmp_path))
    assert [r.status for r in played.results] == ["done", "done"]
    assert len(played.text.splitlines()) == 2
    assert "[topic]" in played.text
    assert "on topic" in await call(work, "git_status", cwd="wt")
    (work / "wt/a.txt").write_text("changed\n")
    with pytest.raises(ToolFailure, match="uncommitted changes"):
        await call(work, "git_worktree", action="remove", path="wt")
    assert "modified a.txt" in await call(work, "git_status", cwd="wt")
    await call(work, "git_commit", cwd="wt", message="In the tree", all=True)
    assert "Removed wt" in await call(work, "git_worktree", action="remove", path="wt")
    assert not (work / "wt").exists()
    assert (await call(work, "git_worktree", action="prune")).startswith("Pruned.")


async def test_a_worktree_outside_asks(tmp_path: Path) -> None:
    work = repository(tmp_path)
    add = {"action": "add", "path": "../wt", "branch": "topic", "create": True}
    facts = await tools(work)["git_worktree"].facts(add)
    assert facts.writes == (str(tmp_path / "wt"),)
    played = await play(work, ("git_worktree", add), env=environment(tmp_path), permission="auto", answers="no")
    assert played.status == "refused"
    assert tools(work)["git_worktree"].spec.key


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"action": "add", "branch": "x"}, "needs path"),
        ({"action": "add", "path": "wt"}, "needs branch"),
        ({"action": "add", "path": "a.txt", "branch": "x", "create": True}, "exists already"),
        ({"action": "add", "path": "wt", "branch": "main"}, "already"),
        ({"action": "remove", "path": "wt"}, "not a working tree"),
    ],
)
async def test_a_bad_worktree_call_is_told(tmp_path: Path, args: dict, says: str) -> None:
    work = repository(tmp_path)
    with pytest.raises(ToolFailure, match=says):
        await call(work, "git_worktree", **args)


# --- git_push ---------------------------------------------------------------------------------------------------------


async def test_push_goes_to_the_remote_and_asks_unless_everything_may(tmp_path: Path) -> None:
    work, origin = with_origin(tmp_path)
    (work / "a.txt").write_text("alpha 2\n")
    sh(work, "git", "commit", "-q", "-am", "More")
    for mode in ("ask", "edits", "auto"):
        played = await play(work, ("git_push", {}), env=environment(tmp_path), permission=mode, answers="no")
        assert played.status == "refused"
    assert sh(origin, "git", "log", "--format=%s", "main") == "Begin\n"
    played = await play(work, ("git_push", {}), env=environment(tmp_path))
    assert played.status == "done"
    assert played.text.startswith(f"Pushed: main to origin ({origin})")
    assert sh(origin, "git", "log", "--format=%s", "main") == "More\nBegin\n"
    assert (await call(work, "git_push")).startswith("Everything was there already")


async def test_a_rejected_push_says_what_to_do(tmp_path: Path) -> None:
    work, origin = with_origin(tmp_path)
    sh(tmp_path, "git", "clone", "-q", str(origin), str(tmp_path / "other"))
    (tmp_path / "other/a.txt").write_text("theirs\n")
    sh(tmp_path / "other", "git", "commit", "-q", "-am", "Theirs")
    sh(tmp_path / "other", "git", "push", "-q")
    (work / "a.txt").write_text("ours\n")
    sh(work, "git", "commit", "-q", "-am", "Ours")
    with pytest.raises(ToolFailure, match=r"not pushed\. origin has commits that are not here: fetch, merge or rebase"):
        await call(work, "git_push")
    with pytest.raises(ToolFailure, match="moved main on origin since it was last fetched"):
        await call(work, "git_push", force_with_lease=True)
    assert "Theirs" in sh(origin, "git", "log", "--format=%s", "main")


async def test_a_new_branch_follows_the_remote_one_when_asked(tmp_path: Path) -> None:
    work, _ = with_origin(tmp_path)
    await call(work, "git_branch", action="switch", name="topic", create=True)
    await call(work, "git_push", set_upstream=True)
    assert "even with origin/topic" in await call(work, "git_status")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"remote": "nope"}, "is no remote of this repository; there are: origin"),
        ({"remote": "--all"}, "is no remote"),
        ({"branch": "nope"}, "there is no branch nope"),
        ({"branch": ":main"}, "cannot be the name"),
    ],
)
async def test_a_bad_push_is_told(tmp_path: Path, args: dict, says: str) -> None:
    work, _ = with_origin(tmp_path)
    with pytest.raises(ToolFailure, match=says):
        await call(work, "git_push", **args)


async def test_push_never_waits_for_a_login_and_names_hosts(tmp_path: Path) -> None:
    work = repository(tmp_path)
    with pytest.raises(ToolFailure, match="not clear which remote"):
        await call(work, "git_push")
    sh(work, "git", "remote", "add", "web", "http://ada:pw@127.0.0.1:9/x.git")
    facts = await tools(work)["git_push"].facts({})
    assert facts.hosts == ("127.0.0.1:9",)
    assert facts.access == ("execute", "network")
    with pytest.raises(ToolFailure, match="web could not be reached") as failure:
        await call(work, "git_push")
    assert "pw@" not in str(failure.value)
    sh(work, "git", "remote", "set-url", "web", "ext::sh -c 'touch x'")
    with pytest.raises(ToolFailure, match="none that is pushed to"):
        await call(work, "git_push")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://github.com/a/b", "github.com:443"), ("git@github.com:a/b.git", "github.com:22"),
        ("ssh://git@[::1]:2222/a", "[::1]:2222"), ("/srv/a.git", ""), ("file:///srv/a", ""), ("../a", ""),
        ("C:\\repos\\a", ""), ("git://x/y", "x:9418"),
    ],
)  # fmt: skip
def test_hosts_of_addresses(url: str, host: str) -> None:
    assert host_of(url) == host


# --- hostile repositories ---------------------------------------------------------------------------------------------


async def test_nothing_that_a_strange_repository_names_is_run(tmp_path: Path) -> None:
    work, _ = with_origin(tmp_path)
    mark = hostile(work)
    (work / "a.txt").write_text("changed\n")
    for name, args in (
        ("git_status", {}),
        ("git_diff", {}),
        ("git_diff", {"revision": "HEAD", "stat": True}),
        ("git_log", {"body": True}),
        ("git_log", {"action": "show"}),
        ("git_log", {"action": "blame", "paths": ["a.txt"]}),
        ("git_branch", {"action": "list", "remotes": True}),
        ("git_commit", {"message": "More", "paths": ["a.txt"]}),
        ("git_commit", {"message": "More 2", "amend": True}),
        ("git_branch", {"action": "switch", "name": "topic", "create": True}),
        ("git_branch", {"action": "merge", "name": "main"}),
        ("git_worktree", {"action": "add", "path": "wt", "branch": "other", "create": True}),
        ("git_worktree", {"action": "list"}),
        ("git_push", {"branch": "topic"}),
    ):
        played = await play(work, (name, args), env=environment(tmp_path))
        assert not mark.exists(), (name, args, mark.read_text())
        assert played.status == "done", (name, args, played.text)
    sh(work, "git", "status")
    assert mark.exists()  # git by itself does run them


async def test_a_trusted_repository_runs_nothing_when_it_is_only_read(tmp_path: Path) -> None:
    work = repository(tmp_path)
    mark = hostile(work)
    (work / "a.txt").write_text("changed\n")
    for name, args in (
        ("git_status", {}), ("git_diff", {}), ("git_log", {}), ("git_log", {"action": "show"}),
        ("git_log", {"action": "blame", "paths": ["a.txt"]}), ("git_branch", {"action": "list"}),
        ("git_worktree", {"action": "list"}),
    ):  # fmt: skip
        await call(work, name, trusted=work, **args)
        assert not mark.exists(), (name, args, mark.read_text())
