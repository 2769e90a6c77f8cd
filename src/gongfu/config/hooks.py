"""Hooks as settings hold them: a list of our own, or the table of Claude Code, read into one list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from gongfu.config.document import KeyPath
from gongfu.config.settings import Hook, HookEvent

CLAUDE_EVENTS: Final[dict[str, tuple[HookEvent, str]]] = {
    "SessionStart": ("session_start", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("before_tool", ""),
    "PostToolUse": ("after_tool", ""),
    "PreCompact": ("before_compact", ""),
    "Stop": ("turn_end", "main"),
    "SubagentStop": ("turn_end", "agent"),
    "Notification": ("notification", ""),
}
"""Events of Claude Code: ours, and what `match` is there."""

MATCHED: Final = ("PreToolUse", "PostToolUse", "PreCompact", "SessionStart", "Notification")
"""Events of Claude Code whose `matcher` counts."""

_GROUP: Final = ("matcher", "hooks")
_ENTRY: Final = ("type", "command", "timeout")
_LONGEST: Final = 600


class Unfit(Exception):
    """A part of Claude Code's table that is not right: where, what was wanted; `known` names when a key is unknown."""

    def __init__(self, path: KeyPath, wanted: str, value: Any, known: tuple[str, ...] | None = None) -> None:
        super().__init__(path, wanted)
        self.path = path
        self.wanted = wanted
        self.value = value
        self.known = known


def hooks_of(given: tuple[Hook, ...] | Mapping[str, Any]) -> tuple[Hook, ...]:
    """The hooks in their order, whichever way they are written. Raises Unfit for a table that is not right."""
    if not isinstance(given, Mapping):
        return given
    return tuple(_hooks(given, ()))


def joined(first: Any, second: Any) -> Any:
    """The hooks of two layers as plain data: those of `first`, then those of `second`. Neither takes one away."""
    if not first or not second:
        return second or first
    return [*_listed(first), *_listed(second)]


def count_of(given: Any) -> int:
    """How many hooks plain data holds."""
    return len(_listed(given))


def _listed(given: Any) -> list[Any]:
    if not isinstance(given, dict):
        return cast("list[Any]", given)
    return [
        {name: getattr(hook, name) for name in hook.__struct_fields__}
        for hook in _hooks(cast("dict[str, Any]", given), ())
    ]


def check(given: Any, path: KeyPath = ()) -> None:
    """Raise Unfit for what the types do not tell: a table in Claude Code's shape, and its regular expressions."""
    if isinstance(given, dict):
        for _ in _hooks(cast("dict[str, Any]", given), path):
            pass
        return
    for number, hook in enumerate(cast("list[dict[str, Any]]", given)):
        if hook.get("shape") == "claude":
            _regular(str(hook.get("match", "")), (*path, number, "match"))
        command: Any = hook.get("command")
        if not (command.strip() if isinstance(command, str) else command):
            raise Unfit((*path, number, "command"), "text", command)


def _hooks(table: Mapping[str, Any], path: KeyPath) -> Iterator[Hook]:
    for name, groups in table.items():
        if name not in CLAUDE_EVENTS:
            raise Unfit((*path, name), "", groups, tuple(CLAUDE_EVENTS))
        event, match = CLAUDE_EVENTS[name]
        at = (*path, name)
        for number, group in enumerate(_list(groups, at)):
            held = _keys(group, (*at, number), _GROUP)
            matcher = held.get("matcher") or ""
            if not isinstance(matcher, str):
                raise Unfit((*at, number, "matcher"), "text", matcher)
            _regular(matcher, (*at, number, "matcher"))
            inner = (*at, number, "hooks")
            for index, entry in enumerate(_list(held.get("hooks"), inner)):
                yield _hook(entry, (*inner, index), event, matcher if name in MATCHED else match)


def _hook(entry: Any, path: KeyPath, event: HookEvent, match: str) -> Hook:
    held = _keys(entry, path, _ENTRY)
    if held.get("type", "command") != "command":
        raise Unfit((*path, "type"), "command", held["type"])
    command, seconds = held.get("command"), held.get("timeout", 60)
    if not isinstance(command, str) or not command.strip():
        raise Unfit((*path, "command") if "command" in held else path, "command: text", command)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= _LONGEST:
        raise Unfit((*path, "timeout"), f"number > 0 <= {_LONGEST}", seconds)
    return Hook(event=event, command=command, match=match, seconds=float(seconds), shell=True, shape="claude")  # noqa: S604


def _regular(matcher: str, path: KeyPath) -> None:
    import re  # only where there are such hooks

    if matcher == "*":
        return
    try:
        re.compile(matcher)
    except re.error as error:
        raise Unfit(path, "regular expression", matcher) from error


def _list(value: Any, path: KeyPath) -> list[Any]:
    if not isinstance(value, list):
        raise Unfit(path, "[{…}, …]", value)
    return cast("list[Any]", value)


def _keys(value: Any, path: KeyPath, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unfit(path, "{…}", value)
    held = cast("dict[str, Any]", value)
    for key in held:
        if key not in known:
            raise Unfit((*path, key), "", held[key], known)
    return held
