"""The checkers of Python code that a project has set up: whether they are there, how they are called, what they say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.knowledge.lsp.answers import read_lines
from gongfu.knowledge.lsp.wire import Unit, from_units
from gongfu.workspace.environment import search_path

Read: TypeAlias = "Callable[[str, Path], Iterator[Finding]]"


class Finding(Base, frozen=True):
    """What is wrong at a place: `path` is absolute, `line` and `column` count from 1."""

    path: str
    line: int
    column: int
    severity: str
    message: str
    code: str = ""
    source: str = ""


class Checker(Base, frozen=True):
    """A checker that a project has set up. `argv` is what it is called with before the files, () when it is missing;
    `unit` is what its columns count.
    """

    name: str
    argv: tuple[str, ...]
    read: Read
    install: str
    unit: Unit

    @property
    def found(self) -> bool:
        """Whether its program is there."""
        return bool(self.argv)


def _ruff(text: str, folder: Path) -> Iterator[Finding]:
    for item in _objects(_json(text)):
        at = item.get("location")
        start = cast("dict[str, Any]", at) if isinstance(at, dict) else {}
        code = str(item.get("code") or "")
        yield Finding(
            path=_absolute(str(item.get("filename", "")), folder), line=_number(start.get("row")),
            column=_number(start.get("column")), severity="error" if not code or re.match(_BREAKS, code) else "warning",
            message=str(item.get("message", "")), code=code, source="ruff",
        )  # fmt: skip


def _pyright(text: str, folder: Path) -> Iterator[Finding]:
    whole = _json(text)
    found = cast("dict[str, Any]", whole).get("generalDiagnostics") if isinstance(whole, dict) else None
    for item in _objects(found):
        span = item.get("range")
        begin = cast("dict[str, Any]", span).get("start") if isinstance(span, dict) else None
        start = cast("dict[str, Any]", begin) if isinstance(begin, dict) else {}
        yield Finding(
            path=_absolute(str(item.get("file", "")), folder), line=_number(start.get("line"), 1),
            column=_number(start.get("character"), 1), severity=str(item.get("severity", "error")),
            message=str(item.get("message", "")), code=str(item.get("rule") or ""), source="pyright",
        )  # fmt: skip


def _mypy(text: str, folder: Path) -> Iterator[Finding]:
    pattern = r"(?m)^(.+?):(\d+)(?::(\d+))?: (error|warning|note): (.*?)(?:  \[([\w-]+)\])?$"
    for path, line, column, severity, message, code in re.findall(pattern, text):
        yield Finding(
            path=_absolute(path, folder), line=int(line), column=int(column or 1),
            severity="information" if severity == "note" else severity, message=message, code=code, source="mypy",
        )  # fmt: skip


# what fails when it runs, among rules that are mostly of style: syntax, undefined names, misplaced statements
_BREAKS = r"E9|F82[123]|F70\d|invalid-syntax|syntax"
_CHECKERS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], Read, Unit], ...] = (
    (
        "ruff", ("ruff.toml", ".ruff.toml"), ("ruff",),
        ("check", "--no-cache", "--no-fix", "--exit-zero", "--force-exclude", "--output-format=json"), _ruff, "utf-32",
    ),
    ("pyright", ("pyrightconfig.json",), ("pyright", "basedpyright"), ("--outputjson",), _pyright, "utf-16"),
    (
        "mypy", ("mypy.ini", ".mypy.ini"), ("mypy",),
        (
            "--no-error-summary", "--show-column-numbers", "--no-pretty", "--no-color-output", "--hide-error-context",
            f"--cache-dir={os.devnull}",
        ),
        _mypy, "utf-8",
    ),
)  # fmt: skip


def checkers(root: Path, environment: Path | None, env: Mapping[str, str]) -> tuple[Checker, ...]:
    """The checkers that the project in `root` has set up, those that are not installed too."""
    tables = _tables(root)
    found: list[Checker] = []
    for name, files, sections, options, read, unit in _CHECKERS:
        if not (tables & set(sections) or any((root / file).is_file() for file in files)):
            continue
        program = _program(name, environment, env)
        found.append(
            Checker(
                name=name, argv=(program, *options) if program else (), read=read, unit=unit,
                install=f"pip install {name}",
            )
        )  # fmt: skip
    return tuple(found)


def with_files(checker: Checker, files: Sequence[str]) -> tuple[str, ...]:
    """The whole command; a name that begins with a dash is no option."""
    named = [f if not f.startswith("-") else f"./{f}" for f in files]
    return (*checker.argv, *named)


def in_characters(findings: Sequence[Finding], unit: Unit) -> list[Finding]:
    """The same with columns that count characters."""
    if unit == "utf-32":
        return list(findings)
    lines: dict[str, list[str]] = {}
    found: list[Finding] = []
    for one in findings:
        if one.path not in lines:
            lines[one.path] = read_lines(Path(one.path))
        rows = lines[one.path]
        row = rows[one.line - 1] if 0 < one.line <= len(rows) else ""
        found.append(one if row.isascii() else replace(one, column=from_units(row, max(one.column, 1) - 1, unit) + 1))
    return found


def _tables(root: Path) -> set[str]:
    import tomllib

    try:
        with (root / "pyproject.toml").open("rb") as file:
            tool = tomllib.loads(file.read(1 << 20).decode("utf-8")).get("tool")
    except (OSError, ValueError, RecursionError):
        return set()
    return set(cast("dict[str, Any]", tool)) if isinstance(tool, dict) else set()


def _program(name: str, environment: Path | None, env: Mapping[str, str]) -> str:
    from shutil import which

    own = [str(environment / part) for part in ("bin", "Scripts")] if environment is not None else []
    found = which(name, path=os.pathsep.join(own)) if own else None
    if found is not None:
        return found
    found = which(name, path=search_path(env)) or ""
    return name if found and os.name != "nt" else found  # called as the person would


def _json(text: str) -> Any:
    start = min((at for at in (text.find("["), text.find("{")) if at >= 0), default=-1)
    if start < 0:
        return None
    try:
        return msgspec.json.decode(text[start : max(text.rfind("]"), text.rfind("}")) + 1])
    except msgspec.DecodeError:
        return None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    for item in cast("list[Any]", value) if isinstance(value, list) else []:
        if isinstance(item, dict):
            yield cast("dict[str, Any]", item)


def _number(value: Any, more: int = 0) -> int:
    return value + more if isinstance(value, int) else 1


def _absolute(path: str, folder: Path) -> str:
    return str(folder / path)
