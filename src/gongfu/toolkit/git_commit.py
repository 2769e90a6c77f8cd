"""The tool git_commit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio.to_thread

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import find, redact
from gongfu.toolkit.counts import counted
from gongfu.toolkit.git_read import Status, status_of
from gongfu.toolkit.git_run import GIT, Git, Repo, change_facts, cut_lines, fields, raw, strings
from gongfu.toolkit.programs import Ran
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.names import show_name

_MOST = 60  # files that are named
_DIFF = 16 << 20  # bytes of added lines that are searched for secrets


class GitCommits:
    """See the module."""

    def __init__(self, git: Git) -> None:
        self._git = git

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return self._git.claims(args, write=True)

    async def _facts(self, args: dict[str, Any]) -> Facts:
        message, amend = args.get("message") or "", bool(args.get("amend"))
        _check(message, amend)
        repo = self._git.repo(args.get("cwd") or "")
        given = strings(args.get("paths"))
        located = self._git.paths(given)
        commit = ["git", "commit", *(["--amend"] if amend else []), *_said(message)]
        commands = [add] if (add := _staging(given, bool(args.get("all")))) else []
        # what rewrites history, or takes up secrets, must be asked for whatever the mode: it names git's own files
        asks = amend or bool(args.get("allow_secrets"))
        return change_facts(
            repo,
            [*(["git", *words] for words in commands), commit],
            title=("amend" if amend else "commit") + (f": {message.strip().splitlines()[0]}" if message else ""),
            paths=tuple(path for one in located for path in self._git.places.paths(one)),
            writes=(str(repo.git_dir / "HEAD"),) if asks else (),
        )

    @tool(access="execute", facts=_facts, claims=_claims, needs=GIT)
    async def git_commit(
        self,
        ctx: CallContext,
        *,
        message: str = "",
        paths: list[str] | None = None,
        all: bool = False,
        amend: bool = False,
        allow_secrets: bool = False,
        cwd: str = "",
    ) -> Outcome:
        _check(message, amend)
        repo = self._git.repo(cwd, again=True)
        names = self._git.inside(repo, paths or [])
        await self._refuse_ignored(repo, ctx, names)
        staging = _staging([f":(top,literal){name}" if name != "." else ":/" for name in names], all)
        await self._try(repo, ctx, staging, amend=amend, message=message, allow_secrets=allow_secrets)
        if staging:
            staged = await self._git.change(repo, ctx, *staging)
            if not staged.ok:
                raise ToolFailure(f"nothing was committed; git could not stage: {_words(staged)}")
        args = ["commit", *(["--amend"] if amend else []), *(["-F", "-"] if message.strip() else ["--no-edit"])]
        done = await self._git.change(repo, ctx, *args, stdin=message.encode("utf-8"))
        if not done.ok:
            raise ToolFailure(self._why(done))
        return await self._told(repo, ctx, done, amend=amend)

    # --- before ---------------------------------------------------------------------------------------------------

    async def _refuse_ignored(self, repo: Repo, ctx: CallContext, names: Sequence[str]) -> None:
        """A folder takes up what git does not ignore in it; a file that is named although ignored is a mistake."""
        if not names or names == ["."]:
            return
        stdin = b"".join(os.fsencode(str(repo.top / name)) + b"\0" for name in names)
        ran = await self._git.read(repo, ctx, "check-ignore", "-z", "--stdin", fail=False, stdin=stdin)
        ignored = [Path(f).name for f in fields(ran) if f] if ran.code == 0 else []
        if ignored:
            raise ToolFailure(f"git ignores {', '.join(map(show_name, ignored))}; nothing was staged or committed")

    async def _try(
        self, repo: Repo, ctx: CallContext, staging: Sequence[str], *, amend: bool, message: str, allow_secrets: bool
    ) -> None:
        """Stage into a copy of the index and look at what the commit would be. ToolFailure when it must not be."""
        index = repo.git_dir / f"gongfu-index-{os.urandom(6).hex()}"
        try:
            if staging:
                with suppress(FileNotFoundError):
                    await anyio.to_thread.run_sync(
                        shutil.copy2, repo.git_dir / "index", index
                    )  # its time too: git tells by it what may have changed
                ran = await self._staged(repo, ctx, index, *staging)
                if not ran.ok:
                    raise ToolFailure(f"nothing was staged or committed; git: {_words(ran)}")
            await self._judge(repo, ctx, index if staging else None, amend and not message, allow_secrets, amend)
        except OSError as error:
            raise ToolFailure(f"the index of git cannot be read: {error.strerror}; nothing was committed") from None
        finally:
            for left in (index, index.with_name(f"{index.name}.lock")):
                left.unlink(missing_ok=True)

    async def _staged(self, repo: Repo, ctx: CallContext, index: Path | None, *args: str) -> Ran:
        env = {"LC_ALL": "C.UTF-8", **({"GIT_INDEX_FILE": str(index)} if index is not None else {})}
        argv = ["git", "--no-pager", "-c", "color.ui=never", "-c", "core.quotePath=false", *args]
        return await self._git.programs.run(argv, ctx, cwd=repo.cwd, env=env, timeout=120, keep=_DIFF)

    async def _judge(
        self, repo: Repo, ctx: CallContext, index: Path | None, same: bool, allow_secrets: bool, amend: bool
    ) -> None:
        diff = ("diff", "--cached", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-renames")
        named = await self._staged(repo, ctx, index, *diff, "--name-status", "-z")
        if not named.ok:
            raise ToolFailure(f"nothing was committed; git: {_words(named)}")
        status = await status_of(self._git, repo, ctx, [])
        if status.conflicts and index is None:
            raise ToolFailure(
                f"conflicts are left ({'; '.join(status.conflicts[:10])}); resolve them, then name the files in paths"
            )
        entries = [f for f in fields(named) if f]
        taken = [name for state, name in zip(entries[::2], entries[1::2], strict=False) if state[:1] != "D"]
        if not entries and not (repo.git_dir / "MERGE_HEAD").exists() and (not amend or same):
            raise ToolFailure(_empty(status.unstaged, status.untracked))
        if taken and not allow_secrets:
            await self._refuse_secrets(repo, ctx, index, diff, taken)

    async def _refuse_secrets(
        self, repo: Repo, ctx: CallContext, index: Path | None, diff: Sequence[str], taken: Sequence[str]
    ) -> None:
        found = [f"{show_name(name)} (a secret by its name)" for name in taken if self._git.is_secret(repo, name)]
        ran = await self._staged(repo, ctx, index, *diff, "-U0", "--src-prefix=a/", "--dst-prefix=b/")
        found += await anyio.to_thread.run_sync(_secrets_in, raw(ran))
        if found:
            raise ToolFailure(
                f"nothing was committed: it would take up {'; '.join(found[:20])}. Take it out (an ignore file, or the "
                "environment), or ask the user; allow_secrets=true commits it with consent."
            )

    # --- after ----------------------------------------------------------------------------------------------------

    def _why(self, done: Ran) -> str:
        words = _words(done)
        if "tell me who you are" in words or "empty ident name" in words or "auto-detect email" in words:
            return (
                "nothing was committed: git does not know who the user is. They set it once with "
                '`git config --global user.name "…"` and `git config --global user.email "…"`; do not make one up.'
            )
        hint = "" if done.how.why_ended == "exit" else f" (stopped after {done.how.seconds:.0f} s)"
        return f"nothing was committed, and what was staged stays staged{hint}. Git and its hooks said:\n{words}"

    async def _told(self, repo: Repo, ctx: CallContext, done: Ran, *, amend: bool) -> Outcome:
        shape = "--format=%h%x00%an <%ae>%x00%D%x00%s%x00"
        ran = await self._git.read(repo, ctx, "log", "-1", "--name-status", "-M", "-m", "-z", shape)
        parts = [part.strip("\n") for part in fields(ran)]
        commit, author, _, subject, *entries = [*parts, "", "", "", ""] if len(parts) < 4 else parts
        entries = [entry for entry in entries if entry]
        rows = list(_rows(entries))
        files = [f"  {row}" for row in rows[:_MOST]] + [f"  … {len(rows) - _MOST} more"] * (len(rows) > _MOST)
        said = "\n".join(line for line in redact(done.text).splitlines() if not _is_own(line)).strip()
        hooks, left = cut_lines(said, 60, 6000)
        head = f"{'Amended' if amend else 'Committed'} {commit} {subject}\nby {author}, {counted(len(rows), 'file')}:"
        notes = [f"hooks said:\n{hooks}" + (f"\n[{left} more lines]" if left else "")] if hooks else []
        rest = _rest(await status_of(self._git, repo, ctx, []))
        notes += [note for note in (rest, self._git.unrun_hooks(repo), done.note) if note]
        text = "\n".join([head, *files, *notes])
        display: Display = {
            "kind": "command", "command": f"git commit: {subject}", "cwd": str(repo.cwd), "code": 0,
            "output": "\n".join([*files, *notes]), "note": "", "summary": f"{commit}, {counted(len(rows), 'file')}",
        }  # fmt: skip
        return Outcome(text=text, display=display)


def _rest(status: Status) -> str:
    """What a commit left out; "" when nothing is left."""
    groups = (("changed", (*status.staged, *status.unstaged)), ("untracked", status.untracked))
    said = [
        f"{name}: {', '.join(e.partition(' ')[2] if name == 'changed' else e for e in some[:10])}"
        + f" and {len(some) - 10} more" * (len(some) > 10)
        for name, some in groups
        if some
    ]
    return f"[not in it, {'; '.join(said)}]" if said else ""


def _rows(entries: list[str]) -> Iterator[str]:
    """The files of a `--name-status -z`: a letter and a name, of a rename or copy both names."""
    rest = iter(entries)
    for state in rest:
        name = show_name(next(rest, ""))
        moved = f" -> {show_name(next(rest, ''))}" if state[:1] in ("R", "C") else ""
        yield f"{state[:1]} {name}{moved}"


def _check(message: str, amend: bool) -> None:
    if not message.strip() and not amend:
        raise ToolFailure("message is empty; say what changes and why")
    if "\0" in message or any("\ud800" <= c <= "\udfff" for c in message):
        raise ToolFailure("message holds a character that git cannot store; leave it out")
    if len(message) > 100_000:
        raise ToolFailure(f"message has {len(message):,} characters; at most 100,000")
    if message.strip() and all(not line.strip() or line.startswith("#") for line in message.splitlines()):
        raise ToolFailure("every line of message begins with '#', which git takes for comments")


def _said(message: str) -> list[str]:
    return ["-m", message] if message.strip() else ["--no-edit"]


def _staging(specs: Sequence[str], all: bool) -> list[str]:
    if specs:
        return ["add", "-A", "--", *specs]
    return ["add", "-u", "--", ":/"] if all else []


def _empty(unstaged: Sequence[str], untracked: Sequence[str]) -> str:
    words = "nothing is staged, so there is nothing to commit."
    if unstaged:
        words += f" Changed: {', '.join(unstaged[:15])}."
    if untracked:
        words += f" Untracked: {', '.join(untracked[:15])}."
    return words + (" Name them in paths." if unstaged or untracked else " The working tree is clean.")


def _secrets_in(diff: str) -> list[str]:
    """Files of a diff whose added lines hold secrets, with the kinds of these."""
    found: list[str] = []
    name, lines = "", list[str]()

    def close() -> None:
        kinds = dict.fromkeys(span.kind for span in find("\n".join(lines))) if lines else {}
        if kinds:
            found.append(f"{show_name(name)} ({', '.join(kinds)})")

    for line in diff.split("\n"):
        if line.startswith("+++ "):
            close()
            name, lines = line[4:].rstrip("\t\r").removeprefix("b/"), []
        elif line.startswith("+"):
            lines.append(line[1:])
    close()
    return found


def _is_own(line: str) -> bool:
    """Whether a line is git's own account of a commit, which is told in other words."""
    return (
        (line.startswith("[") and "] " in line)
        or " file changed" in line
        or " files changed" in line
        or line.startswith((" create mode ", " delete mode ", " rewrite ", " rename ", " mode change ", " Date: "))
    )


def _words(ran: Ran) -> str:
    text, left = cut_lines(redact(ran.text).strip(), 80, 8000)
    return (text or f"exit code {ran.code}") + (f"\n[{left} more lines]" if left else "")
