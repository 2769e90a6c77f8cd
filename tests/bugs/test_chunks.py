"""Rows 11, 13, 15, 16, 19 and 23: how calls are put together from pieces, and how an answer ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.messages import ReasoningPart
from tests.bugs.streams import call, chunk, everywhere, read, sse, usage

A = '{"command": "echo {1}"}'
B = '{"command": "cat [b]"}'


def calls_of(*chunks: dict[str, Any]) -> list[tuple[str, Any, str]]:
    seen = everywhere(sse(*chunks, usage()))
    return [(c.name, json.loads(c.arguments).get("command"), c.wire_id) for c in seen.calls]


def pieces(text: str, **more: Any) -> list[dict[str, Any]]:
    """Deltas that bring arguments in three pieces."""
    return [chunk({"tool_calls": [call(None, text[n : n + 8], **more)]}) for n in range(0, len(text), 8)]


# --- 11: no index ---------------------------------------------------------------------------------------------------


def test_two_parallel_calls_without_index() -> None:
    first = chunk({"tool_calls": [call("bash", "", id="a")]})
    second = chunk({"tool_calls": [call("bash", "", id="b")]})
    wanted = [("bash", "echo {1}", "a"), ("bash", "cat [b]", "b")]
    assert calls_of(first, *pieces(A), second, *pieces(B), chunk({}, "tool_calls")) == wanted
    assert calls_of(first, *pieces(A, id="a"), second, *pieces(B, id="b"), chunk({}, "tool_calls")) == wanted
    both = chunk({"tool_calls": [call("bash", A, id="a"), call("bash", B, id="b")]}, "tool_calls")
    assert calls_of(both) == wanted


def test_interleaved_pieces_are_told_apart_by_id() -> None:
    start = chunk({"tool_calls": [call("bash", "", id="a"), call("bash", "", id="b")]})
    mixed = [c for pair in zip(pieces(A, id="a"), pieces(B, id="b"), strict=False) for c in pair]
    assert [c[1] for c in calls_of(start, *mixed, chunk({}, "stop"))] == ["echo {1}", "cat [b]"]


def test_neither_index_nor_id() -> None:
    one = [chunk({"tool_calls": [call("bash", "")]}), *pieces(A)]
    two = [chunk({"tool_calls": [call("bash", "")]}), *pieces(B)]
    assert [c[1] for c in calls_of(*one, *two, chunk({}, "stop"))] == ["echo {1}", "cat [b]"]


def test_index_zero_for_every_call() -> None:
    both = [chunk({"tool_calls": [call("bash", t, id=i, index=0)]}) for t, i in ((A, "a"), (B, "b"))]
    assert [c[1:] for c in calls_of(*both, chunk({}, "stop"))] == [("echo {1}", "a"), ("cat [b]", "b")]
    unnamed = [chunk({"tool_calls": [call("bash", t, index=0)]}) for t in (A, B)]
    assert [c[1] for c in calls_of(*unnamed, chunk({}, "stop"))] == ["echo {1}", "cat [b]"]


def test_the_same_id_for_two_calls_of_one_answer() -> None:
    both = [chunk({"tool_calls": [call("bash", t, id="call_0", index=i)]}) for i, t in enumerate((A, B))]
    assert [c[1] for c in calls_of(*both, chunk({}, "stop"))] == ["echo {1}", "cat [b]"]


# --- 13: id only once, or new with every piece ----------------------------------------------------------------------


@pytest.mark.parametrize("index", [{}, {"index": 0}, {"index": 7}, {"index": "0"}])
def test_id_only_in_the_first_delta(index: dict[str, Any]) -> None:
    first = chunk({"tool_calls": [call("bash", "", id="a", **index)]})
    assert calls_of(first, *pieces(A, **index), chunk({}, "tool_calls")) == [("bash", "echo {1}", "a")]
    empty = [chunk({"tool_calls": [call("", text["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"],
             id="", type=None, **index)]}) for text in pieces(A)]  # fmt: skip
    assert calls_of(first, *empty, chunk({}, "tool_calls")) == [("bash", "echo {1}", "a")]


def test_id_late_and_a_new_id_with_every_piece() -> None:
    late = [chunk({"tool_calls": [call("bash", A[:9], index=0)]}), *pieces(A[9:], index=0, id="late")]
    assert calls_of(*late, chunk({}, "stop")) == [("bash", "echo {1}", "late")]
    fresh = [
        chunk({"tool_calls": [call(None if n else "bash", letter, index=0, id=f"id{n}")]}) for n, letter in enumerate(A)
    ]
    seen = read(sse(*fresh, chunk({}, "stop")))
    assert [(v["command"], c.wire_id) for (_, v), c in zip(seen.made, seen.calls, strict=True)] == [("echo {1}", "id0")]


def test_name_in_pieces_repeated_or_growing() -> None:
    for names in (["read", "_file"], ["read_file", "read_file"], ["read", "read_file"], ["read_file", "", None]):
        chunks = [chunk({"tool_calls": [call(n, "", index=0, id="a")]}) for n in names]
        seen = everywhere(sse(*chunks, *pieces('{"path": "x"}', index=0), chunk({}, "tool_calls")))
        assert seen.made == [("read_file", {"path": "x"})], names


@pytest.mark.parametrize("name", ["functions.bash", "bash<|channel|>commentary", " bash", "functions.bash:0"])
def test_junk_around_a_name_is_left_out(name: str) -> None:
    assert calls_of(chunk({"tool_calls": [call(name, A, id="a", index=0)]}, "stop")) == [("bash", "echo {1}", "a")]
    unknown = everywhere(sse(chunk({"tool_calls": [call("no.such:1", "{}", id="a", index=0)]}, "stop")))
    assert unknown.calls[0].name == "no.such:1"  # what was asked for is told as it was


def test_a_call_told_once_more_at_the_end_is_one_call() -> None:
    whole = chunk({"tool_calls": [call("bash", A, id="a", index=0)]}, "tool_calls")
    start = chunk({"tool_calls": [call("bash", "", id="a", index=0)]})
    assert calls_of(start, *pieces(A, index=0), whole) == [("bash", "echo {1}", "a")]


# --- 15: everything at once -----------------------------------------------------------------------------------------


def test_several_calls_in_one_delta_with_the_finish() -> None:
    many = [call("bash", json.dumps({"command": str(n)}), id=f"c{n}", index=n) for n in range(5)]
    for finish in ("tool_calls", "stop"):
        found = calls_of(chunk({"role": "assistant", "content": "ok", "tool_calls": many}, finish))
        assert [c[1] for c in found] == ["0", "1", "2", "3", "4"]


def test_one_body_that_is_no_stream() -> None:
    many = [{"id": f"c{n}", "type": "function", **call("bash", json.dumps({"command": str(n)}))} for n in range(3)]
    message = {"role": "assistant", "content": None, "tool_calls": many}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage()["usage"]}
    seen = read(json.dumps(body).encode())
    assert [v["command"] for _, v in seen.made] == ["0", "1", "2"]
    assert seen.whole.usage.input == 100


# --- 16: the same id every round ------------------------------------------------------------------------------------


def test_the_wire_id_is_kept_and_ours_is_left_to_the_engine() -> None:
    data = sse(chunk({"tool_calls": [call("bash", A, id="bash:0", index=0)]}, "tool_calls"))
    for _ in range(2):
        found = everywhere(data).calls
        assert [(c.id, c.wire_id) for c in found] == [("", "bash:0")]


# --- 19: only thinking ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", None, " \n"])
def test_only_thinking(content: Any) -> None:
    thought = [chunk({"reasoning_content": t, "content": content}) for t in ("I should ", "stop.")]
    seen = everywhere(sse(*thought, chunk({"content": content}, "stop"), usage()))
    assert seen.whole.finish == "stop"
    assert [type(p) for p in seen.whole.message.parts] == [ReasoningPart]
    assert seen.thought == "I should stop."
    assert seen.whole.message.text == ""


# --- 23: the finish is a hint ---------------------------------------------------------------------------------------

CALL = {"tool_calls": [call("bash", A, id="a", index=0)]}


@pytest.mark.parametrize(
    "finish", ["stop", "tool_calls", "function_call", "", None, "null", "eos", "end_turn", "weird"]
)
@pytest.mark.parametrize("apart", [True, False])
def test_calls_win_over_every_finish(finish: Any, apart: bool) -> None:
    chunks = [chunk(CALL), chunk({}, finish)] if apart else [chunk(CALL, finish)]
    seen = everywhere(sse(*chunks, usage(7, 3)))
    assert seen.whole.finish == "calls"
    assert (seen.whole.usage.input, seen.whole.usage.output) == (7, 3)


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "", None, "eos", "null"])
def test_text_without_calls_stops(finish: Any) -> None:
    seen = everywhere(sse(chunk({"content": "Done."}), chunk(None, finish), usage()))
    assert (seen.whole.finish, seen.text, seen.whole.message.text) == ("stop", "Done.", "Done.")
    assert seen.whole.usage.input == 100


def test_a_stream_without_done_or_without_finish_is_whole_when_usage_came() -> None:
    assert everywhere(sse(chunk({"content": "a"}), chunk({}, "stop"), done=False)).whole.finish == "stop"
    assert everywhere(sse(chunk({"content": "a"}), usage(), done=False)).whole.finish == "stop"
    assert everywhere(sse(chunk({"content": "a"}))).whole.finish == "stop"


def test_usage_before_the_text_is_not_the_end() -> None:
    first = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 0}}
    assert everywhere(sse(first, chunk({"content": "a"}), chunk({"content": "b"}, "stop"))).text == "ab"
    assert everywhere(sse(first, chunk({"content": "a"}), done=False)).answer is None
    assert everywhere(sse(chunk({"content": "a"}), usage(), chunk({"content": "b"}), done=False)).answer is None


def test_a_stream_that_says_no_end_is_no_answer() -> None:
    for chunks in ([chunk({"content": "a"})], [chunk(CALL)], []):
        assert everywhere(b": ping\n\n" + sse(*chunks, done=False)).answer is None


def test_unknown_and_filtered_ends_are_told() -> None:
    assert everywhere(sse(chunk({"content": "a"}, "weird"))).whole.finish == "unknown"
    assert everywhere(sse(chunk({"content": "a"}, "content_filter"))).whole.finish == "filter"
    assert everywhere(sse(chunk({"refusal": "No."}, "stop"))).text == "No."


def test_usage_in_every_chunk_null_or_in_the_choice() -> None:
    growing = [chunk({"content": str(n)}, usage={"prompt_tokens": 9, "completion_tokens": n}) for n in range(1, 4)]
    assert everywhere(sse(*growing, chunk({}, "stop", usage=None))).whole.usage.output == 3
    kimi = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage(5, 6)["usage"]}]}
    assert everywhere(sse(chunk({"content": "a"}), kimi)).whole.usage.output == 6


def test_oddities_around_the_deltas() -> None:
    data = b": OPENROUTER PROCESSING\n\nevent: ping\ndata: {}\n\ndata: not json\n\n" + sse(
        {"choices": None},
        {"id": "x"},
        {"choices": [{"index": 0, "delta": None}]},
        chunk({"role": "assistant"}),
        chunk({"role": "assistant", "content": None, "tool_calls": None, "function_call": None, "refusal": None}),
        chunk({"content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"text": "t"}]}, "b"]}),
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        chunk({"content": "é🙂"}),
        chunk({"tool_calls": []}),
        chunk({"tool_calls": [None, {"index": 0}, {"index": 0, "function": None}]}),
        chunk({}, "stop"),
    )
    seen = everywhere(data)
    assert (seen.text, seen.thought, seen.calls) == ("abé🙂", "t", ())


def test_escapes_of_one_letter_split_over_two_pieces() -> None:
    halves = ['{"command": "\\ud83d', "\\ude00 \\u4e", '2d"}']
    chunks = [chunk({"tool_calls": [call(None if n else "bash", h, index=0)]}) for n, h in enumerate(halves)]
    assert everywhere(sse(*chunks, chunk({}, "stop"))).made == [("bash", {"command": "😀 中"})]


def test_a_letter_of_two_halves_split_over_two_pieces() -> None:
    deltas = [
        '"content": "%s", "reasoning_content": "%s"' % (half, half)  # noqa: UP031 - full of braces
        for half in ("a\\ud83d", "\\ude00b", "c\\ud83d", "d", "\\udc80")
    ]
    for name, half in (('"name": "bash", ', '{\\"command\\": \\"\\ud83d'), ("", '\\ude00\\"}')):
        deltas.append('"tool_calls": [{"index": 0, "function": {%s"arguments": "%s"}}]' % (name, half))  # noqa: UP031
    data = "".join('data: {"choices": [{"delta": {%s}}]}\n\n' % d for d in deltas).encode()  # noqa: UP031
    seen = everywhere(data + b"data: [DONE]\n\n")
    assert seen.text == seen.thought == "a😀bc\ufffdd\ufffd"
    assert seen.whole.message.text == seen.text
    assert seen.made == [("bash", {"command": "😀"})]


def test_the_only_choice_is_read_whatever_its_index() -> None:
    chunks = [{"choices": [{"index": 1, "delta": {"content": "a"}}, {"index": 0, "delta": {"content": "x"}}]},
              {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}]}]  # fmt: skip
    assert everywhere(sse(*chunks)).text == "ab"


# --- whatever the server leaves out ---------------------------------------------------------------------------------

ARGUMENTS = st.dictionaries(st.sampled_from(["command", "b"]), st.text(max_size=12), max_size=2)


@st.composite
def spoken(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Calls, and chunks of a server that tells ids, indexes and names in its own consistent way."""
    wanted = draw(st.lists(ARGUMENTS, min_size=1, max_size=4))
    has_id, has_index = draw(st.booleans()), draw(st.booleans())
    repeats_id, repeats_name = draw(st.booleans()), draw(st.booleans())
    size = draw(st.integers(1, 30))
    chunks: list[dict[str, Any]] = []
    for number, value in enumerate(wanted):
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
        for at in range(0, len(text), size):
            more: dict[str, Any] = {}
            if has_id and (at == 0 or repeats_id):
                more["id"] = f"id{number}"
            if has_index:
                more["index"] = number
            name = "bash" if at == 0 or (repeats_name and ((has_id and repeats_id) or has_index)) else None
            chunks.append(chunk({"tool_calls": [call(name, text[at : at + size], **more)]}))
    return wanted, [*chunks, chunk({}, draw(st.sampled_from(["stop", "tool_calls", None, ""])))]


@given(spoken())
@settings(max_examples=100, deadline=None)
def test_every_consistent_way_to_tell_calls_is_understood(
    said: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    wanted, chunks = said
    assert [value for _, value in read(sse(*chunks)).made] == wanted
