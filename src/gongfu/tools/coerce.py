"""Safe repairs of arguments by their schema: what a model plainly meant, and nothing that could be meant otherwise."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

_INTEGER = r"[+-]?\d{1,18}"
_WORDS = r"[A-Z]?[a-z0-9]+|[A-Z]+"

Schema = dict[str, Any]


def resolve(schema: Any, root: Schema) -> Schema:
    """The schema itself with local `$ref`s followed; {} for `true` and for what cannot be followed."""
    for _ in range(20):
        if not isinstance(schema, dict):
            return {"not": {}} if schema is False else {}
        node = cast("Schema", schema)
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return node
        schema = _pointer(reference, root)
    return {}


def _pointer(reference: str, root: Schema) -> Any:
    if not reference.startswith("#"):
        return {}
    node: Any = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = cast("Schema", node).get(key, {})
        elif isinstance(node, list) and key.isdigit():
            items = cast("list[Any]", node)
            node = items[int(key)] if int(key) < len(items) else {}
        else:
            return {}
    return node


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """The JSON types that `schema` names, `null` among them when it is `nullable`; () when it names none."""
    kind = schema.get("type")
    kinds = tuple(cast("list[str]", kind)) if isinstance(kind, list) else (kind,) if isinstance(kind, str) else ()
    return (*kinds, "null") if kinds and schema.get("nullable") is True and "null" not in kinds else kinds


def kind_of(value: Any) -> str:
    """The JSON type of a decoded value; a whole number is an integer."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def fits(value: Any, kinds: tuple[str, ...]) -> bool:
    """Whether the type of `value` is among `kinds`; () allows all."""
    kind = kind_of(value)
    if not kinds or kind in kinds:
        return True
    return kind == "integer" and "number" in kinds


def allows_null(schema: Any, root: Schema) -> bool:
    """Whether None is a value of the schema."""
    node = resolve(schema, root)
    if node.get("nullable") is True:
        return True
    if "enum" in node:
        return None in node["enum"]
    branches = cast("list[Any]", node.get("anyOf") or node.get("oneOf") or [])
    if branches:
        return any(allows_null(b, root) for b in branches)
    return fits(None, kinds_of(node)) and "const" not in node and "not" not in node


def coerce(schema: Any, value: Any, root: Schema) -> Any:
    """`value`, mended where its type is wrong and its meaning is plain. Never fails; what is not plain stays."""
    node = resolve(schema, root)
    branches = cast("list[Any]", node.get("anyOf") or node.get("oneOf") or [])
    if branches:
        return _by_branch(branches, value, root)
    kinds = kinds_of(node)
    if not fits(value, kinds):
        value = _retype(value, kinds, node)
    if isinstance(value, float) and value.is_integer() and "integer" in kinds and "number" not in kinds:
        value = int(value)
    if isinstance(value, str) and "enum" in node:
        value = _by_enum(value, node["enum"])
    if isinstance(value, dict):
        return _object(node, cast("dict[str, Any]", value), root)
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        items: list[Any] = [coerce(node["items"], v, root) for v in cast("list[Any]", value)]
        return items
    return cast("Any", value)


def _by_branch(branches: list[Any], value: Any, root: Schema) -> Any:
    nodes = [resolve(b, root) for b in branches]
    for node in nodes:
        if kinds_of(node) and fits(value, kinds_of(node)):
            return coerce(node, value, root)
    for node in nodes:
        changed = coerce(node, value, root)
        if kinds_of(node) and fits(changed, kinds_of(node)) and kind_of(changed) != kind_of(value):
            return changed
    return value


def _retype(value: Any, kinds: tuple[str, ...], node: Schema) -> Any:
    if isinstance(value, str):
        return _from_text(value, kinds)
    if "string" in kinds and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if "array" in kinds and kind_of(value) not in ("null", "array"):
        items = kinds_of(cast("Schema", node.get("items") or {})) if isinstance(node.get("items"), dict) else ()
        return [value] if items and fits(value, items) else value
    return value


def _from_text(text: str, kinds: tuple[str, ...]) -> Any:
    """A value written as a text: "5", "true", or a list or an object sent as its JSON; a plain text for a list."""
    word = text.strip()
    if "boolean" in kinds and word.lower() in ("true", "false"):
        return word.lower() == "true"
    if ("integer" in kinds or "number" in kinds) and re.fullmatch(_INTEGER, word):
        return int(word)
    if "null" in kinds and word.lower() in ("null", "none"):
        return None
    if "number" in kinds or "integer" in kinds or word[:1] in ("[", "{"):
        try:
            decoded: Any = msgspec.json.decode(word)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            decoded = text
        if not isinstance(decoded, str) and fits(decoded, kinds):
            return decoded
        if isinstance(decoded, float) and decoded.is_integer() and "integer" in kinds:
            return int(decoded)
    return [text] if "array" in kinds and word[:1] != "[" else text


def _by_enum(text: str, allowed: list[Any]) -> str:
    if text in allowed:
        return text
    same = [a for a in allowed if isinstance(a, str) and a.lower() == text.strip().lower()]
    return same[0] if len(same) == 1 else text


def _object(node: Schema, value: dict[str, Any], root: Schema) -> dict[str, Any]:
    properties = cast("Schema", node.get("properties") or {})
    required = cast("list[str]", node.get("required") or [])
    result: dict[str, Any] = {}
    for name, item in _renamed(value, properties, required).items():
        schema = properties.get(name)
        if item is None and schema is not None and name not in required and not allows_null(schema, root):
            continue
        result[name] = item if schema is None else coerce(schema, item, root)
    return result


def _renamed(value: dict[str, Any], properties: Schema, required: list[str]) -> dict[str, Any]:
    """A field called `file_path` or `filePath` where the schema requires `path`, and nothing else could be meant."""
    missing = [n for n in required if n not in value]
    strange = [n for n in value if n not in properties]
    if not missing or not strange:
        return value
    names: dict[str, str] = {}
    for name in missing:
        like = [s for s in strange if set(_words(name)) < set(_words(s))]
        if len(like) == 1 and like[0] not in names:
            names[like[0]] = name
    return {names.get(k, k): v for k, v in value.items()}


def _words(name: str) -> list[str]:
    return [w.lower() for w in re.findall(_WORDS, name)]
