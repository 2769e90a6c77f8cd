"""Addresses and dialects of the providers that need no settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gongfu.models.known import CLOUD, SERVERS, address_in, api_of, known, model_in
from gongfu.models.scripted import script_of


def test_names_and_aliases_lead_to_one_provider() -> None:
    every = [n for k in (*CLOUD, *SERVERS) for n in (k.name, *k.aliases)]
    assert len(every) == len(set(every))
    for name in every:
        found = known(name.upper())
        assert found
        assert name in (found.name, *found.aliases)
    assert known("nobody") is None


@pytest.mark.parametrize(
    ("provider", "env", "address"),
    [
        ("openai", {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}, "http://127.0.0.1:9/v1"),
        ("openai", {"OPENAI_BASE_URL": "http://127.0.0.1:9"}, "http://127.0.0.1:9/v1"),
        ("openai", {"OPENAI_API_BASE": "https://x.example/api"}, "https://x.example/api"),
        ("openai", {"OPENAI_BASE_URL": "  "}, ""),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "http://127.0.0.1:9/v1"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "https://a.example/anthropic/"}, "https://a.example/anthropic/v1"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "https://a.example/v1"}, "https://a.example/v1"),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "box:11500"}, "http://box:11500/v1"),
        ("ollama", {"OLLAMA_HOST": "https://box.example:443"}, "https://box.example:443/v1"),
        ("moonshot", {"KIMI_BASE_URL": "https://api.moonshot.ai/v1"}, "https://api.moonshot.ai/v1"),
    ],
)
def test_addresses_in_the_environment(provider: str, env: dict[str, str], address: str) -> None:
    found = known(provider)
    assert found
    assert address_in(env, found) == address


def test_only_openai_itself_is_spoken_to_in_responses() -> None:
    openai, anthropic = known("openai"), known("anthropic")
    assert openai
    assert anthropic
    assert api_of(openai, openai.base_url) == "openai_responses"
    assert api_of(openai, "http://127.0.0.1:9/v1") == "openai_chat"
    assert api_of(anthropic, "http://127.0.0.1:9/v1") == "anthropic"


def test_the_model_may_be_named_in_the_environment() -> None:
    openai = known("openai")
    assert openai
    assert model_in({"OPENAI_MODEL": "mine"}, openai) == "mine"
    assert model_in({}, openai) == openai.model


def test_every_cloud_provider_has_a_default_model_and_a_key() -> None:
    assert all(k.model and k.keys and k.addresses for k in CLOUD)
    assert all(k.port and not k.model for k in SERVERS)


@pytest.mark.parametrize("page", ["docs/models.md", "docs/zh/models.md"])
def test_the_order_in_the_documentation_is_the_real_one(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [k.name for k in (*CLOUD, *SERVERS)]
    for row, provider in zip(rows, (*CLOUD, *SERVERS), strict=True):
        told = [*provider.aliases, *provider.addresses]
        told += [str(provider.port)] if provider.port else [*provider.keys, f"`{provider.model}`"]
        assert all(word in row for word in told), row
    script = text.partition("```json\n")[2].partition("```")[0]
    assert len(script_of(json.loads(script))) == 3
