"""How linters are asked, and what they say as findings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.secrets import redact

_WIDE = 400


class Finding(Base, frozen=True):
    """One thing that a linter found. `path` is relative to the project where it lies there."""

    path: str
    line: int
    column: int
    code: str
    message: str


class Kind(Base, frozen=True):
    """How a linter is asked."""

    arguments: tuple[str, ...] = ()


KINDS: Final[Mapping[str, Kind]] = {
    "ruff": Kind(arguments=("check", "--output-format=concise", "-q", "--no-fix", "--")),
    "flake8": Kind(arguments=("--format=default", "--color=never")),
    "pyright": Kind(),
    "mypy": Kind(
        arguments=("--show-column-numbers", "--no-color-output", "--no-error-summary", "--hide-error-context")
    ),
    "eslint": Kind(arguments=("--format=json",)),
    "go": Kind(arguments=("vet", "./...")),
    "clippy": Kind(arguments=("clippy", "--quiet", "--message-format=short")),
}

_PLACE = r"(?P<path>(?:[A-Za-z]:)?[^:\n]+?):(?P<line>\d+)(?::(?P<column>\d+))?(?: - |: | )"
_RUFF = _PLACE + r"(?P<code>[A-Z]+\d+|[a-z-]+:|)\s*(?P<message>.+)"
_SHAPES: Final[Mapping[str, str]] = {
    "ruff": _RUFF,
    "flake8": _RUFF,
    "pyright": r"\s*" + _PLACE + r"(?P<message>(?:error|warning|information): .*?)(?: \((?P<code>report\w+)\))?",
    "mypy": _PLACE + r"(?P<message>(?:error|warning|note): .*?)(?:  \[(?P<code>[\w-]+)\])?",
    "go": _PLACE + r"(?P<code>)(?P<message>.+)",
    "clippy": _PLACE + r"(?P<message>(?:error|warning)(?:\[(?P<code>\w+)\])?: .+)",
}


def findings_in(name: str, text: str, root: Path) -> list[Finding]:
    """What linter `name` found, out of its output."""
    if name == "eslint":
        return list(_eslint(text, root))
    shape = _SHAPES.get(name)
    if shape is None:
        return []
    regex = re.compile(shape)
    found = [match for line in text.splitlines() if len(line) < 4000 and (match := regex.fullmatch(line.rstrip()))]
    return [
        Finding(
            path=_relative(m["path"].strip(), root), line=int(m["line"]), column=int(m["column"] or 1),
            code=(m["code"] or "").rstrip(":"), message=m["message"].strip()[:_WIDE],
        )
        for m in found
        if not m["message"].startswith("note: ")
    ]  # fmt: skip


def _eslint(text: str, root: Path) -> Iterator[Finding]:
    start = text.find("[{")
    try:
        files: object = msgspec.json.decode(text[start:].split("\n", 1)[0].encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return
    for file in cast("list[dict[str, Any]]", files) if isinstance(files, list) else ():
        for one in file.get("messages", ()):
            yield Finding(
                path=_relative(str(file.get("filePath", "")), root), line=int(one.get("line") or 1),
                column=int(one.get("column") or 1), code=str(one.get("ruleId") or ""),
                message=str(one.get("message", ""))[:_WIDE],
            )  # fmt: skip


def _relative(path: str, root: Path) -> str:
    if not os.path.isabs(path):  # noqa: PTH117 - a text of a program
        return path
    shown = os.path.relpath(path, root)
    return path if shown.startswith("..") else Path(shown).as_posix()


def said_by(name: str, code: int, text: str) -> list[str]:
    """What a program said that failed: its beginning, where the reason stands, and its end."""
    lines = redact(text).strip().splitlines()
    some = lines if len(lines) <= 16 else [*lines[:9], f"[{len(lines) - 15} lines left out]", *lines[-6:]]
    return [f"{name} failed with code {code}:", *some]
