"""What a written model means."""

from __future__ import annotations

import pytest

from gongfu.config.settings import ModelSettings, Provider, Settings
from gongfu.core.errors import UsageError
from gongfu.core.specs import ModelInfo, Price
from gongfu.models.refs import merged, resolve

OPENAI_ADDRESS = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
MINE = Settings(providers={"mine": Provider(base_url="http://127.0.0.1:9/v1")})
TWO = Settings(providers={"a": Provider(base_url="http://x/v1"), "b": Provider(base_url="http://y/v1")})


@pytest.mark.parametrize(
    ("ref", "settings", "env", "provider", "model"),
    [
        ("deepseek/deepseek-chat", Settings(), {}, "deepseek", "deepseek-chat"),
        ("openrouter/meta/llama-4/x", Settings(), {}, "openrouter", "meta/llama-4/x"),
        ("kimi/k2", Settings(), {}, "kimi", "k2"),
        ("ollama/qwen3:8b", Settings(), OPENAI_ADDRESS, "ollama", "qwen3:8b"),
        ("mine/some/model", MINE, {}, "mine", "some/model"),
        ("deepseek", Settings(), {}, "deepseek", "deepseek-v4-flash"),
        ("deepseek", Settings(), {"DEEPSEEK_MODEL": "deepseek-x"}, "deepseek", "deepseek-x"),
        ("bench-model", Settings(), OPENAI_ADDRESS, "openai", "bench-model"),
        ("bench-model", Settings(), OPENAI_ADDRESS | {"DEEPSEEK_API_KEY": "k"}, "openai", "bench-model"),
        ("bench-model", Settings(), {"DEEPSEEK_API_KEY": "k"}, "deepseek", "bench-model"),
        ("bench-model", MINE, {"DEEPSEEK_API_KEY": "k"}, "mine", "bench-model"),
        ("claude-x", Settings(), {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "anthropic", "claude-x"),
        ("gpt-x", Settings(), {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "openai", "gpt-x"),
        ("deepseek/deepseek-r1", Settings(), {"OPENROUTER_API_KEY": "k"}, "openrouter", "deepseek/deepseek-r1"),
        ("Qwen/Qwen3-32B", Settings(), OPENAI_ADDRESS, "openai", "Qwen/Qwen3-32B"),
        ("zai-org/GLM-9", Settings(), OPENAI_ADDRESS, "openai", "zai-org/GLM-9"),
        ("deepseek/x", Settings(), {"OPENROUTER_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}, "deepseek", "x"),
        ("local", Settings(), OPENAI_ADDRESS, "local", ""),
        ("local/qwen2.5-coder-0.5b", Settings(), {}, "local", "qwen2.5-coder-0.5b"),
        ("scripted:/a/b c.yaml", Settings(), {}, "scripted", "/a/b c.yaml"),
    ],
)
def test_references(ref: str, settings: Settings, env: dict[str, str], provider: str, model: str) -> None:
    target = resolve(ref, settings, env)
    assert (target.provider, target.model) == (provider, model)
    assert target.written == ref


@pytest.mark.parametrize(
    ("ref", "settings", "env", "told"),
    [
        ("depseek/deepseek-chat", Settings(), {}, "Did you mean deepseek"),
        ("depseek/deepseek-chat", Settings(), OPENAI_ADDRESS, "Did you mean deepseek"),
        ("olama/qwen3", MINE, {}, "Did you mean ollama"),
        ("anthropc", Settings(), {}, "Did you mean anthropic"),
        ("bench-model", Settings(), {}, r"No provider is known.*deepseek.*under `providers`"),
        ("bench-model", TWO, {}, r"write it as provider/model.*a/bench-model"),
        ("x", Settings(), {"DEEPSEEK_API_KEY": "k", "OPENAI_API_KEY": "k"}, "provider/model"),
    ],
)
def test_what_means_nothing_is_told(ref: str, settings: Settings, env: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=f"(?i){told}") as caught:
        resolve(ref, settings, env)
    assert caught.value.code == 2
    assert "othing was sent" in str(caught.value)


def test_settings_win_over_the_catalog() -> None:
    info = ModelInfo(ref="a/b", provider="a", name="b", window=100, max_output=10, price=Price(input=1.0, cached=0.1))
    given = ModelSettings(window=50, max_output_tokens=5, supports_images=True, supports_tools=False, output_price=2.0)
    got = merged(info, given)
    assert (got.window, got.max_output, got.images, got.tools) == (50, 5, True, False)
    assert got.price == Price(input=1.0, cached=0.1, output=2.0)
    assert merged(info, None) == info
    assert merged(info, None, window=7).window == 7
    assert merged(info, given, window=7).window == 50
