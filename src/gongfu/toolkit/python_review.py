"""The tool review_code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import find
from gongfu.toolkit.git_read import status_of
from gongfu.toolkit.git_run import Git, Repo, raw, revision, strings
from gongfu.toolkit.places import explained
from gongfu.toolkit.python_checks import Remark, remarks_on
from gongfu.toolkit.python_project import Projects
from gongfu.toolkit.python_style import Style
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.files import NotText, read_text_file
from gongfu.workspace.ignore import walk
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Located

_MOST_FILES = 2000
_MOST = 120
_ORDER = ("high", "medium", "low")
_TEXT = (".py", ".pyi", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".json", ".js", ".ts", ".sh", ".go", ".rs", ".java")


class Reviews:
    """See the module."""

    def __init__(self, projects: Projects, git: Git) -> None:
        self._projects = projects
        self._git = git
        self._style = Style(projects)
        self._workspace = projects.workspace

    async def _facts(self, args: dict[str, Any]) -> Facts:
        given = self._projects.located(strings(args.get("paths")))
        project = self._projects.find(args.get("cwd") or "")
        title = " ".join(one.shown for one in given) or f"changes since {revision(args.get('against') or 'HEAD')}"
        paths = (str(project.root), *(path for one in given for path in self._projects.places.paths(one)))
        if not args.get("lint"):
            return Facts(access=("read",), paths=paths, title=title)
        facts = await self._style.lint.facts({"paths": args.get("paths"), "cwd": args.get("cwd") or ""})
        paths = tuple(dict.fromkeys((*paths, *facts.paths)))
        return Facts(access=("read", "execute"), paths=paths, command=facts.command, cwd=facts.cwd, title=title,
                     preview=facts.preview)  # fmt: skip

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.root), write=bool(args.get("lint"))),)

    @tool(access="read", facts=_facts, claims=_claims)
    async def review_code(
        self,
        ctx: CallContext,
        *,
        paths: list[str] | None = None,
        against: str = "",
        lint: bool = False,
        cwd: str = "",
    ) -> Outcome:
        given = self._projects.located(paths or [], again=True)
        hints: list[Remark] = []
        if given:
            files: dict[Path, list[range] | None] = dict.fromkeys(await anyio.to_thread.run_sync(self._below, given))
        else:
            repo = self._git.repo(cwd, again=True)
            files = {**await self._changed(repo, ctx, revision(against or "HEAD"))}
            hints = self._untested(files)
        remarks = [*hints, *await anyio.to_thread.run_sync(self._all, files, abandon_on_cancel=True)]
        more = ""
        if lint:
            found = await self._style.lint.run({"paths": paths or [], "cwd": cwd}, ctx)
            more = f"\n\n{found.text}"
        return _told(remarks, len(files), more)

    def _below(self, given: Sequence[Located]) -> list[Path]:
        found: list[Path] = []
        for one in given:
            inside = walk(one.path, self._workspace) if one.path.is_dir() else [one.path]
            found += [p for p in inside if p == one.path or (p.suffix in (".py", ".pyi") and not p.is_symlink())]
        if len(found) > _MOST_FILES:
            raise ToolFailure(f"{len(found):,} files are too many at once ({_MOST_FILES:,}); name fewer folders")
        return found

    async def _changed(self, repo: Repo, ctx: CallContext, against: str) -> Mapping[Path, list[range] | None]:
        """Files that changed since a revision with their changed lines; None for a new one, of which all counts."""
        args = ("diff", "--ignore-submodules=dirty", "--no-renames", "-U0", "--diff-filter=d", "--src-prefix=a/",
                "--dst-prefix=b/", against, "--")  # fmt: skip
        files: dict[Path, list[range] | None] = {}
        path = repo.top
        for line in raw(await self._git.read(repo, ctx, *args)).split("\n"):
            if line.startswith("+++ b/"):
                path = repo.top / line[6:].rstrip("\t\r")
                files[path] = []
            elif (match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)) and (lines := files.get(path)) is not None:
                start = int(match[1])
                lines.append(range(start, start + int(match[2] or 1)))
        status = await status_of(self._git, repo, ctx, [])
        for name in status.untracked:
            place = repo.top / name
            inside = walk(place, self._workspace) if place.is_dir() else [place]
            files |= dict.fromkeys(inside)
        plain = {p: lines for p, lines in files.items() if p.is_file() and not p.is_symlink()}
        return {p: lines for p, lines in plain.items() if p.suffix in _TEXT and self._workspace.contains(_real(p))}

    def _untested(self, files: Mapping[Path, object]) -> list[Remark]:
        """A change of code without any change of tests is worth a hint."""
        code = [p for p in files if p.suffix == ".py" and not _is_test(p)]
        if not code or any(_is_test(p) for p in files):
            return []
        names = ", ".join(self._workspace.show(p) for p in code[:5])
        return [Remark(line=1, severity="low", what=f"code changed ({names}), but no test did", shown="tests")]

    def _all(self, files: Mapping[Path, list[range] | None]) -> list[Remark]:
        return [remark for path, lines in files.items() for remark in self._of(path, lines)]

    def _of(self, path: Path, lines: list[range] | None) -> Iterator[Remark]:
        shown = self._workspace.show(path)
        if why_protected(path, self._workspace) == "secret":
            yield Remark(line=1, severity="high", what="a secret by its name", shown=shown)
            return
        try:
            with explained(self._workspace.locate(str(path))):
                text = read_text_file(path, 4 << 20).text
        except (NotText, ToolFailure) as failure:
            yield Remark(line=1, severity="low", what=f"not reviewed: {failure}", shown=shown)
            return
        found = [
            Remark(
                line=text.count("\n", 0, span.start) + 1, severity="high", what=f"a secret: {span.kind}", shown=shown
            )
            for span in find(text)
        ]
        found += [remark.of(shown) for remark in remarks_on(text)] if path.suffix in (".py", ".pyi") else []
        yield from (r for r in found if lines is None or any(set(part) & r.span for part in lines))


def _real(path: Path) -> Path:
    """Where a path leads; a folder above may be a link."""
    return Path(os.path.realpath(path))


def _is_test(path: Path) -> bool:
    return path.stem.startswith("test_") or path.stem.endswith(("_test", ".test", ".spec")) or "tests" in path.parts


def _told(remarks: Sequence[Remark], files: int, more: str) -> Outcome:
    counts = {level: sum(r.severity == level for r in remarks) for level in _ORDER}
    summary = ", ".join(f"{n} {level}" for level, n in counts.items() if n) or "nothing found"
    ordered = sorted(remarks, key=lambda r: (_ORDER.index(r.severity), r.shown, r.line))
    lines = [f"{r.shown}:{r.line} {r.severity}: {r.what}" for r in ordered[:_MOST]]
    lines += [f"… {len(ordered) - _MOST} more"] * (len(ordered) > _MOST)
    head = f"Static review of {files} file{'s' * (files != 1)}: {summary}. It sees form, not whether the code is right."
    display: Display = {"kind": "list", "items": lines, "total": len(remarks), "summary": summary}
    return Outcome(text="\n".join([head, *lines]) + more, display=display)
