"""Labels that are plain from the calls themselves, so that no model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gongfu.context.shown import without_secrets
from gongfu.core.base import Base
from gongfu.core.graphemes import cut
from gongfu.core.messages import CallPart, ResultPart

VARIABLE = "GONGFU_EMIT_TOOL_USE_SUMMARIES"
_LENGTH = 100
_COMMAND = 60
_ENDED = ("failed", "refused", "cancelled", "interrupted")


def gate(env: Mapping[str, str], setting: bool) -> bool:
    """Whether a model may write labels: the environment's word if it is one of 0, 1, true, false, else the setting."""
    said = env.get(VARIABLE, "").strip().lower()
    return said in ("1", "true") if said in ("0", "1", "true", "false") else setting


class _Seen(Base, frozen=True):
    """One call with its outcome: its arguments, how it ended, and what it showed."""

    name: str
    args: dict[str, Any]
    status: str
    display: Mapping[str, Any]

    def arg(self, *names: str) -> str:
        """The first of these arguments that is a text with something in it, on one line."""
        found = (self.args.get(name) for name in names)
        return next((" ".join(v.split()) for v in found if isinstance(v, str) and v.strip()), "")

    def count(self, name: str) -> int | None:
        """A number of the display."""
        value = self.display.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def plain(
    calls: Sequence[CallPart],
    results: Mapping[str, ResultPart],
    displays: Mapping[str, Mapping[str, Any]] = {},
) -> str | None:
    """The label of a batch whose calls say it all: one call of a tool that is known, or several of one kind.

    `results` and `displays` (see `core.display`) are by call id. None when a model has to be asked.
    """
    if not calls:
        return None
    name = calls[0].name
    if any(call.name != name for call in calls):
        return None
    seen = [_look(call, results.get(call.id), displays.get(call.id, {})) for call in calls]
    label = _one(seen[0]) if len(seen) == 1 else _several(name, seen)
    return None if label is None else cut(_shown(label), _LENGTH).rstrip()


def _look(call: CallPart, result: ResultPart | None, display: Mapping[str, Any]) -> _Seen:
    try:
        args = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        args = {}
    return _Seen(name=call.name, args=args, status=result.status if result else "interrupted", display=display)


def _shown(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


# --- one call -----------------------------------------------------------------------------------------------------


def _one(seen: _Seen) -> str | None:
    if seen.name == "shell":
        return _command(seen)
    word = _WORDS.get(seen.name)
    label = word(seen) if word else None
    return label and label + _ending([seen])


def _command(seen: _Seen) -> str | None:
    command = _short(seen.arg("command"), _COMMAND)
    if not command:
        return None
    code = seen.count("code")
    if str(seen.display.get("summary", "")).startswith("stopped"):
        return f"Run {command} (stopped)"
    if seen.args.get("background") is True and seen.status == "done":
        return f"Start {command}"
    if seen.status == "done":
        code = 0 if code is None else code
    return f"Run {command} (exit {code})" if code is not None else f"Run {command}{_ending([seen])}"


def _changed(verb: str, seen: Sequence[_Seen], what: str) -> str:
    counts = [(s.count("added"), s.count("removed")) for s in seen]
    known = [(a, r) for a, r in counts if a is not None and r is not None]
    if not known:
        return f"{verb} {what}"
    return f"{verb} {what} +{sum(a for a, _ in known)} −{sum(r for _, r in known)}"


def _edit(seen: _Seen) -> str:
    return _changed("Edit", [seen], _name(seen))


def _write(seen: _Seen) -> str:
    return _changed("Create" if seen.display.get("new") else "Write", [seen], _name(seen))


def _read(seen: _Seen) -> str:
    return f"Read {_name(seen)}"


def _list(seen: _Seen) -> str:
    return f"List {_name(seen, 'the folder')}"


def _find(seen: _Seen) -> str:
    return f"Find {_short(seen.arg('pattern'), 70)}"


def _search(seen: _Seen) -> str:
    return f"Search for {_short(seen.arg('pattern'), 70)}"


def _todo(seen: _Seen) -> str:
    summary = str(seen.display.get("summary", ""))
    return f"Update the todo list ({summary})" if summary else "Update the todo list"


def _ask(seen: _Seen) -> str:
    return f"Ask: {_short(seen.arg('question', 'text'), 80)}"


def _job(seen: _Seen) -> str:
    job, action = seen.arg("job"), seen.arg("action")
    verbs = {"output": "Look at", "stop": "Stop", "input": "Write to", "send": "Write to"}
    return f"{verbs.get(action, 'Look at')} job {job}" if job else "List the jobs"


def _recall(seen: _Seen) -> str:
    what = _short(seen.arg("id", "query"), 70)
    return f"Recall {what}" if what else "Recall"


def _task(seen: _Seen) -> str | None:
    agent, what = str(seen.display.get("agent") or ""), seen.arg("task")
    if not what:
        return None
    return f"Delegate to {_short(agent, 30)}: {_short(what, 60)}" if agent else f"Delegate: {_short(what, 80)}"


_WORDS: dict[str, Callable[[_Seen], str | None]] = {
    "read_file": _read,
    "write_file": _write,
    "edit_file": _edit,
    "list_files": _list,
    "find_files": _find,
    "search_text": _search,
    "todo": _todo,
    "ask_user": _ask,
    "shell_job": _job,
    "recall": _recall,
    "task": _task,
}


# --- several of one kind -------------------------------------------------------------------------------------------


def _several(name: str, seen: Sequence[_Seen]) -> str:
    count, ending = len(seen), _ending(seen)
    if name in ("read_file", "write_file", "edit_file"):
        return _files(name, seen) + ending
    counted = _COUNTED.get(name)
    if counted is not None:
        return counted.format(n=count) + ending
    return f"{name} ×{count}{ending}"


def _files(name: str, seen: Sequence[_Seen]) -> str:
    paths = {s.arg("path") for s in seen}
    what = _name(seen[0]) if len(paths) == 1 else f"{len(paths)} files"
    if name == "read_file":
        return f"Read {what}"
    new = all(s.display.get("new") for s in seen)
    return _changed("Edit" if name == "edit_file" else "Create" if new else "Write", seen, what)


_COUNTED = {
    "list_files": "List {n} folders",
    "find_files": "Find files by {n} patterns",
    "search_text": "Search for {n} patterns",
    "shell": "Run {n} commands",
    "shell_job": "Look after {n} jobs",
    "recall": "Recall {n} things",
    "task": "Delegate {n} tasks",
    "ask_user": "Ask {n} questions",
    "todo": "Update the todo list",
}


def _ending(seen: Sequence[_Seen]) -> str:
    """What went wrong, in brackets; "" when nothing has."""
    bad = [s.status for s in seen if s.status in _ENDED]
    if not bad:
        return ""
    if len(seen) == 1:
        return f" ({bad[0]})"
    told = ", ".join(f"{bad.count(word)} {word}" for word in dict.fromkeys(bad))
    return f" ({told})"


def _name(seen: _Seen, otherwise: str = "a file") -> str:
    path = seen.arg("path").rstrip("/\\")
    if path in ("", "."):
        return otherwise
    return _short(path.replace("\\", "/").rpartition("/")[2] or path, 70)


def _short(text: str, limit: int) -> str:
    text = without_secrets(text, limit)
    return text if len(text) <= limit else f"{cut(text, limit - 1).rstrip()}…"
