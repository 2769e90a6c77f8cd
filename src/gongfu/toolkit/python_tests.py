"""The tool run_tests."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.git_run import strings
from gongfu.toolkit.programs import Ran
from gongfu.toolkit.python_project import Project, Projects, everything, plain, text_of
from gongfu.toolkit.python_results import Results, from_cargo, from_go, from_junit, from_text, from_unittest
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Facts, Outcome

Runner = Literal["auto", "pytest", "unittest", "npm", "go", "cargo"]
_MOST = 20  # failing tests that are told with their reasons
_NAMED = 100
_REPORT = 64 << 20


class TestRuns:
    """See the module."""

    __test__ = False  # for pytest, which collects what is called so

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    async def _facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        runner, argv = self._command(project, args)
        given = self._projects.located([p.partition("::")[0] for p in strings(args.get("paths"))])
        title = " ".join([runner, *strings(args.get("paths"))])
        return self._projects.facts(project, shlex.join(argv), title=title, given=given)

    @tool(access="execute", facts=_facts, claims=everything)
    async def run_tests(
        self,
        ctx: CallContext,
        *,
        paths: list[str] | None = None,
        keyword: str = "",
        last_failed: bool = False,
        stop_at: int = 0,
        runner: Runner = "auto",
        options: list[str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  (the model's argument)
        cwd: str = "",
    ) -> Outcome:
        if stop_at < 0 or (timeout is not None and timeout <= 0):
            raise ToolFailure("stop_at must not be negative and timeout must be more than 0 seconds")
        project = self._projects.find(cwd, again=True)
        args = {
            "paths": paths, "keyword": keyword, "last_failed": last_failed, "stop_at": stop_at, "runner": runner,
            "options": options,
        }  # fmt: skip
        self._projects.located([p.partition("::")[0] for p in paths or []], again=True)
        name, argv = self._command(project, args)
        report = _report(project)
        try:
            ran = await self._projects.programs.run(argv, ctx, cwd=project.root, timeout=timeout, show=True)
            found = await anyio.to_thread.run_sync(_results, name, ran.text, report)
        finally:
            report.unlink(missing_ok=True)
        hint = ""
        if name == "pytest" and re.search(r"(?m)No module named '?pytest'?\s*$", ran.text) is not None:
            hint = f"pytest is not installed there; this installs it: {self._projects.installs(project, 'pytest')}"
        return _told(name, argv, project, found, ran, hint)

    def _command(self, project: Project, args: dict[str, Any]) -> tuple[str, list[str]]:
        """The runner and its whole command line. ToolFailure when there is nothing that runs tests."""
        paths, options = strings(args.get("paths")), strings(args.get("options"))
        keyword: str = args.get("keyword") or ""
        if (bad := next((t for t in [*paths, *options, keyword] if "\0" in t or t != _whole(t)), None)) is not None:
            raise ToolFailure(f"{bad[:80]!r} holds characters that no program can be given")
        if (bad := next((p for p in paths if p.startswith("-")), None)) is not None:
            raise ToolFailure(f"paths: {bad[:80]!r} is an option; give it in options")
        name = args.get("runner") or "auto"
        name = self._detect(project) if name == "auto" else name
        stop: int = args.get("stop_at") or 0
        if keyword.startswith("-"):
            raise ToolFailure(f"keyword {keyword[:80]!r} would be an option; give a name, or use options")
        if args.get("last_failed") and name != "pytest":
            raise ToolFailure(f"last_failed works with pytest only; the tests here are run by {name}")
        return name, [*self._runner(project, name, paths, keyword, stop, bool(args.get("last_failed"))), *options]

    def _runner(
        self, project: Project, name: str, paths: list[str], keyword: str, stop: int, last_failed: bool
    ) -> list[str]:
        selected = [self._relative(project, p) for p in paths]
        match name:
            case "pytest":
                some = ["-k", keyword] * bool(keyword) + ["--lf"] * last_failed + [f"--maxfail={stop}"] * bool(stop)
                shape = ["-q", "--color=no", "--tb=short", f"--junitxml={_report(project)}"]
                return [*self._projects.python(project), "-m", "pytest", *shape, *some, *selected]
            case "unittest":
                some = ["-k", keyword] * bool(keyword) + ["-f"] * bool(stop)
                modules = [re.sub(r"\.py\Z", "", p).replace("/", ".") for p in selected]
                apart = project.root / "tests" if not (project.root / "tests" / "__init__.py").exists() else None
                below = ["-s", "tests"] if apart is not None and any(apart.glob("test*.py")) else []
                python = [*self._projects.python(project), "-m", "unittest"]
                return [*python, *([] if modules else ["discover"]), "-v", *some, *(modules or below)]
            case "npm":
                some = ["-t", keyword] * bool(keyword)
                return [
                    *self._projects.needed(project, "npm"),
                    "test",
                    *(["--", *some, *selected] * bool(some + selected)),
                ]
            case "go":
                some = ["-run", keyword] * bool(keyword) + ["-failfast"] * bool(stop)
                folders = [f"./{p.rstrip('/')}" for p in selected]
                return [*self._projects.needed(project, "go"), "test", "-json", *some, *(folders or ["./..."])]
            case _:
                some = [keyword] * bool(keyword) + ["--no-fail-fast"] * (not stop)
                return [*self._projects.needed(project, "cargo"), "test", *some]

    def _relative(self, project: Project, text: str) -> str:
        path, colons, rest = text.partition("::")
        located = self._projects.places.judge(path)
        shown = os.path.relpath(located.path, project.root)
        name = Path(shown).as_posix()
        return f"{'./' * name.startswith('-')}{name}{colons}{rest}"

    def _detect(self, project: Project) -> str:
        if project.tool("pytest") is not None or project.has("pytest.ini", "conftest.py", "tests/conftest.py"):
            return "pytest"
        scripts = plain(project.json("package.json").get("scripts"))
        others = {"cargo": project.has("Cargo.toml"), "go": project.has("go.mod"), "npm": "test" in scripts}
        other = next((name for name, there in others.items() if there), "")
        python = project.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini")
        if other and not python:
            return other
        tests = _some_tests(project.root)
        if tests or not other:
            if not tests:
                raise ToolFailure(f"no tests were found in {self._projects.workspace.show(project.root)}; name runner")
            only_unittest = all("import pytest" not in t and "unittest" in t for t in map(text_of, tests))
            return "unittest" if only_unittest and not self._has_pytest(project) else "pytest"
        return other

    def _has_pytest(self, project: Project) -> bool:
        if project.env is None:
            return bool(self._projects.program(project, "pytest"))
        return any(project.env.glob("[lL]ib*/**/site-packages/pytest/__init__.py"))


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _report(project: Project) -> Path:
    """Where pytest writes its report: in the project, which every sandbox lets it; the name stays, for grants."""
    return project.root / f".gongfu-tests-{os.getpid()}.xml"


def _some_tests(root: Path) -> list[Path]:
    """Up to 20 test files in the root, or below `tests`, `test` and `src`."""
    found: list[Path] = []
    for pattern in ("test_*.py", "*_test.py", "tests/**/test_*.py", "tests/**/*_test.py", "test/**/test_*.py"):
        for path in root.glob(pattern):
            found.append(path)
            if len(found) >= 20:
                return found
    return found


def _results(name: str, text: str, report: Path) -> Results:
    if name == "pytest":
        try:
            raw = report.read_bytes() if report.stat().st_size < _REPORT else b""
        except OSError:
            raw = b""
        return from_junit(raw) or from_text(text)
    reader = {"unittest": from_unittest, "go": from_go, "cargo": from_cargo}.get(name, from_text)
    return reader(text)


def _told(name: str, argv: Sequence[str], project: Project, found: Results, ran: Ran, hint: str = "") -> Outcome:
    code, why, seconds = ran.code, ran.how.why_ended, ran.how.seconds
    failing = found.failing
    ended = f"stopped after {seconds:.0f} s ({'nothing happened any more' if why == 'idle' else 'time is over'}): "
    head = (ended if why != "exit" else "") + _counts(found, code) + f" in {seconds:.1f} s [{name}]"
    lines = [head]
    for test in failing[:_MOST]:
        lines += ["", f"{test.outcome.upper()} {test.name}", *(f"  {line}" for line in test.lines)]
    rest = failing[_MOST : _MOST + _NAMED]
    lines += ["", "also failing:", *(f"  {test.name}" for test in rest)] if rest else []
    left = len(failing) - _MOST - len(rest)
    lines += [f"  … {left} more"] if left > 0 else []
    nothing = not found.total or (code not in (0, 1) and not failing) or (code and not failing)
    if nothing and code:
        lines += ["", *redact(ran.text).rstrip().splitlines()[-40:]]
    lines += [f"[{note}]" for note in (hint, ran.note) if note]
    shown = redact("\n".join(lines))
    display: Display = {
        "kind": "command", "command": shlex.join(argv), "cwd": str(project.root), "code": code, "output": shown,
        "note": "", "summary": _counts(found, code),
    }  # fmt: skip
    return Outcome(text=shown, display=display, status="failed" if nothing and code else "done")


def _counts(found: Results, code: int) -> str:
    parts = [
        f"{count} {what}"
        for count, what in (
            (found.failed, "failed"), (found.errors, "error" if found.errors == 1 else "errors"),
            (found.passed, "passed"), (found.skipped, "skipped"),
        )
        if count
    ]  # fmt: skip
    if not parts:
        return "no tests ran" if code in (0, 5) else f"the tests could not be run (exit code {code})"
    return ", ".join(parts)
