"""The tools find_files and search_text."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal, TypeAlias

from gongfu.core.backtracking import longest_line
from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.counts import counted
from gongfu.toolkit.found import MOST_HITS, Report
from gongfu.toolkit.grep import HUGE, Query, Skipped, in_thread
from gongfu.toolkit.grep_apart import search_safely
from gongfu.toolkit.places import Places
from gongfu.toolkit.ripgrep import search_with_rg
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Toolset
from gongfu.workspace.environment import child_env, search_path
from gongfu.workspace.globs import path_regex
from gongfu.workspace.ignore import Walk, walk
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Located, Workspace

Show: TypeAlias = Literal["lines", "files", "count"]
_MARGIN = 512
_MOST_FILES = 200
_SECONDS = 30.0
_MANY = 300  # below, starting a program twice takes longer than searching
_HIDDEN = r"(?:^|/|\{|,)\.[^./]"


def search_tools(
    workspace: Workspace, *, env: Mapping[str, str], limit: int = 32_768, rg: str | None = None
) -> Toolset:
    """find_files and search_text of one session.

    `env` is the environment of the program `rg`; `rg` is where it lies, "" for a search in Python only, None to look
    for it when it is first needed. `limit` is how many bytes of one result the model is shown.
    """
    tools = SearchTools(workspace, env=env, limit=limit, rg=rg)
    return (tools.find_files, tools.search_text)


class _Files(Base, frozen=True):
    """The files to look at, and what the walk left out."""

    paths: tuple[Path, ...]
    protected: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class SearchTools:
    """See `search_tools`."""

    def __init__(self, workspace: Workspace, *, env: Mapping[str, str], limit: int, rg: str | None) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._env = env
        self._room = max(1024, limit - _MARGIN)
        self._rg = rg

    # --- find_files -----------------------------------------------------------------------------------------------

    async def _find_facts(self, args: dict[str, Any]) -> Facts:
        return self._facts(args, args["pattern"])

    def _facts(self, args: dict[str, Any], pattern: str) -> Facts:
        located = self._places.judge(args.get("path") or ".")
        title = f"{pattern} in {located.shown}" if located.shown != "." else pattern
        return Facts(access=("read",), paths=self._places.paths(located), title=title)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args.get("path") or ".").path)),)

    @tool(access="read", facts=_find_facts, claims=_claims)
    async def find_files(self, pattern: str, path: str = ".", sort: Literal["name", "newest"] = "name") -> Outcome:
        folder, glob = self._split(pattern, path)
        return await in_thread(lambda stop: self._find(folder, glob, sort, stop))

    def _split(self, pattern: str, path: str) -> tuple[Located, str]:
        """The folder to walk and the glob below it; an absolute glob is taken apart at its first special character."""
        if not pattern.strip():
            raise ToolFailure('pattern is empty; give a glob such as "**/*.py"')
        located = self._places.again(path or ".")
        if not located.path.exists():
            raise self._places.missing(located)
        if not located.path.is_dir():
            raise ToolFailure(f"{located.shown} is a file; path must be a folder")
        if not os.path.isabs(pattern):  # noqa: PTH117 - a pattern, not a path
            return located, pattern
        top = self._workspace.show(located.path) if not located.inside else str(located.path)
        if not pattern.startswith(f"{top.rstrip('/')}/"):
            raise ToolFailure(f"the pattern leads out of {located.shown}; give the folder as path and a relative glob")
        return located, pattern[len(top.rstrip("/")) + 1 :]

    def _find(self, located: Located, glob: str, sort: str, stop: Callable[[], bool]) -> Outcome:
        regex = path_regex(glob)
        files = self._files(located, "", stop, hidden=_names_hidden(glob, located), secrets=True)
        top = located.path
        found = [p for p in files.paths if regex.fullmatch(p.relative_to(top).as_posix())]
        if sort == "newest":
            found = sorted(found, key=_age)
        order = "newest first" if sort == "newest" else "by name"
        if not found:
            return Outcome(text=_noted(f"No file matches {glob} in {located.shown}", files.notes), display=_count(0))
        room = self._room
        shown: list[str] = []
        for path in found[:_MOST_FILES]:
            name = self._workspace.show(path)
            room -= len(name.encode("utf-8")) + 1
            if room < 0:
                break
            shown.append(name)
        part = f"{len(shown)} of {len(found)} files" if len(shown) < len(found) else f"{len(found)} files"
        more = "; narrow the glob to see the others" if len(shown) < len(found) else ""
        lines = [*shown, f"[{part if len(found) != 1 else '1 file'}, {order}{more}]"]
        display = {"kind": "list", "items": shown, "total": len(found), "summary": part}
        return Outcome(text=_noted("\n".join(lines), files.notes), display=display)

    # --- search_text ----------------------------------------------------------------------------------------------

    async def _search_facts(self, args: dict[str, Any]) -> Facts:
        return self._facts(args, args["pattern"])

    @tool(access="read", facts=_search_facts, claims=_claims)
    async def search_text(
        self,
        pattern: str,
        path: str = ".",
        *,
        glob: str = "",
        show: Show = "lines",
        context: int = 0,
        ignore_case: bool = False,
        literal: bool = False,
    ) -> Outcome:
        if not pattern:
            raise ToolFailure("pattern is empty; to list files use find_files")
        if "\n" in pattern:
            raise ToolFailure(
                "the pattern has a line end in it, and lines are searched one by one; search for one line"
            )
        located = self._places.again(path or ".")
        if not located.path.exists():
            raise self._places.missing(located)
        query = Query(
            pattern=pattern, literal=literal, ignore_case=ignore_case,
            context=min(max(context, 0), 20) if show == "lines" else 0,
        )  # fmt: skip
        hidden = _names_hidden(glob, located)
        files = await in_thread(lambda stop: self._files(located, glob, stop, hidden=hidden, secrets=False))
        report = Report(self._workspace, show, self._room, single=located.path.is_file())
        skipped = Skipped()
        slow = ""
        try:
            await self._run(files.paths, query, skipped, report)
        except TimeoutError:
            slow = f"stopped after {_SECONDS:.0f} seconds; narrow by path or glob"
        if located.path.is_file() and skipped.huge:
            raise ToolFailure(_too_large(located.shown, query, self._program()))
        notes = [*filter(None, [slow]), *files.notes, *report.notes(skipped, files.protected)]
        searched = len(files.paths) - len(skipped.huge) - len(skipped.unreadable) - len(skipped.binary)
        where = located.shown if located.path.is_file() else f"{counted(searched, 'file')} of {located.shown}"
        text = report.text() or f"No match for {pattern} in {where}"
        summary = f"{counted(report.count, 'match', 'matches')} in {counted(report.files, 'file')}"
        return Outcome(text=_noted(text, notes), display=text_display("", summary))

    async def _run(self, files: Sequence[Path], query: Query, skipped: Skipped, report: Report) -> None:
        until = time.monotonic() + _SECONDS
        env = child_env(self._env)
        endless = not query.literal and longest_line(query.pattern) == 0
        program = self._program()
        if not program or not (len(files) > _MANY or endless):
            take = report.add
            files = await search_safely(files, query, skipped, env=env, until=until, take=take, defer=bool(program))
            if not files:
                return
        most = MOST_HITS if report.show == "lines" else 0
        hits = search_with_rg(program, files, query, skipped, env=env, until=until, most=most)
        async with aclosing(hits):
            async for group in hits:
                for one in group:
                    report.add(one)

    def _program(self) -> str:
        if self._rg is None:
            from shutil import which  # only when something is searched

            self._rg = which("rg", path=search_path(self._env)) or ""
        return self._rg

    # --- files ----------------------------------------------------------------------------------------------------

    def _files(self, located: Located, glob: str, stop: Callable[[], bool], *, hidden: bool, secrets: bool) -> _Files:
        """The files below a folder that `glob` lets in; those with secrets only if `secrets`, else they are named."""
        if located.path.is_file():
            return _Files(paths=(located.path,))
        within = walk(located.path, self._workspace, hidden=hidden)
        wanted = self._filter(located, glob)
        paths: list[Path] = []
        protected: list[str] = []
        for path in within:
            if stop():
                break
            if wanted is not None and not wanted(path):
                continue
            if not secrets and path.is_symlink():
                continue
            if not secrets and why_protected(path, self._workspace, write=False) == "secret":
                protected.append(self._workspace.show(path))
            else:
                paths.append(path)
        return _Files(paths=tuple(paths), protected=tuple(protected), notes=_walk_notes(within))

    def _filter(self, located: Located, glob: str) -> Callable[[Path], bool] | None:
        """Globs separated by spaces or commas outside braces; one that begins with `!` leaves files out."""
        globs = [g for g in re.split(r"[\s,]+(?![^{}]*\})", glob) if g]
        let_in = [path_regex(g) for g in globs if not g.startswith("!")]
        leave_out = [path_regex(g[1:]) for g in globs if g.startswith("!")]
        if not globs:
            return None

        def wanted(path: Path) -> bool:
            names = [path.relative_to(located.path).as_posix(), self._workspace.show(path)]
            if any(r.fullmatch(n) for r in leave_out for n in names):
                return False
            return not let_in or any(r.fullmatch(n) for r in let_in for n in names)

        return wanted


def _names_hidden(glob: str, located: Located) -> bool:
    return re.search(_HIDDEN, glob) is not None or (
        located.inside and any(p.startswith(".") and p != ".." for p in Path(located.shown).parts)
    )


def _walk_notes(within: Walk) -> tuple[str, ...]:
    notes: list[str] = []
    if within.truncated:
        notes.append("the folder is too large to look at all of it; narrow the path")
    if within.unreadable:
        notes.append(f"{within.unreadable} folders could not be read")
    return tuple(notes)


def _too_large(shown: str, query: Query, rg: str) -> str:
    """What is said of a single file that is not searched: how a command searches it."""
    program = "rg -n" if rg else "grep -nF" if query.literal else "grep -nE"
    options = " -F" * bool(rg and query.literal) + " -i" * query.ignore_case
    line = f"{program}{options} -m 50 -e {shlex.quote(query.pattern)} {shlex.quote(shown)}"
    return f"{shown} is over {HUGE >> 20} MB and was not searched; the shell can: {line}"


def _age(path: Path) -> tuple[int, str]:
    try:
        return -path.stat().st_mtime_ns, str(path)
    except OSError:
        return 0, str(path)


def _noted(text: str, notes: Sequence[str]) -> str:
    return f"{text}\n[{'; '.join(notes)}]" if notes else text


def _count(number: int) -> dict[str, Any]:
    return text_display("", f"{number} files")
