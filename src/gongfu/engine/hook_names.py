"""Tools and their arguments as Claude Code's hooks know them, and the way back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

_Args: TypeAlias = dict[str, Any]

TOOLS: Final[dict[str, tuple[str, ...]]] = {
    "shell": ("Bash",),
    "read_file": ("Read",),
    "write_file": ("Write",),
    "edit_file": ("Edit", "MultiEdit"),
    "search_text": ("Grep",),
    "find_files": ("Glob",),
    "list_files": ("LS",),
    "task": ("Task",),
    "todo": ("TodoWrite",),
    "ask_user": ("AskUserQuestion",),
}
"""Our tools, and the names that Claude Code has for what they do. Others keep their names."""

_SERVERS: Final = "__"  # between the name of an MCP server and that of its tool

MODES: Final = {
    "ask": "default",
    "edits": "acceptEdits",
    "plan": "plan",
    "auto": "acceptEdits",
    "full": "bypassPermissions",
}
"""Permission modes, and what comes nearest to them in Claude Code."""

_KEYS: Final[dict[str, dict[str, str]]] = {
    "shell": {"background": "run_in_background"},
    "read_file": {"path": "file_path"},
    "write_file": {"path": "file_path"},
    "edit_file": {"path": "file_path", "old": "old_string", "new": "new_string", "all": "replace_all"},
    "search_text": {"show": "output_mode", "context": "-C", "ignore_case": "-i"},
    "task": {"task": "prompt"},
    "todo": {"items": "todos"},
}
_INNER: Final[dict[str, dict[str, str]]] = {
    "edit_file": {"old": "old_string", "new": "new_string", "all": "replace_all"},
    "todo": {"text": "content"},
}
_LISTS: Final = {"edit_file": "edits", "todo": "todos"}
_SHOWS: Final = {"lines": "content", "files": "files_with_matches", "count": "count"}
_PATHS: Final = ("read_file", "write_file", "edit_file", "list_files")
_ADDED: Final[dict[str, tuple[str, ...]]] = {"task": ("description", "subagent_type"), "shell": ("description",)}


def names_of(tool: str) -> tuple[str, ...]:
    """The names that Claude Code has for a tool; its own where it has none. Tools of MCP servers begin with `mcp__`."""
    return TOOLS.get(tool) or ((f"mcp__{tool}",) if _SERVERS in tool else (tool,))


def tool_name(tool: str, args: Mapping[str, Any]) -> str:
    """The name of a tool for this call."""
    names = names_of(tool)
    return names[1] if tool == "edit_file" and "edits" in args else names[0]


def to_claude(tool: str, args: Mapping[str, Any], directory: Path) -> _Args:
    """The arguments of a call under Claude Code's names; paths are absolute, times in milliseconds."""
    told = _renamed(args, _KEYS.get(tool, {}))
    if tool in _LISTS:
        _each(told, _LISTS[tool], lambda one: _renamed(one, _INNER[tool]))
    if tool in _PATHS:
        key = "path" if tool == "list_files" else "file_path"
        if isinstance(told.get(key, "."), str):
            told[key] = os.path.join(directory, told.get(key, "."))  # noqa: PTH118 - it may be no path at all
    if tool == "search_text" and "output_mode" in told:
        told["output_mode"] = _SHOWS.get(str(told["output_mode"]), told["output_mode"])
    if tool == "shell" and isinstance(told.get("timeout"), int | float):
        told["timeout"] = round(told["timeout"] * 1000)
    if tool == "task":
        words = str(args.get("task", "")).split()
        told |= {"description": " ".join(words[:5]), "subagent_type": "general-purpose"}
    if tool == "todo":
        _each(told, "todos", lambda one: {"status": "pending", "activeForm": one.get("content", ""), **one})
    return told


def from_claude(tool: str, told: Mapping[str, Any]) -> _Args:
    """Arguments under Claude Code's names as ours; what only Claude Code has is left out."""
    args = _renamed(told, {theirs: ours for ours, theirs in _KEYS.get(tool, {}).items()})
    for name in _ADDED.get(tool, ()):
        args.pop(name, None)
    if tool == "edit_file":
        _each(args, "edits", lambda one: _renamed(one, _back(tool)))
    if tool == "todo":
        _each(args, "items", lambda one: {k: v for k, v in _renamed(one, _back(tool)).items() if k != "activeForm"})
    if tool == "search_text" and "show" in args:
        args["show"] = {theirs: ours for ours, theirs in _SHOWS.items()}.get(str(args["show"]), args["show"])
    if tool == "shell" and isinstance(args.get("timeout"), int | float):
        args["timeout"] = args["timeout"] / 1000
    return args


def _back(tool: str) -> dict[str, str]:
    return {theirs: ours for ours, theirs in _INNER[tool].items()}


def _renamed(args: Mapping[str, Any], names: Mapping[str, str]) -> _Args:
    return {names.get(key, key): value for key, value in args.items()}


def _each(args: _Args, key: str, change: Callable[[_Args], _Args]) -> None:
    items = args.get(key)
    if isinstance(items, list):
        args[key] = [
            change(cast("_Args", one)) if isinstance(one, dict) else one for one in cast("list[object]", items)
        ]
