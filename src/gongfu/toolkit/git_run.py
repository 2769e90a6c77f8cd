"""Git for the tools: where the repository is, and how git is started for reading and for changing it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from gongfu.core.base import Base
from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.core.specs import Access
from gongfu.toolkit.places import Places
from gongfu.toolkit.programs import Programs, Ran
from gongfu.tools.needs import program
from gongfu.tools.protocol import CallContext, Claim, Facts
from gongfu.workspace.git import GitGuard, find_git_dir, git, git_argv, has_hooks, own_env, strangers
from gongfu.workspace.git_guard import with_settings
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Located, Workspace

GIT = (program("git", apt="git", brew="git", winget="Git.Git"),)
READING = 60.0  # seconds
CHANGING = 300.0  # seconds: hooks run tests
_OUTER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX")
_PLAIN = ("-c", "color.ui=never", "-c", "log.showSignature=false", "-c", "core.quotePath=false")


class Repo(Base, frozen=True):
    """A repository as one call meets it: the top of its working tree, its git directory, where git is started."""

    top: Path
    git_dir: Path
    cwd: Path


class Git:
    """Starts git for the tools of one session, in the repository around the working directory or around `cwd`."""

    def __init__(self, workspace: Workspace, programs: Programs) -> None:
        self.workspace = workspace
        self.places = Places(workspace)
        self.programs = programs.without(*_OUTER)
        self._guard = GitGuard(self.programs.given)

    def repo(self, cwd: str = "", *, again: bool = False) -> Repo:
        """The repository around `cwd`. ToolFailure when there is none, or it has no working tree."""
        located = (self.places.again if again else self.places.judge)(cwd or ".")
        folder = located.path
        if not folder.is_dir():
            raise ToolFailure(f"cwd {located.shown} is no folder; nothing was done")
        git_dir = find_git_dir(folder)
        if git_dir is None:
            raise ToolFailure(f"{located.shown} is in no git repository; `git init` makes one, if the user wants that")
        top = next((p for p in (folder, *folder.parents) if os.path.lexists(p / ".git")), None)
        if top is None or git_dir in (folder, *folder.parents):
            raise ToolFailure(f"{located.shown} is inside a git directory or a bare repository; go to a working tree")
        return Repo(top=top, git_dir=git_dir, cwd=folder)

    async def look(self, repo: Repo, *args: str) -> str:
        """What git says before a call is judged: "" when it fails. Runs nothing that the repository names."""
        try:
            done = await git(args, cwd=repo.cwd, env=self.programs.given, timeout=20, keep=1 << 20, guard=self._guard)
        except OSError:
            return ""
        return done.output.decode("utf-8", "replace") if done.code == 0 else ""

    async def read(
        self, repo: Repo, ctx: CallContext, *args: str, keep: int = 4 << 20, fail: bool = True, stdin: bytes = b""
    ) -> Ran:
        """Run git for reading: nothing of the repository runs, no lock is taken. ToolFailure when it fails."""
        child = own_env(self.programs.given)
        child.update(with_settings(child, await self._guard.settings([repo.cwd])))
        env = {name: value for name, value in child.items() if name.startswith(("GIT_", "LC_ALL"))}
        argv = git_argv(args, repo.cwd)
        argv[2:2] = _PLAIN
        # git must see the files as they are, secrets too; what is shown of them the tools decide
        ran = await self.programs.run(
            argv, ctx, cwd=repo.cwd, env=env, timeout=READING, keep=keep, stdin=stdin, open_secrets=True
        )
        if fail and not ran.ok:
            raise failed(ran)
        return ran

    async def change(
        self,
        repo: Repo,
        ctx: CallContext,
        *args: str,
        stdin: bytes = b"",
        timeout: float = CHANGING,  # noqa: ASYNC109
    ) -> Ran:
        """Run git for a change, as a command of the shell would: with hooks only where the folder is trusted."""
        argv = ["git", "--no-pager", "-c", "color.ui=never", "-c", "core.quotePath=false", *args]
        return await self.programs.run(
            argv, ctx, cwd=repo.cwd, env={"LC_ALL": "C.UTF-8"}, timeout=timeout, stdin=stdin, show=True
        )

    async def commits(self, repo: Repo, text: str) -> list[str]:
        """A revision or a range of commits as arguments, [] for none. ToolFailure for anything else: a tree or a blob
        would show files without the names that tell what is a secret.
        """
        if not text:
            return []
        for end in filter(None, re.split(r"\.{2,3}", revision(text))):
            commit = re.sub(r"\^(?:[!@]|-\d*)\Z", "", end.removeprefix("^"))
            if not await self.look(
                repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"
            ):
                raise ToolFailure(f"{end[:80]!r} names no commit; give a branch, a tag, a commit or a range of them")
        return [text]

    def paths(self, given: Sequence[str], *, again: bool = False) -> list[Located]:
        """Where the paths of a call lead."""
        return [self.places.again(text) if again else self.places.judge(text) for text in given]

    def inside(self, repo: Repo, given: Sequence[str]) -> list[str]:
        """`given` as paths for git, relative to the top. ToolFailure for one outside the repository."""
        found: list[str] = []
        for located in self.paths(given, again=True):
            path = located.asked if located.asked.is_symlink() else located.path
            try:
                found.append(path.relative_to(repo.top).as_posix())
            except ValueError:
                raise ToolFailure(f"{located.shown} lies outside the repository {repo.top}; nothing was done") from None
        return found

    def unrun_hooks(self, repo: Repo) -> str:
        """A note on hooks that git was not let run; "" when there are none or they ran."""
        trusted = self.programs.trusted
        if not has_hooks(repo.cwd) or (trusted is not None and not strangers([repo.cwd], trusted)):
            return ""
        return "[the git hooks of this repository did not run: its folder is not trusted]"

    def is_secret(self, repo: Repo, name: str) -> bool:
        """Whether a file of the repository, named from its top, is a secret by its name."""
        return why_protected(repo.top / name, self.workspace) == "secret"

    def read_facts(self, args: dict[str, Any], title: str) -> Facts:
        """Facts of a call that reads: the repository, and the paths that it names."""
        repo = self.repo(args.get("cwd") or "")
        named = [p for located in self.paths(args.get("paths") or ()) for p in self.places.paths(located)]
        return Facts(access=("read",), paths=(str(repo.top), *named), title=title)

    def claims(self, args: dict[str, Any], *, write: bool) -> tuple[Claim, ...]:
        """The whole repository."""
        try:
            return (Claim(resource=str(self.repo(args.get("cwd") or "").top), write=write),)
        except ToolFailure:
            return ()


def change_facts(
    repo: Repo,
    commands: Iterable[Sequence[str]],
    *,
    title: str,
    access: tuple[Access, ...] = ("execute",),
    paths: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
) -> Facts:
    """Facts of a call that changes a repository by `commands`."""
    line = " && ".join(shlex.join(command) for command in commands)
    preview: Display = {"kind": "command", "command": line, "cwd": str(repo.cwd), "code": None, "output": ""}
    return Facts(
        access=access, paths=(*paths, *writes), writes=writes, command=line, cwd=str(repo.cwd), hosts=hosts,
        title=title, preview=preview,
    )  # fmt: skip


def raw(ran: Ran) -> str:
    """What git wrote, bytes that are no UTF-8 kept."""
    return ran.how.output.decode("utf-8", "surrogateescape")


def fields(ran: Ran) -> list[str]:
    """The fields of a `-z` output; warnings that stand before one are taken off."""
    return [re.sub(r"\A(?:(?:warning|hint): [^\n]*\n)+", "", field) for field in raw(ran).split("\0")]


def failed(ran: Ran) -> ToolFailure:
    """The failure of a git command in its own words."""
    words = redact(ran.text).strip()
    why = words.removeprefix("fatal: ").removeprefix("error: ")[:2000] or f"exit code {ran.code}"
    if ran.how.why_ended != "exit":
        why = f"git was stopped after {ran.how.seconds:.0f} s. {why}"
    return ToolFailure("\n".join(filter(None, (f"git: {why}", ran.note))))


def revision(text: str, what: str = "revision") -> str:
    """A revision that cannot be taken for an option. ToolFailure for one that no revision can be."""
    bad = (
        text.startswith("-")
        or ":" in text
        or any(c.isspace() or ord(c) < 32 or "\ud800" <= c <= "\udfff" for c in text)
    )
    if bad or len(text) > 500:
        raise ToolFailure(f"{what} {text[:80]!r} cannot be a git revision; give a branch, a tag or a commit")
    return text


def branch_name(text: str, what: str = "name") -> str:
    """A name that a branch may have. ToolFailure, with the rule, for another."""
    wrong = (
        not text
        or len(text.encode("utf-8", "replace")) > 200
        or text.startswith(("-", "/"))
        or text.endswith(("/", ".", ".lock"))
        or text in ("@", "HEAD")
        or re.search(r"\.\.|@\{|//|/\.|\.lock/|\A\.|[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]", text) is not None
    )
    if wrong:
        raise ToolFailure(
            f"{what} {text[:80]!r} cannot be the name of a branch: no spaces, no leading '-', none of ~^:?*[\\ and '..'"
        )
    return text


def cut_lines(text: str, most: int, room: int) -> tuple[str, int]:
    """The first `most` lines of `text` within `room` characters, and how many are left out."""
    lines = text.splitlines()
    shown: list[str] = []
    for line in lines[:most]:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    return "\n".join(shown), len(lines) - len(shown)


def strings(value: object) -> list[str]:
    """A list of texts as it comes in arguments; [] for none."""
    return [str(v) for v in cast("list[object]", value)] if value else []
