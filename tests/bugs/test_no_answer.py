"""Answers that are none although their status is 200, events that arrive damaged, and counts that are no counts
(the sections Faults and Providers, rows 23 and 32): the person is told the server's own words, nothing runs that was
not asked for, nothing is asked for ever.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import anyio
import pytest

from gongfu.core.errors import ProviderFault, StreamCut, Unauthorized
from gongfu.core.messages import user
from gongfu.core.specs import ModelInfo, Usage
from gongfu.models.anthropic import Anthropic
from gongfu.models.openai_chat import OpenAIChat
from gongfu.models.openai_responses import OpenAIResponses
from gongfu.models.protocol import Answer, ModelProvider, Request, Text
from gongfu.models.quirks import load_quirks, quirks_for
from gongfu.models.scripted.script import Raw
from gongfu.models.scripted.server import serve
from gongfu.models.transport import Transport
from gongfu.models.usage import usage_of
from tests.bugs.streams import BASH, call, chunk, everywhere, read, sse, usage
from tests.models.dialects import DIALECTS, collect, played
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio

APIS = ("openai_chat", "openai_responses", "anthropic")


def provider(root: str, api: str) -> ModelProvider:
    info = ModelInfo(ref="p/m", provider="p", name="m", window=32_768)
    transport = Transport(f"{root}/v1", env={})
    if api == "openai_chat":
        return OpenAIChat(info, transport, load_quirks("default"))
    return (Anthropic if api == "anthropic" else OpenAIResponses)(info, transport)


async def answered(api: str, body: bytes, kind: str = "application/json", **headers: str) -> Answer:
    async with serve([Raw(body, content_type=kind, headers=headers)]) as server:
        model = provider(server.root_url, api)
        try:
            answer = (await collect(model, Request(model="m", system="", messages=(user("a"),), tools=(BASH,))))[-1]
        finally:
            await model.aclose()
    assert isinstance(answer, Answer)
    return answer


# --- bodies that are no answer ----------------------------------------------------------------------------------------

BODIES: list[tuple[bytes, str, str]] = [
    (b'{"detail": "Not authenticated"}', "unauthorized", "Not authenticated"),
    (b'{"success": false, "message": "the model is overloaded"}', "overloaded", "the model is overloaded"),
    ('{"code": 1113, "msg": "余额不足"}'.encode(), "refused", "余额不足"),
    (b'{"error": "rate limit reached"}', "throttled", "rate limit"),
    (b'{"status": 401, "title": "Unauthorized"}', "unauthorized", "Unauthorized"),
    (b'{"hello": "world"}', "refused", '{"hello": "world"}'),
    (b"Service unavailable", "stream_cut", "Service unavailable"),
    (b"upstream connect error: sk-abcdef123456", "stream_cut", "upstream connect error: [secret api key]"),
    (b"", "stream_cut", "nothing"),
    (b"  \n\n", "stream_cut", "nothing"),
    (b"null", "stream_cut", "null"),
    (b"<html><title>Sign in</title></html>", "refused", "Sign in"),
]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("body", "kind", "words"), BODIES)
@pytest.mark.parametrize("label", ["application/json", "text/event-stream"])
async def test_what_is_no_answer_is_told_in_its_own_words(
    api: str, body: bytes, kind: str, words: str, label: str
) -> None:
    with pytest.raises(ProviderFault) as caught:
        await answered(api, body, label)
    assert caught.value.kind == kind
    assert words in caught.value.detail


async def test_an_answer_of_another_dialect_is_no_broken_stream() -> None:
    response = {"id": "r", "object": "response", "status": "completed", "output": []}
    chat = {"id": "c", "object": "chat.completion", "choices": []}
    for api, body in (("openai_chat", response), ("anthropic", chat)):
        with pytest.raises(ProviderFault) as caught:
            await answered(api, json.dumps(body).encode())
        assert caught.value.kind in ("refused", "stream_cut")


async def test_an_address_that_is_none_is_told_by_the_request() -> None:
    for url in ("http://[::1", "http://127.0.0.1:99999/v1", "localhost:99999/v1", "ftp://x/v1", "", "/v1"):
        quirks = quirks_for(url, "m")
        model = OpenAIChat(ModelInfo(ref="p/m", provider="p", name="m"), Transport(url, env={}), quirks)
        with pytest.raises(ProviderFault, match="address"):
            await collect(model)


@pytest.mark.parametrize("key", ["sk-secret\nInjected: x", "sk-secret\r\n", "sk-\x00secret"])
async def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    transport = Transport("http://127.0.0.1:9/v1", headers={"Authorization": f"Bearer {key}"}, env={})
    model = OpenAIChat(ModelInfo(ref="p/m", provider="p", name="m"), transport, load_quirks("default"))
    with pytest.raises(ProviderFault) as caught:
        await collect(model)
    assert "secret" not in str(caught.value)
    assert not isinstance(caught.value, Unauthorized)


# --- streams without an end -------------------------------------------------------------------------------------------


async def test_signs_of_life_alone_are_no_answer() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.stream(end=False)
        with suppress(ConnectionError):
            while True:
                await exchange.send(b"e\r\n: keep-alive\n\n\r\n")
                await anyio.sleep(0.01)

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={}, idle_seconds=0.05)
        model = OpenAIChat(ModelInfo(ref="p/m", provider="p", name="m"), transport, load_quirks("default"))
        with pytest.raises(StreamCut, match="signs of life"), anyio.fail_after(5):
            await collect(model)
        await model.aclose()


async def test_an_answer_without_bounds_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.models.wire._STREAM", 1 << 20)
    piece = sse(chunk({"content": "again " * 2000}), done=False)

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(end=False)
        with suppress(ConnectionError):
            while True:
                await exchange.send(b"%x\r\n%b\r\n" % (len(piece), piece))

    async with raw_server(handler) as server:
        model = OpenAIChat(
            ModelInfo(ref="p/m", provider="p", name="m"), Transport(server.url, env={}), load_quirks("default")
        )
        with pytest.raises(ProviderFault, match="larger than 1 MB"), anyio.fail_after(10):
            await collect(model)
        await model.aclose()


# --- damaged events ---------------------------------------------------------------------------------------------------


def test_a_damaged_event_is_a_broken_stream_and_no_gap() -> None:
    """`rm -r ./bu` and `/`: what stood between is lost, and the call would do something else."""
    for lost in (
        '{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"argum',
        '{"choices": [{"delta": {"con',
    ):
        chunks = [
            chunk({"tool_calls": [call("bash", '{"command": "rm -r ./bu', id="a", index=0)]}),
            lost,
            chunk({"tool_calls": [call(None, '/"}', index=0)]}),
            chunk({}, "tool_calls"),
        ]
        with pytest.raises(StreamCut, match="damaged"):
            read(sse(*chunks))


ODD = [
    ("\\ud83d", "a\ufffdb"),
    ("\\ud83d\\ude00", "a😀b"),
    ("\t", "a\tb"),
]


@pytest.mark.parametrize(("written", "shown"), ODD)
async def test_letters_that_strict_json_does_not_know_are_taken_in_every_dialect(written: str, shown: str) -> None:
    text = f"a{written}b"
    bodies = {
        "openai_chat": f'data: {{"choices": [{{"delta": {{"content": "{text}"}}, "finish_reason": "stop"}}]}}\n\n',
        "openai_responses": f'data: {{"type": "response.output_text.delta", "delta": "{text}"}}\n\n'
        'data: {"type": "response.completed", "response": {"usage": {"input_tokens": 1e400}}}\n\n',
        "anthropic": 'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", '
        f'"text": "{text}"}}}}\n\n'
        'data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": NaN}}\n\n'
        'data: {"type": "message_stop"}\n\n',
    }
    for api, body in bodies.items():
        assert (await answered(api, body.encode(), "text/event-stream")).message.text == shown, api


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_halves_of_a_letter_in_two_pieces_are_shown_as_one(dialect: str) -> None:
    pieces = ("a\\ud83d", "\\ude00b", "\\ud83d", "c\\ud83d")
    if dialect == "anthropic":
        bodies = [
            f'{{"type": "content_block_delta", "index": 0, "delta": {{"type": "text_delta", "text": "{p}"}}}}'
            for p in pieces
        ]
        bodies += ['{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}', '{"type": "message_stop"}']
    else:
        bodies = [f'{{"type": "response.output_text.delta", "delta": "{p}"}}' for p in pieces]
        bodies += ['{"type": "response.completed", "response": {}}']
    deltas = await played(dialect, *(f"data: {b}\n\n".encode() for b in bodies))
    shown = [d.text for d in deltas if isinstance(d, Text)]
    assert "".join(shown) == "a😀b\ufffdc\ufffd"
    assert all(text.encode() for text in shown)


# --- choices and calls ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, "0", 0.0, 1, None, ...])
def test_the_one_choice_is_read_whatever_its_number(index: Any) -> None:
    numbered = {} if index is ... else {"index": index}
    told = [{"delta": {"content": "Hello"}}, {"delta": {}, "finish_reason": "stop"}]
    assert everywhere(sse(*({"choices": [c | numbered]} for c in told))).text == "Hello"


@pytest.mark.parametrize("whole", [True, False])
def test_two_calls_under_one_id_are_two(whole: bool) -> None:
    chunks: list[dict[str, Any]] = []
    for number, text in enumerate(('{"command": "a"}', '{"command": "b"}')):
        pieces = [text] if whole else ["", text[:5], text[5:]]
        for n, piece in enumerate(pieces):
            chunks.append(chunk({"tool_calls": [call("bash" if not n else None, piece, id="x", index=number)]}))
    seen = everywhere(sse(*chunks, chunk({}, "tool_calls")))
    assert [value["command"] for _, value in seen.made] == ["a", "b"]


async def test_two_blocks_under_one_id_are_two_calls_of_the_messages_api() -> None:
    events: list[dict[str, Any]] = []
    for number, command in enumerate(("a", "b")):
        block = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": command})}
        events += [
            {"type": "content_block_start", "index": number, "content_block": block},
            {"type": "content_block_delta", "index": number, "delta": delta},
            {"type": "content_block_stop", "index": number},
        ]
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}
    body = "".join(f"data: {json.dumps(e)}\n\n" for e in (*events, end, {"type": "message_stop"}))
    answer = await answered("anthropic", body.encode(), "text/event-stream")
    assert [json.loads(c.arguments)["command"] for c in answer.message.calls] == ["a", "b"]


def test_a_call_told_again_without_arguments_is_one_call() -> None:
    chunks = [chunk({"tool_calls": [call("bash", '{"command": "a"}', id="x", index=0)]}),
              chunk({"tool_calls": [call("bash", "", id="x", index=1)]}),
              chunk({}, "tool_calls")]  # fmt: skip
    assert everywhere(sse(*chunks)).made == [("bash", {"command": "a"})]


# --- counts -----------------------------------------------------------------------------------------------------------

NOTHING = [-5, "many", "", None, True, [], {}, 1e300, 10**30, "9" * 40, float("inf"), float("-inf"), float("nan")]


@pytest.mark.parametrize("value", NOTHING)
@pytest.mark.parametrize(
    "name", ["prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "input_tokens"]
)
def test_a_count_that_is_none_counts_nothing(name: str, value: Any) -> None:
    assert usage_of({name: value}) == Usage()
    assert usage_of({"prompt_tokens": 100, "completion_tokens": 20, name: value}).output in (0, 20)


def test_counts_as_text_or_broken_numbers_are_counts() -> None:
    assert usage_of({"prompt_tokens": "100", "completion_tokens": 20.0}) == Usage(input=100, output=20)


async def test_an_endless_count_ends_no_answer() -> None:
    body = sse(chunk({"content": "ok"}, "stop")) + b'data: {"choices": [], "usage": {"prompt_tokens": Infinity}}\n\n'
    for data in (body, sse(chunk({"content": "ok"}, "stop"), usage(10**30, 10**30))):
        assert read(data).whole.usage == Usage()
