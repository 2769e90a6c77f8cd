"""A repository whose configuration runs a program for everything that git can be told to run one for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PLAIN = {
    "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}  # fmt: skip
HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-push",
    "pre-rebase",
    "post-rewrite", "post-index-change", "reference-transaction", "pre-auto-gc", "pre-merge-commit", "applypatch-msg",
)  # fmt: skip


def person(home: Path) -> dict[str, str]:
    """The environment of a person with a name, who has set nothing else."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ann Example\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    return {**PLAIN, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


def git(where: Path, env: dict[str, str], *args: str) -> str:
    """Run git plainly, to build and to look."""
    done = subprocess.run(["git", "-C", str(where), *args], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def plain_repository(where: Path, env: dict[str, str]) -> Path:
    """Two commits on main and one on a branch `other`, with three kinds of files."""
    where.mkdir(parents=True)
    git(where, env, "init", "-q")
    (where / ".gitattributes").write_text("*.t diff=trap filter=trap merge=trap\n")
    for name in ("a.txt", "b.t"):
        (where / name).write_text("one\ntwo\n")
    git(where, env, "add", ".")
    git(where, env, "commit", "-qm", "first")
    git(where, env, "checkout", "-qb", "other")
    (where / "b.t").write_text("one\ntwo\nother\n")
    git(where, env, "commit", "-qam", "other")
    git(where, env, "checkout", "-q", "main")
    (where / "b.t").write_text("zero\none\ntwo\n")
    git(where, env, "commit", "-qam", "second")
    return where


def trap(where: Path, env: dict[str, str], markers: Path) -> None:
    """Lay every trap. A trap that is sprung leaves a file in `markers`."""
    markers.mkdir(exist_ok=True)

    def springs(name: str, after: str = "cat") -> str:
        return f"sh -c 'touch {markers}/{name}; {after}' trap"

    settings = {
        "core.fsmonitor": springs("fsmonitor", "false"), "core.sshCommand": springs("ssh", "false"),
        "core.gitProxy": springs("proxy", "false"), "core.pager": springs("pager"), "core.editor": springs("editor",
        "true"),
        "sequence.editor": springs("sequence", "true"), "core.askPass": springs("askpass", "false"),
        "core.alternateRefsCommand": springs("alternate", "true"), "pager.status": springs("pager-status"),
        "pager.log": springs("pager-log"), "filter.trap.clean": springs("clean"),
        "filter.trap.smudge": springs("smudge"),
        "filter.trap.required": "true", "diff.external": springs("external", "true"),
        "diff.trap.textconv": f"sh -c 'touch {markers}/textconv; cat $1' trap",
        "merge.trap.driver": springs("merge", "false"),
        "gpg.program": springs("gpg", "false"), "gpg.ssh.program": springs("gpg-ssh", "false"),
        "log.showSignature": "true", "credential.helper": "!" + springs("credential", "false"),
        "credential.http://127.0.0.1:9.helper": "!" + springs("credential-url", "false"),
        "alias.st": "!" + springs("alias", "true"), "alias.ci": "!" + springs("alias", "true"),
        "interactive.diffFilter": springs("difffilter"), "trailer.see.command": springs("trailer", "true"),
        "difftool.trap.cmd": springs("difftool", "true"), "diff.tool": "trap", "difftool.prompt": "false",
        "mergetool.trap.cmd": springs("mergetool", "true"), "merge.tool": "trap",
        "man.viewer": "trap", "man.trap.cmd": springs("man", "true"),
        "remote.origin.url": "trap.example:x.git", "remote.local.url": str(where),
        "remote.local.uploadpack": springs("uploadpack", "false"), "remote.local.receivepack": springs("receivepack",
        "false"),
        "remote.ext.url": f"ext::touch {markers}/ext",
        "protocol.ext.allow": "always", "protocol.allow": "always",
        "include.path": "hidden",
    }  # fmt: skip
    git_dir = Path(git(where, env, "rev-parse", "--absolute-git-dir").strip())
    for key, value in settings.items():
        git(where, env, "config", key, value)
    hidden = springs("hidden").replace('"', '\\"')
    (git_dir / "hidden").write_text(f'[filter "sly"]\n\tclean = "{hidden}"\n[alias]\n\tsly = "!{hidden}"\n')
    with (where / ".gitattributes").open("a") as attributes:
        attributes.write("*.sly filter=sly\n")
    hooks = git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {markers}/hook-{name}\n")
        hook.chmod(0o755)


COMMANDS = (
    "git status", "git status --porcelain -uall", "echo new > n.t; echo s > s.sly; git add -A", "git diff",
    "git diff --cached",
    "git diff main other", "git log -p -2", "git show", "git blame b.t", "git commit -m third", "git log --oneline",
    "git checkout -q other", "git checkout -q main", "git merge other", "git merge --abort", "git stash",
    "git stash pop",
    "git rebase -i other", "git rebase --abort", "git st", "git ci", "git sly", "git fetch origin",
    "git push origin main",
    "git fetch local", "git push local main", "git push . main:copy",
    "printf 'protocol=http\nhost=127.0.0.1:9\n\n' | git credential fill", "git fetch ext", "git pull",
    "git commit --amend", "git tag -a v1 -m x",
    "git archive HEAD >/dev/null", "git grep two", "git add -p", "git cherry-pick other", "git cherry-pick --abort",
    "git difftool HEAD~1", "git gc --auto", "git branch -v", "git rm -q --cached a.txt",
    "git reset -q --hard", "git worktree add -q ../wt other", "git -C . status", "git commit --allow-empty -qm more",
    "git revert --no-edit HEAD", "git submodule status", "git help -w status", "git reflog", "git describe --always",
)  # fmt: skip
