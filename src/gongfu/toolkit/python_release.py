"""The tool release_version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.places import explained
from gongfu.toolkit.python_changes import Change, changed, diff_display_of, diff_text, paths_of, write_all
from gongfu.toolkit.python_project import Project, Projects
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.files import NotText, TextFile, read_text_file, with_spans

Part = Literal["show", "major", "minor", "patch", "pre", "release"]
_VERSION = r"(?P<version>\d[\w.+-]*)"
_MODULES = ("__init__.py", "_version.py", "version.py", "__version__.py", "__about__.py")
_CHANGELOGS = ("CHANGELOG.md", "CHANGES.md", "HISTORY.md", "CHANGELOG.rst", "CHANGES.rst", "CHANGELOG", "CHANGELOG.txt")
_UNRELEASED = r"(?im)^(?P<mark>#+ )(?P<open>\[?)unreleased(?P<close>\]?)[^\r\n]*"
_OTHERS = ("tests", "test", "docs", "build", "dist")
_SHAPE = (
    r"(?P<numbers>\d+(?:\.\d+){0,3})(?:(?P<dash>[-.]?)(?P<label>a|b|rc|alpha|beta|dev|post|pre|next)\.?(?P<count>\d+))?"
    r"(?P<local>\+[\w.]+)?"
)


class _Place(Base, frozen=True):
    """Where a version stands: characters `start` to `end` of a file."""

    file: TextFile
    shown: str
    start: int
    end: int
    version: str


class Releases:
    """See the module."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._workspace = projects.workspace

    async def _facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        part, to = args.get("part") or "show", args.get("to") or ""
        title = to or part
        if part == "show" and not to:
            return Facts(access=("read",), paths=(str(project.root),), title=title)
        _, new, changes = await anyio.to_thread.run_sync(self._plan, project, part, to, args.get("label") or "rc")
        dry = bool(args.get("dry_run"))
        return Facts(
            access=("read",) if dry else ("write",), paths=paths_of(changes), writes=() if dry else paths_of(changes),
            title=f"version {new}", preview=diff_display_of(changes),
        )  # fmt: skip

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        writes = bool(args.get("to") or args.get("part", "show") != "show") and not args.get("dry_run")
        return (Claim(resource=str(self._workspace.root), write=writes),)

    @tool(access="write", facts=_facts, claims=_claims)
    async def release_version(
        self,
        *,
        part: Part = "show",
        to: str = "",
        label: Literal["a", "b", "rc"] = "rc",
        dry_run: bool = False,
        cwd: str = "",
    ) -> Outcome:
        project = self._projects.find(cwd, again=True)
        if part == "show" and not to:
            places = await anyio.to_thread.run_sync(self._places, project)
            text = _shown(places)
            return Outcome(text=text, display=text_display(text, places[0].version))
        old, new, changes = await anyio.to_thread.run_sync(self._plan, project, part, to, label)
        if not dry_run:
            await anyio.to_thread.run_sync(write_all, changes, self._workspace)
        display = diff_display_of(changes)
        what = "would become" if dry_run else "is now"
        names = ", ".join(change.shown for change in changes)
        head = f"The version {what} {new} (was {old}) in {names}. Nothing was committed, tagged or pushed."
        return Outcome(text=f"{head}\n{diff_text(display)}", display=display)

    def _plan(self, project: Project, part: Part, to: str, label: str) -> tuple[str, str, list[Change]]:
        places = self._places(project)
        versions = dict.fromkeys(place.version for place in places)
        if len(versions) > 1 and not to:
            raise ToolFailure(f"the places do not agree, so nothing was changed; give `to`.\n{_shown(places)}")
        old = places[0].version
        new = _checked(to) if to else raised(old, part, label, dashed=_is_dashed(places))
        files: dict[str, list[_Place]] = {}
        for place in places:
            files.setdefault(place.shown, []).append(place)
        changes = [
            Change(
                shown=shown, before=found[0].file,
                after=with_spans(found[0].file, [(p.start, p.end, new) for p in sorted(found, key=lambda p: p.start)]),
            )
            for shown, found in files.items()
        ]  # fmt: skip
        changes = changed([*changes, *self._changelog(project, new)])
        if not changes:
            raise ToolFailure(f"the version is {new} already; nothing was changed")
        return old, new, changes

    def _places(self, project: Project) -> list[_Place]:
        places = [place for path, pattern in _patterns(project) if (place := self._place(path, pattern))]
        if not places:
            raise ToolFailure(
                "no version was found in pyproject.toml, setup.cfg, package.json, Cargo.toml or a __version__ of the "
                "package; it may be made by the build from git tags"
            )
        return places

    def _place(self, path: Path, pattern: str) -> _Place | None:
        file = self._read(path)
        match = re.search(pattern, file.text) if file is not None else None
        if file is None or match is None:
            return None
        return _Place(
            file=file, shown=self._workspace.show(file.path), start=match.start("version"), end=match.end("version"),
            version=match["version"],
        )  # fmt: skip

    def _read(self, path: Path) -> TextFile | None:
        if not path.is_file():
            return None
        located = self._workspace.locate(str(path))
        if not located.inside:
            return None
        try:
            with explained(located):
                return read_text_file(located.path, 4 << 20)
        except NotText:
            return None

    def _changelog(self, project: Project, new: str) -> Iterator[Change]:
        """The heading "Unreleased" becomes that of the version, with an empty one above it."""
        path = next((project.root / name for name in _CHANGELOGS if (project.root / name).is_file()), None)
        file = self._read(path) if path is not None else None
        match = re.search(_UNRELEASED, file.text) if file else None
        if file is None or match is None:
            return
        line = file.newline or "\n"
        heading = f"{match['mark']}{match['open']}{new}{match['close']} - {date.today().isoformat()}"  # noqa: DTZ011
        text = f"{match['mark']}{match['open']}Unreleased{match['close']}{line}{line}{heading}"
        after = with_spans(file, [(match.start(), match.end(), text)])
        yield Change(shown=self._workspace.show(file.path), before=file, after=after)


