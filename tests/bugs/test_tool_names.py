"""Names of tools as models spell them (row 22's kind: the tool exists, only the spelling is of another program)."""

from __future__ import annotations

import pytest

from gongfu.models.markers import meant_name
from tests.bugs.streams import call, chunk, everywhere, sse

NAMES = ("bash", "read_file", "search-text", "mcp__files__read_file")


@pytest.mark.parametrize(
    "name",
    [
        "read_file", "functions.read_file", "functions.read_file:3", "default_api.read_file", "default_api:read_file",
        "tools.read_file", "ReadFile", "readFile", "read-file", "READ_FILE", " read_file ", '"read_file"',
        "read_file<|channel|>commentary", "functions/read_file",
    ],
)  # fmt: skip
def test_the_tool_that_was_meant(name: str) -> None:
    assert meant_name(name, NAMES) == "read_file"
    seen = everywhere(sse(chunk({"tool_calls": [call(name, '{"path": "a"}', id="x", index=0)]}, "tool_calls")))
    assert seen.made == [("read_file", {"path": "a"})]


@pytest.mark.parametrize("name", ["", "read", "readfiles", "grep", "read_file2", "file", "...", ":", "文件"])
def test_what_is_no_tool_stays_as_it_is(name: str) -> None:
    assert meant_name(name, NAMES) == name


def test_two_tools_that_differ_in_spelling_only_are_not_guessed_between() -> None:
    names = ("read_file", "readfile", "a.b")
    assert meant_name("ReadFile", names) == "ReadFile"
    assert meant_name("readfile", names) == "readfile"
    assert meant_name("a.b", names) == "a.b"


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>{"name": "ReadFile", "arguments": {"path": "a"}}</tool_call>',
        "<function=Read_File><parameter=path>a</parameter></function>",
        '<tool_call>{"name": "default_api.read_file", "arguments": {"path": "a"}}</tool_call>',
    ],
)
def test_calls_written_into_the_text_too(written: str) -> None:
    seen = everywhere(sse(chunk({"content": written}), chunk({}, "stop")))
    assert seen.made == [("read_file", {"path": "a"})]
    assert seen.text == ""
