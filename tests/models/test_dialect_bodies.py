"""What is sent: valid whatever the history, canonical, and the same bytes as far as nothing changed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gongfu.core.messages import CallPart, ImagePart, Message, Part, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.models.anthropic_body import MessagesWriter
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Request
from gongfu.models.quirks import quirks_for
from gongfu.models.responses_body import ResponsesWriter

TOOL = ToolSpec(name="read", description="Reads.", parameters={"type": "object", "properties": {}})
CLAUDE = ModelInfo(ref="anthropic/claude-sonnet-4-5", provider="anthropic", name="claude-sonnet-4-5", window=200_000,
                   max_output=64_000, images=True, reasoning=True, source="catalog")  # fmt: skip
GPT = ModelInfo(ref="openai/gpt-5.1", provider="openai", name="gpt-5.1", window=400_000, max_output=128_000,
                images=True, reasoning=True, source="catalog")  # fmt: skip


def anthropic(request: Request, info: ModelInfo = CLAUDE) -> Any:
    quirks = quirks_for("https://api.anthropic.com/v1", info.name, api="anthropic")
    return json.loads(MessagesWriter(info, quirks).write(request).data)


def responses(request: Request, info: ModelInfo = GPT) -> Any:
    quirks = quirks_for("https://api.openai.com/v1", info.name, api="openai_responses")
    return json.loads(ResponsesWriter(info, quirks).write(request).data)


def ask(*messages: Message, **fields: Any) -> Request:
    return Request(model="m", messages=messages, **{"system": "Be brief.", "tools": (TOOL,)} | fields)


def assistant(*parts: Part, model: str = CLAUDE.ref) -> Message:
    return Message(role="assistant", parts=parts, model=model)


def call(id: str, **more: Any) -> CallPart:
    return CallPart(id=id, **{"name": "read", "arguments": '{"path": "a"}', "wire_id": f"w_{id}"} | more)


def results(*ids: str, **more: Any) -> Message:
    return Message(role="tool", parts=tuple(ResultPart(call_id=i, **{"text": f"result {i}"} | more) for i in ids))


SIGNED = ReasoningPart(text="thought", signature="sig==", model=CLAUDE.ref)
SEALED = ReasoningPart(data="sealed==", model=CLAUDE.ref)
PICTURE = ImagePart(media_type="image/png", data="aGk=", width=10, height=10)


def test_the_shape_of_a_messages_request() -> None:
    body = anthropic(
        ask(
            user("look", images=(PICTURE, ImagePart(url="https://x.example/a.png"))),
            assistant(SIGNED, SEALED, TextPart(text="I look."), call("c1"), call("c2")),
            results("c1"),
            Message(role="tool", parts=(ResultPart(call_id="c2", text="boom", status="failed", images=(PICTURE,)),)),
            user("go on", kind="steer"),
            max_output=4096,
            stop=("END", " "),
            temperature=0.5,
            top_p=0.9,
        )
    )
    assert list(body)[:4] == ["model", "system", "tools", "messages"]
    assert body["system"] == [{"type": "text", "text": "Be brief."}]
    assert body["tools"] == [{"name": "read", "description": "Reads.", "input_schema": TOOL.parameters}]
    first, second, third = body["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert first["content"][1]["source"] == source
    assert first["content"][2]["source"] == {"type": "url", "url": "https://x.example/a.png"}
    assert second["content"] == [
        {"type": "thinking", "thinking": "thought", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "sealed=="},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "w_c1", "name": "read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "w_c2", "name": "read", "input": {"path": "a"}},
    ]
    assert third["content"] == [
        {"type": "tool_result", "tool_use_id": "w_c1", "content": "result c1"},
        {"type": "tool_result", "tool_use_id": "w_c2", "is_error": True,
         "content": [{"type": "text", "text": "boom"}, {"type": "image", "source": source}]},
        {"type": "text", "text": "go on"},
    ]  # fmt: skip
    assert (body["max_tokens"], body["stream"], body["temperature"]) == (4096, True, 0.5)
    assert body["stop_sequences"] == ["END"]
    assert "top_p" not in body
    assert "thinking" not in body


def test_the_shape_of_a_responses_request() -> None:
    thought = ReasoningPart(text="thought", data="sealed==", id="rs_1", model=GPT.ref)
    body = responses(
        ask(
            user("look", images=(PICTURE,)),
            assistant(thought, TextPart(text="I look."), call("c1"), model=GPT.ref),
            results("c1"),
            assistant(thought, model=GPT.ref),  # what thinking led to is missing: it may not stand alone
            user("go on"),
            max_output=4096,
            reasoning="high",
            temperature=0.5,
        )
    )
    assert (body["store"], body["stream"], body["include"]) == (False, True, ["reasoning.encrypted_content"])
    assert (body["instructions"], body["max_output_tokens"]) == ("Be brief.", 4096)
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["tools"][0] | {"parameters": 0} == {
        "type": "function", "name": "read", "description": "Reads.", "parameters": 0, "strict": False,
    }  # fmt: skip
    assert "temperature" not in body
    assert body["input"] == [
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "thought"}],
         "encrypted_content": "sealed=="},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "call_id": "w_c1", "name": "read", "arguments": '{"path": "a"}'},
        {"type": "function_call_output", "call_id": "w_c1", "output": "result c1"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]},
    ]  # fmt: skip


def test_a_schema_in_both_dialects() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    request = ask(user("x"), schema=schema, schema_name="read", reasoning="high")
    body = anthropic(request)
    assert body["tool_choice"] == {"type": "tool", "name": "read_"}  # "read" is taken
    assert body["tools"][-1] == {"name": "read_", "description": "Give the answer.", "input_schema": schema}
    assert "thinking" not in body
    assert responses(request)["text"]["format"] == {
        "type": "json_schema", "name": "read", "schema": schema, "strict": True,
    }  # fmt: skip
    listed = anthropic(ask(user("x"), schema={"type": "array"}, tools=()))
    assert listed["tools"][0]["input_schema"]["properties"] == {"value": {"type": "array"}}


@pytest.mark.parametrize(
    ("name", "reasoning", "thinking", "more"),
    [
        ("claude-sonnet-4-5", "auto", None, {}),
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 2048}, {}),
        ("claude-sonnet-4-5", "high", {"type": "enabled", "budget_tokens": 4096}, {}),  # half of the output limit
        ("claude-opus-4-6", "auto", {"type": "adaptive"}, {}),
        ("claude-opus-4-6", "high", {"type": "adaptive"}, {"output_config": {"effort": "high"}}),
        ("claude-sonnet-5-5", "auto", {"type": "adaptive", "display": "summarized"}, {}),
        ("claude-sonnet-5-5", "off", None, {}),
        ("glm-4.6", "off", {"type": "disabled"}, {}),
    ],
)
def test_thinking_by_model(name: str, reasoning: str, thinking: Any, more: dict[str, Any]) -> None:
    info = replace(CLAUDE, name=name, ref=f"p/{name}")
    body = anthropic(ask(user("x"), max_output=8192, reasoning=reasoning, temperature=0.5), info)
    assert body.get("thinking") == thinking
    assert more.items() <= body.items()
    sampled = name == "claude-sonnet-4-5" or name == "glm-4.6"
    assert ("temperature" in body) == (sampled and (thinking or {"type": "disabled"})["type"] == "disabled")


def test_a_budget_of_thinking_that_cannot_be_kept_is_left_out() -> None:
    assert "thinking" not in anthropic(ask(user("x"), max_output=1500, reasoning="high"))
    foreign = ReasoningPart(text="t", signature="s", model="other/model")
    loop = [user("x"), assistant(foreign, call("c1"), model="other/model"), results("c1")]
    assert "thinking" not in anthropic(ask(*loop, reasoning="high"))  # the turn does not begin with thinking
    behind = Message(role="user", parts=(TextPart(text="and mind the tests"),), kind="steer")
    assert "thinking" not in anthropic(ask(*loop, behind, reasoning="high"))  # words by the way end no tool loop
    loop[1] = assistant(SIGNED, call("c1"))
    assert "thinking" in anthropic(ask(*loop, reasoning="high"))
    assert "thinking" in anthropic(ask(*loop, behind, reasoning="high"))


# --- cache marks ---------------------------------------------------------------------------------------------------


def marked(body: Any) -> list[str]:
    """Where marks stand: "system", "tools", or the numbers of message and block."""
    places = ["system" for b in body.get("system", []) if "cache_control" in b]
    places += ["tools" for t in body.get("tools", []) if "cache_control" in t]
    for n, message in enumerate(body["messages"]):
        places += [f"{n}.{m}" for m, b in enumerate(message["content"]) if "cache_control" in b]
    return places


def test_cache_marks() -> None:
    history = (
        user("a"),
        assistant(TextPart(text="b"), call("c1")),
        results("c1"),
        user("c"),
        assistant(SIGNED),
        user("d"),
    )
    assert marked(anthropic(ask(*history))) == []
    assert marked(anthropic(ask(*history, marks=(2,)))) == ["system", "2.0"]
    assert marked(anthropic(ask(*history, marks=(3,), system=""))) == ["tools", "2.1"]
    assert marked(anthropic(ask(*history, marks=(5,)))) == ["system", "2.2"]
    assert len(marked(anthropic(ask(*history, marks=(0, 1, 2, 3, 5, 99, -1))))) == 4
    end_of_thought = (user("a"), assistant(TextPart(text="b"), SIGNED), user("c"))
    assert marked(anthropic(ask(*end_of_thought, marks=(1,)))) == ["system", "1.0"]


# --- whatever the history ------------------------------------------------------------------------------------------

TEXTS = st.sampled_from(["", " ", "hello", "中文", "x\ud800y", "\x00"])
IDS = st.sampled_from(["c1", "c2", "c3", "c4"])
PARTS: st.SearchStrategy[Part] = st.one_of(
    TEXTS.map(lambda t: TextPart(text=t)),
    st.builds(
        lambda t, s, d, m: ReasoningPart(text=t, signature=s, data=d, model=m),
        TEXTS, st.sampled_from(["", "s"]), st.sampled_from(["", "d"]), st.sampled_from([CLAUDE.ref, GPT.ref, ""]),
    ),
    st.builds(
        lambda i, w, n, a: CallPart(id=i, wire_id=w, name=n, arguments=a),
        IDS, st.sampled_from(["", "same", "bash:0", "\ud800"]),
        st.sampled_from(["read", "", "no such name!", "x" * 99]),
        st.sampled_from(["{}", '{"a": 1.10}', "", "not json", "[1]"]),
    ),
)  # fmt: skip
RESULTS = st.builds(
    lambda i, t, s: ResultPart(call_id=i, text=t, status=s), IDS, TEXTS, st.sampled_from(["done", "failed"])
)
MESSAGES = st.lists(
    st.one_of(
        st.lists(TEXTS.map(lambda t: TextPart(text=t)), max_size=2).map(lambda p: Message(role="user", parts=tuple(p))),
        st.lists(PARTS, max_size=4).map(lambda p: assistant(*p)),
        st.lists(PARTS, max_size=4).map(lambda p: assistant(*p, model=GPT.ref)),
        st.lists(RESULTS, min_size=1, max_size=3).map(lambda p: Message(role="tool", parts=tuple(p))),
    ),
    max_size=8,
)


@settings(max_examples=120, deadline=None)
@given(MESSAGES, st.lists(st.integers(0, 7), max_size=5), st.sampled_from(["auto", "high"]))
def test_any_history_makes_a_valid_messages_request(history: list[Message], marks: list[int], reasoning: str) -> None:
    body = anthropic(ask(*history, marks=tuple(marks), reasoning=reasoning))
    messages = body["messages"]
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    assert messages[-1]["role"] == "user"
    assert len(marked(body)) <= 4
    seen: set[str] = set()
    for n, message in enumerate(messages):
        blocks = message["content"]
        assert blocks
        assert all(b["text"].strip() for b in blocks if b["type"] == "text")
        calls = [b for b in blocks if b["type"] == "tool_use"]
        assert not seen & {b["id"] for b in calls}
        seen |= {b["id"] for b in calls}
        assert all(isinstance(b["input"], dict) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", b["name"]) for b in calls)
        if calls:
            after = messages[n + 1]["content"][: len(calls)]
            assert [b.get("tool_use_id") for b in after] == [b["id"] for b in calls]
        wanted = [b["id"] for b in messages[n - 1]["content"] if b["type"] == "tool_use"] if n else []
        assert [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"] == wanted
        thoughts = [b for b in blocks if b["type"] == "thinking"]
        assert all(b["signature"] and "cache_control" not in b for b in thoughts)


@settings(max_examples=80, deadline=None)
@given(MESSAGES)
def test_any_history_makes_a_valid_responses_request(history: list[Message]) -> None:
    items = responses(ask(*history))["input"]
    calls = [i["call_id"] for i in items if i["type"] == "function_call"]
    assert len(set(calls)) == len(calls)
    assert sorted(i["call_id"] for i in items if i["type"] == "function_call_output") == sorted(calls)
    for n, item in enumerate(items):
        if item["type"] == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", item["name"])
        if item["type"] == "reasoning":
            assert item["encrypted_content"]
            assert items[n + 1]["type"] in ("message", "function_call", "reasoning")


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
def test_a_longer_history_begins_with_the_same_bytes(dialect: str) -> None:
    info = CLAUDE if dialect == "anthropic" else GPT
    quirks = quirks_for(
        "https://x.example/v1", info.name, api="anthropic" if dialect == "anthropic" else "openai_responses"
    )
    writer = MessagesWriter(info, quirks) if dialect == "anthropic" else ResponsesWriter(info, quirks)
    fresh = MessagesWriter if dialect == "anthropic" else ResponsesWriter
    history: list[Message] = [user("begin")]
    last = b""
    for n in range(30):
        request = ask(*history, max_output=8000 - n)
        body = writer.write(request).data
        assert body == fresh(info, quirks).write(request).data  # what is kept between requests changes nothing
        stable = body[: body.rindex(b"]}]," if dialect == "anthropic" else b"}],")]
        assert body.startswith(last)
        last = stable
        sealed = replace(SIGNED, model=info.ref, data="" if dialect == "anthropic" else "sealed")
        history += [assistant(sealed, TextPart(text=f"step {n}"), call(f"c{n}"), model=info.ref), results(f"c{n}")]


def test_a_call_made_through_another_goes_back_in_the_shape_it_came_in() -> None:
    inner = call("c1", name="git_log", arguments='{"limit": 3}', via="use_tool")
    history = (user("go"), assistant(inner), results("c1"), user("on"))
    block = next(b for m in anthropic(ask(*history))["messages"] for b in m["content"] if b["type"] == "tool_use")
    wrapped = {"name": "git_log", "arguments": {"limit": 3}}
    assert (block["name"], block["input"]) == ("use_tool", wrapped)
    item = next(i for i in responses(ask(*history))["input"] if i["type"] == "function_call")
    assert (item["name"], json.loads(item["arguments"])) == ("use_tool", wrapped)
    quirks = quirks_for("https://api.openai.com/v1", "gpt-5.1", api="openai_chat")
    chat = json.loads(BodyWriter(GPT, quirks).write(ask(*history)).data)
    sent = next(m for m in chat["messages"] if m.get("tool_calls"))["tool_calls"][0]["function"]
    assert (sent["name"], json.loads(sent["arguments"])) == ("use_tool", wrapped)