def _patterns(project: Project) -> Iterator[tuple[Path, str]]:
    """Files in which the version may stand, with expressions for it."""
    root = project.root
    section = r"(?ms)^\[{}\][^\[]*?^version\s*=\s*[\"']" + _VERSION + r"[\"']"
    yield root / "pyproject.toml", section.format(r"(?:project|tool\.poetry)")
    yield root / "Cargo.toml", section.format(r"(?:package|workspace\.package)")
    yield root / "setup.cfg", r"(?ms)^\[metadata\][^\[]*?^version\s*=\s*" + _VERSION
    yield root / "setup.py", r"(?m)^\s*version\s*=\s*[\"']" + _VERSION + r"[\"']"
    yield root / "package.json", r'\A\s*\{(?:[^{}]|\{[^{}]*\})*?"version"\s*:\s*"' + _VERSION + '"'
    yield root / "package-lock.json", r'\A\s*\{[^{}]*?"version"\s*:\s*"' + _VERSION + '"'
    for file in _modules(project):
        yield file, r"(?m)^(?:__version__|VERSION|version)\s*(?::\s*\w+\s*)?=\s*[\"']" + _VERSION + r"[\"']"


def _modules(project: Project) -> list[Path]:
    """Modules of the project's packages that may hold its version, two levels deep, tests left out."""
    named = [str((project.tool("hatch", "version") or {}).get("path") or "")]
    tops = [project.root / "src", project.root]
    found = [project.root / name for name in named if name and ".." not in name]
    for top in tops:
        for module in _MODULES:
            found += sorted(p for p in top.glob(f"*/{module}") if p.parent.name not in _OTHERS)[:50]
    return list(dict.fromkeys(found))


def _is_dashed(places: Sequence[_Place]) -> bool:
    return all(place.shown.endswith((".json", "Cargo.toml")) for place in places)


def _shown(places: Sequence[_Place]) -> str:
    return "\n".join(f"{place.version} in {place.shown}" for place in places)


def _checked(to: str) -> str:
    if re.fullmatch(_SHAPE, to) is None:
        raise ToolFailure(f"to: {to[:60]!r} is no version; versions look like 1.4.0, 2.0.0rc1 or 2.0.0-rc.1")
    return to


def raised(version: str, part: str, label: str = "rc", *, dashed: bool = False) -> str:
    """The version that follows: `part` is raised and what is behind it becomes 0; a pre-release ends in the number
    that it was for. `dashed` writes pre-releases as "-rc.1". ToolFailure for a version that cannot be read."""
    match = re.fullmatch(_SHAPE, version)
    if match is None:
        raise ToolFailure(f"the version {version!r} cannot be raised; give `to`")
    numbers = [int(n) for n in match["numbers"].split(".")]
    numbers += [0] * (3 - len(numbers))
    before = match["label"] not in (None, "post")
    if part == "release":
        if not before:
            raise ToolFailure(f"{version} is no pre-release; raise major, minor or patch")
        return ".".join(map(str, numbers))
    if part == "pre":
        if not before:
            numbers[2] += 1
        count = int(match["count"]) + 1 if before and match["label"] == label else 1
        return ".".join(map(str, numbers)) + (f"-{label}.{count}" if dashed else f"{label}{count}")
    at = ("major", "minor", "patch").index(part)
    if not (before and not any(numbers[at + 1 :])):  # 2.0.0rc1 is raised to 2.0.0
        numbers[at] += 1
    return ".".join(map(str, [*numbers[: at + 1], *([0] * (len(numbers) - at - 1))]))
