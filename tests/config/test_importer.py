"""A configuration of tea_agent becomes ours, and nothing of it is lost unseen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.config.document import Document
from gongfu.config.importer import import_file
from gongfu.config.load import Flags, load
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.errors import ConfigError, UsageError, UserError

from .conftest import write

OLD = """\
# my models
main_model:
  api_key: sk-main-0123456789
  api_url: https://api.deepseek.com/v1
  model_name: deepseek-chat
  temperature: 0.3
  max_tokens: 8192
  max_context_tokens: 65536
  tool_profile: core
  options: {supports_vision: true, reasoning_effort: high, stream: yes}
cheap_model:
  api_key: ${CHEAP_KEY}
  base_url: http://localhost:11434/v1
  model: qwen3:4b
embedding:
  api_key: sk-main-0123456789
  api_url: https://api.deepseek.com/v1
  model_name: bge-m3
  dimensions: 1024
max_iterations: 120
max_tool_output: 65536
keep_turns: 12
paths: {db_path: /old/chat.db}
api_headers: {api.deepseek.com: {X-Team: red}, other.example: {X-Other: hidden}}
tokens: {secret_key: sk-other-0123456789}
"""


def taken_over(tmp_path: Path, text: str) -> tuple[Settings, str, tuple[str, ...], tuple[str, ...]]:
    done = import_file(write(tmp_path / "old.yaml", text))
    home = Places(home=tmp_path / "home")
    write(home.config, done.text)
    env = {"CHEAP_KEY": "k"}
    loaded = load(home, project=None, project_trusted=False, env=env, flags=Flags())
    return loaded.settings, done.text, done.taken, done.not_taken


def test_models_keys_and_limits_are_taken(tmp_path: Path) -> None:
    settings, text, taken, left = taken_over(tmp_path, OLD)
    assert settings.models.main == ("deepseek/deepseek-chat",)
    assert settings.models.fast == ("ollama/qwen3:4b",)
    assert settings.models.embedding == "deepseek/bge-m3"
    assert settings.providers["deepseek"].api_key == "sk-main-0123456789"
    assert settings.providers["deepseek"].headers == {"X-Team": "red"}
    assert settings.providers["ollama"].api_key == "k"
    about = settings.model_settings["deepseek/deepseek-chat"]
    assert (about.temperature, about.max_output_tokens, about.window) == (0.3, 8192, 65536)
    assert (about.supports_images, about.reasoning) == (True, "high")
    assert (settings.limits.max_steps, settings.context.max_tool_output) == (120, 65536)
    assert left == (
        'api_headers."other.example".X-Other',
        "embedding.dimensions",
        "keep_turns",
        "main_model.options.stream",
        "main_model.tool_profile",
        "paths.db_path",
        "tokens.secret_key",
    )
    assert "max_iterations" in taken
    assert "#   paths.db_path: /old/chat.db" in text
    assert "#   keep_turns: 12" in text
    assert "sk-other" not in text, "a secret that is not taken is not copied into a comment"
    assert "hidden" not in text


def test_the_newer_file_with_providers_and_roles(tmp_path: Path) -> None:
    settings, _, _, left = taken_over(
        tmp_path,
        "version: 1\nproviders:\n"
        "  DeepSeek: {api_url: https://api.deepseek.com, api_keys: [sk-1], default_model: x,\n"
        "    models: {deepseek-chat: {max_context_tokens: 128000, supports_tools: true, supports_vision: false}}}\n"
        "  内网 vLLM: {api_url: http://10.0.0.5:8000/v1, api_key: none, models: {}}\n"
        "  Empty: {description: nothing}\n"
        "roles: {main: {provider: DeepSeek, model: deepseek-chat, updated_at: now},"
        " cheap: {provider: 内网 vLLM, model: q}}\n"
        "settings: {max_iterations: 50, reasoning_effort: none}\n",
    )
    assert settings.models.main == ("deepseek/deepseek-chat",)
    assert settings.models.fast == ("vllm/q",)
    assert settings.providers["deepseek"].api_key == "sk-1"
    assert settings.providers["vllm"].base_url == "http://10.0.0.5:8000/v1"
    about = settings.model_settings["deepseek/deepseek-chat"]
    assert (about.window, about.supports_tools, about.supports_images, about.reasoning) == (128000, True, False, "off")
    assert settings.limits.max_steps == 50
    assert {
        "version",
        "providers.Empty.description",
        "roles.main.updated_at",
        "providers.DeepSeek.default_model",
    } <= set(left)


def test_two_keys_for_one_address_stay_apart(tmp_path: Path) -> None:
    one = "{api_key: %s, api_url: https://api.x.com/v1, model_name: %s}"
    settings, *_ = taken_over(tmp_path, f"main_model: {one % ('k1', 'a')}\ncheap_model: {one % ('k2', 'b')}\n")
    assert settings.models.main == ("x/a",)
    assert settings.models.fast == ("x-2/b",)
    assert {name: provider.api_key for name, provider in settings.providers.items()} == {"x": "k1", "x-2": "k2"}


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("", UsageError, "config.nothing_to_import"),
        ("main_model: {temperature: 1}\n", UsageError, "config.nothing_to_import"),
        ("main_model: [1\n", ConfigError, "config.bad_yaml"),
        ("- a\n", ConfigError, "config.no_mapping"),
    ],
)
def test_what_cannot_be_taken_over(tmp_path: Path, text: str, kind: type[UserError], key: str) -> None:
    with pytest.raises(kind) as raised:
        import_file(write(tmp_path / "old.yaml", text))
    assert raised.value.key == key
    assert str(raised.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        import_file(tmp_path / "none.yaml")
    assert raised.value.key == "config.no_file"


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ue000\ue001"), max_size=9)
VALUES = (
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False) | WORDS | st.just("${CHEAP_KEY}")
)
MODEL = st.fixed_dictionaries(
    {"api_key": VALUES, "model_name": VALUES},
    optional=dict.fromkeys(
        [
            "api_url",
            "url",
            "temperature",
            "top_p",
            "max_tokens",
            "max_context_tokens",
            "reasoning_effort",
            "supports_vision",
        ],
        VALUES,
    )
    | {"options": st.dictionaries(WORDS, VALUES, max_size=2) | VALUES},
)
FILES = st.fixed_dictionaries(
    {"main_model": MODEL},
    optional={"cheap_model": MODEL | VALUES, "embedding": MODEL | VALUES, "max_iterations": VALUES, "more": VALUES}
    | {"api_headers": st.dictionaries(WORDS, st.dictionaries(WORDS, VALUES, max_size=2) | VALUES, max_size=2)},
)


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_any_old_file_gives_a_file_that_loads_or_a_clear_refusal(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, object]
) -> None:
    import json

    folder = tmp_path_factory.mktemp("i")
    source = write(folder / "old.yaml", json.dumps(old, ensure_ascii=False))
    try:
        done = import_file(source)
    except UsageError as error:
        if error.key == "config.nothing_to_import":
            return
        raise
    home = Places(home=folder / "home")
    write(home.config, done.text)
    load(home, project=None, project_trusted=False, env={"CHEAP_KEY": "k"}, flags=Flags())
    leaves = set()

    def walk(value: object, path: tuple[str, ...]) -> None:
        if isinstance(value, dict) and value:
            for key, item in value.items():
                walk(item, (*path, key))
        else:
            leaves.add(path)

    walk(Document(source.read_text("utf-8"), "f").data, ())
    assert len(done.taken) + len(done.not_taken) == len(leaves)
    assert not set(done.taken) & set(done.not_taken)
