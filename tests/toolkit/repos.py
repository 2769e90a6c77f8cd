"""Real git repositories for the tests of the git tools."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}  # fmt: skip


def environment(tmp_path: Path) -> dict[str, str]:
    """A person with a name and a home of their own."""
    home = tmp_path / "person"
    home.mkdir(exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **WHO}


def sh(folder: Path, *argv: str) -> str:
    """Run a program in `folder` as the person would."""
    env = environment(folder.parent)
    return subprocess.run(argv, cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


def repository(tmp_path: Path, name: str = "work") -> Path:
    """A repository on `main` with one commit of a.txt and b.txt."""
    folder = tmp_path / name
    folder.mkdir()
    sh(folder, "git", "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("alpha\n")
    (folder / "b.txt").write_text("beta\n")
    sh(folder, "git", "add", "-A")
    sh(folder, "git", "commit", "-q", "-m", "Begin")
    return folder


def with_origin(tmp_path: Path) -> tuple[Path, Path]:
    """The same, with a bare repository as the remote "origin" that has all."""
    folder, origin = repository(tmp_path), tmp_path / "origin.git"
    sh(tmp_path, "git", "init", "-q", "--bare", "-b", "main", str(origin))
    sh(folder, "git", "remote", "add", "origin", str(origin))
    sh(folder, "git", "push", "-q", "-u", "origin", "main")
    return folder, origin


def hostile(folder: Path) -> Path:
    """Let the repository name programs wherever it can; the mark is written when one of them runs."""
    mark = folder.parent / "ran"
    script = folder.parent / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {mark}\ncat\n')
    script.chmod(0o755)
    for name in (
        "core.fsmonitor", "diff.external", "core.pager", "core.editor", "core.sshCommand", "filter.x.clean",
        "filter.x.smudge", "diff.x.textconv", "diff.x.command", "merge.x.driver", "gpg.program", "core.askPass",
        "pager.log", "pager.diff", "credential.helper", "sequence.editor", "core.alternateRefsCommand",
    ):  # fmt: skip
        sh(folder, "git", "config", name, str(script))
    for verb in ("status", "diff", "log", "commit", "add", "push", "branch"):
        sh(folder, "git", "config", f"alias.{verb}", f"!{script}")
    sh(folder, "git", "config", "log.showSignature", "true")
    (folder / ".git/info/attributes").write_text("* filter=x diff=x merge=x\n")
    hooks = folder / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in (
        "pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "post-checkout", "pre-push", "post-merge",
        "post-index-change", "reference-transaction", "pre-merge-commit",
    ):  # fmt: skip
        (hooks / hook).write_text(script.read_text())
        (hooks / hook).chmod(0o755)
    mark.unlink(missing_ok=True)
    return mark
