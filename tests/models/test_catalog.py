"""Facts of models: by name, whoever serves it and however it is written; refreshed from what providers tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gongfu.core.errors import BadRequest
from gongfu.core.specs import Price
from gongfu.models.catalog import SNAPSHOT_TIME, Facts, Refreshed, Told, lookup, read_refreshed
from gongfu.models.listing import facts_of, names_of


@pytest.mark.parametrize(
    ("provider", "name", "window", "output", "price"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000, 64_000, 3.0),
        ("openrouter", "anthropic/claude-sonnet-4.5", 200_000, 64_000, 3.0),
        ("bedrock", "us.anthropic.claude-opus-4-1-20250805-v1:0", 200_000, 32_000, 15.0),
        ("openai", "gpt-4o-2024-08-06", 128_000, 16_384, 2.5),
        ("openai", "gpt-4o-mini", 128_000, 16_384, 0.15),
        ("openai", "gpt-4.1", 1_047_576, 32_768, 2.0),
        ("openai", "gpt-4-0613", 8_192, 4_096, 30.0),
        ("deepseek", "deepseek-chat", 131_072, 8_192, 0.28),
        ("dashscope", "qwen3-coder-plus-2025-07-22", 1_000_000, 65_536, 1.0),
        ("moonshot", "kimi-k2-0905-preview", 262_144, 32_768, 0.6),
        ("zhipu", "GLM-4.5-Air", 131_072, 98_304, 0.2),
        ("minimax", "MiniMax-M2", 204_800, 131_072, 0.3),
        ("gemini", "models/gemini-2.5-flash-lite-preview-09", 1_048_576, 65_536, 0.1),
        ("mistral", "devstral-medium-latest", 262_144, 65_536, 0.4),
        ("lmstudio", "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf", 262_144, 65_536, 0.0),
        ("ollama", "llama3.1:8b", 131_072, 8_192, 0.0),
        ("openrouter", "z-ai/glm-4.6:free", 200_000, 128_000, 0.0),
    ],
)
def test_a_model_is_known_under_its_many_names(
    provider: str, name: str, window: int, output: int, price: float
) -> None:
    info = lookup(provider, name)
    assert (info.window, info.max_output, info.price.input) == (window, output, price)
    assert (info.ref, info.provider, info.name) == (f"{provider}/{name}", provider, name)
    assert info.source == "catalog"


def test_abilities() -> None:
    assert lookup("anthropic", "claude-opus-4-5").images
    assert lookup("deepseek", "deepseek-chat").reasoning_back == "tool_rounds"
    assert lookup("moonshot", "kimi-k2-thinking").reasoning_back == "always"
    assert lookup("openai", "gpt-4o").reasoning_back == "never"
    small = lookup("ollama", "qwen2.5-coder:1.5b")
    assert small.small
    assert not small.tools
    assert not lookup("ollama", "qwen2.5-coder:32b").small


def test_an_unknown_model_says_that_it_is() -> None:
    info = lookup("someone", "no-such-model")
    assert (info.window, info.source, info.price) == (0, "", Price())
    assert info.tools


def test_what_the_provider_told_wins_unless_it_is_older(tmp_path: Path) -> None:
    import msgspec

    file = tmp_path / "catalog.json"
    told = {"GPT-4o": Facts(window=500_000, price=Price(input=1.0, output=2.0)), "new": Facts(window=9_999)}
    for time, window in ((SNAPSHOT_TIME + 1, 500_000), (SNAPSHOT_TIME - 1, 128_000)):
        file.write_bytes(msgspec.json.encode(Refreshed(providers={"p": Told(time=time, models=told)})))
        info = lookup("p", "gpt-4o", file=file)
        assert info.window == window
        assert info.images
        assert info.source == "provider"
        assert lookup("p", "new", file=file).window == 9_999
        assert lookup("q", "gpt-4o", file=file).window == 128_000


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"providers": 3}', b"\xff"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "catalog.json"
    file.write_bytes(damage)
    assert read_refreshed(file) == Refreshed()
    assert lookup("openai", "gpt-4o", file=file).window == 128_000


LISTS = {
    "openrouter": (
        {"data": [{"id": "a/b", "context_length": 200000,
                   "architecture": {"input_modalities": ["text", "image"]},
                   "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
                   "top_provider": {"max_completion_tokens": 64000},
                   "supported_parameters": ["tools", "reasoning"]}]},
        Facts(window=200_000, max_output=64_000, price=Price(input=3.0, cached=0.3, output=15.0), images=True,
              tools=True, reasoning=True),
    ),
    "mistral": ({"data": [{"id": "a/b", "max_context_length": 32768, "capabilities": {"function_calling": False,
                 "vision": True}}]}, Facts(window=32_768, images=True, tools=False)),
    "moonshot": ({"data": [{"id": "a/b", "context_length": 262144, "supports_image_in": True,
                 "supports_reasoning": True}]}, Facts(window=262_144, images=True, reasoning=True)),
    "vllm": ({"data": [{"id": "a/b", "max_model_len": 4096}]}, Facts(window=4_096)),
    "llamacpp": ({"data": [{"id": "a/b", "meta": {"n_ctx_train": 32768, "n_ctx": 8192}}]}, Facts(window=8_192)),
    "groq": ({"data": [{"id": "a/b", "context_window": 131072, "max_completion_tokens": 32768}]},
             Facts(window=131_072, max_output=32_768)),
    "together": ([{"id": "a/b", "context_length": 4096, "pricing": {"input": 0.9, "output": 1.1}}],
                 Facts(window=4_096, price=Price(input=0.9, output=1.1))),
    "gemini": ({"models": [{"name": "models/a/b", "inputTokenLimit": 1048576, "outputTokenLimit": 65536}]},
               Facts(window=1_048_576, max_output=65_536)),
    "auto": ({"data": [{"id": "a/b", "context_length": 2000000, "pricing": {"prompt": "-1", "completion": "-1"}}]},
             Facts(window=2_000_000)),
}  # fmt: skip


@pytest.mark.parametrize("shape", LISTS)
def test_the_shapes_of_lists(shape: str) -> None:
    answer, facts = LISTS[shape]
    body = json.dumps(answer).encode()
    assert facts_of(body) == {"a/b": facts}
    assert names_of(body) == ["a/b"]


def test_names_alone_tell_nothing() -> None:
    body = json.dumps({"object": "list", "data": [{"id": "a", "object": "model"}, {"id": None}, "x", {}]}).encode()
    assert facts_of(body) == {}
    assert names_of(body) == ["a"]
    for wrong in (b"<html>", b"3", b'{"data": 3}', b""):
        with pytest.raises(BadRequest):
            names_of(wrong)
