"""Arguments against schemas: what is mended, what is refused and in which words."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.tools.validate import validate

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "kind": {"type": "string", "enum": ["Lines", "files"]},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "all": {"type": "boolean"}},
                "required": ["old"],
            },
        },
        "maybe": {"type": ["string", "null"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "env": {"type": "object"},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("given_", "mended"),
    [
        ({"count": "5"}, {"count": 5}),
        ({"count": 5.0}, {"count": 5}),
        ({"count": " 7 "}, {"count": 7}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"ratio": 2}, {"ratio": 2}),
        ({"on": "true"}, {"on": True}),
        ({"on": "False"}, {"on": False}),
        ({"count": None}, {}),
        ({"maybe": None}, {"maybe": None}),
        ({"tags": "one"}, {"tags": ["one"]}),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"numbers": 3}, {"numbers": [3]}),
        ({"numbers": ["1", 2]}, {"numbers": [1, 2]}),
        ({"edits": {"old": "x"}}, {"edits": [{"old": "x"}]}),
        ({"edits": '[{"old": "x", "all": "true"}]'}, {"edits": [{"old": "x", "all": True}]}),
        ({"kind": " FILES"}, {"kind": "files"}),
        ({"either": "4"}, {"either": 4}),
        ({"either": ["4"]}, {"either": [4]}),
        ({"env": '{"A": "1"}'}, {"env": {"A": "1"}}),
        ({"unknown": 1}, {"unknown": 1}),
    ],
)
def test_what_is_plainly_meant_is_mended(given_: dict[str, Any], mended: dict[str, Any]) -> None:
    checked = validate(SCHEMA, {"path": "p", **given_})
    assert checked.problem == ""
    assert checked.args == {"path": "p", **mended}


@pytest.mark.parametrize("text", ['["a"]', "5", "true", "null", '{"a": 1}', ""])
def test_a_text_field_stays_the_text_it_is(text: str) -> None:
    assert validate(SCHEMA, {"path": text}).args == {"path": text}


@pytest.mark.parametrize("name", ["file_path", "filePath", "FilePath", "path_name"])
def test_a_longer_name_of_a_missing_field_is_understood(name: str) -> None:
    assert validate(SCHEMA, {name: "p"}).args == {"path": "p"}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({}, "required but missing: path (the arguments arrived empty)"),
        ({"count": 1}, "required but missing: path (arrived: count)"),
        ({"path": ["a"]}, 'path must be a string; arrived: array ["a"]'),
        ({"path": None}, "path must be a string; arrived: null"),
        ({"path": "p", "count": "five"}, 'count must be an integer; arrived: string "five"'),
        ({"path": "p", "count": True}, "count must be an integer; arrived: boolean true"),
        ({"path": "p", "count": 1.5}, "count must be an integer; arrived: number 1.5"),
        ({"path": "p", "count": 0}, "count must be at least 1; arrived: integer 0"),
        ({"path": "p", "count": 10}, "count must be at most 9; arrived: integer 10"),
        ({"path": "p", "kind": "x"}, 'kind must be one of ["Lines","files"]; arrived: string "x"'),
        ({"path": "p", "tags": ["a", 1.5]}, "tags[1] must be a string; arrived: number 1.5"),
        ({"path": "p", "tags": list("abcd")}, "tags must be at most this many items: 3"),
        (
            {"path": "p", "edits": [{"old": "a"}, {}]},
            "required but missing: edits[1].old (the arguments arrived empty)",
        ),
        ({"file_path": "a", "path_name": "b"}, "required but missing: path (arrived: file_path, path_name)"),
    ],
)
def test_what_is_wrong_is_said_with_what_arrived(args: dict[str, Any], problem: str) -> None:
    assert problem in validate(SCHEMA, args).problem


def test_schemas_of_others() -> None:
    """References, definitions, boolean schemas, nullable, const, patterns, formats of `type`."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "ref": {"$ref": "#/definitions/Size"},
            "deep": {"$ref": "#/$defs/Node"},
            "free": True,
            "never": False,
            "null_ok": {"type": "string", "nullable": True},
            "fixed": {"const": "v1"},
            "code": {"type": "string", "pattern": "^[A-Z]+$"},
            "one": {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "integer"}]},
        },
        "definitions": {"Size": {"type": "integer", "minimum": 1}},
        "$defs": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}}}
        },
        "additionalProperties": False,
    }
    good = {
        "ref": "3",
        "deep": {"next": {"n": "1"}},
        "free": [1],
        "null_ok": None,
        "fixed": "v1",
        "code": "AB",
        "one": "x",
    }
    checked = validate(schema, good)
    assert checked.problem == ""
    assert checked.args == {**good, "ref": 3, "deep": {"next": {"n": 1}}}
    assert "ref" in validate(schema, {"ref": 0}).problem
    assert "deep.next.n" in validate(schema, {"deep": {"next": {"n": "x"}}}).problem
    assert "never" in validate(schema, {"never": 1}).problem
    assert 'fixed must be "v1"' in validate(schema, {"fixed": "v2"}).problem
    assert "code" in validate(schema, {"code": "ab"}).problem
    assert "may not have extra" in validate(schema, {"extra": 1}).problem
    assert validate(True, {"a": 1}).problem == ""
    assert validate(False, {"a": 1}).problem
    assert validate({}, {"a": 1}).args == {"a": 1}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "nonsense"},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
    ],
)
def test_a_broken_schema_is_not_the_models_fault(schema: dict[str, Any]) -> None:
    problem = validate(schema, {"a": "x"}).problem
    assert problem == "" or "nonsense" in problem


def test_a_long_value_is_not_repeated_in_full() -> None:
    problem = validate(SCHEMA, {"path": "p", "count": "x" * 10_000}).problem
    assert len(problem) < 300
    assert "10002 characters" in problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), JSON))
def test_any_arguments_end_in_valid_ones_or_a_sentence(args: dict[str, Any]) -> None:
    import jsonschema_rs

    checked = validate(SCHEMA, args)
    if not checked.problem:
        assert jsonschema_rs.is_valid(SCHEMA, checked.args)
        assert validate(SCHEMA, checked.args) == checked


def test_simple_schemas_need_no_validator() -> None:
    code = (
        "import sys; from gongfu.tools.validate import validate\n"
        "s = {'type':'object','properties':{'a':{'type':'integer'}},'required':['a']}\n"
        "assert validate(s, {'a': '1'}).args == {'a': 1}; assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


WRAPPED = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@pytest.mark.parametrize("key", ["arguments", "parameters", "input", "args"])
@pytest.mark.parametrize("around", [{}, {"name": "read_file"}, {"type": "function", "id": "c1"}])
def test_arguments_put_into_their_call_once_more_are_taken_out(key: str, around: dict[str, Any]) -> None:
    assert validate(WRAPPED, {**around, key: {"path": "a"}}).args == {"path": "a"}


@pytest.mark.parametrize(
    "args",
    [
        {"arguments": "a"},
        {"arguments": {"path": "a"}, "path": "b"},
        {"arguments": {"path": "a"}, "parameters": {"path": "b"}},
        {"arguments": {"path": "a"}, "reason": "b"},
        {"other": {"path": "a"}},
    ],
)
def test_what_may_be_meant_otherwise_is_not_taken_out(args: dict[str, Any]) -> None:
    assert validate(WRAPPED, args).args == args


def test_a_tool_that_has_such_an_argument_keeps_it() -> None:
    schema = {"type": "object", "properties": {"input": {"type": "object"}}, "required": ["input"]}
    assert validate(schema, {"input": {"input": 1}}).args == {"input": {"input": 1}}
