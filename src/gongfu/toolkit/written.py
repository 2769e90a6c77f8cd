"""Which paths a call of a file tool was to write, from its name and its arguments as the journal has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from gongfu.core.errors import ToolFailure

_ONE = frozenset(["write_file", "edit_file", "append_file", "edit_lines", "write_chunk"])


def paths_written(tool: str, arguments: Mapping[str, Any]) -> list[str]:
    """The paths as the model wrote them; none for a tool that writes no named file."""
    match tool:
        case _ if tool in _ONE:
            return _texts(arguments.get("path"))
        case "move_file":
            return _texts(arguments.get("source"), arguments.get("target"))
        case "copy_file":
            return _texts(arguments.get("target"))
        case "delete_file":
            return _texts(*_listed(arguments.get("paths")))
        case "multi_file_edit":
            files = _listed(arguments.get("files"))
            return _texts(*(cast("dict[str, Any]", f).get("path") for f in files if isinstance(f, dict)))
        case "apply_patch":
            return _in_patch(arguments.get("patch"))
        case _:
            return []


def _listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _texts(*values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _in_patch(patch: Any) -> list[str]:
    from gongfu.toolkit.patches import parse  # only for a patch

    try:
        return (
            [name for file in parse(patch) for name in (file.path, file.to) if name] if isinstance(patch, str) else []
        )
    except ToolFailure:  # it was none, and changed nothing
        return []
