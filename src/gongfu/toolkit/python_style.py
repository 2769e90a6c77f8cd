"""The tools format_code, lint and auto_fix."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.display import Display, diff_display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.diffs import diff_of
from gongfu.toolkit.git_run import strings
from gongfu.toolkit.python_findings import KINDS, Finding, findings_in, said_by
from gongfu.toolkit.python_project import Project, Projects, everything, led_out, table
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Facts, Outcome
from gongfu.workspace.files import NotText, read_bytes
from gongfu.workspace.ignore import walk
from gongfu.workspace.root import Located

Linter = Literal["ruff", "flake8", "pyright", "mypy", "eslint", "go", "clippy"]
_PYTHON = frozenset({".py", ".pyi", ".ipynb"})
_SCRIPT = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"})
_PRETTY = _SCRIPT | {".css", ".scss", ".less", ".html", ".json", ".yaml", ".yml", ".md", ".graphql"}
_TOUCHED = _PYTHON | _PRETTY | {".go", ".rs"}
_FILES = 20_000
_BYTES = 64 << 20
_SHOWN = 40_000  # characters of a diff for the model
_FINDINGS = 150
_RUNNING = 300.0


class Step(Base, frozen=True):
    """One program that is run. `ends` are the files that it may change, `fine` exit codes that are no trouble."""

    name: str
    argv: tuple[str, ...]
    ends: frozenset[str] = frozenset()
    fine: tuple[int, ...] = (0, 1)


class Style:
    """See the module."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    async def _facts_of(
        self, args: dict[str, Any], steps: Callable[[Project, list[Located]], list[Step]], what: str, *, writes: bool
    ) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        given = self._projects.located(strings(args.get("paths")))
        command = " ; ".join(shlex.join(step.argv) for step in steps(project, given))
        title = " ".join([what, *(one.shown for one in given)])
        facts = self._projects.facts(project, command, title=title, given=given, writes=writes)
        places = [Path(place) for place in self._places(project, given)]
        more = await anyio.to_thread.run_sync(
            led_out, places, _TOUCHED, self._projects.workspace, abandon_on_cancel=True
        )
        if not more:
            return facts
        return replace(facts, paths=(*facts.paths, *more), writes=(*facts.writes, *(more if writes else ())))

    # --- format_code ----------------------------------------------------------------------------------------------

    async def _format_facts(self, args: dict[str, Any]) -> Facts:
        check = bool(args.get("check"))

        def steps(p: Project, g: list[Located]) -> list[Step]:
            return self._formatters(p, g, check)

        return await self._facts_of(args, steps, "check the format" if check else "format", writes=not check)

    @tool(access="execute", facts=_format_facts, claims=everything)
    async def format_code(
        self, ctx: CallContext, *, paths: list[str] | None = None, check: bool = False, cwd: str = ""
    ) -> Outcome:
        project = self._projects.find(cwd, again=True)
        given = self._projects.located(paths or [], again=True)
        steps = self._formatters(project, given, check)
        if check:
            said = [(step, await self._run(step, project, ctx)) for step in steps]
            text = "\n".join(redact(text).strip() for _, (code, text) in said if code).strip()
            if not text:
                return Outcome(text="Everything is formatted.", display=text_display("", "formatted"))
            broken = any(code not in step.fine for step, (code, _) in said)
            return Outcome(
                text=_bounded(text), display=text_display(text[:_SHOWN], "failed" if broken else "would change"),
                status="failed" if broken else "done",
            )  # fmt: skip
        return await self._changing(project, given, steps, ctx, "formatted")

    def _formatters(self, project: Project, given: Sequence[Located], check: bool) -> list[Step]:
        """What formats the files and folders; ToolFailure when nothing does."""
        places = self._places(project, given)
        steps: list[Step] = []
        if python := _of(places, _PYTHON, project, "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"):
            steps.append(self._python_formatter(project, python, check))
        if pretty := _of(places, _PRETTY, project, "package.json"):
            argv = self._projects.program(project, "prettier")
            if argv is not None:
                how = ["--list-different"] if check else ["--write", "--log-level=warn"]
                steps.append(Step(name="prettier", argv=(*argv, *how, "--ignore-unknown", *pretty), ends=_PRETTY))
            elif given and not python and not all((project.root / p).is_dir() for p in pretty):
                self._projects.needed(project, "prettier")
        if go := _of(places, frozenset({".go"}), project, "go.mod"):
            argv = self._projects.needed(project, "gofmt")
            steps.append(Step(name="gofmt", argv=(*argv, "-d" if check else "-w", *go), ends=frozenset({".go"})))
        if rust := _of(places, frozenset({".rs"}), project, "Cargo.toml"):
            steps.append(self._rust_formatter(project, rust, check))
        if not steps:
            raise ToolFailure(
                "nothing here has a formatter: it knows Python (ruff, black), prettier, gofmt and rustfmt; nothing was "
                "changed"
            )
        return steps

    def _python_formatter(self, project: Project, places: Sequence[str], check: bool) -> Step:
        prefers_black = project.tool("black") is not None and project.tool("ruff", "format") is None
        names = ("black", "ruff") if prefers_black else ("ruff", "black")
        argv = self._projects.needed(project, *names)
        if "black" in Path(argv[-1]).name:
            how = ["-q", *(["--diff"] if check else [])]
            # black tells by its exit code only with --check that something would change
            return Step(name="black", argv=(*argv, *how, *(["--check"] if check else []), *places), ends=_PYTHON)
        return Step(
            name="ruff format",
            argv=(*argv, "format", *(["--diff"] if check else []), "--", *places),
            ends=_PYTHON,
        )

    def _rust_formatter(self, project: Project, places: Sequence[str], check: bool) -> Step:
        files = [p for p in places if p.endswith(".rs")]
        how = ["--check"] if check else []
        if len(files) == len(places):
            argv = self._projects.needed(project, "rustfmt")
            return Step(name="rustfmt", argv=(*argv, "--edition=2021", *how, *files), ends=frozenset({".rs"}))
        return Step(name="cargo fmt", argv=(*self._projects.needed(project, "cargo"), "fmt", *how),
                    ends=frozenset({".rs"}))  # fmt: skip

    # --- auto_fix -------------------------------------------------------------------------------------------------

    async def _fix_facts(self, args: dict[str, Any]) -> Facts:
        def steps(p: Project, g: list[Located]) -> list[Step]:
            return self._fixers(p, g, args)

        return await self._facts_of(args, steps, "fix", writes=True)

    @tool(access="execute", facts=_fix_facts, claims=everything)
    async def auto_fix(
        self,
        ctx: CallContext,
        *,
        paths: list[str] | None = None,
        unsafe: bool = False,
        select: list[str] | None = None,
        cwd: str = "",
    ) -> Outcome:
        project = self._projects.find(cwd, again=True)
        given = self._projects.located(paths or [], again=True)
        steps = self._fixers(project, given, {"unsafe": unsafe, "select": select})
        return await self._changing(project, given, steps, ctx, "fixed")

    def _fixers(self, project: Project, given: Sequence[Located], args: dict[str, Any]) -> list[Step]:
        places = self._places(project, given)
        rules = strings(args.get("select"))
        if (bad := next((r for r in rules if not r.isalnum()), None)) is not None:
            raise ToolFailure(f"select: {bad[:40]!r} is no rule; rules look like F401 or UP")
        steps: list[Step] = []
        if python := _of(places, _PYTHON, project, "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"):
            how = [
                "--fix",
                *(["--unsafe-fixes"] if args.get("unsafe") else []),
                *(["--select", ",".join(rules)] * bool(rules)),
            ]
            argv = self._projects.needed(project, "ruff")
            steps.append(
                Step(
                    name="ruff",
                    argv=(*argv, "check", *how, "--output-format=concise", "-q", "--", *python),
                    ends=_PYTHON,
                )
            )
        script = _of(places, _SCRIPT, project, "package.json")
        if script and (argv := self._projects.program(project, "eslint")) and not rules:
            steps.append(Step(name="eslint", argv=(*argv, "--fix", "--format=json", *script), ends=_SCRIPT))
        if not steps:
            raise ToolFailure(
                "nothing here has a linter that repairs: it knows ruff (Python) and eslint; nothing was done"
            )
        return steps

    # --- lint -----------------------------------------------------------------------------------------------------

    async def _lint_facts(self, args: dict[str, Any]) -> Facts:
        chosen = strings(args.get("tools"))

        def steps(p: Project, g: list[Located]) -> list[Step]:
            return self._linters(p, g, chosen)

        return await self._facts_of(args, steps, "lint", writes=False)

    @tool(access="execute", facts=_lint_facts, claims=everything)
    async def lint(
        self,
        ctx: CallContext,
        *,
        paths: list[str] | None = None,
        tools: list[Linter] | None = None,
        cwd: str = "",
    ) -> Outcome:
        project = self._projects.find(cwd, again=True)
        given = self._projects.located(paths or [], again=True)
        lines: list[str] = []
        total = broken = 0
        for step in self._linters(project, given, list(tools or [])):
            code, text = await self._run(step, project, ctx)
            found = findings_in(step.name, text, project.root)
            total += len(found)
            if failed := code not in step.fine or (code and not found):
                broken += 1
            lines += _account(step.name, found) if found or not failed else []
            lines += said_by(step.name, code, text) if failed else []
        absent = self._absent(project) if not tools else []
        lines += [f"[configured, but not installed: {', '.join(absent)}]"] * bool(absent)
        text = redact("\n".join(lines))
        summary = "failed" if broken and not total else f"{total} finding{'s' * (total != 1)}"
        return Outcome(
            text=text, display=text_display(text, summary), status="failed" if broken and not total else "done"
        )

    def _linters(self, project: Project, given: Sequence[Located], chosen: Sequence[str]) -> list[Step]:
        places = self._places(project, given)
        python = _of(places, _PYTHON, project, "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini")
        script = _of(places, _SCRIPT, project, "package.json")
        wanted = list(dict.fromkeys(chosen)) or self._configured(project, python=bool(python), script=bool(script))
        steps: list[Step] = []
        for name in wanted:
            where = script if name == "eslint" else [] if name in ("go", "clippy") else python
            if not where and name not in ("go", "clippy"):
                raise ToolFailure(f"{name} has nothing to check in {', '.join(places)}; nothing was run")
            program = "cargo" if name == "clippy" else name
            argv = self._projects.program(project, program)
            if argv is None and not chosen and name != wanted[0]:
                continue  # configured, but not installed here: the others still have something to say
            kind = KINDS[name]
            steps.append(Step(name=name, argv=(*self._projects.needed(project, program), *kind.arguments, *where)))
        if not steps:
            raise ToolFailure("nothing here has a linter: no Python, JavaScript, Go or Rust was found; nothing was run")
        return steps

    def _absent(self, project: Project) -> list[str]:
        """Linters that the project has settings for, and that are not installed."""
        root = [str(project.root)]
        python = _of(root, _PYTHON, project, "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini")
        names = self._configured(project, python=bool(python), script=project.has("package.json"))
        return [name for name in names if name not in ("go", "clippy") and not self._projects.program(project, name)]

    def _configured(self, project: Project, *, python: bool, script: bool) -> list[str]:
        """The linters that the project has settings for; ruff where it has none for Python."""
        found: list[str] = []
        if python:
            ini = project.text("setup.cfg") + project.text("tox.ini")
            there = {
                "ruff": project.tool("ruff") is not None or project.has("ruff.toml", ".ruff.toml"),
                "flake8": project.has(".flake8") or "[flake8]" in ini,
                "pyright": project.tool("pyright") is not None or project.has("pyrightconfig.json"),
                "mypy": project.tool("mypy") is not None or project.has("mypy.ini", ".mypy.ini") or "[mypy]" in ini,
            }
            found += [name for name, has in there.items() if has] or ["ruff"]
        if script:
            package = project.json("package.json")
            configs = [p.name for p in project.root.glob("*eslint*")] or table(package, "eslintConfig")
            found += ["eslint"] * bool(configs)
        found += ["go"] * (project.has("go.mod") and bool(self._projects.program(project, "go")))
        return found + ["clippy"] * (project.has("Cargo.toml") and bool(self._projects.program(project, "cargo")))

    # --- all ------------------------------------------------------------------------------------------------------

    def _places(self, project: Project, given: Sequence[Located]) -> list[str]:
        return [str(one.path) for one in given] or [str(project.root)]

    async def _run(self, step: Step, project: Project, ctx: CallContext) -> tuple[int, str]:
        ran = await self._projects.programs.run(
            step.argv, ctx, cwd=project.root, timeout=_RUNNING, env={"NO_COLOR": "1", "FORCE_COLOR": "0"}
        )
        if ran.how.why_ended != "exit":
            raise ToolFailure(f"{step.name} was stopped after {ran.how.seconds:.0f} s; name fewer paths")
        return ran.code, "\n".join(filter(None, (ran.text, ran.note)))

    async def _changing(
        self, project: Project, given: Sequence[Located], steps: Sequence[Step], ctx: CallContext, what: str
    ) -> Outcome:
        """Run programs that change files, and show what they changed."""
        ends = frozenset[str]().union(*(step.ends for step in steps))
        places = [Path(place) for place in self._places(project, given)]
        before = await anyio.to_thread.run_sync(lambda: dict(self._contents(places, ends)))
        lines: list[str] = []
        broken = False
        for step in steps:
            code, text = await self._run(step, project, ctx)
            found = findings_in(step.name, text, project.root)
            if found and what == "fixed":
                lines += [*_account(step.name, found, "left"), ""]
            elif code not in (0, 1) or (code and not found):
                broken = True
                lines += [*said_by(step.name, code, text), ""]
        after = await anyio.to_thread.run_sync(lambda: dict(self._contents(places, ends)))
        return await anyio.to_thread.run_sync(self._difference, before, after, lines, what, broken)

    def _contents(self, places: Sequence[Path], ends: frozenset[str]) -> Iterator[tuple[Path, bytes]]:
        room = _BYTES
        for place in places:
            for path in walk(place, self._projects.workspace, limit=_FILES) if place.is_dir() else [place]:
                if path.suffix not in ends or room <= 0:
                    continue
                try:
                    raw, _ = read_bytes(path.resolve(), room)
                except (OSError, NotText):
                    continue
                room -= len(raw)
                yield path, raw

    def _difference(
        self, before: dict[Path, bytes], after: dict[Path, bytes], lines: list[str], what: str, broken: bool
    ) -> Outcome:
        changed = [path for path, raw in after.items() if before.get(path) != raw]
        diffs = [
            diff_of(
                self._projects.workspace.show(path), before.get(path, b"").decode("utf-8", "replace"),
                after[path].decode("utf-8", "replace"),
            )
            for path in changed
        ]  # fmt: skip
        added, removed = sum(d["added"] for d in diffs), sum(d["removed"] for d in diffs)
        diff = redact("".join(d["diff"] for d in diffs))
        head = (
            f"{len(changed)} file{'s' * (len(changed) != 1)} {what}, +{added} -{removed}"
            if changed
            else "Nothing changed."
        )
        text = "\n".join([head, *lines]).rstrip() + (f"\n{_bounded(diff)}" if diff else "")
        display: Display = diff_display("", diff[:200_000], added=added, removed=removed)
        return Outcome(
            text=text, display=display if changed else text_display(text, head),
            status="failed" if broken and not changed else "done",
        )  # fmt: skip


