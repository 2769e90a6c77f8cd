"""The tools git_status, git_diff and git_log."""

from __future__ import annotations

from typing import Any, Literal

from gongfu.core.base import Base
from gongfu.core.display import Display, diff_display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.counts import counted
from gongfu.toolkit.git_run import GIT, Git, Repo, cut_lines, fields, raw, revision
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.git import Head, find_head
from gongfu.workspace.names import show_name

_MOST = 100  # names in a group
_MOST_COMMITS = 500
_MOST_LINES = 2000
_UNDER_WAY = {
    "MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase", "REVERT_HEAD": "a revert",
    "CHERRY_PICK_HEAD": "a cherry-pick", "BISECT_LOG": "a bisection",
}  # fmt: skip
_LETTERS = {"M": "modified", "A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "type changed"}
_CONFLICTS = {
    "DD": "both deleted", "AU": "added by us", "UD": "deleted by them", "UA": "added by them", "DU": "deleted by us",
    "AA": "both added", "UU": "both modified",
}  # fmt: skip


class Status(Base, frozen=True):
    """`git status` in groups; each entry is a line such as "modified a.py"."""

    branch: str = ""
    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    stashes: int = 0
    staged: tuple[str, ...] = ()
    unstaged: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def dirty(self) -> int:
        """How many tracked files have changes."""
        return len({e.split(" ", 1)[-1] for e in (*self.staged, *self.unstaged, *self.conflicts)})


class _File(Base, frozen=True):
    """A file of a diff: lines added and removed, its name from the top, and its earlier one ("": the same)."""

    added: int
    removed: int
    name: str
    old: str = ""

    @property
    def line(self) -> str:
        return f"  {show_name(self.name)} +{self.added} -{self.removed}"


class GitReads:
    """See the module."""

    def __init__(self, git: Git) -> None:
        self._git = git

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return self._git.claims(args, write=False)

    # --- git_status -----------------------------------------------------------------------------------------------

    async def _status_facts(self, args: dict[str, Any]) -> Facts:
        return self._git.read_facts(args, " ".join(args.get("paths") or ()) or "status")

    @tool(access="read", facts=_status_facts, claims=_claims, needs=GIT)
    async def git_status(self, ctx: CallContext, paths: list[str] | None = None, cwd: str = "") -> Outcome:
        repo = self._git.repo(cwd, again=True)
        status = await status_of(self._git, repo, ctx, self._git.inside(repo, paths or []))
        lines = [_headline(status, find_head(repo.cwd))]
        lines += [f"{what} is under way" for name, what in _UNDER_WAY.items() if (repo.git_dir / name).exists()]
        groups = (
            ("conflicts", status.conflicts), ("staged", status.staged), ("unstaged", status.unstaged),
            ("untracked", status.untracked),
        )  # fmt: skip
        for title, entries in groups:
            if entries:
                lines.append(f"{title} ({len(entries)}):")
                lines += [f"  {entry}" for entry in entries[:_MOST]]
                lines += [f"  … {len(entries) - _MOST} more"] * (len(entries) > _MOST)
        if not any(entries for _, entries in groups):
            lines.append("nothing changed" if paths else "nothing to commit, working tree clean")
        if status.stashes:
            lines.append(f"stashes: {status.stashes}")
        summary = ", ".join(f"{len(entries)} {title}" for title, entries in groups if entries) or "clean"
        text = "\n".join(lines)
        return Outcome(text=text, display=text_display(text, summary))

    # --- git_diff -------------------------------------------------------------------------------------------------

    async def _diff_facts(self, args: dict[str, Any]) -> Facts:
        what = "staged" if args.get("staged") else revision(args.get("revision") or "unstaged")
        return self._git.read_facts(args, " ".join([what, *(args.get("paths") or ())]))

    @tool(access="read", facts=_diff_facts, claims=_claims, needs=GIT)
    async def git_diff(
        self,
        ctx: CallContext,
        *,
        paths: list[str] | None = None,
        staged: bool = False,
        revision: str = "",
        stat: bool = False,
        context: int = 3,
        cwd: str = "",
    ) -> Outcome:
        if not 0 <= context <= 1000:
            raise ToolFailure(f"context must be 0 to 1000; arrived: {context}")
        repo = self._git.repo(cwd, again=True)
        wanted = await self._git.commits(repo, revision)
        args = ["diff", "--ignore-submodules=dirty", "-M", *(["--cached"] if staged else []), *wanted]
        names = self._git.inside(repo, paths or [])
        told = await self._git.read(repo, ctx, *args, "--numstat", "-z", "--", *_specs(names))
        files = _numstat(fields(told))
        if not files:
            return await self._nothing(repo, ctx, staged=staged, revision=revision)
        added, removed = sum(f.added for f in files), sum(f.removed for f in files)
        head = f"{len(files)} file{'s' * (len(files) != 1)} changed, +{added} -{removed}"
        if stat:
            rows = [f.line for f in files[:_MOST_LINES]]
            rows += [f"  … {len(files) - _MOST_LINES} more"] * (len(files) > _MOST_LINES)
            text = "\n".join([head, *rows])
            return Outcome(text=text, display=text_display(text, f"+{added} -{removed}"))
        hidden = self._hidden(repo, files, names)
        specs = [*(_specs(names) or [":/"]), *(f":(exclude,top,literal){name}" for name in hidden)]
        ran = await self._git.read(repo, ctx, *args, f"-U{context}", "--", *specs)
        text = redact(ran.text)
        notes = [f"[not shown, a secret: {', '.join(map(show_name, hidden))}]"] if hidden else []
        return _diffed("\n".join([head, *notes, "", text.rstrip()]), text, added, removed)

    def _hidden(self, repo: Repo, files: list[_File], named: list[str]) -> list[str]:
        """The secrets among files, but those that the call named, for which consent was asked. What was renamed from
        or to a secret is hidden under both names: either shows what is in it.
        """
        found: dict[str, None] = {}
        for file in files:
            names = [name for name in (file.name, file.old) if name]
            if any(name not in named and self._git.is_secret(repo, name) for name in names):
                found |= dict.fromkeys(names)
        return list(found)

    async def _nothing(self, repo: Repo, ctx: CallContext, *, staged: bool, revision: str) -> Outcome:
        status = await status_of(self._git, repo, ctx, [])
        text = f"No difference{f' to {revision}' if revision else ''}."
        if not revision and not staged and status.staged:
            text += f" Staged changes: {len(status.staged)} (staged=true shows them)."
        if not revision and staged and status.unstaged:
            text += f" Nothing is staged; unstaged changes: {len(status.unstaged)}."
        if status.untracked and not revision:
            text += f" Untracked files, which no diff shows: {', '.join(status.untracked[:10])}"
        return Outcome(text=text, display=text_display("", "no difference"))

    # --- git_log --------------------------------------------------------------------------------------------------

    async def _log_facts(self, args: dict[str, Any]) -> Facts:
        words = [args.get("action") or "log", *_revision(args.get("revision") or ""), *(args.get("paths") or ())]
        return self._git.read_facts(args, " ".join(filter(None, words)))

    @tool(access="read", facts=_log_facts, claims=_claims, needs=GIT)
    async def git_log(  # noqa: PLR0913  (what git's own log is asked by)
        self,
        ctx: CallContext,
        *,
        action: Literal["log", "show", "blame"] = "log",
        revision: str = "",
        paths: list[str] | None = None,
        author: str = "",
        since: str = "",
        until: str = "",
        grep: str = "",
        pickaxe: str = "",
        limit: int = 0,
        first: int = 1,
        body: bool = False,
        cwd: str = "",
    ) -> Outcome:
        if limit < 0 or first < 1:
            raise ToolFailure("limit must not be negative and first must be at least 1")
        _check_words(author=author, since=since, until=until, grep=grep, pickaxe=pickaxe)
        repo = self._git.repo(cwd, again=True)
        names = self._git.inside(repo, paths or [])
        if action == "blame":
            return await self._blame(repo, ctx, names, revision, first, min(limit or 200, _MOST_LINES))
        if action == "show":
            return await self._show(repo, ctx, revision or "HEAD", names)
        wanted = {"author": author, "since": since, "until": until, "grep": grep}
        filters = [f"--{name}={value}" for name, value in wanted.items() if value]
        filters += ["--regexp-ignore-case"] * bool(author or grep) + [f"-S{pickaxe}"] * bool(pickaxe)
        most = min(limit or 20, _MOST_COMMITS)
        shape = (
            f"--format=%h %ad %an%d%n    %s{'%n%w(0,4,4)%b' if body else ''}" if body else "--format=%h %ad %an: %s%d"
        )
        args = ["log", f"-n{most + 1}", "--date=short", shape, *filters, *_revision(revision)]
        if body:
            args.insert(1, "-z")
        ran = await self._git.read(repo, ctx, *args, "--", *_specs(names))
        commits = [c.rstrip() for c in (raw(ran).split("\0") if body else ran.text.splitlines()) if c.strip()]
        if not commits:
            return Outcome(text="No commit matches.", display=text_display("", "0 commits"))
        more = f"\n[older ones follow: limit={min(most * 2, _MOST_COMMITS)} shows more]" if len(commits) > most else ""
        shown = [redact(_plain(c)) for c in commits[:most]]
        display: Display = {
            "kind": "list",
            "items": shown,
            "total": len(shown),
            "summary": counted(len(shown), "commit"),
        }
        return Outcome(text="\n".join(shown) + more, display=display)

    async def _show(self, repo: Repo, ctx: CallContext, commit: str, names: list[str]) -> Outcome:
        commit = revision(commit)
        shape = "--format=commit %H%nauthor %an <%ae>%ndate %ad%nparents %p%n%n%B"
        found = await self._git.read(repo, ctx, "show", "-s", "--date=iso", shape, f"{commit}^{{commit}}", "--")
        log = ["show", "--first-parent", "-m", "-M", "--format=", f"{commit}^{{commit}}"]
        told = await self._git.read(repo, ctx, *log, "--numstat", "-z", "--", *_specs(names))
        files = _numstat(fields(told))
        hidden = self._hidden(repo, files, names)
        specs = [*(_specs(names) or [":/"]), *(f":(exclude,top,literal){name}" for name in hidden)]
        ran = await self._git.read(repo, ctx, *log, "--", *specs)
        added, removed = sum(f.added for f in files), sum(f.removed for f in files)
        rows = [f.line for f in files[:_MOST]]
        notes = [f"[not shown, a secret: {', '.join(map(show_name, hidden))}]"] if hidden else []
        text = redact("\n".join([found.text.rstrip(), "", *rows, *notes, "", ran.text.rstrip()]))
        return _diffed(text.rstrip(), redact(ran.text), added, removed)

    async def _blame(
        self, repo: Repo, ctx: CallContext, names: list[str], commit: str, first: int, most: int
    ) -> Outcome:
        if len(names) != 1:
            raise ToolFailure('blame needs one file, such as paths=["src/app.py"]')
        if self._git.is_secret(repo, names[0]):
            raise ToolFailure(f"{names[0]} is a secret; its lines are not shown")
        args = ["blame", "--date=short", "-w", f"-L{first},+{most}", *([revision(commit)] if commit else [])]
        ran = await self._git.read(repo, ctx, *args, "--", str(repo.top / names[0]))
        text, left = cut_lines(redact(ran.text), most, ctx.room - 200)
        note = f"\n[{left} more lines; begin at first={first + most - left}]" if left else ""
        return Outcome(text=text + note, display=text_display(text, counted(len(text.splitlines()), "line")))


async def status_of(git: Git, repo: Repo, ctx: CallContext, names: list[str]) -> Status:
    """The state of the working tree; `names` (from the top) narrow it."""
    args = ("status", "--porcelain=v2", "--branch", "--show-stash", "-z", "--ignore-submodules=dirty")
    return parse_status(fields(await git.read(repo, ctx, *args, "--", *_specs(names))))


def parse_status(entries: list[str]) -> Status:
    """The fields of `git status --porcelain=v2 --branch --show-stash -z`."""
    head: dict[str, str] = {}
    groups: dict[str, list[str]] = {"staged": [], "unstaged": [], "untracked": [], "conflicts": []}
    rest = iter(entries)
    for entry in rest:
        kind, _, line = entry.partition(" ")
        if kind == "#":
            name, _, value = line.partition(" ")
            head[name] = value
        elif kind == "?":
            groups["untracked"].append(show_name(line))
        elif kind == "u":
            states, name = line[:2], line.split(" ", 9)[-1]
            groups["conflicts"].append(f"{_CONFLICTS.get(states, states)}: {show_name(name)}")
        elif kind in ("1", "2"):
            name = show_name(line.split(" ", 7 if kind == "1" else 8)[-1])
            name = f"{show_name(next(rest, ''))} -> {name}" if kind == "2" else name
            for state, group in ((line[0], "staged"), (line[1], "unstaged")):
                if state != ".":
                    groups[group].append(f"{_LETTERS.get(state, state)} {name}")
    ahead, behind = ([abs(int(n)) for n in head.get("branch.ab", "+0 -0").split()] + [0, 0])[:2]
    return Status(
        branch=head.get("branch.head", ""), upstream=head.get("branch.upstream", ""), ahead=ahead, behind=behind,
        stashes=int(head.get("stash", "0") or 0), **{name: tuple(group) for name, group in groups.items()},
    )  # fmt: skip


def _headline(status: Status, head: Head | None) -> str:
    commit = head.commit[:9] if head is not None else ""
    if status.branch in ("(detached)", ""):
        return f"detached at {commit}" if commit else "no commit yet"
    line = f"on {status.branch}" + (f" at {commit}" if commit else ", no commit yet")
    if not status.upstream:
        return f"{line}, no upstream"
    parts = [f"{status.ahead} ahead"] * bool(status.ahead) + [f"{status.behind} behind"] * bool(status.behind)
    return f"{line}, {' and '.join(parts) or 'even with'} {'of ' * bool(parts)}{status.upstream}"


def _numstat(entries: list[str]) -> list[_File]:
    """The files of a `--numstat -z`."""
    found: list[_File] = []
    rest = iter(entries)
    for entry in rest:
        parts = entry.lstrip("\n").split("\t", 2)
        if len(parts) < 3:
            continue
        name, old = parts[2], ""
        if not name:  # renamed: the old and the new name follow
            old, name = next(rest, ""), next(rest, "")
        found.append(_File(added=_number(parts[0]), removed=_number(parts[1]), name=name, old=old))
    return found


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _specs(names: list[str]) -> list[str]:
    return [f":(top,literal){name}" if name != "." else ":/" for name in names]


def _revision(text: str) -> list[str]:
    return [revision(text)] if text else []


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _check_words(**words: str) -> None:
    for name, value in words.items():
        if "\0" in value or len(value) > 1000 or any("\ud800" <= c <= "\udfff" for c in value):
            raise ToolFailure(f"{name} is too long or holds characters that git cannot be given")


def _diffed(text: str, diff: str, added: int, removed: int) -> Outcome:
    shown = diff if len(diff) < 200_000 else diff[:200_000].rpartition("\n")[0] + "\n... the rest is left out ...\n"
    return Outcome(text=text, display=diff_display("", shown, added=added, removed=removed))
