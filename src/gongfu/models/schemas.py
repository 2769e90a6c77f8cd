"""Tool schemas in the words that a provider understands. The original stays what arguments are validated against."""

from __future__ import annotations

from typing import Any, cast

from gongfu.models.quirks import Quirks

_DEEP = 24
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems")
_TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
_NULL = {"nullable": True}  # nothing but null, in OpenAPI's words
_OF_TYPE = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "minItems", "maxItems", "uniqueItems", "prefixItems"),
    "object": ("properties", "required", "additionalProperties"),
}


def wire_schema(schema: Any, quirks: Quirks) -> dict[str, Any]:
    """The schema of a tool's arguments as it is sent: always of type object, whatever was declared.

    Anything is taken, `true` and `{}` included; words whose value no JSON Schema may have are left out. Circles of
    `$ref` that are written out end in a schema that allows anything.
    """
    root = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    if not isinstance(root.get("$ref"), str) or not quirks.inline_refs:
        root = {**root, "type": "object"}
    root.pop("nullable", None)
    fields = _Writer(root, quirks).write(root)
    if fields.get("type") != "object":
        fields = {"type": "object", **{k: v for k, v in fields.items() if k not in ("type", "nullable")}}
    if not fields.get("properties"):
        fields["properties"] = {}
        if not quirks.empty_properties:
            fields = {k: v for k, v in fields.items() if k not in ("properties", "required")}
    return fields


def is_strict(schema: Any) -> bool:
    """Whether a schema keeps the rules of OpenAI's strict mode: closed objects, every property required."""
    if isinstance(schema, list):
        return all(map(is_strict, cast("list[Any]", schema)))
    if not isinstance(schema, dict):
        return True
    node = cast("dict[str, Any]", schema)
    if node.get("type") == "object" or "properties" in node:
        names = set(_map(node, "properties"))
        if node.get("additionalProperties") is not False or names != set(_strings(node.get("required"))):
            return False
    parts = [v for k in _MAPS for v in _map(node, k).values()]
    return all(map(is_strict, [*parts, *[node[k] for k in (*_LISTS, "items") if k in node]]))


class _Writer:
    """Rewrites one schema. `seen` are the references that are being written out, so that a circle ends."""

    def __init__(self, root: dict[str, Any], quirks: Quirks) -> None:
        self._root = root
        self._quirks = quirks
        self._drop = set(quirks.schema_drop)
        if quirks.inline_refs:
            self._drop |= {"$defs", "definitions"}

    def write(self, schema: dict[str, Any], seen: tuple[str, ...] = ()) -> dict[str, Any]:
        if len(seen) > _DEEP:
            return {}
        if self._quirks.inline_refs and isinstance(schema.get("$ref"), str):
            return self._referred(schema, seen)
        out = {k: self._field(k, v, seen) for k, v in schema.items() if k not in self._drop and _sane(k, v)}
        return self._plain(out) if self._quirks.plain_types else out

    def _any(self, schema: Any, seen: tuple[str, ...]) -> Any:
        if isinstance(schema, dict):
            return self.write(cast("dict[str, Any]", schema), (*seen, ""))
        return schema if isinstance(schema, bool) and not self._quirks.plain_types else {}

    def _referred(self, node: dict[str, Any], seen: tuple[str, ...]) -> dict[str, Any]:
        reference = cast("str", node["$ref"])
        beside = {k: v for k, v in node.items() if k != "$ref"}
        target = _pointed(self._root, reference[1:]) if reference.startswith("#") and reference not in seen else None
        merged = {**cast("dict[str, Any]", target), **beside} if isinstance(target, dict) else beside
        return self.write(merged, (*seen, reference))

    def _field(self, key: str, value: Any, seen: tuple[str, ...]) -> Any:
        if key in _MAPS:
            entries = cast("dict[str, Any]", value)
            kept = {k: v for k, v in entries.items() if not (v is False and self._quirks.plain_types)}
            return {k: self._any(v, seen) for k, v in kept.items()}
        if key in _LISTS:
            return [self._any(v, seen) for v in cast("list[Any]", value)]
        if key == "additionalProperties" and isinstance(value, bool):
            return value
        return self._any(value, seen) if key in _ONE else value

    # --- older words ---------------------------------------------------------------------------------------------

    def _plain(self, node: dict[str, Any]) -> dict[str, Any]:
        if "const" in node:
            node["enum"] = [node.pop("const")]
        if "required" in node and "properties" in node:
            node["required"] = [r for r in node["required"] if r in node["properties"]]
        _add_type(node)
        nullable = node.pop("nullable", False) is True
        if isinstance(node.get("type"), list):
            types = _strings(node["type"])
            nullable = nullable or "null" in types
            node = _split(node, [t for t in types if t != "null"])
        if self._quirks.plain_types == "nullable":
            node = _without_null(node)
        elif "anyOf" in node and "type" in node:
            named = node.pop("type")
            node["anyOf"] = [b if "type" in b or "anyOf" in b else {"type": named, **b} for b in node["anyOf"]]
        return self._nullable(node) if nullable else node

    def _nullable(self, node: dict[str, Any]) -> dict[str, Any]:
        if self._quirks.plain_types == "nullable":
            return {**node, "nullable": True}
        if "anyOf" in node:
            return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
        if "type" not in node:
            return node
        outside = {k: node[k] for k in ("title", "description", "default") if k in node}
        inside = {k: v for k, v in node.items() if k not in outside}
        return {**outside, "anyOf": [inside, {"type": "null"}]}


