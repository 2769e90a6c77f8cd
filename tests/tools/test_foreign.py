"""Schemas of others: whole drafts, nothing fetched, and no expression of theirs that takes for ever."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.tools.foreign import Foreign

EVIL = ["(a+)+$", "(a|aa)*b", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "a*a*a*a*b"]


@pytest.mark.parametrize("pattern", EVIL)
def test_no_pattern_of_theirs_holds_a_call_up(pattern: str) -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": pattern}},
        "patternProperties": {pattern: {"type": "integer"}},
        "additionalProperties": False,
    }
    started = time.monotonic()
    Foreign(schema).mismatch({"x": "a" * 40, "a" * 40: "b"})
    Foreign(schema).mismatch({"x": "a" * 100_000})
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("schema", "value", "path", "said"),
    [
        ({"properties": {"a": {"type": "integer"}}}, {"a": "x"}, ("a",), "integer"),
        ({"properties": {"a": {"items": {"enum": [1]}}}}, {"a": [1, 2]}, ("a", 1), "[1]"),
        ({"properties": {"a": {"pattern": "^b+$"}}}, {"a": "c"}, ("a",), "does not match"),
        ({"properties": {"a": False}}, {"a": 1}, ("a",), ""),
        ({"patternProperties": {"^x": {"type": "null"}}}, {"xy": 1}, ("xy",), "null"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"S": {"minimum": 5}},
          "properties": {"a": {"$ref": "#/definitions/S"}}}, {"a": 1}, ("a",), "minimum"),
        ({"$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}, "v": {"type": "null"}}}},
          "$ref": "#/$defs/N"}, {"n": {"n": {"v": 1}}}, ("n", "n", "v"), "null"),
        ({"required": ["b"]}, {}, (), "b"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    schema: dict[str, Any], value: Any, path: tuple[Any, ...], said: str
) -> None:
    found = Foreign(schema).mismatch(value)
    assert found is not None
    assert found.path == path
    assert said in found.message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nothing"},
        {"properties": 3},
        {"$ref": "http://127.0.0.1:9/x.json"},
        {"properties": {"a": {"$ref": "//h/x"}}},
        {"$ref": "#/$defs/none"},
        {"$defs": {"a": {"$ref": "#/$defs/a/b/0"}}},
        {"pattern": 3},
    ],
)
def test_what_is_no_schema_or_refers_elsewhere_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Foreign(schema)


def test_expressions_that_python_does_not_read_are_left_out() -> None:
    assert Foreign({"properties": {"a": {"pattern": "^\\p{L}+$"}}}).mismatch({"a": "1"}) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "$ref", "pattern", "enum", "not", "a"]), inner
        )
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from(["type", "properties", "items", "$ref", "pattern", "allOf", "$defs"]), VALUES),
    VALUES,
)
@settings(max_examples=150, deadline=None)
def test_any_schema_is_refused_or_holds(schema: dict[str, Any], value: Any) -> None:
    try:
        found = Foreign(schema).mismatch(value)
    except ValueError:
        return
    assert found is None or found.message
