"""Names of keys as they are written: `ctrl+shift+s`."""

from __future__ import annotations

from gongfu.core.errors import ToolFailure
from gongfu.workspace.screen.orders import ALSO, KEYS


def combination(text: str) -> tuple[str, ...]:
    """The keys of one combination, in the order they go down. ToolFailure for a name that no key has."""
    said = text.strip()
    if not said and text:
        return ("space",)
    parts = said[:-1].split("+") if said.endswith("+") else said.split("+")  # the plus itself comes last: `ctrl++`
    if said.endswith("+"):
        parts = [*(p for p in parts if p), "+"]
    return tuple(_key(part.strip(), text) for part in parts)


def _key(part: str, whole: str) -> str:
    name = ALSO.get(part.lower(), part.lower())
    if name in KEYS:
        return name
    if len(part) == 1 and part.isprintable():
        return part
    names = ", ".join(KEYS)
    raise ToolFailure(f"keys: {whole!r} is no combination of keys; names are a single character or: {names}")
