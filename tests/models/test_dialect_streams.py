"""Anthropic's and the Responses stream: the same answer however the bytes come, and nothing of a half call ever."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from gongfu.core.errors import ContentFilter, Overflow, Overloaded, ProviderFault, Refused, StreamCut, Throttled
from gongfu.core.messages import user
from gongfu.core.specs import Usage
from gongfu.models.protocol import Answer, Prepared, Reasoning, Request
from tests.bugs.streams import decoded
from tests.models.dialects import DIALECTS, REQUEST, STREAMS, check, check_wire, collect, made, played, read, shown, sse
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_split_at_every_position(dialect: str) -> None:
    """What is read hangs on the events alone: a cut that leaves these as they were is not read again."""
    stream = STREAMS[dialect]
    events = decoded(stream)
    for pieces in (
        *[(stream[:n], stream[n:]) for n in range(len(stream))],
        [stream[n : n + 1] for n in range(len(stream))],
        [stream.replace(b"\n", b"\r\n")],
        [stream.rstrip()],
    ):
        if len(pieces) == 2 and pieces[0] and decoded(*pieces) == events:
            continue
        deltas, answer, _ = read(dialect, *pieces)
        check(dialect, deltas, answer)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_cut_at_every_position(dialect: str) -> None:
    """A cut gives what had arrived and no call, and never an answer."""
    stream = STREAMS[dialect]
    end = stream.index(b"event: message_delta" if dialect == "anthropic" else b"event: response.completed")
    lengths: list[int] = []
    for n in range(0, end, 2):
        try:
            _, answer, partial = read(dialect, stream[:n])
        except StreamCut:
            continue  # an event that broke in its middle
        assert answer is None
        if partial is not None:
            assert partial.message.calls == ()
            assert "I read both files. 好\n".startswith(partial.message.text)
            lengths.append(len(partial.message.text))
    assert lengths == sorted(lengths)
    assert lengths[-1] == len("I read both files. 好\n")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_on_the_wire_with_slow_bytes_and_a_drop(dialect: str) -> None:
    stream = STREAMS[dialect]

    async def handler(exchange: Exchange) -> None:
        if len(server.requests) == 1:
            await exchange.stream(*[stream[n : n + 40] for n in range(0, len(stream), 40)])
        else:
            await exchange.stream(stream[: stream.index(b"b.md")], end=False)
            exchange.drop()

    async with raw_server(handler) as server:
        provider = made(dialect, f"{server.url}/v1")
        check_wire(dialect, await collect(provider))
        with pytest.raises(StreamCut) as caught:
            await collect(provider)
        assert isinstance(caught.value.partial, Answer)
        assert caught.value.partial.message.text == "I read both files. 好\n"
        assert caught.value.partial.message.calls == ()
        assert caught.value.model == f"p/{dialect}"
        assert server.requests[0].target == f"/v1/{'messages' if dialect == 'anthropic' else 'responses'}"
        await provider.aclose()
        await provider.aclose()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_cancelling_closes_the_connection_at_once(dialect: str) -> None:
    forever = asyncio.Event()
    start = STREAMS[dialect][:1400]

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(start, end=False)
        await forever.wait()

    async with raw_server(handler) as server:
        provider = made(dialect, server.url)
        started = 0.0
        with anyio.CancelScope() as scope:
            async with aclosing(provider.complete(REQUEST)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, Reasoning):
                        started = time.monotonic()
                        scope.cancel()
        assert scope.cancelled_caught
        await asyncio.wait_for(server.gone.wait(), 0.5)
        assert time.monotonic() - started < 0.5
        await provider.aclose()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_nothing_is_sent_before_the_prepared_body_was_taken(dialect: str) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.answer(b"")

    async with raw_server(handler) as server:
        provider = made(dialect, server.url)
        async with aclosing(provider.complete(REQUEST)) as deltas:
            first = await anext(deltas)
        assert isinstance(first, Prepared)
        assert json.loads(first.body)["stream"] is True
        assert server.connections == 0


ERRORS: dict[str, Callable[[str, str], bytes]] = {
    "anthropic": lambda kind, text: sse({"type": "error", "error": {"type": kind, "message": text}}),
    "openai_responses": lambda kind, text: sse(
        {"type": "response.failed", "response": {"status": "failed", "error": {"code": kind, "message": text}}}
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_error_told_in_the_stream(dialect: str) -> None:
    error = ERRORS[dialect]
    kinds: list[tuple[str, str, type[ProviderFault]]] = [
        ("overloaded_error", "Overloaded", Overloaded),
        ("server_error", "The server had an error", Overloaded),
        ("rate_limit_exceeded", "Rate limit reached. Please try again in 2s.", Throttled),
        ("invalid_request_error", "prompt is too long: 3 > 2", Overflow),
    ]
    for type, text, fault in kinds:
        with pytest.raises(fault):
            await played(dialect, error(type, text))
    stream = STREAMS[dialect]
    half = stream[: stream.index(b"b.md")]
    half = half[: half.rindex(b"\n\n") + 2]
    with pytest.raises(StreamCut, match="overloaded: Overloaded") as caught:
        await played(dialect, half + error("overloaded_error", "Overloaded"))
    assert isinstance(caught.value.partial, Answer)
    assert caught.value.partial.message.calls == ()
    with pytest.raises(Overflow):
        await played(dialect, half + error("invalid_request_error", "prompt is too long: 3 > 2"))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
async def test_http_errors(dialect: str, status: int) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.answer(b'{"error":{"message":"no"}}', status=status, more="Retry-After: 3\r\n")

    async with raw_server(handler) as server:
        provider = made(dialect, server.url)
        with pytest.raises(ProviderFault) as caught:
            await collect(provider)
        kind = {400: "bad_request", 401: "unauthorized", 429: "throttled"}.get(status, "overloaded")
        assert (caught.value.kind, caught.value.status, caught.value.retry_after) == (kind, status, 3.0)
        with pytest.raises(ProviderFault):
            await collect(provider)
        assert server.connections == 1  # an error is no reason for a new handshake
        await provider.aclose()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_damage_in_the_middle_is_a_cut_and_small_talk_is_not(dialect: str) -> None:
    stream = STREAMS[dialect]
    at = stream.index(b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3") if (
        dialect == "anthropic") else stream.index(b"event: response.output_item.added\ndata: {\"type\":\"response."
                                                  b"output_item.added\",\"sequence_number\":14")  # fmt: skip
    with pytest.raises(StreamCut, match="damaged"):
        await played(dialect, stream[:at] + b'data: {"type": "x", \n\n' + stream[at:])
    deltas = await played(dialect, stream[:at] + b"data: keep-alive\n\n: ping\n\ndata: [DONE]\n\n" + stream[at:])
    check_wire(dialect, deltas)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_wrong_types_never_raise_anything_but_faults(dialect: str) -> None:
    chance = random.Random(7)
    blocks = STREAMS[dialect].decode().strip().split("\n\n")
    events = [json.loads(block.partition("data: ")[2]) for block in blocks]

    def spoil(value: Any, depth: int) -> Any:
        if isinstance(value, dict) and depth and chance.random() < 0.9:
            return {k: spoil(v, depth - 1) if chance.random() < 0.3 else v for k, v in value.items()}
        return chance.choice(
            [None, 3, -1, 1.5, "x", "", [], {}, [1], {"a": None}, True, "\ud800".encode("utf-8", "replace").decode()]
        )

    for _ in range(400):
        spoilt = [spoil(e, 3) if chance.random() < 0.3 else e for e in events]
        body = b"".join(b"data: %b\n\n" % json.dumps(e).encode() for e in spoilt)
        try:
            _, answer, _ = read(dialect, body)
        except ProviderFault:
            continue
        for call in answer.message.calls if answer else ():
            assert isinstance(json.loads(call.arguments), dict)


PLAIN_ANTHROPIC = {
    "id": "msg", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "tool_use",
    "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hello"},
                {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}],
    "usage": {"input_tokens": 5, "output_tokens": 6},
}  # fmt: skip
PLAIN_RESPONSES = {
    "id": "r", "object": "response", "status": "completed", "model": "gpt-x", "error": None,
    "output": [{"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}],
                "encrypted_content": "e"},
               {"type": "message", "content": [{"type": "output_text", "text": "hello"}]},
               {"type": "function_call", "call_id": "t", "name": "read", "arguments": '{"path":"a"}'}],
    "usage": {"input_tokens": 5, "output_tokens": 6},
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("indent", [None, 2])
async def test_an_answer_that_is_no_stream(dialect: str, indent: int | None) -> None:
    plain = PLAIN_ANTHROPIC if dialect == "anthropic" else PLAIN_RESPONSES
    body = json.dumps(plain, indent=indent).encode()
    deltas = await played(dialect, *[body[n : n + 50] for n in range(0, len(body), 50)])
    answer = deltas[-1]
    assert isinstance(answer, Answer)
    assert shown(deltas) == ("hello", "hm")
    assert [(c.name, c.wire_id, c.arguments) for c in answer.message.calls] == [("read", "t", '{"path":"a"}')]
    assert (answer.finish, answer.usage) == ("calls", Usage(input=5, output=6))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_errors_and_pages_with_status_200(dialect: str) -> None:
    with pytest.raises(Overloaded):
        await played(dialect, b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')
    with pytest.raises(Refused, match="HTML page: Log in"):
        await played(dialect, b"<!DOCTYPE html><html><title>Log in</title></html>")
    for empty in ((), (b"",), (b"\n\n",), (b": ping\n\n",)):
        with pytest.raises(StreamCut) as caught:
            await played(dialect, *empty)
        assert caught.value.partial is None


LIMITS = {
    "anthropic": [
        (b'"stop_reason":"tool_use"', b'"stop_reason":"max_tokens"'),
        (b'"stop_reason":"tool_use"', b'"stop_reason":"model_context_window_exceeded"'),
        (b'"output_tokens":95', b'"output_tokens":4096'),
    ],
    "openai_responses": [
        (b'"incomplete_details":null', b'"incomplete_details":{"reason":"max_output_tokens"}'),
        (b'"output_tokens":95', b'"output_tokens":4096'),
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_cut_by_the_output_limit_runs_no_call(dialect: str) -> None:
    for old, new in LIMITS[dialect]:
        assert old in STREAMS[dialect]
        answer = (await played(dialect, STREAMS[dialect].replace(old, new)))[-1]
        assert isinstance(answer, Answer)
        assert answer.finish == "length"
        assert len(answer.message.calls) == 2
        assert all(call.problem for call in answer.message.calls)


async def test_a_refusal_without_a_word_is_a_content_filter() -> None:
    refusal = sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}},
        {"type": "message_stop"},
    )
    with pytest.raises(ContentFilter, match="refusal"):
        await played("anthropic", refusal)
    spoken = sse(
        {"type": "response.refusal.delta", "output_index": 0, "delta": "I cannot help with that."},
        {"type": "response.completed", "response": {"status": "completed"}},
    )
    answer = (await played("openai_responses", spoken))[-1]
    assert isinstance(answer, Answer)
    assert (answer.finish, answer.message.text) == ("filter", "I cannot help with that.")


async def test_lines_of_json_are_events() -> None:
    lines = [
        json.dumps(json.loads(x.partition("data: ")[2])) for x in STREAMS["anthropic"].decode().strip().split("\n\n")
    ]
    check_wire("anthropic", await played("anthropic", "\n".join(lines).encode(), kind="application/x-ndjson"))


async def test_servers_that_tell_the_whole_input_at_once() -> None:
    whole = sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 0}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi "}},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
         "usage": {"input_tokens": 50, "output_tokens": 6}},
    )  # fmt: skip
    answer = (await played("anthropic", whole))[-1]
    assert isinstance(answer, Answer)
    assert [(c.name, c.arguments) for c in answer.message.calls] == [("read", '{"path":"a"}')]
    assert (answer.finish, answer.usage) == ("calls", Usage(input=50, output=6))


OBJECT = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize(("schema", "piece", "text"), [
    (OBJECT, '{"title": "标题"}', '{"title": "标题"}'),
    ({"type": "array", "items": {"type": "integer"}}, '{"value": [1, 2]}', "[1, 2]"),
])  # fmt: skip
async def test_a_structured_answer_is_the_text(schema: dict[str, Any], piece: str, text: str) -> None:
    """Messages has no schema for an answer: a tool is forced, and its input is the answer."""

    async def handler(exchange: Exchange) -> None:
        name = exchange.json["tool_choice"]["name"]
        block = {"type": "tool_use", "id": "t", "name": name, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece[n : n + 3]} for n in range(0, len(piece), 3)]
        await exchange.stream(
            sse(
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Here you are:"}},
                {"type": "content_block_start", "index": 1, "content_block": block},
                *[{"type": "content_block_delta", "index": 1, "delta": d} for d in deltas],
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
                {"type": "message_stop"},
            )
        )

    async with raw_server(handler) as server:
        provider = made("anthropic", server.url)
        deltas = await collect(provider, Request(model="m", system="", messages=(user("x"),), schema=schema))
        await provider.aclose()
    answer = deltas[-1]
    assert isinstance(answer, Answer)
    assert (answer.message.text, answer.finish, answer.message.calls) == (text, "stop", ())
    assert shown(deltas)[0] == text


async def test_a_model_that_answers_in_text_instead_of_the_forced_tool_is_heard() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.stream(
            sse(
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": '{"title":"a"}'}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                {"type": "message_stop"},
            )
        )

    async with raw_server(handler) as server:
        provider = made("anthropic", server.url)
        deltas = await collect(provider, Request(model="m", system="", messages=(user("x"),), schema=OBJECT))
        await provider.aclose()
    assert shown(deltas)[0] == '{"title":"a"}'
