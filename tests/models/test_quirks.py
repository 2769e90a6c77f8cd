"""Every table of oddities: it loads, it is found, and the recorded stream of its server is read with it."""

from __future__ import annotations

import json
from contextlib import aclosing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.errors import UsageError
from gongfu.core.messages import ReasoningPart, user
from gongfu.core.specs import ModelInfo
from gongfu.models import quirks as tables
from gongfu.models.anthropic import Anthropic
from gongfu.models.known import CLOUD, SERVERS
from gongfu.models.openai_chat import OpenAIChat
from gongfu.models.protocol import Answer, Prepared, Request
from gongfu.models.quirks import fits, for_model, load_quirks, quirk_names, quirks_for
from gongfu.models.transport import Transport
from tests.bugs.streams import BASH, READ, read, splits
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio

STREAMS = Path(__file__).parent / "fixtures" / "streams"
THINKING = {
    "anthropic",
    "deepseek",
    "qwen",
    "kimi",
    "glm",
    "minimax",
    "mistral",
    "openrouter",
    "ollama",
    "vllm",
    "llamacpp",
}
CACHED = {"openai", "anthropic", "deepseek", "qwen", "kimi", "glm", "minimax", "openrouter"}
WRITTEN = {"lmstudio", "vllm"}
IDS = {
    "openai": "call_9aXcV", "anthropic": "toolu_1", "anthropic_compat": "toolu_01XyZ", "deepseek": "call_00_aB",
    "qwen": "call_f1", "kimi": "bash:0", "glm": "call_-8", "minimax": "call_function_1", "gemini": "jm4owj31",
    "mistral": "ABCdef123", "openrouter": "toolu_1", "ollama": "call_k1", "llamacpp": "aBcDeF",
}  # fmt: skip


def stream(name: str) -> bytes:
    return (STREAMS / load_quirks(name).fixture).read_bytes()


def check(name: str, answer: Answer) -> None:
    """What every fixture says: some thinking, one sentence, two calls, the same number of tokens."""
    message = answer.message
    assert message.text.strip() == "I'll look around."
    assert [(c.name, json.loads(c.arguments)) for c in message.calls] == [
        ("bash", {"command": "ls -la src"}),
        ("read_file", {"path": "src/main.py", "limit": 40}),
    ]
    assert not any(c.problem for c in message.calls)
    assert [c.recovered for c in message.calls] == [name in WRITTEN] * 2
    assert message.calls[0].wire_id == IDS.get(name, "")
    assert answer.finish == "calls"
    assert (answer.usage.input, answer.usage.output) == (1203, 48)
    assert answer.usage.cached == (1024 if name in CACHED else 0)
    thought = "".join(p.text for p in message.parts if isinstance(p, ReasoningPart))
    assert thought == ("Look first。" if name in THINKING else "")


@pytest.mark.parametrize("name", quirk_names())
async def test_the_recorded_stream_of_each_server_is_read_over_the_wire(name: str) -> None:
    quirks = load_quirks(name)

    async def answer(exchange: Exchange) -> None:
        data = stream(name)
        await exchange.stream(*(data[n : n + 97] for n in range(0, len(data), 97)))

    info = ModelInfo(ref=f"{name}/m", provider=name, name="m", window=100_000, max_output=4096)
    async with raw_server(answer) as server:
        transport = Transport(f"{server.url}/v1", env={})
        adapter = (Anthropic if quirks.api == "anthropic" else OpenAIChat)(info, transport, quirks)
        deltas: list[Any] = []
        request = Request(model=info.ref, system="s", messages=(user("look"),), tools=(BASH, READ))
        async with aclosing(adapter.complete(request)) as answers:
            async for delta in answers:
                deltas.append(delta)
        await adapter.aclose()
    assert isinstance(deltas[0], Prepared)
    assert server.requests[0].body == deltas[0].body
    assert server.requests[0].target == f"/v1{quirks.path}"
    check(name, deltas[-1])


@pytest.mark.parametrize("name", [n for n in quirk_names() if n != "anthropic"])
def test_the_recorded_stream_cut_in_many_places(name: str) -> None:
    data = stream(name)
    whole = read(data, quirks=load_quirks(name))
    check(name, whole.whole)
    step = len(data) // 100 + 1  # every byte is cut in tests/bugs; here a hundred places and all at once
    for number, pieces in enumerate(splits(data)):
        if number % step == 0 or len(pieces) > 2:
            assert read(*pieces, quirks=load_quirks(name)) == whole


