"""Recorded streams of Anthropic and the Responses API, and the ways to play them to the real adapters."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path
from typing import Any

from gongfu.core.messages import CallPart, ReasoningPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec, Usage
from gongfu.models.anthropic import Anthropic, MessagesReader
from gongfu.models.anthropic_body import MessagesBody
from gongfu.models.openai_responses import OpenAIResponses, ResponsesReader
from gongfu.models.protocol import Answer, Delta, ModelProvider, Prepared, Reasoning, Request, Text
from gongfu.models.responses_body import ResponsesBody
from gongfu.models.sse import SSEDecoder
from gongfu.models.transport import Transport
from gongfu.models.wire import Reader
from tests.models.raw_server import Exchange, raw_server

FIXTURES = Path(__file__).parent / "fixtures"
READ = ToolSpec(name="read", description="Reads.", parameters={
    "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})  # fmt: skip
REQUEST = Request(model="m", system="Be brief.", messages=(user("read both"),), tools=(READ,), max_output=4096)
STREAMS = {name: (FIXTURES / f"{name}.sse").read_bytes() for name in ("anthropic", "openai_responses")}
DIALECTS = sorted(STREAMS)
USAGE = {
    "anthropic": Usage(input=2420, cached=2000, cache_write=300, output=95),
    "openai_responses": Usage(input=2420, cached=2000, output=95, reasoning=40),
}


def made(dialect: str, url: str) -> ModelProvider:
    info = ModelInfo(
        ref=f"p/{dialect}", provider="p", name="claude-sonnet-4-5" if dialect == "anthropic" else "gpt-5.1",
        window=200_000, max_output=64_000, images=True, reasoning=True, source="catalog",
    )  # fmt: skip
    return (Anthropic if dialect == "anthropic" else OpenAIResponses)(info, Transport(url, env={}))


async def collect(provider: ModelProvider, request: Request = REQUEST) -> list[Delta]:
    async with aclosing(provider.complete(request)) as deltas:
        return [delta async for delta in deltas]


def shown(deltas: list[Delta]) -> tuple[str, str]:
    return (
        "".join(d.text for d in deltas if isinstance(d, Text)),
        "".join(d.text for d in deltas if isinstance(d, Reasoning)),
    )


async def played(dialect: str, *pieces: bytes, kind: str = "text/event-stream") -> list[Delta]:
    """The deltas of an answer whose body comes over the wire in these pieces."""

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(*[piece for piece in pieces if piece], kind=kind)

    async with raw_server(handler) as server:
        provider = made(dialect, server.url)
        try:
            return await collect(provider)
        finally:
            await provider.aclose()


def read(dialect: str, *pieces: bytes) -> tuple[list[Delta], Answer | None, Answer | None]:
    """The same without a socket, for what is tried thousands of times: deltas, answer, and partial answer if none."""
    decoder = SSEDecoder()
    if dialect == "anthropic":
        reader: Reader = MessagesReader(REQUEST, MessagesBody(data=b"", limit=4096), "p/anthropic")
    else:
        reader = ResponsesReader(REQUEST, ResponsesBody(data=b"", limit=4096), "p/openai_responses")
    deltas = [delta for piece in pieces for event in decoder.feed(piece) for delta in reader.event(event)]
    deltas += [delta for event in decoder.flush() for delta in reader.event(event)]
    deltas += reader.flush()
    answer = reader.answer()
    return deltas, answer, None if answer else reader.partial()


def check_wire(dialect: str, deltas: list[Delta]) -> None:
    assert isinstance(deltas[0], Prepared)
    assert isinstance(deltas[-1], Answer)
    assert sum(isinstance(d, Answer | Prepared) for d in deltas) == 2
    check(dialect, deltas[1:-1], deltas[-1])


def check(dialect: str, deltas: list[Delta], answer: Answer | None) -> None:
    assert answer is not None
    assert shown(deltas) == ("I read both files. 好\n", "Two files: 读一下 🀄.")
    assert answer.message.text == "I read both files. 好\n"
    assert [(c.wire_id[-1], c.name, json.loads(c.arguments), c.problem) for c in answer.message.calls] == [
        ("A", "read", {"path": "src/a.py"}, ""),
        ("B", "read", {"path": "b.md"}, ""),
    ]
    assert answer.finish == "calls"
    assert answer.usage == USAGE[dialect]
    assert answer.model.startswith(("claude-sonnet-4-5-", "gpt-5.1-"))
    kinds = [type(p) for p in answer.message.parts]
    thoughts = [p for p in answer.message.parts if isinstance(p, ReasoningPart)]
    if dialect == "anthropic":
        assert kinds == [ReasoningPart, ReasoningPart, TextPart, CallPart, CallPart]
        assert (thoughts[0].text, thoughts[0].signature) == ("Two files: 读一下 🀄.", "EqQBCkYIB==")
        assert (thoughts[1].text, thoughts[1].data) == ("", "EmwKAhgBEgy3va3p")
    else:
        assert kinds == [ReasoningPart, TextPart, CallPart, CallPart]
        assert (thoughts[0].data, thoughts[0].id) == ("gAAAAABsealed==", "rs_1")
    assert {t.model for t in thoughts} == {f"p/{dialect}"}


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"event: %b\ndata: %b\n\n" % (e["type"].encode(), json.dumps(e).encode()) for e in events)
