"""Rows 8 and 9: an answer that was cut by the output limit, openly or not. None of its calls may run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bugs.streams import call, chunk, everywhere, read, sse, usage

WHOLE = call("bash", '{"command": "rm -r build"}', id="a", index=0)
HALF = call("bash", '{"command": "echo hello', id="b", index=1)


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"])
@pytest.mark.parametrize("calls", [[WHOLE], [WHOLE, HALF], [HALF], [WHOLE, call("todo", "", id="c", index=1)]])
def test_no_call_of_a_cut_answer_can_run(finish: str, calls: list[Any]) -> None:
    seen = everywhere(sse(chunk({"content": "On it.", "tool_calls": calls}), chunk({}, finish), usage()))
    assert seen.whole.finish == "length"
    assert len(seen.calls) == len(calls)
    for found in seen.calls:
        assert "cut off at the output limit" in found.problem
        assert "smaller" in found.problem


@pytest.mark.parametrize("output", [64, 65])
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
def test_a_hidden_cut_is_seen_by_the_tokens(output: int, finish: Any) -> None:
    data = sse(chunk({"tool_calls": [WHOLE]}), chunk({}, finish), usage(500, output))
    seen = everywhere(data, limit=64)
    assert seen.whole.finish == "length"
    assert "64 tokens" in seen.calls[0].problem


def test_a_server_that_keeps_no_limit_cuts_nothing() -> None:
    """Thinking that is not under the limit makes the count much larger than it."""
    data = sse(chunk({"tool_calls": [WHOLE]}), chunk({}, "tool_calls"), usage(500, 900))
    assert everywhere(data, limit=64).whole.finish == "calls"
    assert everywhere(data, limit=890).whole.finish == "length"


def test_below_the_limit_nothing_is_cut() -> None:
    data = sse(chunk({"tool_calls": [WHOLE]}), chunk({}, "tool_calls"), usage(500, 63))
    seen = everywhere(data, limit=64)
    assert (seen.whole.finish, seen.calls[0].problem) == ("calls", "")
    assert everywhere(data, limit=0).whole.finish == "calls"


def test_a_text_that_just_fits_is_not_cut() -> None:
    assert everywhere(sse(chunk({"content": "ok"}, "stop"), usage(5, 64)), limit=64).whole.finish == "stop"
    assert everywhere(sse(chunk({"content": "ok"}, "length"), usage(5, 64)), limit=64).whole.finish == "length"


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>{"name": "bash", "arguments": {"command": "rm -r build"}}</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"command": "rm',
        "<function=bash><parameter=command>rm -r build</parameter></function>",
        '[TOOL_CALLS]bash[ARGS]{"command": "rm -r build"}',
    ],
)
def test_calls_written_into_a_cut_text_cannot_run_either(written: str) -> None:
    seen = everywhere(sse(chunk({"content": written}), chunk({}, "length"), usage()))
    assert seen.whole.finish == "length"
    assert all(c.problem for c in seen.calls)
    assert seen.calls


def test_a_half_call_of_an_answer_that_claims_to_be_whole_cannot_run() -> None:
    seen = everywhere(sse(chunk({"tool_calls": [WHOLE, HALF]}, "tool_calls"), usage()))
    assert [bool(c.problem) for c in seen.calls] == [False, True]
    assert "echo hello" in seen.calls[1].problem
    assert seen.calls[1].arguments == "{}"


@pytest.mark.parametrize("at", range(len('{"command": "echo 1"}')))
def test_a_call_cut_anywhere_never_runs(at: int) -> None:
    cut = call("bash", '{"command": "echo 1"}'[:at], id="a", index=0)
    seen = read(sse(chunk({"tool_calls": [cut]}), chunk({}, "tool_calls"), usage()))
    assert seen.calls[0].problem
