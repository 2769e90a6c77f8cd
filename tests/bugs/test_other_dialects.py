"""Rows 28, 30 and 32 in the dialects of Anthropic and the Responses API.

28: window 200k, prompt 180k, output limit 32k. 30: signed thinking of model A in a request to model B. 32: usage with
and without cached tokens inside the input count.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from gongfu.core.messages import ImagePart, Message, ReasoningPart, TextPart, user
from gongfu.core.specs import Price, Usage
from gongfu.models.protocol import Answer, Request
from tests.models.dialects import DIALECTS, collect, made, sse
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio

THOUGHTS = {
    "anthropic": ReasoningPart(text="a secret plan 🀄", signature="c2lnbmF0dXJl+/==", model="p/anthropic"),
    "openai_responses": ReasoningPart(text="a plan", data="gAAAA+/==", id="rs_1", model="p/openai_responses"),
}
EVENTS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "ok"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ],
    "openai_responses": [
        {"type": "response.output_text.delta", "output_index": 0, "delta": "ok"},
        {"type": "response.completed", "response": {"status": "completed", "usage": {}}},
    ],
}


async def sent(dialect: str, *requests: Request, info: dict[str, Any] | None = None) -> list[bytes]:
    """The bodies that arrive at a server for these requests."""

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(sse(*EVENTS[dialect]))

    async with raw_server(handler) as server:
        provider = made(dialect, f"{server.url}/v1")
        if info:
            provider = type(provider)(replace(provider.info, **info), provider._transport)  # type: ignore[attr-defined,call-arg]
        for request in requests:
            await collect(provider, request)
        await provider.aclose()
        return [exchange.body for exchange in server.requests]


def limit_of(body: bytes) -> int:
    fields = json.loads(body)
    return fields.get("max_tokens") or fields["max_output_tokens"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_28_the_output_limit_is_clamped_to_what_the_window_leaves(dialect: str) -> None:
    long = Request(model="m", system="", messages=(user("x" * 4 * 180_000),), max_output=32_000)
    short = replace(long, messages=(user("x"),))
    full = replace(long, messages=(user("x" * 4 * 250_000),))
    image = ImagePart(media_type="image/png", data="A" * 4 * 180_000, width=100, height=100)
    picture = replace(long, messages=(user("x", images=(image,)),))
    limits = [limit_of(b) for b in await sent(dialect, long, short, full, picture)]
    assert 10_000 <= limits[0] <= 20_000
    assert limits[1] == 32_000
    assert limits[2] >= 1
    assert limits[3] == 32_000  # the bytes of an image are not its tokens
    assert limit_of((await sent(dialect, short, info={"max_output": 8_000}))[0]) == 8_000
    assert limit_of((await sent(dialect, long, info={"window": 0}))[0]) == 32_000


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_30_thinking_goes_back_byte_for_byte_to_its_own_model_and_to_no_other(dialect: str) -> None:
    thought = THOUGHTS[dialect]
    said = Message(role="assistant", parts=(thought, TextPart(text="done")), model=f"p/{dialect}")
    request = Request(model="m", system="", messages=(user("a"), said, user("b")))
    secret = (thought.signature or thought.data).encode()
    own = (await sent(dialect, request))[0]
    assert secret in own
    assert thought.text.encode() in own
    other = (await sent(dialect, request, info={"ref": "p/another-model"}))[0]
    assert secret not in other
    assert thought.text.encode() not in other
    assert b"done" in other


COUNTS: list[tuple[str, dict[str, Any], Usage]] = [
    (
        "anthropic",
        {"input_tokens": 100, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 300, "output_tokens": 50},
        Usage(input=2400, cached=2000, cache_write=300, output=50),
    ),
    ("anthropic", {"input_tokens": 2400, "output_tokens": 50}, Usage(input=2400, output=50)),
    (
        "anthropic",
        {"input_tokens": 2400, "cache_read_input_tokens": None, "cache_creation_input_tokens": 0, "output_tokens": 50},
        Usage(input=2400, output=50),
    ),
    (
        "anthropic",
        {"input_tokens": 2100, "cache_creation_input_tokens": 300, "output_tokens": 50},
        Usage(input=2400, cache_write=300, output=50),
    ),
    (
        "openai_responses",
        {"input_tokens": 2400, "input_tokens_details": {"cached_tokens": 2000}, "output_tokens": 50,
         "output_tokens_details": {"reasoning_tokens": 30}, "total_tokens": 2450},
        Usage(input=2400, cached=2000, output=50, reasoning=30),
    ),
    ("openai_responses", {"input_tokens": 2400, "output_tokens": 50}, Usage(input=2400, output=50)),
    ("openai_responses", {}, Usage()),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "counted", "usage"), COUNTS)
async def test_32_one_record_of_usage_whatever_is_inside_the_count(
    dialect: str, counted: dict[str, Any], usage: Usage
) -> None:
    events = EVENTS[dialect]
    if dialect == "anthropic":  # told at the start, and the output once more at the end
        start = {"type": "message_start", "message": {"usage": counted | {"output_tokens": 1}}}
        end = {**events[1], "usage": {"output_tokens": counted["output_tokens"]}}
        events = [start, events[0], end, events[2]]
    else:
        events = [events[0], {**events[1], "response": {"status": "completed", "usage": counted}}]

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(sse(*events))

    async with raw_server(handler) as server:
        provider = made(dialect, server.url)
        answer = (await collect(provider))[-1]
        await provider.aclose()
    assert isinstance(answer, Answer)
    assert answer.usage == usage
    price = Price(input=3.0, cached=0.3, cache_write=3.75, output=15.0)
    plain = usage.input - usage.cached - usage.cache_write
    cost = (plain * 3 + usage.cached * 0.3 + usage.cache_write * 3.75 + usage.output * 15) / 1e6
    assert price.cost(answer.usage) == pytest.approx(cost)
    assert plain >= 0
