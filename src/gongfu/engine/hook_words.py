"""What a hook is told, and what its answer means: our own JSON and that of Claude Code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.jsonfix import scrub, scrub_text
from gongfu.engine.guard import HookEvent
from gongfu.engine.hook_names import MODES, from_claude, to_claude, tool_name

Decided: TypeAlias = Literal["", "allow", "ask", "deny", "block"]

EVENTS: Final[dict[HookEvent, str]] = {
    "session_start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "before_tool": "PreToolUse",
    "after_tool": "PostToolUse",
    "before_compact": "PreCompact",
    "turn_end": "Stop",
    "notification": "Notification",
}
"""Our events, and the names of Claude Code (that of the end of a sub-agent's turn is SubagentStop)."""

KINDS: Final = {"permission": "permission_prompt", "question": "elicitation_dialog", "turn": "idle_prompt"}
"""Kinds of notifications, and the names of Claude Code."""

_NOTED: Final[tuple[HookEvent, ...]] = ("prompt", "session_start", "after_tool")
_KNOWN: Final = (
    "decision", "reason", "arguments", "note", "continue", "stopReason", "hookSpecificOutput", "systemMessage",
    "suppressOutput",
)  # fmt: skip
_DECISIONS: Final[dict[str, Decided]] = {
    "allow": "allow", "approve": "allow", "ask": "ask", "deny": "deny", "block": "block", "": "",
}  # fmt: skip
_BLOCKING: Final = 2
_LINE: Final = 300
NOTE: Final = 64 * 1024
"""Bytes of a note that the model is given; the rest is dropped, and that is said."""


class Common(Base, frozen=True):
    """What every hook of a session is told besides its event."""

    session: str
    directory: Path
    mode: str
    agent: str = ""


class Heard(Base, frozen=True):
    """What one hook said. `stop` ends the turn, `told` is for the person, `problem` tells what was wrong with it."""

    decision: Decided = ""
    reason: str = ""
    arguments: dict[str, Any] | None = None
    note: str = ""
    stop: bool = False
    told: str = ""
    problem: str = ""


def event_json(event: HookEvent, data: Mapping[str, Any], common: Common, *, claude: bool, tool: str = "") -> bytes:
    """The JSON for a hook: the common fields, then those of the event. With `claude` under Claude Code's names."""
    name = "SubagentStop" if event == "turn_end" and common.agent else EVENTS[event]
    told: dict[str, Any] = {
        "session_id": common.session,
        "transcript_path": "",
        "cwd": str(common.directory),
        "hook_event_name": name,
        "event": event,
        "agent": common.agent,
        "permission_mode": MODES.get(common.mode, common.mode) if claude else common.mode,
        **data,
    }
    if claude and tool:
        args = cast("dict[str, Any]", data.get("tool_input", {}))
        told["tool_name"] = tool_name(tool, args)
        told["tool_input"] = to_claude(tool, args, common.directory)
        if "tool_response" in data:
            told["tool_response"] = _response(tool, cast("dict[str, Any]", data["tool_response"]))
    if claude and "kind" in data:
        told["notification_type"] = KINDS.get(str(data["kind"]), data["kind"])
    try:
        return msgspec.json.encode(told)
    except UnicodeEncodeError:  # half a character, or a name in the file system that is no UTF-8
        return msgspec.json.encode(scrub(told))


def _response(tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
    done = result.get("status") == "done"
    told = {**result, "success": done}
    return {**told, "stdout": result.get("text", ""), "stderr": "", "interrupted": False} if tool == "shell" else told


def heard(event: HookEvent, code: int, out: str, err: str, *, claude: bool, tool: str = "") -> Heard:
    """What a hook that ended with `code` said by its outputs."""
    if code == _BLOCKING:
        return Heard(decision="block", reason=_bounded(scrub_text(err.strip() or out.strip())))
    if code:
        first = next((line.strip() for line in err.splitlines() if line.strip()), "")
        return Heard(problem=f"exit {code}{f': {first[:_LINE]}' if first else ''}")
    text = scrub_text(out.strip())
    table = _table(text)
    if table is None:
        looks = text.startswith("{") and event == "before_tool"
        noted = event in _NOTED and not (claude and event == "after_tool")
        return Heard(note=_bounded(text) if noted else "", problem=f"no valid JSON: {text[:80]}" if looks else "")
    return _decided(event, table, claude=claude, tool=tool)


def _table(text: str) -> dict[str, Any] | None:
    """The JSON object in `text` if it is one that says something to us."""
    if not text.startswith("{"):
        return None
    try:
        found: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) and any(key in found for key in _KNOWN) else None


def _decided(event: HookEvent, table: dict[str, Any], *, claude: bool, tool: str) -> Heard:
    held: Any = table.get("hookSpecificOutput")
    specific = cast("dict[str, Any]", held) if isinstance(held, dict) else {}
    stop = table.get("continue") is False
    word: Any = specific.get("permissionDecision", table.get("decision")) or ""
    stopped: Any = table.get("stopReason") if stop else None
    words: tuple[Any, ...] = (specific.get("permissionDecisionReason"), stopped, table.get("reason"))
    reason = next((text for text in map(_text, words) if text), "")
    decision = _DECISIONS.get(word) if isinstance(word, str) else None
    problem = ""
    if decision is None:  # it decided, and we do not know what: a person must
        decision, problem = "ask" if event == "before_tool" else "", f"unknown decision {str(word)[:80]}"
        reason = reason or problem
    changed: Any = specific.get("updatedInput", table.get("arguments"))
    if changed is not None and not isinstance(changed, dict):
        changed, problem = None, "the changed arguments are no object"
        decision, reason = decision or "ask", reason or problem
    if changed is not None and claude:
        changed = from_claude(tool, cast("dict[str, Any]", changed))
    return Heard(
        decision="block" if stop else decision,
        reason=reason,
        arguments=cast("dict[str, Any] | None", changed) if event == "before_tool" else None,
        note=_bounded(_text(specific.get("additionalContext")) or _text(table.get("note"))),
        stop=stop,
        told=_text(table.get("systemMessage")),
        problem=problem,
    )


def _text(value: Any) -> str:
    return scrub_text(value.strip()) if isinstance(value, str) else ""


def _bounded(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= NOTE:
        return text
    return f"{data[:NOTE].decode('utf-8', 'ignore')}\n[{len(data) - NOTE:,} more bytes of the hook were dropped]"
