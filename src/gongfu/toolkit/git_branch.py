"""The tool git_branch."""

from __future__ import annotations

import re
from typing import Any, Literal

from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.counts import counted
from gongfu.toolkit.git_read import status_of
from gongfu.toolkit.git_run import GIT, Git, Repo, branch_name, change_facts, cut_lines, failed, raw, revision
from gongfu.toolkit.programs import Ran
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.names import show_name

Action = Literal["list", "create", "switch", "delete", "rename", "merge", "abort"]
_MOST = 300
_SHAPE = (
    "%(HEAD)%00%(refname:short)%00%(objectname:short)%00%(upstream:short)%00%(upstream:track,nobracket)%00"
    "%(committerdate:short)%00%(contents:subject)"
)


class GitBranches:
    """See the module."""

    def __init__(self, git: Git) -> None:
        self._git = git

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return self._git.claims(args, write=args["action"] != "list")

    async def _facts(self, args: dict[str, Any]) -> Facts:
        repo = self._git.repo(args.get("cwd") or "")
        if args["action"] == "list":
            return Facts(access=("read",), paths=(str(repo.top),), title="branches")
        words = _command(args)
        return change_facts(repo, [["git", *words]], title=" ".join(words))

    @tool(access="execute", facts=_facts, claims=_claims, needs=GIT)
    async def git_branch(
        self,
        action: Action,
        ctx: CallContext,
        *,
        name: str = "",
        to: str = "",
        start: str = "",
        create: bool = False,
        remotes: bool = False,
        force: bool = False,
        cwd: str = "",
    ) -> Outcome:
        repo = self._git.repo(cwd, again=True)
        if action == "list":
            return await self._list(repo, ctx, remotes)
        words = _command({"action": action, "name": name, "to": to, "start": start, "create": create, "force": force})
        before = await status_of(self._git, repo, ctx, [])
        if action == "delete" and not force:
            await self._refuse_unmerged(repo, ctx, name)
        if action == "merge" and before.conflicts:
            raise ToolFailure("a merge is under way with conflicts; finish it with git_commit, or action=abort")
        ran = await self._git.change(repo, ctx, *words)
        if not ran.ok:
            raise await self._failed(repo, ctx, ran, action, name)
        return await self._done(repo, ctx, ran, words, before.dirty)

    async def _list(self, repo: Repo, ctx: CallContext, remotes: bool) -> Outcome:
        places = ("refs/heads", "refs/remotes") if remotes else ("refs/heads",)
        args = ("for-each-ref", f"--count={_MOST + 1}", "--sort=-committerdate", f"--format={_SHAPE}", *places)
        rows = [line.split("\0") for line in raw(await self._git.read(repo, ctx, *args)).splitlines()]
        rows = [row for row in rows if len(row) == 7]
        lines = [_row(row) for row in rows[:_MOST]] + ["[more branches are not shown]"] * (len(rows) > _MOST)
        text = "\n".join(lines) or "No branch yet: the first commit makes one."
        display: Display = {
            "kind": "list",
            "items": lines,
            "total": len(rows),
            "summary": counted(len(rows), "branch", "branches"),
        }
        return Outcome(text=text, display=display)

    async def _refuse_unmerged(self, repo: Repo, ctx: CallContext, name: str) -> None:
        """Say what would be lost, which git's own refusal does not."""
        args = ("rev-list", "--count", f"refs/heads/{name}", "--not", "HEAD", "--remotes")
        ran = await self._git.read(repo, ctx, *args, fail=False)
        if ran.ok and ran.text.strip().isdecimal() and int(ran.text):
            raise ToolFailure(
                f"{name} has {counted(int(ran.text), 'commit')} found in no other place; nothing was deleted. Merge it "
                "first, or force=true deletes them, if the user wants that."
            )

    async def _failed(self, repo: Repo, ctx: CallContext, ran: Ran, action: Action, name: str) -> ToolFailure:
        if action == "merge":
            status = await status_of(self._git, repo, ctx, [])
            if status.conflicts:
                return ToolFailure(
                    f"merging {name} met conflicts: {'; '.join(status.conflicts[:40])}. Resolve them in the files and "
                    "git_commit them, or action=abort goes back."
                )
        if action in ("switch", "merge") and "would be overwritten" in ran.text:
            said, _ = cut_lines(
                re.sub(r"(?ms)^(?:<stdin>:\d+: |Merge with strategy ).*", "", ran.text).strip(), 40, 4000
            )
            done = "switched" if action == "switch" else "merged"
            return ToolFailure(f"not {done}: uncommitted changes would be lost; commit them first.\n{redact(said)}")
        if action in ("switch", "delete", "rename") and re.search(
            r"invalid reference|not found|no branch named", ran.text
        ):
            names = (await self._git.look(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads")).split()
            near = ", ".join(map(show_name, names[:20])) + f" and {len(names) - 20} more" * (len(names) > 20)
            make = "; create=true makes it" if action == "switch" else ""
            return ToolFailure(f"there is no branch {name}{make}. There are: {near or 'none'}")
        return failed(ran)

    async def _done(self, repo: Repo, ctx: CallContext, ran: Ran, words: list[str], dirty: int) -> Outcome:
        action = words[0]
        after = await status_of(self._git, repo, ctx, [])
        said, left = cut_lines(redact(ran.text).strip(), 60, 6000)
        lines = [said + (f"\n[{left} more lines]" if left else "")] if said else []
        did = _did(words)
        lines.append(f"{did}on {after.branch}")
        if dirty and action == "switch":
            lines.append(f"{counted(dirty, 'file')} with uncommitted changes came along")
        if action in ("switch", "merge"):
            lines += [note for note in (self._git.unrun_hooks(repo),) if note]
        lines += [ran.note] * bool(ran.note)
        text = "\n".join(lines)
        return Outcome(text=text, display=text_display(text, f"{did}on {after.branch}"))


def _command(args: dict[str, Any]) -> list[str]:
    """What git is told. ToolFailure for a call that lacks something."""
    action: Action = args["action"]
    if action == "abort":
        return ["merge", "--abort"]
    given: str = args.get("name") or ""
    if not given:
        raise ToolFailure(f"{action} needs name, the branch")
    start = [revision(args["start"], "start")] if args.get("start") else []
    match action:
        case "create":
            return ["branch", branch_name(given), *start]
        case "switch":
            new = bool(args.get("create"))
            if start and not new:
                raise ToolFailure("start is only for a new branch; give create=true")
            return ["switch", "-c", branch_name(given), *start] if new else ["switch", branch_name(given)]
        case "delete":
            return ["branch", "-D" if args.get("force") else "-d", branch_name(given)]
        case "rename":
            return ["branch", "-m", branch_name(given), branch_name(args.get("to") or "", "to")]
        case _:
            return ["merge", "--no-edit", revision(given, "name")]


def _did(words: list[str]) -> str:
    """What git, which says nothing of it, has done by `_command`."""
    match words:
        case ["branch", "-m", old, new]:
            return f"renamed {old} to {new}; "
        case ["branch", ("-d" | "-D"), *_]:
            return ""  # git says it
        case ["branch", name, *_]:
            return f"created {name}; still "
        case _:
            return ""


def _row(row: list[str]) -> str:
    mark, name, commit, upstream, track, date, subject = row
    where = f" [{upstream}{f': {track}' if track else ''}]" if upstream else ""
    return f"{mark.strip() or ' '} {name}{where} {commit} {date} {subject}"