def _sane(key: str, value: Any) -> bool:
    """Whether a word has a value of the kind that it must have."""
    if key in _MAPS:
        return isinstance(value, dict)
    if key in (*_LISTS, "enum"):
        return isinstance(value, list) and bool(cast("list[Any]", value))
    if key in _ONE:
        return isinstance(value, dict | bool)
    if key == "required":
        return isinstance(value, list) and all(isinstance(v, str) for v in cast("list[Any]", value))
    if key == "type":
        named = [value] if isinstance(value, str) else _strings(value)
        return bool(named) and set(named) <= _TYPES
    return not (key == "$ref" and not isinstance(value, str))


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI's words: no type "null", and `enum` only of strings."""
    for key in ("anyOf", "oneOf"):
        branches = cast("list[dict[str, Any]]", node.get(key) or [])
        if _NULL in branches:
            left = [b for b in branches if b != _NULL]
            rest = {k: v for k, v in node.items() if k != key}
            node = {**left[0], **rest} if len(left) == 1 else {**rest, **({key: left} if left else {})}
            node["nullable"] = True
    if node.get("type") == "null":
        return _NULL
    values = cast("list[Any]", node.get("enum") or [])
    if any(not isinstance(v, str) for v in values):
        allowed = ", ".join(map(str, values))
        node = {k: v for k, v in node.items() if k != "enum"}
        node["description"] = f"{node.get('description', '')} One of: {allowed}.".strip()
    return node


def _add_type(node: dict[str, Any]) -> None:
    if any(k in node for k in ("type", "anyOf", "oneOf", "allOf", "$ref")):
        return
    if "properties" in node:
        node["type"] = "object"
    elif "items" in node:
        node["type"] = "array"
    elif "enum" in node:
        kinds = {_kind(v) for v in cast("list[Any]", node["enum"])}
        if len(kinds) == 1 and "" not in kinds:
            node["type"] = kinds.pop()


def _split(node: dict[str, Any], types: list[str]) -> dict[str, Any]:
    """One type as it is; several as branches of `anyOf`, each with the words that belong to it."""
    rest = {k: v for k, v in node.items() if k != "type"}
    if len(types) < 2 or "anyOf" in node:
        return {"type": types[0], **rest} if types else rest
    moved = {w for words in _OF_TYPE.values() for w in words}
    branches = [{"type": t, **{w: node[w] for w in _OF_TYPE.get(t, ()) if w in node}} for t in types]
    return {**{k: v for k, v in rest.items() if k not in moved}, "anyOf": branches}


def _kind(value: object) -> str:
    match value:
        case str():
            return "string"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            return ""


def _strings(value: Any) -> list[str]:
    return [v for v in cast("list[Any]", value) if isinstance(v, str)] if isinstance(value, list) else []


def _map(node: dict[str, Any], key: str) -> dict[str, Any]:
    value = node.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _pointed(root: Any, pointer: str) -> Any:
    node = root
    if pointer and not pointer.startswith("/"):
        return None  # a name that was given with $anchor
    for step in pointer.split("/")[1:]:
        if not isinstance(node, dict):
            return None
        node = cast("dict[str, Any]", node).get(step.replace("~1", "/").replace("~0", "~"))
    return cast("Any", node)
