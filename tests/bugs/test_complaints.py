"""Servers that refuse what others take (the sections Providers and Tool calls): a field, a role, an order, a shape.
 The words of the complaint say how to ask instead; asked once more, the turn goes on.

Each server here refuses a request until it is as the server wants it, and only then answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import anyio
import pytest

from gongfu.core.errors import BadRequest, ProviderFault, Refused
from gongfu.core.messages import CallPart, ImagePart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo
from gongfu.models.adapt import adapted
from gongfu.models.anthropic import Anthropic
from gongfu.models.faults import fault_of
from gongfu.models.openai_chat import OpenAIChat
from gongfu.models.openai_responses import OpenAIResponses
from gongfu.models.protocol import Answer, ModelProvider, Request
from gongfu.models.quirks import load_quirks, quirks_for
from gongfu.models.retry import Failed, attempts
from gongfu.models.scripted import Say
from gongfu.models.scripted.script import Fault, Step
from gongfu.models.scripted.server import Received, serve
from gongfu.models.transport import Transport
from tests.bugs.streams import BASH

pytestmark = pytest.mark.anyio

Wish = Callable[[dict[str, Any]], bool]


def picky(wish: Wish, complaint: str, status: int) -> Callable[[Received], Step]:
    """A server that answers requests as it wishes them, and complains of all others."""

    def step(received: Received) -> Step:
        return Say("Fine.") if wish(received.body) else Fault("status", status=status, message=complaint)

    return step


def provider(url: str, api: str, **info: Any) -> ModelProvider:
    known = ModelInfo(**{"ref": "p/m", "provider": "p", "name": "m", "window": 32_768, **info})
    transport = Transport(url, env={})
    if api == "anthropic":
        return Anthropic(known, transport, load_quirks("anthropic_compat"))
    if api == "openai_responses":
        return OpenAIResponses(known, transport, quirks_for(url, "m"))
    return OpenAIChat(known, transport, quirks_for(url, "m"))


IMAGE = ImagePart(media_type="image/png", data="iVBORw0KGgo=", width=1, height=1)
CALL = CallPart(id="c1", name="bash", arguments='{"command": "ls"}', wire_id="functions.bash:0")
THOUGHT = ReasoningPart(text="Let me see.", model="p/m")
ROUND = (
    user("<environment>", kind="note"),
    user("Look", images=(IMAGE,)),
    Message(role="assistant", parts=(THOUGHT, CALL), model="p/m"),
    Message(role="tool", parts=(ResultPart(call_id="c1", text="a.txt"),)),
    user("And now?"),
)
REQUEST = Request(
    model="m", system="You are a test.", messages=ROUND, tools=(BASH,), max_output=8192, temperature=0.2, top_p=0.9
)


async def asked(wish: Wish, complaint: str, *, api: str = "openai_chat", status: int = 400, **info: Any) -> list[Any]:
    """The bodies that it took to get an answer; the last one is as the server wishes."""
    async with serve([picky(wish, complaint, status)] * 9, strict=False) as server:
        model = provider(server.root_url if api == "anthropic" else server.base_url, api, **info)
        failed: list[Failed] = []
        with anyio.fail_after(5):  # asking again is not waited for
            async for delta in attempts(model, REQUEST):
                if isinstance(delta, Failed):
                    failed.append(delta)
                elif isinstance(delta, Answer):
                    assert delta.message.text == "Fine."
            bodies = [r.body for r in server.requests]
            async for _ in attempts(model, REQUEST):
                pass
            assert len(server.requests) == len(bodies) + 1  # what was learned is kept
        await model.aclose()
    assert all("asking again" in f.fault.detail and f.retry_in == 0.0 for f in failed)
    assert all(complaint[:40].rstrip(".") in f.fault.detail for f in failed)
    return bodies


def roles(body: dict[str, Any]) -> list[str]:
    return [m["role"] for m in body["messages"]]


def in_turns(body: dict[str, Any]) -> bool:
    seen = [r for r in roles(body) if r != "system"]
    return all(a != b or a == "tool" for a, b in pairwise(seen))


def calling(body: dict[str, Any]) -> dict[str, Any]:
    return next(m for m in body["messages"] if m.get("tool_calls"))


def lacks(*names: str) -> Wish:
    return lambda body: not any(n in body for n in names)


CHAT: list[tuple[str, Wish]] = [
    # the output limit
    ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
     lambda b: "max_completion_tokens" in b and "max_tokens" not in b),
    ("Unrecognized request argument supplied: max_tokens", lacks("max_tokens")),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", lambda b: b["max_tokens"] <= 4096),
    ("max_tokens is too large: 8192. This model supports at most 2048 completion tokens, whereas you provided 8192.",
     lambda b: b["max_tokens"] <= 2048),
    ("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 2000]",
     lambda b: b["max_tokens"] <= 2000),
    # fields
    ("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
     lacks("temperature")),
    ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
     lambda b: not ("temperature" in b and "top_p" in b)),
    ("invalid temperature: only 1 is allowed for this model", lacks("temperature")),
    ("Unrecognized request argument supplied: stream_options", lacks("stream_options")),
    ("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
     lacks("stream_options")),
    ("unknown field \"stream_options\", expected one of `model`, `messages`", lacks("stream_options")),
    ("Streaming is not supported for this model", lambda b: not b["stream"]),
    # roles and their order
    ("System role not supported", lambda b: "system" not in roles(b) and "You are a test." in str(b["messages"])),
    ("Developer instruction is not enabled for models/gemma-3-27b-it", lambda b: "system" not in roles(b)),
    ("Conversation roles must alternate user/assistant/user/assistant/...", in_turns),
    ("After the optional system message, conversation roles must alternate user and assistant roles", in_turns),
    ("Unexpected role 'user' after role 'tool'",
     lambda b: "user" not in [after for one, after in pairwise(roles(b)) if one == "tool"]),
    # tools
    ("registry.ollama.ai/library/gemma:2b does not support tools", lambda b: "tools" not in b and "bash" in str(b)),
    ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', lacks("tools")),
    ("Function calling is not supported for this model", lacks("tools")),
    ("Tool call id was functions.bash:0 but must be a-z, A-Z, 0-9, with a length of 9.",
     lambda b: all(len(c["id"]) == 9 for m in b["messages"] for c in m.get("tool_calls", []))),
    ("Invalid 'messages[3].tool_calls[0].id': string does not match pattern ^[a-zA-Z0-9_-]+$",
     lambda b: "functions.bash:0" not in str(b)),
    # what a message may hold
    ("Invalid value for 'content': expected a string, got null", lambda b: isinstance(calling(b)["content"], str)),
    ("messages.3: content cannot be empty", lambda b: calling(b).get("content") != ""),
    ("Missing reasoning_content in the assistant message",
     lambda b: calling(b).get("reasoning_content") == "Let me see."),
    ("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
     lambda b: calling(b).get("reasoning_content") == "Let me see."),
    ("This model does not support image inputs", lambda b: "image_url" not in str(b)),
    ("image_url is not supported by this model", lambda b: "image_url" not in str(b)),
]  # fmt: skip


@pytest.mark.parametrize(("complaint", "wish"), CHAT)
async def test_a_chat_server_is_asked_as_it_wants_to_be(complaint: str, wish: Wish) -> None:
    bodies = await asked(wish, complaint, images=True)
    assert len(bodies) == (1 if wish(bodies[0]) else 2)
    kept = {"model", "messages", "stream"}
    assert kept <= bodies[-1].keys()
    assert "And now?" in json.dumps(bodies[-1])


async def test_thinking_that_a_server_does_not_take_back_is_left_out() -> None:
    complaint = "Unexpected field 'reasoning_content' in messages[2]"
    bodies = await asked(lambda b: "reasoning_content" not in str(b), complaint, reasoning_back="always")
    assert "reasoning_content" in str(bodies[0])
    assert len(bodies) == 2


async def test_a_server_that_refuses_several_things_is_asked_until_it_is_content() -> None:
    def wish(body: dict[str, Any]) -> bool:
        return in_turns(body) and "system" not in roles(body) and "temperature" not in body

    def step(received: Received) -> Step:
        body = received.body
        said = "System role not supported" if "system" in roles(body) else "Conversation roles must alternate"
        said = said if not in_turns(body) or "system" in roles(body) else "temperature is not supported"
        return Say("Fine.") if wish(body) else Fault("status", status=400, message=said)

    async with serve([step] * 9, strict=False) as server:
        model = provider(server.base_url, "openai_chat")
        async for delta in attempts(model, REQUEST):
            if isinstance(delta, Answer):
                assert delta.message.text == "Fine."
        await model.aclose()
        assert [r.body["messages"][0]["role"] for r in server.requests] == ["system", "user", "user", "user"]


OTHERS: list[tuple[str, str, Wish]] = [
    ("openai_responses", "Unsupported parameter: 'temperature' is not supported here.", lacks("temperature")),
    ("openai_responses", "Unknown parameter: 'include'.", lacks("include")),
    ("openai_responses", "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
     lacks("reasoning")),
    ("openai_responses", "Unsupported parameter: max_output_tokens", lacks("max_output_tokens")),
    ("anthropic", "`temperature` is deprecated for this model.", lacks("temperature")),
    ("anthropic", "temperature: Extra inputs are not permitted", lacks("temperature")),
    ("anthropic", "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m",
     lambda b: b["max_tokens"] <= 4096),
    ("anthropic", "messages.1.content.0: Invalid `signature` in `thinking` block",
     lambda b: "thinking" not in str(b["messages"])),
]  # fmt: skip


@pytest.mark.parametrize(("api", "complaint", "wish"), OTHERS)
async def test_servers_of_the_other_dialects_too(api: str, complaint: str, wish: Wish) -> None:
    assert len(await asked(wish, complaint, api=api)) == 2


async def test_encrypted_thinking_that_cannot_be_verified_is_left_out() -> None:
    sealed = ReasoningPart(data="gAAA", id="rs_1", model="p/m")
    history = (user("a"), Message(role="assistant", parts=(sealed, TextPart(text="b")), model="p/m"), user("c"))
    said = "The encrypted content gAAA could not be verified."

    async with serve([picky(lambda b: "gAAA" not in str(b), said, 400)] * 2, strict=False) as server:
        model = provider(server.base_url, "openai_responses")
        async for _ in attempts(model, Request(model="m", system="", messages=history)):
            pass
        await model.aclose()
        assert ["gAAA" in str(r.body) for r in server.requests] == [True, False]


async def test_a_complaint_that_stays_is_told_and_not_repeated_for_ever() -> None:
    for said in (
        "temperature is not supported",
        "System role not supported",
        "messages.3: content cannot be empty",
        "max_tokens is not supported",
    ):
        async with serve([Fault("status", status=400, message=said, times=0)], strict=False) as server:
            model = provider(server.base_url, "openai_chat")
            with pytest.raises(BadRequest), anyio.fail_after(5):
                async for _ in attempts(model, REQUEST):
                    pass
            assert len(server.requests) <= 3, said
            await model.aclose()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "temperature is not supported for this key"),
        (402, "tools are not supported in the free plan"),
        (404, "The model `m` does not exist or you do not have access to it."),
        (404, "model 'stream_options' not found, try pulling it first"),
        (429, "Rate limit reached: temperature is not supported"),
        (400, "The maximum context length is 4096 tokens. Please reduce the length of the messages or max_tokens."),
        (400, "Invalid schema for function 'bash': object schema missing properties"),
        (400, "The value of messages is wrong"),
        (400, ""),
    ],
)  # fmt: skip
def test_what_is_no_complaint_of_the_way_of_asking_changes_nothing(status: int, said: str) -> None:
    fault = fault_of(status, {}, json.dumps({"error": {"message": said}}).encode(), "p/m")
    assert isinstance(fault, ProviderFault)
    info = ModelInfo(ref="p/m", provider="p", name="m")
    body = json.dumps(
        {"model": "m", "messages": [], "temperature": 1, "stream_options": {}, "max_tokens": 8192}
    ).encode()
    assert adapted(info, load_quirks("default"), fault, body) is None


def test_no_endpoint_with_tools_is_no_wrong_model() -> None:
    said = {"error": {"message": "No endpoints found that support tool use. Try disabling tools.", "code": 404}}
    fault = fault_of(404, {}, json.dumps(said).encode(), "p/m")
    assert isinstance(fault, Refused)
    change = adapted(ModelInfo(ref="p/m", provider="p", name="m"), load_quirks("openrouter"), fault, b"{}")
    assert change is not None
    assert not change.info.tools


@pytest.mark.parametrize("status", [400, 500])
def test_a_template_that_fails_is_no_overload(status: int) -> None:
    said = {"error": {"message": "Value is not callable: null at row 1, column 5 in the jinja template"}}
    assert isinstance(fault_of(status, {}, json.dumps(said).encode(), "p/m"), BadRequest)
