"""Rows 1, 2, 3, 5, 6, 7 and 10: the arguments of a call as they really arrive."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gongfu.core.jsonfix import parse_arguments
from tests.bugs.streams import BASH, EDIT, READ, call, chunk, everywhere, sse

E1, E2, E3 = ({"old": f"a{n}", "new": f"b{n}"} for n in range(3))


def edits(text: str) -> Any:
    return parse_arguments(text, EDIT.parameters).value


def through_the_wire(arguments: Any, name: str = "edit_file") -> Any:
    """The one call of an answer with these arguments, its stream cut everywhere."""
    return everywhere(sse(chunk({"tool_calls": [call(name, arguments, index=0, id="c1")]}, "tool_calls"))).calls[0]


# --- 1: raw newline or tab inside a string ------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ["a\nb", "a\tb", "a\r\nb", "\n", "x\x0by\x1b[0m", "```py\n\tprint()\n```"])
def test_raw_control_characters_stay(raw: str) -> None:
    found = through_the_wire(f'{{"command": "{raw}"}}', "bash")
    assert json.loads(found.arguments) == {"command": raw}
    assert found.problem == ""
    assert found.raw == f'{{"command": "{raw}"}}'


# --- 2: a bracket too many ----------------------------------------------------------------------------------------


def with_brackets() -> list[tuple[str, list[dict[str, str]]]]:
    """Valid edits with one closing bracket too many, at every place where one stands."""
    cases: list[tuple[str, list[dict[str, str]]]] = []
    for wanted in ([E1], [E1, E2], [E1, E2, E3]):
        text = json.dumps({"path": "f.py", "edits": wanted})
        for at, letter in enumerate(text):
            if letter in "]}":
                cases.extend((text[: at + 1] + extra + text[at + 1 :], wanted) for extra in "]}")
    return cases


@pytest.mark.parametrize(("text", "wanted"), with_brackets())
def test_one_bracket_too_many(text: str, wanted: list[dict[str, str]]) -> None:
    assert edits(text) == {"path": "f.py", "edits": wanted}


@pytest.mark.parametrize("text", [t for t, _ in with_brackets()])
def test_brackets_inside_strings_do_not_count(text: str) -> None:
    inner = json.dumps({"path": "f", "edits": [{"old": text, "new": "}]"}]})
    assert edits(inner) == json.loads(inner)
    assert edits(inner + "}") == json.loads(inner)


def test_a_bracket_too_many_through_the_wire() -> None:
    found = through_the_wire('{"path": "f", "edits": [{"old": "a", "new": "b"}}, {"old": "c", "new": "d"}]}')
    assert [e["old"] for e in json.loads(found.arguments)["edits"]] == ["a", "c"]


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "f", "edits": [{"old": "a", "new": "b"}]}, {"old": "c", "new": "d"}]',
        '{"path": "f", "edits": [{"old": "a", "new": "b"}]}, {"old": "c", "new": "d',
        '{"path": "f", "edits": [{"old": "a" "new": "b"}, ]}, {"old": "c"}]',
    ],
)
def test_never_fewer_edits_than_were_sent(text: str) -> None:
    value = edits(text)
    assert value is None or len(value["edits"]) == text.count('"old"')


# --- 3: garbage behind the value ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tail",
    ["}", "]}", " }}}", "</tool_call>", "<|im_end|>", "\n```", ' and "more" words', '"', '"}', ";", "\x00", "\nOK [1]",
     "\n}\n</function>", "{", ' {"note": 1}'],
)  # fmt: skip
def test_garbage_behind_a_value_is_dropped_and_counted(tail: str) -> None:
    text = '{"command": "ls {a,b}"}'
    found = parse_arguments(text + tail, BASH.parameters)
    assert found.value == {"command": "ls {a,b}"}
    assert found.text == '{"command":"ls {a,b}"}'
    assert found.raw == text + tail
    assert found.dropped == len(tail.strip(" \n\x00")) or tail == "\x00" or found.dropped == len(tail)


def test_dropped_garbage_is_told_in_the_answer() -> None:
    seen = everywhere(sse(chunk({"tool_calls": [call("todo", '{"all": true} garbage', id="c")]}, "stop")))
    assert seen.made == [("todo", {"all": True})]
    assert seen.whole.dropped == len(" garbage")


def test_two_different_calls_in_one_are_not_garbage() -> None:
    found = parse_arguments('{"command": "ls"}{"command": "rm x"}', BASH.parameters)
    assert found.value is None
    assert "one call for each" in found.problem
    same = parse_arguments('{"command": "ls"}{"command": "ls"}', BASH.parameters)
    assert same.value == {"command": "ls"}
    start = parse_arguments('{}{"command": "ls"}', BASH.parameters)
    assert start.value == {"command": "ls"}


# --- 5: encoded twice ---------------------------------------------------------------------------------------------


def test_arguments_encoded_twice() -> None:
    inner = json.dumps({"command": 'echo "x" \\n'})
    found = through_the_wire(json.dumps(inner), "bash")
    assert json.loads(found.arguments) == {"command": 'echo "x" \\n'}


@pytest.mark.parametrize("pieces", [json.dumps([E1, E2]), json.dumps([E1, E2], indent=1), str([E1, E2])])
def test_a_list_sent_as_a_string_is_unwrapped(pieces: str) -> None:
    assert edits(json.dumps({"path": "f", "edits": pieces})) == {"path": "f", "edits": [E1, E2]}


def test_elements_sent_as_strings_are_unwrapped() -> None:
    assert edits(json.dumps({"path": "f", "edits": [json.dumps(E1)]})) == {"path": "f", "edits": [E1]}


@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]", "null", "12", '"x"', "[]", "{}"])
def test_a_string_that_looks_like_json_stays_a_string(content: str) -> None:
    text = json.dumps({"command": content})
    found = parse_arguments(text, BASH.parameters)
    assert found.value == {"command": content}
    assert found.text == text
    both = {"type": "object", "properties": {"v": {"type": ["string", "array"]}}}
    assert parse_arguments(json.dumps({"v": content}), both).value == {"v": content}
    unknown = parse_arguments(json.dumps({"v": content}), {"type": "object"})
    assert unknown.value == {"v": content}


def test_unwrapping_follows_references() -> None:
    schema = {
        "type": "object",
        "properties": {"e": {"$ref": "#/$defs/List"}, "o": {"anyOf": [{"type": "object"}, {"type": "null"}]}},
        "$defs": {"List": {"type": "array", "items": {"$ref": "#/$defs/Item"}}, "Item": {"type": "object"}},
    }
    found = parse_arguments('{"e": "[{\\"a\\": 1}, \\"{}\\"]", "o": "{\\"b\\": 2}"}', schema)
    assert found.value == {"e": [{"a": 1}, {}], "o": {"b": 2}}


# --- 6: arguments as an object, no id, no type --------------------------------------------------------------------


def test_an_object_without_id_and_type() -> None:
    seen = everywhere(sse(chunk({"tool_calls": [{"function": {"name": "bash", "arguments": {"command": "ls"}}}]}, "")))
    assert seen.made == [("bash", {"command": "ls"})]
    assert seen.whole.finish == "calls"
    flat = everywhere(sse(chunk({"tool_calls": [{"name": "bash", "arguments": {"command": "ls"}}]}, "stop")))
    assert flat.made == seen.made
    old = everywhere(sse(chunk({"function_call": {"name": "bash", "arguments": '{"command": "ls"}'}}, "function_call")))
    assert old.made == seen.made


def test_two_objects_in_one_delta_are_two_calls() -> None:
    seen = everywhere(
        sse(chunk({"tool_calls": [call("bash", {"command": "a"}), call("bash", {"command": "b"})]}, "stop"))
    )
    assert [v["command"] for _, v in seen.made] == ["a", "b"]


# --- 7: nothing arrived -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", ["", None, "null", "  \n", '""', "{}", "[]", '"{}"', "None", "undefined", "\ufeff"])
def test_empty_arguments(nothing: Any) -> None:
    assert json.loads(through_the_wire(nothing, "todo").arguments) == {}
    assert through_the_wire(nothing, "todo").problem == ""
    needed = parse_arguments(nothing, READ.parameters)
    if nothing not in ("{}", '"{}"'):  # which are valid, and left to validation
        assert needed.value is None
        assert "arguments arrived empty" in needed.problem.lower()
        assert "path" in needed.problem


def test_missing_arguments() -> None:
    seen = everywhere(sse(chunk({"tool_calls": [{"id": "c", "function": {"name": "todo"}}]}, "tool_calls")))
    assert seen.made == [("todo", {})]


# --- 10: no second decoding ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["C:\\Users\\unicorn\\u4e2d", "\\n", "\\\\server\\new", "\\u0041", "a\\tb", '\\"'])
def test_no_second_decoding(value: str) -> None:
    text = json.dumps({"command": value})
    found = parse_arguments(text, BASH.parameters)
    assert found.value == {"command": value}
    assert found.text == text
    twice = parse_arguments(json.dumps(text), BASH.parameters)
    assert twice.value == {"command": value}
    assert json.loads(through_the_wire(text, "bash").arguments) == {"command": value}
    broken = parse_arguments(text[:-1] + ",}", BASH.parameters)
    assert broken.value == {"command": value}


# --- what is never done -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", range(1, len('{"path": "f.py", "edits": [{"old": "a", "new": "b"}]}')))
def test_a_truncated_value_is_never_closed(at: int) -> None:
    text = '{"path": "f.py", "edits": [{"old": "a", "new": "b"}]}'[:at]
    found = parse_arguments(text, EDIT.parameters)
    assert found.value is None
    assert "cut off" in found.problem
    assert text in found.problem
    assert found.text == "{}"


def test_the_model_is_told_what_arrived_head_and_tail() -> None:
    long = '{"command": "' + "x" * 5000 + "THE END"
    problem = parse_arguments(long, BASH.parameters).problem
    assert '{"command": "xxx' in problem
    assert "THE END" in problem
    assert len(problem) < 1000
    assert "required" not in problem
