"""git_status, git_diff and git_log on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.git_read import parse_status
from gongfu.toolkit.git_tools import git_tools
from gongfu.toolkit.programs import Programs
from gongfu.workspace.root import Workspace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play
from tests.toolkit.repos import environment, repository, sh, with_origin

pytestmark = pytest.mark.anyio


def tools(folder: Path) -> dict:
    programs = Programs(directory=folder, env=environment(folder.parent))
    return {t.spec.name: t for t in git_tools(Workspace(folder, folder), programs)}


async def call(folder: Path, called: str, /, **args):
    tool = tools(folder)[called]
    await tool.facts(args)
    return (await tool.run(args, Ctx())).text


async def test_status_groups_what_changed(tmp_path: Path) -> None:
    work, _ = with_origin(tmp_path)
    (work / "a.txt").write_text("alpha 2\n")
    sh(work, "git", "commit", "-q", "-am", "More")
    (work / "a.txt").write_text("alpha 3\n")
    (work / "staged.py").write_text("x = 1\n")
    sh(work, "git", "add", "staged.py")
    sh(work, "git", "mv", "b.txt", "名字 b.txt")
    (work / "new file").write_text("")
    played = await play(work, ("git_status", {}), env=environment(tmp_path))
    assert played.status == "done"
    head, *rest = played.text.splitlines()
    assert head.startswith("on main at ")
    assert head.endswith("1 ahead of origin/main")
    assert rest == [
        "staged (2):", "  new staged.py", "  renamed b.txt -> 名字 b.txt", "unstaged (1):", "  modified a.txt",
        "untracked (1):", "  new file",
    ]  # fmt: skip
    assert played.finished[0].display["summary"] == "2 staged, 1 unstaged, 1 untracked"


async def test_status_tells_conflicts_and_what_is_under_way(tmp_path: Path) -> None:
    work = repository(tmp_path)
    sh(work, "git", "switch", "-q", "-c", "other")
    (work / "a.txt").write_text("theirs\n")
    sh(work, "git", "commit", "-q", "-am", "Theirs")
    sh(work, "git", "switch", "-q", "main")
    (work / "a.txt").write_text("ours\n")
    sh(work, "git", "commit", "-q", "-am", "Ours")
    assert "clean" in await call(work, "git_status")
    with pytest.raises(ToolFailure, match=r"conflicts: both modified: a\.txt"):
        await call(work, "git_branch", action="merge", name="other")
    text = await call(work, "git_status")
    assert "a merge is under way" in text
    assert "both modified: a.txt" in text
    with pytest.raises(ToolFailure, match="conflicts are left"):
        await call(work, "git_commit", message="Merge")
    assert "on main" in await call(work, "git_branch", action="abort")
    assert "clean" in await call(work, "git_status")


async def test_nothing_takes_a_lock_or_refreshes_the_index(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").touch()
    (work / ".git/index.lock").touch()
    index = (work / ".git/index").read_bytes()
    assert "clean" in await call(work, "git_status")
    assert "No difference" in await call(work, "git_diff")
    assert (work / ".git/index").read_bytes() == index


async def test_diff_shows_what_is_asked_for(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").write_text("alpha 2\n")
    (work / "b.txt").write_text("beta 2\n")
    sh(work, "git", "add", "b.txt")
    played = await play(work, ("git_diff", {}), env=environment(tmp_path))
    assert played.text.startswith("1 file changed, +1 -1")
    assert "-alpha\n+alpha 2" in played.text
    assert played.finished[0].display["kind"] == "diff"
    assert "+beta 2" in await call(work, "git_diff", staged=True)
    both = await call(work, "git_diff", revision="HEAD", stat=True)
    assert both == "2 files changed, +2 -2\n  a.txt +1 -1\n  b.txt +1 -1"
    assert "alpha" not in await call(work, "git_diff", revision="HEAD", paths=["b.txt"])


async def test_no_difference_says_where_it_may_be(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "c.txt").write_text("c")
    assert await call(work, "git_diff") == "No difference. Untracked files, which no diff shows: c.txt"
    sh(work, "git", "add", "c.txt")
    assert "staged=true" in await call(work, "git_diff")


async def test_a_secret_is_not_shown_unless_it_was_asked_for(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / ".env").write_text("LEVEL=1\n")
    sh(work, "git", "add", "-f", ".env")
    sh(work, "git", "commit", "-q", "-m", "Oops")
    (work / ".env").write_text("LEVEL=2\n")
    (work / "a.txt").write_text("token ghp_" + "a1B2" * 9 + "\n")
    text = await call(work, "git_diff")
    assert "[not shown, a secret: .env]" in text
    assert "LEVEL" not in text
    assert "ghp_" not in text
    assert "LEVEL" not in await call(work, "git_log", action="show")
    facts = await tools(work)["git_diff"].facts({"paths": [".env"]})
    assert str(work / ".env") in facts.paths  # consent is asked for it
    played = await play(
        work, ("git_diff", {"paths": [".env"]}), env=environment(tmp_path), permission="ask", answers="no"
    )
    assert played.status == "refused"


async def test_log_filters_and_shows(tmp_path: Path) -> None:
    work = repository(tmp_path)
    (work / "a.txt").write_text("gamma\n")
    sh(work, "git", "commit", "-q", "-am", "Change alpha\n\nBecause it is time.")
    played = await play(work, ("git_log", {}), env=environment(tmp_path))
    first, second = played.text.splitlines()
    assert first.endswith("Ada: Change alpha (HEAD -> main)")
    assert second.endswith("Ada: Begin")
    assert "Begin" not in await call(work, "git_log", limit=1)
    assert "limit=2 shows more" in await call(work, "git_log", limit=1)
    assert "Because it is time." in await call(work, "git_log", grep="alpha", body=True)
    assert await call(work, "git_log", author="Bob") == "No commit matches."
    assert "Change" in await call(work, "git_log", pickaxe="gamma")
    assert "Change" not in await call(work, "git_log", paths=["b.txt"])
    show = await call(work, "git_log", action="show", revision="HEAD")
    assert "author Ada <ada@example.org>" in show
    assert "  a.txt +1 -1" in show
    assert "-alpha\n+gamma" in show
    blame = await call(work, "git_log", action="blame", paths=["a.txt"])
    assert "Ada" in blame
    assert blame.endswith("gamma")


@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("git_diff", {"revision": "--output=x"}, "cannot be a git revision"),
        ("git_diff", {"revision": "nope"}, "names no commit"),
        ("git_diff", {"context": -1}, "context"),
        ("git_diff", {"paths": ["../x"]}, "outside the repository"),
        ("git_log", {"limit": -1}, "limit"),
        ("git_log", {"author": "a\0b"}, "author"),
        ("git_log", {"revision": "a\ud800"}, "revision"),
        ("git_log", {"action": "blame"}, "blame needs one file"),
        ("git_log", {"action": "blame", "paths": ["no.txt"]}, "git: "),
        ("git_status", {"cwd": "nowhere"}, "no folder"),
        ("git_status", {"cwd": ".git"}, "inside a git directory"),
        ("git_status", {"paths": ["\0"]}, "NUL"),
    ],
)
async def test_bad_input_is_told(tmp_path: Path, name: str, args: dict, says: str) -> None:
    work = repository(tmp_path)
    with pytest.raises(ToolFailure, match=says):
        await call(work, name, **args)
    assert not (work / "x").exists()


async def test_outside_of_a_repository(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(ToolFailure, match="in no git repository"):
        await call(tmp_path / "bare", "git_status")


async def test_a_repository_without_commits(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    sh(work, "git", "init", "-q", "-b", "main")
    assert "no commit yet" in await call(work, "git_status")
    with pytest.raises(ToolFailure, match="does not have any commits"):
        await call(work, "git_log")
    (work / "a").write_text("a")
    assert "Committed" in await call(work, "git_commit", message="Begin", paths=["a"])


def test_warnings_between_entries_do_no_harm() -> None:
    status = parse_status(["# branch.oid x", "# branch.head main", "? a\nb", "1 .M N... 1 1 1 a b c d.txt", ""])
    assert (status.branch, status.untracked, status.unstaged) == ("main", ("a\\nb",), ("modified c d.txt",))


async def test_an_outer_git_does_not_lead_elsewhere(tmp_path: Path) -> None:
    work, other = repository(tmp_path), repository(tmp_path, "other")
    (other / "elsewhere.txt").write_text("x")
    env = {**environment(tmp_path), "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}
    played = await play(work, ("git_status", {}), ("git_log", {}), env=env)
    assert [r.status for r in played.results] == ["done", "done"]
    assert "elsewhere.txt" not in played.results[0].text
