"""What may and may not be made of arguments that are not JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gongfu.core.jsonfix import Arguments, excerpt, parse_arguments, scrub, scrub_text
from gongfu.core.jsonscan import scan, shape_of_tokens, shape_of_value

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=4), VALUES, min_size=1, max_size=3)
EDITS: dict[str, Any] = {
    "path": "f.py",
    "edits": [{"old": "a = 1", "new": "b"}, {"old": "c, d", "new": ""}, {"old": "x[0]", "new": "{}"}],
}
EDIT = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "edits": {"type": "array", "items": {"type": "object"}}},
    "required": ["path", "edits"],
}


def consistent(found: Arguments) -> Arguments:
    """What holds for every result: a value or a problem, and strict text of the same value."""
    assert (found.value is None) == bool(found.problem)
    decoded = msgspec.json.decode(found.text)
    assert isinstance(decoded, dict)
    assert found.value is None or decoded == found.value
    return found


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=120, deadline=None)
def test_valid_json_is_never_changed(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = consistent(parse_arguments(text, {}))
    assert (found.value, found.text, found.raw, found.repaired) == (value, text, "", False)


@given(OBJECTS, st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_cut_is_never_closed(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert consistent(parse_arguments(cut, {})).value is None


def schema_of(value: Any) -> Any:
    """The schema that this value, and no rearrangement of it, follows."""
    if isinstance(value, dict):
        fields = {k: schema_of(v) for k, v in value.items()}
        return {"type": "object", "properties": fields or {"?": {}}, "required": list(fields)}
    return {}


@given(OBJECTS, st.data())
@settings(max_examples=120, deadline=None)
def test_one_bracket_too_many_changes_nothing_or_is_refused(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    marks = [t.end for t in scan(text).tokens if t.text in ("}", "]")]
    at = data.draw(st.sampled_from(marks))
    broken = text[:at] + data.draw(st.sampled_from("]}")) + text[at:]
    found = consistent(parse_arguments(broken, schema_of(value))).value
    assert found is None or found == value or shape_of_value(found) == shape_of_value(value)
    if not any(isinstance(v, list) for v in value.values()):
        assert found in (value, None)
    if at == len(text):
        assert consistent(parse_arguments(broken, {})).value == value


@given(OBJECTS)
@settings(max_examples=120, deadline=None)
def test_python_literals(value: Any) -> None:
    text = repr(value)
    found = consistent(parse_arguments(text, {}))
    python = any(t.text in ("True", "False", "None") or t.text[0] == "'" for t in scan(text).tokens)
    if python or "\\" not in text:  # what shows in no other way that it is Python keeps its escapes
        assert found.value == value


@given(OBJECTS, st.sampled_from(["}", "]}", " garbage", "\n```", '"', "</x>", ";;", "<|end|>"]))
@settings(max_examples=120, deadline=None)
def test_garbage_behind_is_dropped(value: Any, tail: str) -> None:
    found = consistent(parse_arguments(json.dumps(value) + tail, {}))
    assert found.value == value
    assert found.dropped


@given(st.integers(0, len(json.dumps(EDITS)) - 1))
@settings(max_examples=150, deadline=None)
def test_one_lost_character_never_changes_the_number_of_edits(at: int) -> None:
    text = json.dumps(EDITS)
    found = consistent(parse_arguments(text[:at] + text[at + 1 :], EDIT))
    if found.value is not None:
        assert [len(v) for v in found.value.values() if isinstance(v, list)] == [3]


@given(st.integers(0, len(json.dumps(EDITS))), st.sampled_from("{}[]\",:\\\n'` x"))
@settings(max_examples=200, deadline=None)
def test_one_character_too_many_never_changes_the_number_of_edits(at: int, extra: str) -> None:
    text = json.dumps(EDITS)
    found = consistent(parse_arguments(text[:at] + extra + text[at:], EDIT))
    if found.value is not None:
        assert [len(v) for v in found.value.values() if isinstance(v, list)] == [3]


@given(st.text(alphabet="{}[]\",:'\\ntrue1 \n`#/x\ud800中", max_size=40))
@settings(max_examples=250, deadline=None)
@example('{"a": ' * 3000)
@example("[" * 100_000)
@example('{"a": 1' + "0" * 5000 + "}")
@example("'" * 3001)
@example('{"a": "' + "\\" * 2001)
@example("```" * 500)
def test_nothing_raises(text: str) -> None:
    consistent(parse_arguments(text, {}))
    consistent(parse_arguments(text, EDIT))


SLOPPY: list[tuple[str, Any]] = [
    ("{'command': 'ls', 'n': 1,}", {"command": "ls", "n": 1}),
    ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
    ("{'a': 'it\\'s', \"b\": \"don't\"}", {"a": "it's", "b": "don't"}),
    ("{'a': 'say \"hi\"'}", {"a": 'say "hi"'}),
    ('{a: 1, b_c: "x"}', {"a": 1, "b_c": "x"}),
    ('{"a": [1, 2, 3,], }', {"a": [1, 2, 3]}),
    ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}),
    ('{"a": 1 // one\n, /* two */ "b": 2} # end', {"a": 1, "b": 2}),
    ('{"a": NaN, "b": -Infinity, "c": undefined}', {"a": None, "b": None, "c": None}),
    ("\ufeff{\"a\": 1}", {"a": 1}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('~~~\n{"a": "```"}\n~~~', {"a": "```"}),
    ('json\n{"a": 1}', {"a": 1}),
    ('Arguments: {"a": 1}', {"a": 1}),
    ('{"a": "\\d+\\.\\w"}', {"a": "\\d+\\.\\w"}),
    ('{"a": "C:\\Users\\new\\temp"}', {"a": "C:\\Users\\new\\temp"}),
    ('{"a": "it\\\'s"}', {"a": "it's"}),
    ('{"a": "x\\\ny"}', {"a": "x\\\ny"}),
    ('{"a": """two\n"lines" here"""}', {"a": 'two\n"lines" here'}),
    ("{\"a\": `x ${y}`}", {"a": "x ${y}"}),
    ("'{\"a\": 1}'", {"a": 1}),
    ('[{"a": 1}]', {"a": 1}),
    ('{"a": "say "hi" there"}', {"a": 'say "hi" there'}),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
    ('{"a": [{"b": 1} {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}),
    ("{“a”: “b”}", {"a": "b"}),
    ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    ('{"a": "\\ud83d"}', {"a": "\ufffd"}),
    ('{"a": 1, "a": 2}', {"a": 2}),
    ('"{"a": "b"}"', {"a": "b"}),
    ('{\\"a\\": \\"b\\\\\\"c\\"}', {"a": 'b"c'}),
    ('{\\n  \\"a\\": 1\\n}', {"a": 1}),
    ('{\\n  "a": 1,\\n  "b": "x\\ny"\\n}', {"a": 1, "b": "x\ny"}),
    ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ('{"a": 1.0, "b": 1e5, "c": -0}', {"a": 1.0, "b": 1e5, "c": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SLOPPY)
def test_sloppy_arguments(text: str, value: Any) -> None:
    assert consistent(parse_arguments(text, {})).value == value


@pytest.mark.parametrize("text", ["5", "true", "[1, 2]", '"hello"', "ls -la", '[{"a": 1}, {"a": 2}]', "{1, 2}", "{[]}"])
def test_what_is_no_object_is_told_with_what_arrived(text: str) -> None:
    found = consistent(parse_arguments(text, {}))
    assert found.value is None
    assert text.strip('"') in found.problem
    assert found.raw == text


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "he said "x", then "y": z"}',
        '{"a": "b", "c": "d" "e"}',
        '{"a": [1, , 2]}',
        '{"a": {"b": 1, "c": [2}, "d": 3]}',
        '{"a"; 1}',
    ],
)
def test_what_could_mean_two_things_is_refused_or_complete(text: str) -> None:
    found = consistent(parse_arguments(text, {}))
    letters = [c for c in text if c.isalnum()]
    assert found.value is None or [c for c in json.dumps(found.value) if c.isalnum()] == letters


def test_a_repair_must_hold_what_is_required() -> None:
    problem = parse_arguments("{'edits': []}", EDIT).problem
    assert "lack path" in problem
    assert "{'edits': []}" in problem
    assert parse_arguments('{"edits": []}', EDIT).value == {"edits": []}  # valid JSON is left to validation


def test_deep_nesting_is_told_and_does_not_hurt() -> None:
    for depth in (500, 20_000):
        text = '{"a":' * depth + "1" + "}" * depth
        consistent(parse_arguments(text, {}))
        consistent(parse_arguments(text + ",", {}))


def test_long_input_is_read_in_reasonable_time() -> None:
    import time

    long = "x = [1, 2]\n" * 20_000
    cases = [
        json.dumps({"a": long})[:-2],
        json.dumps({"a": long}) + "}",
        repr({"a": long}),
        '{"a": "' + long.replace("\n", "\\n") + '" "b": "}',
        "{" * 5000 + "}" * 5001,
        '{"a": [' + "{}]," * 20_000 + "]}",
    ]
    for text in cases:
        start = time.process_time()
        consistent(parse_arguments(text, {}))
        assert time.process_time() - start < 3


def test_scrubbing() -> None:
    assert scrub_text("a\ud83d\ude00b\udc80") == "a😀b\ufffd"
    same = {"a": [1, "x", {"b": None}]}
    assert scrub(same) is same
    assert scrub({"a": float("nan"), "b": ["\ud800"], "\ud800": 1}) == {"a": None, "b": ["\ufffd"], "\ufffd": 1}


def test_excerpts() -> None:
    assert excerpt("short") == "`short`"
    long = excerpt("a" * 1000 + "z" * 1000)
    assert long.startswith("`aaa")
    assert long.endswith("zzz`")
    assert "1520 characters" in long


def test_shapes() -> None:
    text = '{"a": [1, [2, 3], {"b": []}], "c": {}}'
    assert shape_of_tokens(scan(text).tokens) == shape_of_value(json.loads(text))
