"""Names of tools that every model takes: letters, digits, `_` and `-`, 64 at most; unique, and the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

LONGEST: Final = 64
_LABEL: Final = 24
_STRANGE: Final = r"[^A-Za-z0-9_-]+"


def labels(names: Iterable[str]) -> dict[str, str]:
    """The part of each server in the names of its tools, by the server's name. Never with `__` in it."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"__+", "_", re.sub(_STRANGE, "_", name)).strip("_") or "server"
        label = plain if len(plain) <= _LABEL and plain == name else plain[:_LABEL].rstrip("_")
        if label in taken or len(plain) > _LABEL:
            label = f"{plain[: _LABEL - 7].rstrip('_')}_{_mark(name)}"
        taken.add(label)
        found[name] = label
    return found


class Names:
    """Names for the tools of one server. A tool keeps the name that it got, whatever comes and goes."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._of: dict[str, str] = {}
        self._taken: dict[str, str] = {}

    def of(self, tool: str) -> str:
        """The name of a tool: `LABEL__TOOL`, with a mark of its own where that would be too long or is taken."""
        known = self._of.get(tool)
        if known is not None:
            return known
        plain = re.sub(_STRANGE, "_", tool).strip("_") or "tool"
        name = f"{self._label}__{plain}"
        if len(name) > LONGEST or self._taken.get(name, tool) != tool:
            name = f"{name[: LONGEST - 7]}_{_mark(tool)}"
        self._of[tool] = name
        self._taken[name] = tool
        return name


def _mark(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
