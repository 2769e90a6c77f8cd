"""Arguments of a call against the schema of its tool."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gongfu.core.base import Base
from gongfu.tools.coerce import Schema, coerce, fits, kind_of, kinds_of

_WORDLESS = {"description", "title", "default", "examples", "$schema", "$id", "$comment", "nullable", "deprecated"}
_CHECKED = {
    "type", "enum", "const", "properties", "required", "items", "minimum", "maximum", "minLength", "maxLength",
    "minItems", "maxItems", "additionalProperties",
}  # fmt: skip
_JUDGED = frozenset(_CHECKED | _WORDLESS)
_LIMITS = (
    ("minimum", "at least"), ("maximum", "at most"), ("minLength", "at least this many characters:"),
    ("maxLength", "at most this many characters:"), ("minItems", "at least this many items:"),
    ("maxItems", "at most this many items:"),
)  # fmt: skip


_WRAPPERS = ("arguments", "parameters", "args", "input", "params", "kwargs", "tool_input")
_AROUND = ("name", "tool", "tool_name", "function", "type", "id")


class Checked(Base, frozen=True):
    """`args` after safe repairs; `problem` is "" when they are valid, else the sentence for the model."""

    args: dict[str, Any] = {}
    problem: str = ""


def validate(schema: Any, args: dict[str, Any]) -> Checked:
    """Mend `args` where the meaning is plain ("5" for 5, null for what may be missing, one text for a list of texts),
    then check them. The problem says which field, what arrived and what would be right.
    """
    if not isinstance(schema, dict):
        return Checked(args=args, problem="this tool takes no arguments at all" if schema is False and args else "")
    root = cast("Schema", schema)
    args = _unwrapped(root, args)
    mended = coerce(root, args, root)
    result = cast("dict[str, Any]", mended) if isinstance(mended, dict) else args
    problem = _problem(root, result, "")
    if not problem and not _simple(root):
        problem = _by_library(root, result)
    return Checked(args=result, problem=problem)


def _unwrapped(root: Schema, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments out of the call that some models put them into once more: {"name": …, "arguments": {…}}."""
    properties = cast("Schema", root.get("properties") or {})
    inner = [k for k in args if k in _WRAPPERS]
    if len(inner) != 1 or any(k in properties for k in args) or not set(args) <= {*inner, *_AROUND}:
        return args
    found = args[inner[0]]
    return cast("dict[str, Any]", found) if isinstance(found, dict) else args


def _at(where: str) -> str:
    return where or "the arguments"


def _problem(schema: Any, value: Any, where: str) -> str:
    """The first problem among the keywords of `_CHECKED`, in plain words."""
    if not isinstance(schema, dict):
        return ""
    node = cast("Schema", schema)
    kinds = kinds_of(node)
    if not fits(value, kinds):
        article = "an" if kinds[0][0] in "aio" else "a"
        return f"{_at(where)} must be {article} {' or '.join(kinds)}; {_arrived(value)}"
    if "enum" in node and value not in node["enum"] and not (value is None and "null" in kinds):
        return f"{_at(where)} must be one of {_json(node['enum'])}; {_arrived(value)}"
    if "const" in node and value != node["const"]:
        return f"{_at(where)} must be {_json(node['const'])}; {_arrived(value)}"
    for keyword, words in _LIMITS:
        if keyword in node and _beyond(keyword, node[keyword], value):
            return f"{_at(where)} must be {words} {node[keyword]}; {_arrived(value)}"
    if isinstance(value, dict):
        return _in_object(node, cast("dict[str, Any]", value), where)
    if isinstance(value, list):
        items = (_problem(node.get("items"), v, f"{where}[{i}]") for i, v in enumerate(cast("list[Any]", value)))
        return next((p for p in items if p), "")
    return ""


def _beyond(keyword: str, limit: Any, value: Any) -> bool:
    size: float
    if keyword.endswith("imum"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        size = value
    elif isinstance(value, str if keyword.endswith("Length") else list):
        size = len(cast("str | list[Any]", value))
    else:
        return False
    return bool(size < limit if keyword.startswith("min") else size > limit)


def _in_object(node: Schema, value: dict[str, Any], where: str) -> str:
    properties = cast("Schema", node.get("properties") or {})
    missing = [n for n in cast("list[str]", node.get("required") or []) if n not in value]
    if missing:
        names = ", ".join(f"{where}.{n}" if where else n for n in missing)
        got = f"arrived: {', '.join(value)}" if value else "the arguments arrived empty"
        return f"required but missing: {names} ({got})"
    if node.get("additionalProperties") is False:
        strange = [n for n in value if n not in properties and not node.get("patternProperties")]
        if strange:
            return f"{_at(where)} may not have {', '.join(strange)}; known are: {', '.join(properties)}"
    others = node.get("additionalProperties")
    for name, item in value.items():
        problem = _problem(properties.get(name, others), item, f"{where}.{name}" if where else name)
        if problem:
            return problem
    return ""


def _simple(schema: Any) -> bool:
    """Whether `_problem` has checked all there is; saves loading the validator for the schemas of our own tools."""
    if not isinstance(schema, dict):
        return schema is True
    node = cast("Schema", schema)
    if not _JUDGED.issuperset(node):
        return False
    for inner in cast("Schema", node.get("properties") or {}).values():
        if not _simple(inner):
            return False
    others = node.get("additionalProperties", True)
    if others is not False and not _simple(others):
        return False
    return "items" not in node or _simple(node["items"])


def _by_library(root: Schema, args: dict[str, Any]) -> str:
    from gongfu.tools.foreign import Foreign  # a library comes with it, only needed for schemas of others

    try:
        found = Foreign(_plain(root)).mismatch(args)
    except (ValueError, RecursionError):
        return ""  # the schema is broken, which is not the model's fault: the tool itself will judge
    if found is None:
        return ""
    where = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in found.path).lstrip(".")
    return f"{_at(where)}: {_short(found.message)}"


def _plain(node: Any) -> Any:
    """The schema with OpenAPI's `nullable` written as JSON Schema writes it."""
    if isinstance(node, list):
        return [_plain(n) for n in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = {k: v if k in ("enum", "const", "default") else _plain(v) for k, v in cast("Schema", node).items()}
    if fields.get("nullable") is not True:
        return fields
    rest = {k: v for k, v in fields.items() if k != "nullable"}
    return {"anyOf": [rest, {"type": "null"}]}


def _arrived(value: Any) -> str:
    return "arrived: null" if value is None else f"arrived: {kind_of(value)} {_short(_json(value))}"


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError):
        return ascii(value)


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:160]}… ({len(text)} characters)"