def _of(places: Sequence[str], ends: frozenset[str], project: Project, *marks: str) -> list[str]:
    """The places that are files with such an end, or folders of a project that has such a mark (or such files);
    as the programs are told them, from the root of the project."""
    return [
        _short(place, project)
        for place in places
        if (Path(place).suffix in ends and not Path(place).is_dir())
        or (Path(place).is_dir() and (project.has(*marks) or _holds(Path(place), ends)))
    ]


def _short(place: str, project: Project) -> str:
    shown = os.path.relpath(place, project.root)
    if shown.startswith(".."):
        return place
    return f"./{shown}" if shown.startswith("-") else shown


def _holds(folder: Path, ends: frozenset[str]) -> bool:
    try:
        return any(entry.suffix in ends for entry in folder.iterdir())
    except OSError:
        return False


def _account(name: str, found: Sequence[Finding], what: str = "") -> list[str]:
    """How many findings of which kind, then each, file by file."""
    kinds = Counter(finding.code or "other" for finding in found).most_common(12)
    counts = ", ".join(f"{code} {n}" for code, n in kinds)
    head = f"{name}: {len(found)} finding{'s' * (len(found) != 1)} {what}".rstrip() + (f" ({counts})" if found else "")
    shown = sorted(found, key=lambda f: (f.path, f.line, f.column))
    lines = [f"{f.path}:{f.line}:{f.column} {f.code} {f.message}".replace("  ", " ") for f in shown[:_FINDINGS]]
    return [head, *lines, *([f"… {len(found) - _FINDINGS} more"] * (len(found) > _FINDINGS))]


def _bounded(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return text[:_SHOWN].rpartition("\n")[0] + "\n[the rest of the diff is left out]"
