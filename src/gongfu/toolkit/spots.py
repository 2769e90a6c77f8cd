"""Places in code: how they are shown to the model and the person, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.secrets import redact
from gongfu.workspace.root import Workspace

MOST = 200  # places in one answer
_LONGEST = 160


class Spot(Base, frozen=True):
    """A place in a file: `line` and `column` count from 1, `path` is absolute ("": built in).

    `source` is its line; `kind`, `name`, `signature` and `docs` are what is known of the symbol there.
    """

    path: str
    line: int = 0
    column: int = 0
    source: str = ""
    kind: str = ""
    name: str = ""
    signature: str = ""
    docs: str = ""


class Candidate(Base, frozen=True):
    """A word that may stand where the code is completed."""

    name: str
    kind: str = ""
    detail: str = ""


def where(spot: Spot, workspace: Workspace) -> str:
    """`path:line:column`, told when it lies outside the workspace."""
    if not spot.path:
        return "(built in)"
    path = Path(spot.path)
    shown = workspace.show(path)
    if spot.line:
        shown += f":{spot.line}:{spot.column}"
    return shown if workspace.contains(path) else f"{shown} (outside the workspace)"


def one_line(text: str, longest: int = _LONGEST) -> str:
    """A text in one line, without secrets, cut where it is too long."""
    line = redact(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def definitions(spots: Sequence[Spot], workspace: Workspace) -> str:
    """Each place with the signature of its symbol and its line."""
    lines: list[str] = []
    for spot in spots[:20]:
        said = one_line(spot.signature.partition("\n")[0])
        lines.append(f"{where(spot, workspace)} {said}".rstrip())
        source = one_line(spot.source)
        if source and _bare(source) not in _bare(said):
            lines.append(f"    {source}")
    if len(spots) > 20:
        lines.append(f"[{len(spots) - 20} more]")
    return "\n".join(lines)


def _bare(text: str) -> str:
    """What a line says of a symbol, however it is spaced; the first parameter of a method is no part of it."""
    return re.sub(r"\s|(?<=\()(?:self|cls)\b,?|[:{\s]+\Z", "", text)


def grouped(spots: Iterable[Spot], workspace: Workspace, *, most: int = MOST) -> tuple[str, int, int]:
    """Places by file with their lines; how many places there are, and in how many files."""
    files: dict[str, list[Spot]] = {}
    for spot in spots:
        files.setdefault(spot.path, []).append(spot)
    order = sorted(files, key=lambda p: (not workspace.contains(Path(p)), workspace.show(Path(p))))
    lines: list[str] = []
    left = most
    for path in order:
        found = sorted(files[path], key=lambda s: (s.line, s.column))
        by_line = {spot.line: spot for spot in reversed(found)}
        many = f" ({len(found)})" if len(found) > 1 else ""
        outside = "" if workspace.contains(Path(path)) else " (outside the workspace)"
        lines.append(f"{workspace.show(Path(path))}{outside}{many}")
        shown = (by_line[number] for number in sorted(by_line)[: max(left, 0)])
        lines += (f"  {spot.line}:{spot.column} {one_line(spot.source)}" for spot in shown)
        hidden = len(by_line) - max(left, 0)
        if hidden > 0:
            lines.append(f"  [{hidden} more lines]")
        left -= len(by_line)
    return "\n".join(lines), sum(map(len, files.values())), len(files)
