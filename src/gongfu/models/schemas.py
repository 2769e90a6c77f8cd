"""Tool schemas in the words that a provider understands. The original stays what arguments are validated against."""

from __future__ import annotations

from typing import Any, cast

from gongfu.models.quirks import Quirks

_DEEP = 24
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems")


def wire_schema(schema: Any, quirks: Quirks) -> dict[str, Any]:
    """The schema of a tool's arguments as it is sent: always of type object, whatever was declared.

    Any JSON Schema is taken, `true` and `{}` included. Circles of `$ref` end in a schema that allows anything.
    """
    root = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    node = _Writer(root, quirks).write(root) if quirks.inline_refs or quirks.plain_types or quirks.schema_drop else root
    fields = dict(cast("dict[str, Any]", node)) if isinstance(node, dict) else {}
    if fields.get("type") != "object":
        fields = {"type": "object", **{k: v for k, v in fields.items() if k not in ("type", "nullable")}}
    if "properties" not in fields and quirks.empty_properties:
        fields["properties"] = {}
    if not fields.get("properties") and not quirks.empty_properties:
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
        names = set(cast("dict[str, Any]", node.get("properties") or {}))
        if node.get("additionalProperties") is not False or names != set(node.get("required") or ()):
            return False
    maps = [v for k in _MAPS for v in cast("dict[str, Any]", node.get(k) or {}).values()]
    rest = [node[k] for k in (*_LISTS, "items") if k in node]
    return all(map(is_strict, [*maps, *rest]))


class _Writer:
    """Rewrites one schema. `seen` are the references that are being written out, so that a circle ends."""

    def __init__(self, root: dict[str, Any], quirks: Quirks) -> None:
        self._root = root
        self._quirks = quirks
        self._drop = set(quirks.schema_drop)

    def write(self, schema: Any, seen: tuple[str, ...] = ()) -> Any:
        if isinstance(schema, bool) and self._quirks.plain_types:
            return {}
        if not isinstance(schema, dict) or len(seen) > _DEEP:
            return cast("Any", schema) if isinstance(schema, bool) else {}
        node = cast("dict[str, Any]", schema)
        if self._quirks.inline_refs and isinstance(node.get("$ref"), str):
            return self._referred(node, seen)
        out = {k: self._field(k, v, seen) for k, v in node.items() if k not in self._drop}
        if self._quirks.inline_refs:
            out.pop("$defs", None)
            out.pop("definitions", None)
        return self._plain(out) if self._quirks.plain_types else out

    def _referred(self, node: dict[str, Any], seen: tuple[str, ...]) -> Any:
        reference = cast("str", node["$ref"])
        beside = {k: v for k, v in node.items() if k != "$ref"}
        if reference in seen or not reference.startswith("#"):
            return self.write(beside, (*seen, reference))
        target = _pointed(self._root, reference[1:])
        merged = {**cast("dict[str, Any]", target), **beside} if isinstance(target, dict) else beside
        return self.write(merged, (*seen, reference))

    def _field(self, key: str, value: Any, seen: tuple[str, ...]) -> Any:
        if key in _MAPS and isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            kept = {k: v for k, v in entries.items() if not (v is False and self._quirks.plain_types)}
            return {k: self.write(v, (*seen, "")) for k, v in kept.items()}
        if key in _LISTS and isinstance(value, list):
            return [self.write(v, (*seen, "")) for v in cast("list[Any]", value)]
        if key == "additionalProperties" and isinstance(value, bool):
            return value
        return self.write(value, (*seen, "")) if key in _ONE else value

    def _plain(self, node: dict[str, Any]) -> dict[str, Any]:
        if "const" in node:
            node["enum"] = [node.pop("const")]
        if isinstance(node.get("required"), list) and isinstance(node.get("properties"), dict):
            node["required"] = [r for r in node["required"] if r in node["properties"]]
        self._add_type(node)
        nullable = node.pop("nullable", False) is True
        named: Any = node.get("type")
        if isinstance(named, list):
            types = [t for t in cast("list[Any]", named) if isinstance(t, str)]
            nullable = nullable or "null" in types
            types = [t for t in types if t != "null"]
            if len(types) == 1:
                node["type"] = types[0]
            else:
                node = _split(node, types)
        node = self._without_null(node) if self._quirks.plain_types == "nullable" else node
        if "anyOf" in node and "type" in node and self._quirks.plain_types == "any_of":
            named = node.pop("type")
            node["anyOf"] = [b if "type" in b or "anyOf" in b else {"type": named, **b} for b in node["anyOf"]]
        return self._nullable(node) if nullable else node

    def _without_null(self, node: dict[str, Any]) -> dict[str, Any]:
        """OpenAPI's words: no type "null", and `enum` only of strings."""
        for key in ("anyOf", "oneOf"):
            branches = cast("list[dict[str, Any]]", node.get(key) or [])
            if any(b.get("type") == "null" for b in branches):
                left = [b for b in branches if b.get("type") != "null"]
                rest = {k: v for k, v in node.items() if k != key}
                node = {**left[0], **rest} if len(left) == 1 else {**rest, key: left}
                node["nullable"] = True
        values: Any = node.get("enum")
        if isinstance(values, list) and any(not isinstance(v, str) for v in cast("list[Any]", values)):
            allowed = ", ".join(map(str, cast("list[Any]", values)))
            node = {k: v for k, v in node.items() if k != "enum"}
            node["description"] = f"{node.get('description', '')} One of: {allowed}.".strip()
        return node

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

    def _add_type(self, node: dict[str, Any]) -> None:
        if "type" in node or any(k in node for k in ("anyOf", "oneOf", "allOf", "$ref")):
            return
        if "properties" in node:
            node["type"] = "object"
        elif "items" in node:
            node["type"] = "array"
        elif node.get("enum"):
            kinds = {_kind(v) for v in cast("list[Any]", node["enum"])}
            if len(kinds) == 1 and "" not in kinds:
                node["type"] = kinds.pop()


_OF_TYPE = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "minItems", "maxItems", "uniqueItems", "prefixItems"),
    "object": ("properties", "required", "additionalProperties"),
}


def _split(node: dict[str, Any], types: list[str]) -> dict[str, Any]:
    """One branch of `anyOf` for each type, with the words that belong to it."""
    moved = {w for words in _OF_TYPE.values() for w in words}
    rest = {k: v for k, v in node.items() if k != "type" and k not in moved}
    if not types:
        return rest
    branches = [{"type": t, **{w: node[w] for w in _OF_TYPE.get(t, ()) if w in node}} for t in types]
    return {**rest, "anyOf": branches}


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


def _pointed(root: Any, pointer: str) -> Any:
    node = root
    if pointer and not pointer.startswith("/"):
        return None  # a name that was given with $anchor
    for step in pointer.split("/")[1:]:
        if not isinstance(node, dict):
            return None
        node = cast("dict[str, Any]", node).get(step.replace("~1", "/").replace("~0", "~"))
    return node
