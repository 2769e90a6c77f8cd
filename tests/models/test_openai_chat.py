"""The Chat Completions adapter on real sockets."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from gongfu.core.errors import (
    BadRequest,
    ContentFilter,
    Overflow,
    Overloaded,
    ProviderFault,
    Refused,
    StreamCut,
    Throttled,
    Unauthorized,
)
from gongfu.core.messages import user
from gongfu.core.specs import ModelInfo, Usage
from gongfu.models.openai_chat import OpenAIChat
from gongfu.models.protocol import Answer, CallProgress, Delta, Prepared, Request, Text
from gongfu.models.quirks import load_quirks
from gongfu.models.transport import Transport
from tests.bugs.streams import BASH, call, chunk, sse, usage
from tests.models.raw_server import Exchange, Handler, RawServer, raw_server

pytestmark = pytest.mark.anyio

INFO = ModelInfo(ref="p/m", provider="p", name="m", window=100_000, max_output=64)
ASK = Request(model="p/m", system="sys", messages=(user("go"),), tools=(BASH,))
CALL = {"tool_calls": [call("bash", '{"command": "ls"}', id="a", index=0)]}


def adapter(server: RawServer, info: ModelInfo = INFO) -> OpenAIChat:
    return OpenAIChat(info, Transport(f"{server.url}/v1", env={}, idle_seconds=5), load_quirks("default"))


async def ask(handler: Handler, request: Request = ASK, info: ModelInfo = INFO) -> list[Delta]:
    """All deltas of one answer."""
    async with raw_server(handler) as server:
        model = adapter(server, info)
        try:
            async with aclosing(model.complete(request)) as deltas:
                return [d async for d in deltas]
        finally:
            await model.aclose()


async def answer_of(*chunks: dict[str, Any], **how: Any) -> Answer:
    async def serve(exchange: Exchange) -> None:
        await exchange.stream(sse(*chunks))

    last = (await ask(serve, **how))[-1]
    assert isinstance(last, Answer)
    return last


async def fault(handler: Handler, request: Request = ASK) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        await ask(handler, request)
    assert caught.value.model == "p/m"
    return caught.value


async def test_the_exact_bytes_come_first_and_are_what_is_sent() -> None:
    async with raw_server(lambda e: e.stream(sse(chunk({"content": "hi"}, "stop")))) as server:
        model = adapter(server)
        async with aclosing(model.complete(ASK)) as deltas:
            first = await anext(deltas)
            assert isinstance(first, Prepared)
            assert server.requests == []
            rest = [d async for d in deltas]
        assert server.requests[0].body == first.body
        assert json.loads(first.body)["messages"][0] == {"role": "system", "content": "sys"}
        assert [type(d) for d in rest] == [Text, Answer]
        await model.aclose()


async def test_closing_before_the_request_sends_nothing() -> None:
    async with raw_server(lambda e: e.answer(b"{}")) as server:
        model = adapter(server)
        async with aclosing(model.complete(ASK)) as deltas:
            await anext(deltas)
        assert server.connections == 0
        await model.aclose()


async def test_closing_in_the_middle_closes_the_connection_at_once() -> None:
    async def hang(exchange: Exchange) -> None:
        await exchange.stream(sse(chunk({"content": "hi"}), done=False), end=False)
        await anyio.sleep_forever()

    async with raw_server(hang) as server:
        model = adapter(server)
        async with aclosing(model.complete(ASK)) as deltas:
            await anext(deltas)
            assert (await anext(deltas)) == Text(text="hi")
        with anyio.fail_after(2):
            await server.gone.wait()
        await model.aclose()


async def test_calls_text_and_usage() -> None:
    answer = await answer_of(chunk({"content": "ok"}), chunk(CALL, "tool_calls"), usage(7, 3))
    assert (answer.finish, answer.raw_finish, answer.usage) == ("calls", "tool_calls", Usage(input=7, output=3))
    assert answer.message.calls[0].id == ""
    assert answer.message.model == "p/m"


async def test_the_limit_that_was_sent_shows_a_hidden_cut() -> None:
    answer = await answer_of(chunk(CALL, "tool_calls"), usage(7, 64))
    assert answer.finish == "length"
    assert answer.message.calls[0].problem
    smaller = Request(model="p/m", system="", messages=(user("x"),), tools=(BASH,), max_output=3)
    assert (await answer_of(chunk(CALL, "tool_calls"), usage(7, 3), request=smaller)).finish == "length"


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain"])
@pytest.mark.parametrize("indent", [None, 2])
async def test_a_plain_json_body_although_a_stream_was_asked_for(kind: str, indent: int | None) -> None:
    message = {"role": "assistant", "content": "ok", **CALL}
    whole = {**usage(7, 3), "choices": [{"message": message, "finish_reason": "stop"}]}
    deltas = await ask(lambda e: e.answer(json.dumps(whole, indent=indent).encode(), kind=kind))
    last = deltas[-1]
    assert isinstance(last, Answer)
    assert (last.message.text, last.finish, last.usage.input) == ("ok", "calls", 7)


@pytest.mark.parametrize("end", ["drop", "close", "polite"])
async def test_a_broken_stream_keeps_what_had_arrived_but_no_call(end: str) -> None:
    async def cut(exchange: Exchange) -> None:
        data = sse(chunk({"reasoning_content": "hm"}), chunk({"content": "Half a sen"}), chunk(CALL), done=False)
        await exchange.stream(data, end=end == "polite")
        if end != "polite":
            exchange.drop() if end == "drop" else exchange.close()

    found = await fault(cut)
    assert isinstance(found, StreamCut)
    partial = found.partial
    assert isinstance(partial, Answer)
    assert partial.message.text == "Half a sen"
    assert partial.message.calls == ()


async def test_a_half_written_call_is_not_kept_either() -> None:
    half = 'Look: <tool_call>{"name": "bash", "argu'
    found = await fault(lambda e: e.stream(sse(chunk({"content": half}), done=False)))
    assert isinstance(found, StreamCut)
    assert isinstance(found.partial, Answer)
    assert found.partial.message.text == "Look: "


async def test_after_its_end_an_answer_is_whole_however_the_connection_ends() -> None:
    async def drop(exchange: Exchange) -> None:
        await exchange.stream(sse(chunk({"content": "Done."}, "stop"), done=False), end=False)
        exchange.close()

    last = (await ask(drop))[-1]
    assert isinstance(last, Answer)
    assert (last.finish, last.message.text) == ("stop", "Done.")


async def test_nothing_at_all_is_a_cut_without_a_part() -> None:
    for data in (b"", b": ping\n\n", sse(done=False)):
        found = await fault(lambda e, d=data: e.stream(d) if d else e.answer(b"", kind="text/event-stream"))
        assert isinstance(found, StreamCut)
        assert found.partial is None


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"message": "Rate limit reached for requests", "type": "rate_limit_error", "code": 429}}, Throttled),
        ({"error": {"message": "maximum context length is 8192 tokens, however you requested 9000 tokens"}}, Overflow),
        ({"error": "the server is overloaded", "choices": []}, ProviderFault),
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, ProviderFault),
        ([{"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}], Overloaded),
    ],
)
async def test_an_error_told_in_the_stream_is_typed(event: Any, kind: type[ProviderFault]) -> None:
    found = await fault(lambda e: e.stream(sse(json.dumps(event))))
    assert isinstance(found, kind)


async def test_trouble_in_the_middle_keeps_what_had_arrived() -> None:
    error = {"error": {"message": "Overloaded", "code": 529}, "choices": [{"delta": {}, "finish_reason": "error"}]}
    found = await fault(lambda e: e.stream(sse(chunk({"content": "Half"}), error)))
    assert isinstance(found, StreamCut)
    assert isinstance(found.partial, Answer)
    assert found.partial.message.text == "Half"


async def test_an_end_that_is_a_fault_is_no_answer() -> None:
    for word in ("network_error", "error", "insufficient_system_resource"):
        found = await fault(lambda e, w=word: e.stream(sse(chunk({"content": "Half"}, w))))
        assert isinstance(found, StreamCut)
    found = await fault(lambda e: e.stream(sse(chunk({"content": ""}, "sensitive"))))
    assert isinstance(found, ContentFilter)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "Incorrect API key provided"}}, Unauthorized),
        (429, {"error": {"message": "Rate limit", "type": "requests"}}, Throttled),
        (400, {"error": {"message": "Invalid parameter", "type": "invalid_request_error"}}, BadRequest),
        (500, {"error": {"message": "boom"}}, Overloaded),
    ],
)
async def test_statuses(status: int, body: Any, kind: type[ProviderFault]) -> None:
    found = await fault(lambda e: e.answer(json.dumps(body).encode(), status=status, more="Retry-After: 2\r\n"))
    assert isinstance(found, kind)
    assert found.status == status
    assert status != 429 or found.retry_after == 2


async def test_a_web_page_is_no_answer() -> None:
    found = await fault(lambda e: e.answer(b"<!DOCTYPE html><title>Log in</title>", kind="text/html"))
    assert isinstance(found, Refused)


async def test_a_model_without_tools_calls_in_words() -> None:
    info = ModelInfo(ref="p/m", provider="p", name="m", tools=False)
    said = 'Yes.\n```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```'
    bodies: list[Any] = []

    async def serve(exchange: Exchange) -> None:
        bodies.append(exchange.json)
        await exchange.stream(sse(chunk({"content": said}, "stop")))

    last = (await ask(serve, info=info))[-1]
    assert isinstance(last, Answer)
    assert [(c.name, c.arguments, c.recovered) for c in last.message.calls] == [("bash", '{"command":"ls"}', True)]
    assert "tools" not in bodies[0]
    assert "Run a command." in bodies[0]["messages"][0]["content"]


async def test_parallel_requests_of_one_adapter_do_not_mix() -> None:
    async def echo(exchange: Exchange) -> None:
        said = exchange.json["messages"][-1]["content"]
        await exchange.stream(*(sse(chunk({"content": letter}), done=False) for letter in said), sse(chunk({}, "stop")))

    async with raw_server(echo) as server:
        model = adapter(server)
        found: dict[str, str] = {}

        async def one(text: str) -> None:
            async with aclosing(model.complete(Request(model="p/m", system="", messages=(user(text),)))) as deltas:
                async for delta in deltas:
                    if isinstance(delta, Answer):
                        found[text] = delta.message.text

        async with anyio.create_task_group() as group:
            for n in range(8):
                group.start_soon(one, f"message {n}")
        assert found == {f"message {n}": f"message {n}" for n in range(8)}
        await model.aclose()


async def test_what_comes_together_is_told_once_and_what_comes_by_itself_at_once() -> None:
    words = [sse(chunk({"content": f"{n} "}), done=False) for n in range(4)]
    written = [{"tool_calls": [call("bash", piece, id="a", index=0)]} for piece in ('{"command"', ': "ls"}')]
    parts = [sse(chunk(delta), done=False) for delta in written]
    end = sse(chunk({}, "tool_calls"))
    together = await ask(lambda e: e.stream(b"".join((*words, *parts, end))))
    assert together[1:-1] == [Text(text="0 1 2 3 "), CallProgress(name="bash", size=17)]
    apart = await ask(lambda e: e.stream(*words, *parts, end))
    assert [d.text for d in apart if isinstance(d, Text)] == ["0 ", "1 ", "2 ", "3 "]
    assert apart[-1] == together[-1]


async def test_text_that_came_with_an_error_is_told_before_it() -> None:
    said = sse(chunk({"content": "half "}), chunk({"content": "said"}), done=False)
    bad = b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'
    told: list[Delta] = []

    async def follow(deltas: AsyncGenerator[Delta]) -> None:
        async for delta in deltas:
            told.append(delta)

    async with (
        raw_server(lambda e: e.stream(said + bad)) as server,
        aclosing(adapter(server).complete(ASK)) as deltas,
    ):
        with pytest.raises(StreamCut) as caught:
            await follow(deltas)
    assert told[1:] == [Text(text="half said")]
    assert isinstance(caught.value.partial, Answer)
    assert caught.value.partial.message.text == "half said"
