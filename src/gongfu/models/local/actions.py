"""What a small model may do in one reply: a handful of actions, each one call of a tool, as a JSON schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.messages import CallPart
from gongfu.core.specs import ToolSpec

THOUGHT_CHARS = 240
FINISH = "finish"


class Kind(Base, frozen=True):
    """An action: the tool it calls, the arguments it has (action field -> tool argument) and its line in the prompt."""

    name: str
    tool: str
    fields: tuple[tuple[str, str], ...]
    line: str


KINDS: tuple[Kind, ...] = (
    Kind(
        name="run",
        tool="shell",
        fields=(("command", "command"),),
        line='run: run a shell command in the folder. Fields: "command".',
    ),
    Kind(
        name="write",
        tool="write_file",
        fields=(("path", "path"), ("content", "content")),
        line='write: create a file, or replace all of it. Fields: "path", "content" (the whole text of the file).',
    ),
    Kind(
        name="replace",
        tool="edit_file",
        fields=(("path", "path"), ("old", "old"), ("new", "new")),
        line='replace: change a part of a long file. Fields: "path", "old" (exact lines that are there now), "new".',
    ),
    Kind(name="read", tool="read_file", fields=(("path", "path"),), line='read: show a file. Fields: "path".'),
    Kind(
        name="search",
        tool="search_text",
        fields=(("pattern", "pattern"),),
        line='search: find the lines in all files that hold a text. Fields: "pattern".',
    ),
)
FINISH_LINE = 'finish: end with the answer for the user. Fields: "answer".'
_BY_NAME = {kind.name: kind for kind in KINDS}
_BY_TOOL = {kind.tool: kind for kind in KINDS}


_PATTERN = re.compile(r"[|\\^$]|\.[*+]|\[.+\]")


class Action(Base, frozen=True):
    """One action as the model wrote it. `raw` is the reply it came in, kept so that prompts repeat it exactly.

    A reply that was none of the actions has the name "".
    """

    name: str
    thought: str = ""
    fields: dict[str, str] = {}
    raw: str = ""

    @property
    def deed(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What is done, without the thought: equal deeds are repeats."""
        return self.name, tuple(sorted(self.fields.items()))


class Wrong(Base, frozen=True):
    """A reply that is no action: `why` is for the model; `name` and `fields` are what could be read of it."""

    why: str
    name: str = ""
    fields: dict[str, str] = {}
    raw: str = ""


def offered(tools: Iterable[ToolSpec]) -> tuple[str, ...]:
    """The actions whose tools are there, always in the same order."""
    there = {tool.name for tool in tools}
    return tuple(kind.name for kind in KINDS if kind.tool in there)


def lines(names: Sequence[str]) -> str:
    """The actions as the prompt lists them."""
    return "\n".join([*(f"- {_BY_NAME[name].line}" for name in names), f"- {FINISH_LINE}"])


def schema(names: Sequence[str]) -> dict[str, Any]:
    """A JSON schema that lets through exactly one of these actions (`finish` among them when it is named)."""
    return {"anyOf": [_one(name) for name in names]}


def _one(name: str) -> dict[str, Any]:
    fields = ("answer",) if name == FINISH else tuple(field for field, _ in _BY_NAME[name].fields)
    properties: dict[str, Any] = {
        "thought": {"type": "string", "maxLength": THOUGHT_CHARS},
        "action": {"const": name},
        **{field: {"type": "string"} for field in fields},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse(text: str) -> Action | Wrong:
    """Read a reply. A reply that is cut off or is no action gives `Wrong`."""
    try:
        value: Any = msgspec.json.decode(text.encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return Wrong(why="The reply was no complete JSON object. Reply with one short action.", raw=text)
    if not isinstance(value, dict):
        return Wrong(why="The reply must be one JSON object.", raw=text)
    given = {name: item for name, item in cast("dict[str, Any]", value).items() if isinstance(item, str)}
    name = given.pop("action", "")
    thought = given.pop("thought", "")
    wanted = ("answer",) if name == FINISH else tuple(f for f, _ in _BY_NAME[name].fields) if name in _BY_NAME else None
    if wanted is None or not set(wanted) <= set(given):
        return Wrong(why="The reply was none of the actions.", name=name, fields=given, raw=text)
    return Action(name=name, thought=thought, fields={field: given[field] for field in wanted}, raw=text)


def to_call(action: Action, tools: Mapping[str, ToolSpec]) -> CallPart:
    """The tool call that an action stands for (not `finish`). It has no id yet and keeps the reply in `raw`."""
    kind = _BY_NAME[action.name]
    known = _properties(tools.get(kind.tool))
    arguments: dict[str, Any] = {argument: action.fields[field] for field, argument in kind.fields}
    if kind.name == "search" and "literal" in known and not _PATTERN.search(action.fields["pattern"]):
        arguments["literal"] = True  # small models write the text that they look for, brackets and all
    text = msgspec.json.encode(arguments).decode()
    return CallPart(id="", name=kind.tool, arguments=text, raw=action.raw)


def tool_of(name: str) -> str:
    """The tool that an action calls; `write_file` for a name that is none, so that a problem can be told."""
    kind = _BY_NAME.get(name)
    return kind.tool if kind else "write_file"


def from_call(call: CallPart) -> Action | None:
    """The action that a call stands for: its own reply, or what another model's call amounts to; None if nothing."""
    if call.raw:
        action = parse(call.raw)
        return action if isinstance(action, Action) else Action(name="", raw=call.raw)
    kind = _BY_TOOL.get(call.name)
    if kind is None:
        return None
    try:
        given = msgspec.json.decode(call.arguments.encode("utf-8", "replace"), type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    fields = {field: str(given.get(argument, "")) for field, argument in kind.fields}
    action = Action(name=kind.name, fields=fields)
    return Action(name=kind.name, fields=fields, raw=written(action))


def written(action: Action) -> str:
    """An action as a model would write it: compact JSON, the thought first."""
    thought = {"thought": action.thought} if action.thought else {}
    return msgspec.json.encode({**thought, "action": action.name, **action.fields}).decode()


def _properties(tool: ToolSpec | None) -> dict[str, Any]:
    return {} if tool is None else cast("dict[str, Any]", tool.parameters.get("properties", {}))
