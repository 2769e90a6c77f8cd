"""A repository full of traps: before it is trusted nothing of it runs, nothing hangs, and nothing grows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server
from tests.bugs.traps import git, person

from .conftest import PYTHON, Ended, Program
from .trap_repository import SHOWN_NAME, build

if sys.platform == "win32":
    pytest.skip("the traps are those of POSIX", allow_module_level=True)

Serve = Callable[..., Server]
MEMORY = 300 << 20
MEASURED = (
    "import resource, subprocess, sys\n"
    "code = subprocess.run(sys.argv[2:]).returncode\n"
    "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))\n"
    "sys.exit(code)\n"
)
PATHS = f".:bin:node_modules/.bin::{os.environ['PATH']}:./bin"


class Trapped(Program):
    """The program in the repository of traps, with a `PATH` that looks into it."""

    def __init__(self, tmp_path: Path) -> None:
        super().__init__(tmp_path)
        self.folder.rmdir()
        self.sprung = tmp_path / "sprung"
        person(tmp_path)
        self.git_env = {**self.env, "GIT_CONFIG_NOSYSTEM": "1"}
        self.env |= {"PATH": PATHS, "GIT_CONFIG_NOSYSTEM": "1"}
        build(self.folder, self.git_env, self.sprung)
        self.clear()
        self.home.mkdir()  # marks can be left from inside the sandbox, too
        (self.home / "config.yaml").write_text(f"sandbox: {{writable: ['{self.sprung}']}}\n")

    def clear(self) -> None:
        for mark in self.sprung.iterdir():
            mark.unlink()

    @property
    def marks(self) -> set[str]:
        return {mark.name for mark in self.sprung.iterdir()}


@pytest.fixture
def program(tmp_path: Path) -> Trapped:
    return Trapped(tmp_path)


@pytest.fixture
def trapped(program: Trapped) -> Trapped:
    return program


def shell(command: str) -> Call:
    return Call("shell", {"command": command})


def results(server: Server) -> str:
    """All that tools have told the model."""
    messages: list[dict[str, Any]] = server.requests[-1].body["messages"]
    return "\n".join(str(m["content"]) for m in messages if m["role"] == "tool")


def run(trapped: Trapped, *args: str, **env: str) -> Ended:
    done = trapped.run(*args, timeout=50, **env)
    assert "Traceback" not in done.err, done
    assert "\x1b" not in done.out + done.err, done
    return done


COMMANDS = ("doctor", "rules show", "sessions", "context", "config list", "trust", "")


def test_no_command_springs_a_trap(trapped: Trapped) -> None:
    for command in COMMANDS:
        done = run(trapped, *command.split())
        assert trapped.marks == set(), (command, done)
        assert "inside Gongfu" not in done.err, (command, done)


def test_a_run_springs_none(trapped: Trapped, serve: Serve, tmp_path: Path) -> None:
    """The tools over the whole repository, and git as a model would use it."""
    commands = (
        "git status", "git diff", "git diff --stat HEAD~1", "git log -p -3", "git show", "git add b.t x.proc s.sly",
        "git commit -qm mine", "git checkout -q other && echo needle > y.late && git add y.late", "git st",
        "git add x.wt", "git fetch short:x", "git blame b.t", "cd src && git status", "rg needle src", "git stash",
    )  # fmt: skip
    server = serve(
        Call("list_files", {"path": "."}),
        Call("find_files", {"pattern": "**/*needle*"}),
        Call("search_text", {"pattern": "needle"}),
        Call("read_file", {"path": "sparse.bin"}),
        Call("read_file", {"path": "pipe"}),
        Call("read_file", {"path": "circle"}),
        Call("read_file", {"path": "b.t"}),
        *(shell(command) for command in commands),
        Say("Done."),
    )
    peak = tmp_path / "peak"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", MEASURED, str(peak), *PYTHON, "run", "--yes", "look around"], env=trapped.env,
        cwd=trapped.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=50, check=False,
    )  # fmt: skip
    done = Ended(ended.returncode, ended.stdout, ended.stderr)
    assert done.code == 0, done
    assert "\x1b" not in done.out + done.err, done
    assert int(peak.read_text()) * 1024 < MEMORY
    assert trapped.marks == set(), (trapped.marks, results(server))
    said = results(server)
    assert "needle" in said
    assert SHOWN_NAME in said
    assert "two\nlines" not in said
    assert "not trusted, so" in done.err
    notice = next(line for line in done.err.splitlines() if "not trusted, so" in line)
    assert ".gongfu/config.yaml" in notice


def test_what_is_trusted_takes_effect_and_no_more(trapped: Trapped, serve: Serve) -> None:
    """Settings that tighten, hooks, git's own hooks and MCP servers; not what loosens, nor what nothing asked for."""
    assert trapped.run("trust", "--yes").code == 0
    assert trapped.marks == set()
    git(trapped.folder, trapped.git_env, "config", "--unset", "core.excludesFile")
    git(trapped.folder, trapped.git_env, "config", "--unset", "core.attributesFile")
    serve(shell("forbidden thing"), shell("git commit --allow-empty -qm mine"), Say("Done."))
    done = run(trapped, "run", "--yes", "commit", PATH=os.environ["PATH"])
    assert done.code == 0, done
    marks = trapped.marks
    assert {"hook-pre-commit", "hook-post-commit"} <= marks, (marks, done)
    others = ("claude", "agents", "envrc", "module", "program", "gongfu-tool", "gongfu-command")
    assert not {mark for mark in marks if mark.startswith(others)}, marks
    for name in ("permission.mode", "permission.allow", "sandbox.kind", "sandbox.network", "retention.days"):
        assert f"{name} is not taken" in done.err, done


def test_the_traps_are_real(trapped: Trapped) -> None:
    """The control: whoever trusts everything springs them."""
    for command in ("git status", "cat x.proc", "rg x", "python3 -m json"):
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=trapped.folder, env=trapped.env, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=30,
        )  # fmt: skip
    marks = trapped.marks
    assert {"program-git", "program-rg", "program-cat", "program-python3"} <= marks, marks
    git(trapped.folder, trapped.git_env, "config", "--unset", "core.excludesFile")
    git(trapped.folder, trapped.git_env, "config", "--unset", "core.attributesFile")
    for command in ("git status", "git add x.proc", "git diff", "git st", "git add x.wt", "git add b.t"):
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=trapped.folder, env=trapped.git_env, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=30,
        )  # fmt: skip
    assert {"fsmonitor", "clean", "process", "external", "alias", "worktree-config"} <= trapped.marks, trapped.marks
    subprocess.run([sys.executable, "-m", "click"], cwd=trapped.folder, env=trapped.git_env, check=False, timeout=30)
    assert "module-click" in trapped.marks
