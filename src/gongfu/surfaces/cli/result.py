"""The result of a run as one object, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from gongfu.core import errors
from gongfu.core.events import BatchLabelled, TurnFinished
from gongfu.core.specs import Usage
from gongfu.core.version import __version__
from gongfu.engine.state import UsageLine
from gongfu.surfaces.cli.speech import Speech

_BREAKS = {ord(c): f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}
_CODES = {
    "done": errors.EXIT_DONE,
    "failed": errors.EXIT_FAILED,
    "interrupted": errors.EXIT_FAILED,
    "refused": errors.EXIT_REFUSED,
    "budget": errors.EXIT_BUDGET,
    "cancelled": errors.EXIT_INTERRUPTED,
}


def exit_code(finished: TurnFinished) -> int:
    """The exit code of a turn: 0 done, 1 failed, 3 refused, 4 budget, 130 cancelled."""
    return _CODES[finished.status]


def usage_fields(usage: Usage) -> dict[str, int]:
    """All figures of a usage, those that are 0 included."""
    return {
        "input": usage.input,
        "cached": usage.cached,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "reasoning": usage.reasoning,
    }


def purposes(lines: Mapping[str, UsageLine]) -> dict[str, Any]:
    """Requests, tokens and money by purpose."""
    return {p: {"requests": line.requests, **usage_fields(line.usage), "cost": line.cost} for p, line in lines.items()}


def label_fields(label: BatchLabelled) -> dict[str, Any]:
    """A label as `--json` and `--stream-json` show it. `by` is "model", or "plain" where no model was asked."""
    return {
        "type": "tool_use_summary",
        "text": label.text,
        "preceding_tool_use_ids": list(label.calls),
        "by": label.by,
    }


def result_fields(
    finished: TurnFinished,
    session: str,
    speech: Speech,
    *,
    structured: bool = False,
    beside: Mapping[str, UsageLine] = {},
) -> dict[str, Any]:
    """The object that `--json` prints and `--stream-json` ends with.

    `reason` is a sentence, `reason_key` its stable name; both are "" when the model had the last word. `cost` is in US
    dollars, null when the price is unknown. `output` is there when the answer had to follow a schema. `usage_beside` is
    there when something was asked beside the turn (`beside`): requests, tokens and money by purpose.
    """
    fields: dict[str, Any] = {
        "type": "result",
        "session": session,
        "status": finished.status,
        "text": finished.text,
        "reason": speech.told(finished.reason, finished.values) if finished.reason else "",
        "reason_key": finished.reason,
        "usage": usage_fields(finished.usage),
        "cost": finished.cost,
        "requests": finished.requests,
        "steps": finished.steps,
        "seconds": round(finished.seconds, 3),
        "exit_code": exit_code(finished),
        "version": __version__,
    }
    if beside:
        fields["usage_beside"] = purposes(beside)
    if structured and finished.status == "done":
        fields["output"] = _parsed(finished.text)
    return fields


def error_fields(text: str, key: str, code: int, session: str = "") -> dict[str, Any]:
    """The same object for a run that ended before its turn."""
    status = {errors.EXIT_REFUSED: "refused", errors.EXIT_BUDGET: "budget", errors.EXIT_INTERRUPTED: "cancelled"}
    return {
        "type": "result",
        "session": session,
        "status": status.get(code, "failed"),
        "text": "",
        "reason": text,
        "reason_key": key,
        "usage": usage_fields(Usage()),
        "cost": None,
        "requests": 0,
        "steps": 0,
        "seconds": 0.0,
        "exit_code": code,
        "version": __version__,
    }


def to_json(value: dict[str, Any], *, indent: bool = False) -> str:
    """JSON in one line (or indented), with non-ASCII characters as they are.

    Lone surrogates are escaped, and so are the line ends of Unicode, for those who read line by line.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2 if indent else None)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, indent=2 if indent else None)
    return text.translate(_BREAKS)


def _parsed(text: str) -> Any:
    try:
        return cast("object", json.loads(text))
    except ValueError:
        return None
