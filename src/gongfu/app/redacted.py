"""Events and JSON values without secrets, before they are laid out: a layout may tear apart what gives one away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec

T = TypeVar("T")
_SIGNS = ("+", "-", " ")


def cleaned(value: Any, without: Callable[[str], str], name: str = "") -> Any:
    """A value of JSON with each text redacted; what stands under the name of a secret is one."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: cleaned(item, without, key) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item, without) for item in cast("Sequence[Any]", value)]
    if not isinstance(value, str):
        return value
    text = _diff(value, without) if name == "diff" else without(value)
    if name and text == value and '"' not in text and without(f'"{name}": "{text}"') != f'"{name}": "{text}"':
        return "[secret]"
    return text


def cleaned_struct(value: T, without: Callable[[str], str]) -> T:
    """A struct of the same type with each text in it redacted."""
    found = cast("Any", value)
    if isinstance(found, msgspec.Struct):
        fields = {name: cleaned_struct(getattr(found, name), without) for name in found.__struct_fields__}
        return cast("T", msgspec.structs.replace(found, **fields))
    if isinstance(found, dict):
        return cast("T", cleaned(found, without))
    if isinstance(found, tuple | list):
        items = [cleaned_struct(item, without) for item in cast("Sequence[Any]", found)]
        return cast("T", items if isinstance(value, list) else tuple(items))
    return cast("T", without(found)) if isinstance(found, str) else value


def _diff(text: str, without: Callable[[str], str]) -> str:
    """A unified diff without secrets: the signs before its lines are no part of what they hold."""
    lines = text.split("\n")
    signs = [line[:1] if line[:1] in _SIGNS else "" for line in lines]
    bare = without("\n".join(line[len(sign) :] for sign, line in zip(signs, lines, strict=True))).split("\n")
    if len(bare) == len(lines):
        text = "\n".join(sign + line for sign, line in zip(signs, bare, strict=True))
    return without(text)
