"""The tool diagnostics: what is wrong in code, found without running it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.checkers import Checker, Finding, checkers, in_characters, with_files
from gongfu.toolkit.code_apart import Order, Reply
from gongfu.toolkit.code_python import environment
from gongfu.toolkit.code_target import Source, read_source
from gongfu.toolkit.grep import in_thread
from gongfu.toolkit.places import Places, unasked
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.servers import ServerTools
from gongfu.toolkit.spots import one_line
from gongfu.toolkit.syntax_errors import can_check, syntax_errors
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.git import git, is_repository
from gongfu.workspace.ignore import walk
from gongfu.workspace.root import Workspace

Ask: TypeAlias = Callable[[Order], Awaitable[Reply]]
_PYTHON = (".py", ".pyi", ".pyw")
_MOST_FILES = 300
_MOST_SERVED = 30
_MOST_LINES = 150
_SECONDS = 90.0
_ORDER = {"error": 0, "warning": 1, "information": 2, "hint": 3}


class _Plan(Base, frozen=True):
    """What is checked with what."""

    python: tuple[Path, ...]
    others: tuple[Path, ...]
    checkers: tuple[Checker, ...]
    skipped: int = 0

    @property
    def commands(self) -> list[tuple[str, ...]]:
        names = [str(path) for path in self.python]
        return [with_files(checker, names) for checker in self.checkers if checker.found and names]


class DiagnoseTools:
    """The tool diagnostics of one session; `ask` is how jedi is asked."""

    def __init__(self, workspace: Workspace, programs: Programs, servers: ServerTools, ask: Ask) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._programs = programs
        self._servers = servers
        self._ask = ask
        self._plans: dict[str, _Plan] = {}

    async def _facts(self, args: dict[str, Any]) -> Facts:
        path = args.get("path", "")
        plan = await self._plan(path)
        self._plans[path] = plan
        located = self._places.judge(path or ".")
        found = (self._servers.find(other) for other in plan.others)
        names = dict.fromkeys(shlex.join(one.argv) for one in found if one is not None)
        lines = [*map(shlex.join, plan.commands), *names]
        paths = self._places.paths(located)
        title = located.shown if path else "changed files"
        if not lines:
            return Facts(access=("read",), paths=paths, title=title)
        return Facts(
            access=("read", "execute"), paths=paths, command="\n".join(lines), cwd=str(self._workspace.root),
            title=title,
        )  # fmt: skip

    def _claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.root)),)

    @tool(access=("read", "execute"), facts=_facts, claims=_claims)
    async def diagnostics(self, ctx: CallContext, path: str = "") -> Outcome:
        plan = self._plans.pop(path, None) or await self._plan(path)
        if not plan.python and not plan.others:
            what = "No changed file holds code." if not path else f"No code that can be checked in {one_line(path)}."
            return Outcome(text=what, display=text_display(what, "no files"))
        findings: list[Finding] = []
        notes: list[str] = []
        used: dict[str, None] = {}
        if plan.python:
            findings += await self._syntax(plan.python, used)
            await self._check(plan, ctx, findings, notes, used)
        await self._others(plan.others, ctx, findings, notes, used)
        if plan.skipped:
            notes.append(f"{plan.skipped} more files were not checked; name a folder or file")
        return self._outcome(findings, notes, list(used), len(plan.python) + len(plan.others))

    # --- which files ----------------------------------------------------------------------------------------------

    async def _plan(self, path: str) -> _Plan:
        if path:
            located = self._places.again(path)
            if not located.path.exists():
                raise self._places.missing(located)
            if located.path.is_dir():
                files = await in_thread(lambda stop: self._below(located.path, stop))
            else:
                read_source(self._places, path)  # says what is wrong with it
                files = [located.path]
        else:
            files = await self._changed()
        python = [f for f in files if f.suffix.lower() in _PYTHON]
        others = [f for f in files if f.suffix.lower() not in _PYTHON and self._checked(f)]
        root, env = self._workspace.root, self._programs.given
        return _Plan(
            python=tuple(python[:_MOST_FILES]), others=tuple(others[:_MOST_FILES]),
            checkers=checkers(root, environment(self._workspace, env), env) if python else (),
            skipped=max(len(python) - _MOST_FILES, 0) + max(len(others) - _MOST_FILES, 0),
        )  # fmt: skip

    def _checked(self, path: Path) -> bool:
        return can_check(path) or self._servers.find(path) is not None

    def _below(self, folder: Path, stop: Callable[[], bool]) -> list[Path]:
        found: list[Path] = []
        for path in walk(folder, self._workspace):
            if stop():
                break
            if unasked(path, self._workspace):
                found.append(path)
        return found

    async def _changed(self) -> list[Path]:
        root = self._workspace.root
        if not is_repository(root):
            raise ToolFailure(
                "this is no git repository, so it is not known what changed; give a file or folder as path"
            )
        args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]
        try:
            done = await git(args, cwd=root, env=self._programs.env, timeout=30)
        except OSError as error:
            raise ToolFailure(f"git could not be started: {error}; give a file or folder as path") from None
        if done.code:
            said = done.output.decode("utf-8", "replace")
            raise ToolFailure(f"git does not say what changed ({one_line(said)}); give a file or folder as path")
        names = [entry[3:] for entry in done.output.decode("utf-8", "surrogateescape").split("\0") if len(entry) > 3]
        paths = [self._workspace.locate(str(root / name)) for name in names]
        return [p.path for p in paths if unasked(p.asked, self._workspace) and p.path.is_file()]

    # --- checking -------------------------------------------------------------------------------------------------

    async def _syntax(self, files: Sequence[Path], used: dict[str, None]) -> list[Finding]:
        reply = await self._ask(Order(do="errors", root="", files=tuple(map(str, files))))
        used["syntax"] = None
        return [
            Finding(path=s.path, line=s.line, column=s.column, severity="error", message=s.signature, source="syntax")
            for s in reply.spots
        ]

    async def _check(
        self, plan: _Plan, ctx: CallContext, findings: list[Finding], notes: list[str], used: dict[str, None]
    ) -> None:
        root = self._workspace.root
        names = [str(path) for path in plan.python]
        for checker in plan.checkers:
            if not checker.found:
                notes.append(f"{checker.name} is set up here but not installed ({checker.install})")
                continue
            ran = await self._programs.run(with_files(checker, names), ctx, cwd=root, timeout=_SECONDS)
            found = in_characters(list(checker.read(ran.text, root)), checker.unit)
            used[checker.name] = None
            findings += found
            if ran.how.why_ended != "exit":
                notes.append(f"{checker.name} was stopped after {_SECONDS:.0f} s")
            elif not found and ran.code not in (0, 1):
                notes.append(f"{checker.name} failed: {one_line(ran.text.strip()[-300:], 300)}")
            if ran.note:
                notes.append(ran.note)

    async def _others(
        self, files: Sequence[Path], ctx: CallContext, findings: list[Finding], notes: list[str], used: dict[str, None]
    ) -> None:
        until = time.monotonic() + _SECONDS
        served = 0
        for count, path in enumerate(files):
            if time.monotonic() > until:
                notes.append(f"time was up: {len(files) - count} files were not checked")
                return
            try:
                source = read_source(self._places, str(path))
            except ToolFailure as failure:
                notes.append(str(failure))
                continue
            server = self._servers.answerer(path, ctx) if served < _MOST_SERVED else None
            try:
                if server is not None:
                    served += 1
                    findings += _of_server(await server.problems(source))
                    used[server.found.server.name] = None
                    continue
            except ToolFailure as failure:
                notes.append(str(failure))
            await self._parse(source, findings, notes, used)

    async def _parse(self, source: Source, findings: list[Finding], notes: list[str], used: dict[str, None]) -> None:
        if not can_check(source.path):
            return
        try:
            findings += await in_thread(lambda _stop: syntax_errors(source.path, source.text))
            used["syntax"] = None
        except ImportError:
            lacks = "tree-sitter grammars are not installed (pip install 'gongfu[code]')"
            if lacks not in notes:
                notes.append(lacks)

    # --- telling --------------------------------------------------------------------------------------------------

    def _outcome(self, findings: Iterable[Finding], notes: list[str], used: list[str], files: int) -> Outcome:
        found = sorted(
            dict.fromkeys(findings), key=lambda f: (_ORDER.get(f.severity, 1), f.path, f.line, f.column, f.message)
        )
        by = f"{', '.join(used) or 'nothing'}; {files} file{'s' * (files > 1)}"
        counts = {kind: sum(1 for f in found if f.severity == kind) for kind in _ORDER}
        summary = ", ".join(f"{n} {kind}{'s' * (n > 1 and kind != 'information')}" for kind, n in counts.items() if n)
        summary = summary or "no problems"
        lines = [f"{summary} ({by})", *(self._line(f) for f in found[:_MOST_LINES])]
        if len(found) > _MOST_LINES:
            lines.append(f"[{len(found) - _MOST_LINES} more]")
        lines += [f"[{note}]" for note in dict.fromkeys(notes)]
        text = "\n".join(lines)
        return Outcome(text=text, display=text_display(text, summary))

    def _line(self, f: Finding) -> str:
        said = " ".join(filter(None, [f.code, f.source]))
        where = f"{self._workspace.show(Path(f.path))}:{f.line}:{f.column}"
        return f"{where} {f.severity}: {one_line(f.message, 300)} [{said}]"


def _of_server(problems: Iterable[Any]) -> list[Finding]:
    return [
        Finding(
            path=p.place.path, line=p.place.line, column=p.place.column + 1, severity=p.severity, message=p.message,
            code=p.code, source=p.source,
        )
        for p in problems
    ]  # fmt: skip
