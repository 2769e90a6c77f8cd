"""The tools git_worktree and git_push."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from gongfu.core.base import Base
from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.core.specs import Access
from gongfu.toolkit.git_run import GIT, Git, Repo, branch_name, change_facts, cut_lines, failed, fields, revision
from gongfu.toolkit.programs import Ran
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.git import find_head
from gongfu.workspace.names import show_name

_PUSHING = 180.0  # seconds
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
_SCP = r"(?:[^@/\s]+@)?(\[[^\]]+\]|[^:/\s\\]{2,}):(?!//)"
_URL = r"([a-z][a-z0-9+.-]*)://(?:[^@/]*@)?(\[[^\]]+\]|[^:/]*)(?::(\d+))?"


class _Goal(Base, frozen=True):
    """Where a push goes: the remote, its addresses, the branch."""

    remote: str
    urls: tuple[str, ...]
    branch: str


class GitRemotes:
    """See the module."""

    def __init__(self, git: Git) -> None:
        self._git = git

    # --- git_worktree ---------------------------------------------------------------------------------------------

    def _worktree_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return self._git.claims(args, write=args["action"] != "list")

    async def _worktree_facts(self, args: dict[str, Any]) -> Facts:
        repo = self._git.repo(args.get("cwd") or "")
        if args["action"] == "list":
            return Facts(access=("read",), paths=(str(repo.top),), title="worktrees")
        words = self._worktree(args, again=False)
        path = (args.get("path") or "") if args["action"] != "prune" else ""
        writes = (str(self._git.places.judge(path).path),) if path else ()
        return change_facts(repo, [["git", *words]], title=f"worktree {args['action']} {path}".strip(), writes=writes)

    @tool(access="execute", key=True, facts=_worktree_facts, claims=_worktree_claims, needs=GIT)
    async def git_worktree(
        self,
        action: Literal["list", "add", "remove", "prune"],
        ctx: CallContext,
        *,
        path: str = "",
        branch: str = "",
        create: bool = False,
        start: str = "",
        force: bool = False,
        cwd: str = "",
    ) -> Outcome:
        repo = self._git.repo(cwd, again=True)
        if action != "list":
            args = {"action": action, "path": path, "branch": branch, "create": create, "start": start, "force": force}
            ran = await self._git.change(repo, ctx, *self._worktree(args, again=True))
            if not ran.ok:
                raise _no_worktree(ran)
        trees = await self._trees(repo, ctx)
        done = {"add": f"Added {path}.\n", "remove": f"Removed {path}.\n", "prune": "Pruned.\n"}.get(action, "")
        note = self._git.unrun_hooks(repo) if action == "add" else ""
        text = done + "\n".join([*trees, *([note] if note else [])])
        display: Display = {"kind": "list", "items": trees, "total": len(trees), "summary": f"{len(trees)} worktrees"}
        return Outcome(text=text, display=display)

    def _worktree(self, args: dict[str, Any], *, again: bool) -> list[str]:
        action, branch, force = args["action"], args.get("branch") or "", ["--force"] if args.get("force") else []
        if action == "prune":
            return ["worktree", "prune", "--verbose"]
        if not args.get("path"):
            raise ToolFailure(f"{action} needs path, the folder of the worktree")
        located = (self._git.places.again if again else self._git.places.judge)(args["path"])
        if action == "remove":
            return ["worktree", "remove", *force, str(located.path)]
        if located.path.exists() and (not located.path.is_dir() or any(located.path.iterdir())):
            raise ToolFailure(f"{located.shown} exists already; a worktree needs a new folder")
        if not branch:
            raise ToolFailure("add needs branch: an existing one, or a new one with create=true")
        start = [revision(args["start"], "start")] if args.get("start") else []
        if args.get("create"):
            return ["worktree", "add", "-b", branch_name(branch, "branch"), str(located.path), *start]
        if start:
            raise ToolFailure("start is only for a new branch; give create=true")
        return ["worktree", "add", str(located.path), branch_name(branch, "branch")]

    async def _trees(self, repo: Repo, ctx: CallContext) -> list[str]:
        trees: list[str] = []
        words: list[str] = []
        for field in fields(await self._git.read(repo, ctx, "worktree", "list", "--porcelain", "-z")):
            name, _, value = field.partition(" ")
            match name:
                case "":
                    trees += [" ".join(words)] * bool(words)
                    words = []
                case "worktree":
                    words.append(self._git.workspace.show(Path(value)))
                case "HEAD":
                    words.append(value[:9])
                case "branch":
                    words.append(f"[{show_name(value.removeprefix('refs/heads/'))}]")
                case _:
                    words.append(f"({field})")
        return trees

    # --- git_push -------------------------------------------------------------------------------------------------

    def _push_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return self._git.claims(args, write=True)

    async def _push_facts(self, args: dict[str, Any]) -> Facts:
        repo = self._git.repo(args.get("cwd") or "")
        goal = await self._goal(repo, args.get("remote") or "", args.get("branch") or "")
        words = _push(goal, bool(args.get("set_upstream")), bool(args.get("force_with_lease")))
        access: tuple[Access, ...] = ("execute", "network")
        folders = tuple(str(path) for url in goal.urls if (path := _folder(url, repo)) is not None)
        hosts = tuple(dict.fromkeys(host for url in goal.urls if (host := host_of(url))))
        title = f"push {goal.branch} to {goal.remote} ({', '.join(hosts or folders)})"
        return change_facts(repo, [["git", *words]], title=title, access=access, writes=folders, hosts=hosts)

    @tool(access=("execute", "network"), facts=_push_facts, claims=_push_claims, needs=GIT)
    async def git_push(
        self,
        ctx: CallContext,
        *,
        remote: str = "",
        branch: str = "",
        set_upstream: bool = False,
        force_with_lease: bool = False,
        cwd: str = "",
    ) -> Outcome:
        repo = self._git.repo(cwd, again=True)
        goal = await self._goal(repo, remote, branch)
        words = _push(goal, set_upstream, force_with_lease)
        ran = await self._git.change(repo, ctx, *words, timeout=_PUSHING)
        said, left = cut_lines(redact(ran.text).strip(), 80, 8000)
        said += f"\n[{left} more lines]" if left else ""
        if not ran.ok:
            raise ToolFailure("\n".join(filter(None, (f"not pushed. {_advice(ran, goal)}", said, ran.note))))
        done = "Everything was there already" if "[up to date]" in said or "up-to-date" in said else "Pushed"
        head = f"{done}: {goal.branch} to {goal.remote} ({', '.join(map(redact, goal.urls))})"
        text = "\n".join(filter(None, (head, said, self._git.unrun_hooks(repo), ran.note)))
        return Outcome(text=text, display=text_display(text, f"{goal.branch} to {goal.remote}"))

    async def _goal(self, repo: Repo, remote: str, branch: str) -> _Goal:
        """Where the push goes. ToolFailure when that cannot be told."""
        head = find_head(repo.cwd)
        name = (
            branch_name(branch or (head.branch if head else ""), "branch") if branch or (head and head.branch) else ""
        )
        if not name:
            raise ToolFailure("HEAD is detached; name the branch to push")
        if not await self._git.look(repo, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}"):
            raise ToolFailure(f"there is no branch {name} with a commit; nothing was pushed")
        remotes = (await self._git.look(repo, "remote")).split()
        if remote and remote not in remotes:
            listed = f"there are: {', '.join(remotes)}" if remotes else "there is none"
            raise ToolFailure(f"{redact(remote)[:100]!r} is no remote of this repository; {listed}")
        follows = (await self._git.look(repo, "config", f"branch.{name}.remote")).strip()
        chosen = remote or (follows if follows in remotes else "")
        chosen = chosen or ("origin" if "origin" in remotes else remotes[0] if len(remotes) == 1 else "")
        if not chosen:
            listed = f"name one of: {', '.join(remotes)}" if remotes else "the user adds one with `git remote add`"
            raise ToolFailure(f"it is not clear which remote is meant; {listed}")
        urls = (await self._git.look(repo, "remote", "get-url", "--push", "--all", chosen)).splitlines()
        if not urls or any(re.match(r"(?!https?|ssh|git|file)[\w+.-]+::?//|\w+::", url) for url in urls):
            raise ToolFailure(f"the address of {chosen} is none that is pushed to from here; nothing was pushed")
        return _Goal(remote=chosen, urls=tuple(urls), branch=name)


def _push(goal: _Goal, set_upstream: bool, force_with_lease: bool) -> list[str]:
    options = ["--set-upstream"] * set_upstream + ["--force-with-lease"] * force_with_lease
    place = f"refs/heads/{goal.branch}"
    return ["push", "--recurse-submodules=no", *options, goal.remote, f"{place}:{place}"]


def host_of(url: str) -> str:
    """Host and port of the address of a remote, "" for a path."""
    if (match := re.match(_URL, url, re.IGNORECASE)) is not None:
        scheme = match[1].lower()
        return "" if scheme == "file" or not match[2] else f"{match[2]}:{match[3] or _PORTS.get(scheme, 22)}"
    match = re.match(_SCP, url)
    return f"{match[1]}:22" if match is not None else ""


def _folder(url: str, repo: Repo) -> Path | None:
    """The folder that an address stands for; None for one on another machine."""
    if host_of(url):
        return None
    plain = re.sub(r"(?i)\Afile://(?:localhost)?", "", url)
    return Path(repo.top / Path(plain)).resolve()


def _no_worktree(ran: Ran) -> ToolFailure:
    if "contains modified or untracked files" in ran.text:
        return ToolFailure(
            "not removed: the worktree has uncommitted changes or untracked files. Commit them there (cwd), or "
            "force=true throws them away, if the user wants that."
        )
    return failed(ran)


def _advice(ran: Ran, goal: _Goal) -> str:
    """What to do about a push that failed."""
    text = ran.text.lower()
    if ran.how.why_ended != "exit":
        return f"It was stopped after {ran.how.seconds:.0f} s; the remote may be out of reach."
    if "stale info" in text:
        return (
            f"Somebody moved {goal.branch} on {goal.remote} since it was last fetched: fetch and look before forcing."
        )
    if "non-fast-forward" in text or "fetch first" in text:
        return (
            f"{goal.remote} has commits that are not here: fetch, merge or rebase onto {goal.remote}/{goal.branch}, "
            "test, push again. Force only if the user asks for it."
        )
    if "protected branch" in text or "hook declined" in text:
        return "The remote's rules refuse it; push another branch and open a pull request, or ask the user."
    if re.search(r"permission denied|authentication|could not read (?:username|password)|terminal prompts|403", text):
        return "The remote did not accept the login, and nobody can be asked for one here: the user logs in once."
    if re.search(r"could not resolve|unable to access|connection|timed out|unreachable|host key", text):
        return f"{goal.remote} could not be reached."
    if "does not appear to be a git repository" in text or "not found" in text:
        return f"There is no repository at the address of {goal.remote}."
    return ""
