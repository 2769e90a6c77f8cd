"""Rows 33, 34 and 37, seen from the provider: tool schemas of every shape arrive in words that it understands."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gongfu.core.messages import user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Request
from gongfu.models.quirks import load_quirks, quirk_names
from gongfu.models.schemas import is_strict, wire_schema

SHAPES: dict[str, Any] = {
    "$ref to $defs": {"type": "object", "properties": {"p": {"$ref": "#/$defs/P", "description": "where"}},
                      "$defs": {"P": {"type": "string", "minLength": 1}}},
    "$ref to definitions": {"type": "object", "properties": {"p": {"$ref": "#/definitions/a~1b"}},
                            "definitions": {"a/b": {"type": "array", "items": {"$ref": "#/definitions/I"}},
                                            "I": {"type": "integer"}}},
    "a circle": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
                 "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}}},
    "the root is a reference": {"$ref": "#/$defs/R",
                                "$defs": {"R": {"type": "object", "properties": {"p": {"type": "string"}}}}},
    "a reference to itself": {"type": "object", "properties": {"c": {"$ref": "#"}}},
    "a dead and a foreign reference": {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"},
                                                                        "b": {"$ref": "https://example.org/s"}}},
    "boolean": True,
    "empty": {},
    "no type": {"properties": {"p": {"enum": ["a", "b"]}}},
    "boolean inside": {"type": "object",
                       "properties": {"any": True, "never": False, "l": {"type": "array", "items": True}},
                       "required": ["any", "never"], "additionalProperties": False},
    "lists of types": {"type": "object", "properties": {"a": {"type": ["string", "null"], "maxLength": 3},
                                                        "b": {"type": ["integer", "string"], "minimum": 1},
                                                        "c": {"type": ["string", "integer", "null"]}}},
    "nullable": {"type": "object", "properties": {"a": {"type": "string", "nullable": True},
                                                  "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
    "const": {"type": "object", "properties": {"k": {"const": "a"}, "n": {"const": 1}, "e": {"enum": [1, 2]}}},
    "anyOf beside a type": {"type": "object", "properties": {"x": {"type": "object", "anyOf": [
        {"properties": {"a": {"type": "string"}}}, {"required": ["b"]}]}}},
    "names that are words": {"type": "object", "properties": {
        "$ref": {"type": "string"}, "type": {"type": "string"}, "properties": {"type": "object"},
        "const": {"type": "integer"}}},
    "a type list at the root": {"type": ["object", "null"], "properties": {"p": {"type": "string"}}},
    "deep": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array", "items": {
        "oneOf": [{"$ref": "#/$defs/X"}, {"type": ["null"]}]}}}}, "$defs": {"X": {"const": True}}},
}  # fmt: skip


def sent(schema: Any, quirks: str) -> dict[str, Any]:
    """The parameters in the body."""
    info = ModelInfo(ref="v/a", provider="v", name="a")
    tool = ToolSpec(name="t", description="d", parameters=schema)
    request = Request(model="v/a", system="", messages=(user("x"),), tools=(tool,))
    return json.loads(BodyWriter(info, load_quirks(quirks)).write(request).data)["tools"][0]["function"]["parameters"]


def nodes(schema: Any) -> list[dict[str, Any]]:
    """All subschemas."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    for key in ("properties", "$defs", "definitions"):
        found += [n for v in schema.get(key, {}).values() for n in nodes(v)]
    for key in ("anyOf", "oneOf", "allOf"):
        found += [n for v in schema.get(key, []) for n in nodes(v)]
    for key in ("items", "additionalProperties"):
        found += nodes(schema.get(key))
    return found


@pytest.mark.parametrize("quirks", quirk_names())
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_accepted(shape: str, quirks: str) -> None:
    before = copy.deepcopy(SHAPES[shape])
    out = sent(SHAPES[shape], quirks)
    assert SHAPES[shape] == before  # the original stays what arguments are validated against
    assert out["type"] == "object"
    jsonschema_rs.meta.validate(out)
    table = load_quirks(quirks)
    assert table.empty_properties is False or isinstance(out["properties"], dict)
    for node in nodes(out):
        if table.inline_refs:
            assert not isinstance(node.get("$ref"), str)
            assert "$defs" not in node
            assert "definitions" not in node
        if table.plain_types:
            assert not isinstance(node.get("type"), list)
            assert not isinstance(node.get("nullable"), str)
            assert "const" not in node
            assert all(isinstance(v, dict) for v in node.get("properties", {}).values())
        if table.plain_types == "any_of":
            assert not ("anyOf" in node and "type" in node)
            assert "nullable" not in node
        if table.plain_types == "nullable":
            assert node.get("type") != "null"
            assert all(isinstance(v, str) for v in node.get("enum", []))
        assert not set(table.schema_drop) & set(node)


def test_definitions_are_written_out() -> None:
    out = sent(SHAPES["$ref to $defs"], "kimi")
    assert out["properties"]["p"] == {"type": "string", "minLength": 1, "description": "where"}
    out = sent(SHAPES["$ref to definitions"], "gemini")
    assert out["properties"]["p"] == {"type": "array", "items": {"type": "integer"}}
    out = sent(SHAPES["the root is a reference"], "deepseek")
    assert out["properties"] == {"p": {"type": "string"}}


def test_null_in_the_servers_own_words() -> None:
    schema = SHAPES["lists of types"]
    assert sent(schema, "mistral") == schema
    assert sent(schema, "kimi")["properties"]["a"] == {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}
    assert sent(schema, "gemini")["properties"]["a"] == {"type": "string", "maxLength": 3, "nullable": True}
    assert sent(SHAPES["nullable"], "gemini")["properties"]["b"] == {"type": "string", "nullable": True}


def test_a_server_without_wants_gets_the_schema_as_it_is() -> None:
    schema = SHAPES["a circle"]
    assert sent(schema, "openai") == schema


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "", "#/$defs/A", "string", "object"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "$ref", "$defs", "anyOf", "enum", "const", "nullable", "A", "required"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["", "any_of", "nullable"]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_whatever_is_declared_something_is_sent(schema: Any, plain: Any, inline: bool) -> None:
    quirks = replace(load_quirks("default"), plain_types=plain, inline_refs=inline)
    out = wire_schema(schema, quirks)
    assert out["type"] == "object"
    json.dumps(out)
    is_strict(schema)


def test_strictness() -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert is_strict(closed)
    assert not is_strict({**closed, "required": []})
    assert not is_strict({"type": "array", "items": {"type": "object", "properties": {}}})
    assert is_strict({"anyOf": [closed, {"type": "null"}]})
