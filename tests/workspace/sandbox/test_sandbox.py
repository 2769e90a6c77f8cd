"""What the sandbox says of itself, what it hides, keeps and hands on, and how it is found."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from gongfu.config.settings import Sandbox as Settings
from gongfu.core.words import say
from gongfu.workspace.process import run
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox import landlock, sandbox
from gongfu.workspace.sandbox import probe as search
from gongfu.workspace.sandbox.bwrap import Style
from gongfu.workspace.sandbox.confinement import Confinement
from gongfu.workspace.sandbox.environment import confined_env
from gongfu.workspace.sandbox.landlock import handled, rules, visible
from gongfu.workspace.sandbox.places import hidden, kept, outer, shown_in_temporary
from gongfu.workspace.sandbox.probe import Found, guess, probe
from gongfu.workspace.sandbox.sandbox import Sandbox
from tests.workspace.sandbox.scene import KINDS, need

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def made(folder: Path, found: Found | None = None, **settings: object) -> Sandbox:
    box = Sandbox(Settings(**settings), Workspace(folder, folder), ENV)  # type: ignore[arg-type]
    if found is not None:
        box.__dict__["_found"] = found
    return box


BWRAP = Found(kind="bwrap", style=Style(program="/usr/bin/bwrap"))
LANDLOCK = Found(kind="landlock", abi=6)


@pytest.mark.parametrize(
    ("found", "network", "covers", "why"),
    [
        (BWRAP, "off", {"outside", "credential", "network"}, "bwrap_open"),
        (BWRAP, "list", {"outside", "credential", "network"}, "bwrap_open"),
        (BWRAP, "on", {"outside", "credential"}, "bwrap_open"),
        (LANDLOCK, "off", {"outside"}, "landlock_open"),
        (Found(kind="landlock", abi=3), "off", {"outside"}, "landlock_old"),
        (Found(kind="none", why="no_bwrap"), "off", set(), "none_no_bwrap"),
        (Found(kind="none", why="off"), "off", set(), "none_off"),
        (Found(kind="none", why="platform", reason="darwin"), "off", set(), "none_platform"),
        (Found(kind="none", why="bwrap_fails", reason="no"), "off", set(), "none_bwrap_fails"),
        (Found(kind="none", why="no_landlock"), "off", set(), "none_no_landlock"),
    ],
)
def test_what_it_makes_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Found, network: str, covers: set[str], why: str
) -> None:
    monkeypatch.setattr(sandbox, "_open_service", lambda: "")
    box = made(tmp_path, found, network=network)
    assert (box.covers, box.why.key) == (covers, f"sandbox.{why}")
    for language in ("en", "zh"):
        assert "{" not in say(box.why.key, language, **box.why.values)


def test_an_open_socket_of_docker_leaves_landlock_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_open_service", lambda: "/run/docker.sock")
    assert made(tmp_path, LANDLOCK).covers == frozenset()
    assert made(tmp_path, LANDLOCK).why.key == "sandbox.landlock_service"
    assert "network" in made(tmp_path, BWRAP).covers


def test_a_list_needs_bubblewrap(tmp_path: Path) -> None:
    assert made(tmp_path, BWRAP, network="list").network == "list"
    assert made(tmp_path, LANDLOCK, network="list").network == "off"


def test_nothing_is_tried_before_it_is_asked(tmp_path: Path) -> None:
    box = made(tmp_path)
    assert box.likely in (*KINDS, "none")
    assert "_found" not in box.__dict__
    assert guess("off", ENV) == "none"


# --- finding ------------------------------------------------------------------------------------------------------


def test_a_bubblewrap_that_fails_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(search, "_program", lambda _env, _name="": str(broken))
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    found = probe("auto", ENV, tmp_path / "cache" / "sandbox.json")
    assert (found.kind, found.why, found.reason) == ("none", "bwrap_fails", "No permissions to create new namespace")
    assert not (tmp_path / "cache").exists()
    monkeypatch.setattr(landlock, "abi", lambda: 7)
    assert probe("auto", ENV).kind == "landlock"
    assert probe("bwrap", ENV).kind == "none"


def test_a_success_is_kept_until_something_changes(tmp_path: Path) -> None:
    need("bwrap")
    memory = tmp_path / "cache" / "sandbox.json"
    assert probe("auto", ENV, memory).kind == "bwrap"
    kept_key = json.loads(memory.read_text())["key"]
    assert probe("auto", ENV, memory).style is not None
    memory.write_text(json.dumps({"key": [*kept_key, "other boot"], "user": True}))
    found = probe("auto", ENV, memory)
    assert found.style is not None
    assert json.loads(memory.read_text())["key"] == kept_key
    for broken in ("", "[]", "{}", "\0", '{"key": 1}'):
        memory.write_text(broken)
        assert probe("auto", ENV, memory).kind == "bwrap"


# --- places -------------------------------------------------------------------------------------------------------


def test_what_is_hidden(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "home" / "code"
    for name in (".ssh", ".aws", ".config/gh", ".local/share/keyrings", ".gongfu", "code", "mine", ".mozilla/firefox"):
        (home / name).mkdir(parents=True)
    for name in (".netrc", ".git-credentials", ".bash_history", ".gitconfig", "notes", ".pypirc"):
        (home / name).write_text("x")
    (home / ".npmrc").write_text("//registry/:_authToken=abc")
    (home / ".gnupg").symlink_to(home / "mine")
    found = hidden(
        Workspace(work, work, (), (home / ".gongfu",)), {"HOME": str(home)}, ["~nobody-like-that", str(work)]
    )
    mine = {str(Path(p).relative_to(home)) for p in found if p.startswith(str(home))}
    assert mine == {
        ".ssh", ".aws", ".config/gh", ".local/share/keyrings", ".gongfu", ".netrc", ".git-credentials", ".bash_history",
        ".pypirc", ".npmrc", "mine", ".mozilla/firefox",
    }  # fmt: skip


def test_a_workspace_in_a_hidden_folder_is_seen(tmp_path: Path) -> None:
    work = tmp_path / ".ssh" / "project"
    work.mkdir(parents=True)
    assert not any(p.startswith(str(tmp_path)) for p in hidden(Workspace(work, work), {"HOME": str(tmp_path)}, []))


def test_outer_paths() -> None:
    assert outer(["/a/b", "/a", "/ab", "/a/b/c", "/b/c"]) == ("/a", "/ab", "/b/c")


def test_a_file_that_names_another_repository_opens_it_only_when_git_says_so_there(tmp_path: Path) -> None:
    """`.git` is a file that anybody could have written: a worktree is known at both ends."""
    victim = tmp_path / "victim" / ".git"
    for name in ("objects", "refs", "hooks"):
        (victim / name).mkdir(parents=True)
    (victim / "HEAD").write_text("ref: refs/heads/main\n")
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").write_text(f"gitdir: {victim}\n")
    assert kept([str(work)]).added == ()
    own = victim / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{work}/.git\n")
    (work / ".git").write_text(f"gitdir: {own}\n")
    found = kept([str(work)])
    assert found.added == (str(victim),)
    assert f"{victim}/hooks" in found.read_only
    assert f"{work}/.git" in found.read_only
    (own / "gitdir").write_text("/elsewhere/.git\n")
    assert kept([str(work)]).added == ()


def test_programs_in_a_temporary_folder_are_shown(tmp_path: Path) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    found = shown_in_temporary({"PATH": f"{tmp_path}/venv/bin:/usr/bin:relative:/tmp"}, ["/usr"])
    assert found == (str(tmp_path / "venv"),) if str(tmp_path).startswith("/tmp") else ()


def test_the_environment_of_a_confined_command() -> None:
    env = {
        "HOME": "/u/ann", "SSH_AUTH_SOCK": "/x", "DISPLAY": ":0", "http_proxy": "http://p", "TMPDIR": "/y",
        "TEMP": "/z", "A": "b",
    }  # fmt: skip
    found = confined_env(env, temp="/tmp", writable=["/work"], network="off")
    assert found == {
        "HOME": "/u/ann", "TMPDIR": "/tmp", "TEMP": "/tmp", "A": "b", "XDG_CACHE_HOME": "/tmp/.cache",
        "NPM_CONFIG_CACHE": "/tmp/.cache/npm",
    }  # fmt: skip
    assert "http_proxy" in confined_env(env, temp="/tmp", writable=[], network="on")
    assert "XDG_CACHE_HOME" not in confined_env(env, temp="/tmp", writable=["/u/ann"], network="off")


# --- Landlock -----------------------------------------------------------------------------------------------------


def test_rights_of_each_version_of_landlock() -> None:
    assert [handled(v) for v in (1, 2, 3, 4, 5, 6)] == [
        (0x1FFF, 0, 0), (0x3FFF, 0, 0), (0x7FFF, 0, 0), (0x7FFF, 3, 0), (0xFFFF, 3, 0), (0xFFFF, 3, 3),
    ]  # fmt: skip


def test_all_but_the_hidden_is_visible(tmp_path: Path) -> None:
    for name in ("a/b/secret", "a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
    top = str(tmp_path)
    assert visible(top, [f"{top}/a/b/secret"]) == [f"{top}/a/b/c", f"{top}/a/d", f"{top}/e"]
    assert visible(top, ["/elsewhere"]) == [top]
    assert visible(top, [top]) == []
    granted = rules(Confinement(writable=(top,), hidden=(f"{top}/a/b/secret",), temp="/tmp/x"), 7)
    assert not any(r.path in (top, f"{top}/a", f"{top}/a/b", f"{top}/a/b/secret") for r in granted)


# --- running ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_tools_work(tmp_path: Path, kind: str) -> None:
    """Tests, builds and packages in a workspace, with the interpreter that runs this."""
    need(kind)
    (tmp_path / "test_a.py").write_text("def test_a(tmp_path): (tmp_path / 'x').write_text('y')\n")
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "Makefile").write_text("all:\n\tcc -o a a.c && ./a && echo built\n")
    lines = [
        f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:xdist test_a.py | tail -1",
        "pip --version || true",
    ]
    if shutil.which("cc") and shutil.which("make"):
        lines.append("make")
    box = made(tmp_path, kind=kind)
    try:
        for line in lines:
            start = await box.launch(["/bin/sh", "-c", line], cwd=tmp_path, env=ENV)
            done = await run(start.argv, cwd=start.cwd, env=start.env, box=start.box, timeout=60)
            assert done.code == 0, done
            assert b"1 passed" in done.output or "pytest" not in line, done
    finally:
        await box.close()


async def test_what_it_made_goes_with_it(tmp_path: Path) -> None:
    need("bwrap")
    box = made(tmp_path, kind="bwrap")
    start = await box.launch(["/bin/sh", "-c", "echo x > /tmp/y"], cwd=tmp_path, env=ENV)
    await run(start.argv, cwd=start.cwd, env=start.env, box=start.box)
    folder = Path(start.argv[start.argv.index("/tmp") - 1]).parent
    assert (folder / "tmp" / "y").read_text() == "x\n"
    assert folder.stat().st_mode & 0o777 == 0o700
    await box.close()
    assert not folder.exists()