def test_a_growing_stream_is_not_told_twice() -> None:
    lines = [{"choices": [{"delta": {"content": t, "reasoning_details": [{"type": "reasoning.text", "text": r}]}}]}
             for t, r in (("", "a"), ("", "a b"), ("x", "a b"), ("x y", "a b"), ("x y z", "a b"))]  # fmt: skip
    data = "".join(f"data: {json.dumps(line)}\n\n" for line in lines).encode() + b"data: [DONE]\n\n"
    seen = read(data, quirks=load_quirks("minimax"))
    assert (seen.text, seen.thought) == ("x y z", "a b")


def test_every_table_says_who_it_is_and_what_proves_it() -> None:
    for name in quirk_names():
        table = load_quirks(name)
        assert (table.name, (STREAMS / table.fixture).is_file()) == (name, True)
        assert table.title
        assert table.notes
        assert name == "default" or (table.base_url and table.keys)
        for variant in table.variants:
            for_model(table, variant.models[0].replace("*", "x"))


@pytest.mark.parametrize(
    ("base_url", "model", "name"),
    [
        ("https://api.openai.com/v1", "gpt-5", "openai"),
        ("https://my.openai.azure.com/openai/v1", "x", "openai"),
        ("https://api.deepseek.com", "deepseek-chat", "deepseek"),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3-max", "qwen"),
        ("https://api.moonshot.ai/v1", "kimi-k2", "kimi"),
        ("https://api.z.ai/api/coding/paas/v4", "glm-4.6", "glm"),
        ("https://api.minimax.io/v1", "MiniMax-M2", "minimax"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro", "gemini"),
        ("https://api.mistral.ai/v1", "devstral", "mistral"),
        ("https://openrouter.ai/api/v1", "deepseek/deepseek-chat", "openrouter"),
        ("http://127.0.0.1:11434/v1", "qwen3:8b", "ollama"),
        ("http://192.168.1.5:1234/v1", "any", "lmstudio"),
        ("http://localhost:8000/v1", "any", "vllm"),
        ("http://[::1]:8080/v1", "any", "llamacpp"),
        ("https://proxy.example.org/v1", "moonshotai/Kimi-K2-Thinking", "kimi"),
        ("https://proxy.example.org/v1", "MiniMax-M2", "minimax"),
        ("https://proxy.example.org/v1", "claude-sonnet-4-5", "anthropic_compat"),
        ("https://proxy.example.org/v1", "bench", "default"),
        ("", "", "default"),
    ],
)
def test_a_table_is_found_by_address_or_by_the_models_name(base_url: str, model: str, name: str) -> None:
    assert quirks_for(base_url, model).name == name


def test_the_native_dialect_has_its_own_table() -> None:
    assert quirks_for("https://api.anthropic.com/v1", "claude-opus-5", api="anthropic").name == "anthropic"
    assert quirks_for("https://api.anthropic.com/v1", "claude-opus-5").name == "anthropic_compat"
    assert quirks_for("https://api.openai.com/v1", "gpt-5", api="openai_responses").name == "openai"


def test_a_name_or_an_alias_wins_and_an_unknown_one_is_told() -> None:
    assert quirks_for("https://api.openai.com/v1", "x", name="vllm").name == "vllm"
    for known in (*CLOUD, *SERVERS):
        assert load_quirks(known.name).name in quirk_names()
    with pytest.raises(UsageError, match="no table of oddities called 'nonsense'"):
        load_quirks("nonsense")
    with pytest.raises(UsageError):
        load_quirks("../quirks")


def sent(name: str, model: str = "m", *, source: str = "", reasoning: bool = True, **request: Any) -> dict[str, Any]:
    """The body for a request, without its messages."""
    from gongfu.models.chat_body import BodyWriter

    info = ModelInfo(ref=f"p/{model}", provider="p", name=model, reasoning=reasoning, source=source, max_output=900)
    writer = BodyWriter(info, for_model(load_quirks(name), model))
    body = json.loads(writer.write(Request(model=info.ref, system="s", messages=(user("x"),), **request)).data)
    body["roles"] = [m["role"] for m in body.pop("messages")]
    return body


def test_what_reasoning_models_of_openai_do_not_take() -> None:
    body = sent("openai", "gpt-5.1", temperature=0.5, top_p=0.9, stop=("x",))
    assert not {"temperature", "top_p", "stop", "max_tokens"} & set(body)
    assert body["max_completion_tokens"] == 900
    assert body["roles"][0] == "developer"
    plain = sent("openai", "gpt-4.1", temperature=0.5, stop=("x",))
    assert (plain["temperature"], plain["stop"], plain["roles"][0]) == (0.5, ["x"], "system")


def test_settings_of_thinking_are_written_in_the_servers_words() -> None:
    def thinks(name: str, model: str, setting: str, **more: Any) -> dict[str, Any]:
        from gongfu.models.chat_body import BodyWriter

        info = ModelInfo(ref=f"p/{model}", provider="p", name=model, **{"reasoning": True, "source": "x", **more})
        writer = BodyWriter(info, for_model(load_quirks(name), model))
        return json.loads(writer.write(Request(model=info.ref, system="", messages=(), reasoning=setting)).data)

    assert thinks("openai", "gpt-5.1", "off")["reasoning_effort"] == "none"
    assert thinks("openai", "gpt-5", "off")["reasoning_effort"] == "minimal"
    assert thinks("deepseek", "deepseek-v4-pro", "high")["reasoning_effort"] == "max"
    assert thinks("qwen", "qwen3.7-plus", "off")["enable_thinking"] is False
    assert thinks("glm", "glm-5.3", "auto")["thinking"] == {"type": "enabled", "clear_thinking": False}
    assert thinks("openrouter", "x/y", "low")["reasoning"] == {"effort": "low"}
    assert thinks("vllm", "x", "off")["chat_template_kwargs"]["enable_thinking"] is False
    assert "reasoning_effort" not in thinks("default", "x", "high")
    assert "reasoning_effort" not in thinks("openai", "gpt-5.1", "high", reasoning=False)


def test_structured_answers_are_asked_for_as_the_server_can() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    asked = sent("openai", schema=schema)["response_format"]
    assert asked["json_schema"] == {"name": "answer", "schema": schema, "strict": True}
    assert sent("deepseek", schema=schema)["response_format"] == {"type": "json_object"}
    assert "response_format" not in sent("minimax", schema=schema)
    assert "response_format" not in sent("qwen", schema=schema, tools=(BASH,))


def test_what_else_differs() -> None:
    assert "stream_options" not in sent("mistral")
    assert sent("default")["stream_options"] == {"include_usage": True}
    assert sent("qwen", tools=(BASH,))["parallel_tool_calls"] is True
    assert sent("glm", tools=(BASH,))["tool_choice"] == "auto"
    assert sent("openai", tools=(BASH,))["tools"][0]["function"]["strict"] is False
    assert sent("kimi", temperature=1.7)["temperature"] == 1.0
    assert sent("minimax")["reasoning_split"] is True
    assert sent("anthropic_compat")["max_tokens"] == 900


def test_a_cache_is_marked_where_it_must_be() -> None:
    from gongfu.models.chat_body import BodyWriter

    def contents(model: str, marks: tuple[int, ...]) -> list[Any]:
        info = ModelInfo(ref=f"p/{model}", provider="p", name=model)
        writer = BodyWriter(info, for_model(load_quirks("openrouter"), model))
        asked = Request(model=info.ref, system="s", messages=(user("a"), user("b")), marks=marks)
        return [m["content"] for m in json.loads(writer.write(asked).data)["messages"]]

    mark = {"cache_control": {"type": "ephemeral"}}
    assert contents("anthropic/claude-sonnet-4.5", (1,)) == [
        [{"type": "text", "text": "s", **mark}],
        "a",
        [{"type": "text", "text": "b", **mark}],
    ]
    assert contents("anthropic/claude-sonnet-4.5", ()) == ["s", "a", "b"]
    assert contents("deepseek/deepseek-chat", (1,)) == ["s", "a", "b"]


WORDS = st.text("ab.-*", max_size=8)


@given(WORDS.map(lambda text: text.replace("*", "")), WORDS)
def test_a_star_stands_for_anything(text: str, pattern: str) -> None:
    assert fits(text, pattern) == fnmatchcase(text, pattern)


def test_no_table_uses_more_than_stars() -> None:
    for name in quirk_names():
        table = json.loads((Path(tables.__file__).parent / "quirks" / f"{name}.json").read_bytes())
        patterns = [*table.get("hosts", ()), *table.get("models", ())]
        patterns += [p for variant in table.get("variants", ()) for p in variant["models"]]
        assert not {*"?[]"} & {*"".join(patterns)}, name
