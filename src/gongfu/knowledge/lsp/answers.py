"""What servers answer, whose shapes nobody vouches for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from gongfu.knowledge.lsp.wire import lines_of
from gongfu.workspace.files import NotText, open_regular


def as_list(value: Any) -> list[Any]:
    """A list, empty for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_number(value: Any) -> int:
    """A whole number, 0 for anything else."""
    return value if isinstance(value, int) else 0


def start_of(value: Any) -> tuple[int, int] | None:
    """Line and character, from 0, at which a range begins; None when it is none."""
    start = cast("dict[str, Any]", value).get("start") if isinstance(value, dict) else None
    if not isinstance(start, dict):
        return None
    line, character = (cast("dict[str, Any]", start).get(name) for name in ("line", "character"))
    if not isinstance(line, int) or not isinstance(character, int) or line < 0 or character < 0:
        return None
    return line, character


def read_lines(path: Path) -> list[str]:
    """The lines of a file, for its columns; [] when it cannot be read."""
    try:
        with open_regular(path) as file:
            return lines_of(file.read(4 * 1024 * 1024).decode("utf-8", "replace"))
    except (OSError, NotText):
        return []


def as_text(contents: Any) -> str:
    """The text of a hover in any of its shapes."""
    if isinstance(contents, str):
        return contents
    if isinstance(contents, dict):
        given = cast("dict[str, Any]", contents)
        value = str(given.get("value", ""))
        language = given.get("language")
        return f"```{language}\n{value}\n```" if language else value
    return "\n\n".join(filter(None, map(as_text, as_list(contents))))
