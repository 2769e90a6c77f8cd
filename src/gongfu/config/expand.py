"""`${NAME}` in settings: replaced by the environment, `$${` stays a plain `${`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from gongfu.config.document import KeyPath

_REFERENCE: Final = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class MissingVariable(Exception):
    """A reference to a variable that is not set, or (`name` is then the text) no reference at all."""

    def __init__(self, path: KeyPath, name: str, *, malformed: bool = False) -> None:
        super().__init__(path, name)
        self.path = path
        self.name = name
        self.malformed = malformed


def has_reference(value: Any) -> bool:
    """Whether a value is a text that holds `${`."""
    return isinstance(value, str) and "${" in value


def expand(value: Any, env: Mapping[str, str], path: KeyPath = ()) -> Any:
    """`value` (plain data) with all references replaced. Raises MissingVariable; an empty variable counts as set."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {key: expand(item, env, (*path, key)) for key, item in items.items()}
    if isinstance(value, list):
        return [expand(item, env, (*path, index)) for index, item in enumerate(cast("list[Any]", value))]
    if not has_reference(value):
        return value

    def replaced(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        name = match[1]
        if name is None or not _NAME.fullmatch(name):
            raise MissingVariable(path, match[0], malformed=True)
        if name not in env:
            raise MissingVariable(path, name)
        return env[name]

    return _REFERENCE.sub(replaced, cast("str", value))
