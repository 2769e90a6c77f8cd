"""Where keys come from, and that they are not shown."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest

from gongfu.config.paths import Places
from gongfu.config.settings import Provider
from gongfu.core.errors import ConfigError, UserError
from gongfu.models.keys import all_variables, find_key, key_for, masked, variables_of
from gongfu.models.known import CLOUD

SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(home=tmp_path)


def write_keys(places: Places, text: str, mode: int = 0o600) -> None:
    places.keys.write_text(text, encoding="utf-8")
    places.keys.chmod(mode)


def fake_keyring(monkeypatch: pytest.MonkeyPatch, entries: dict[tuple[str, str], str], *, locked: bool = False) -> None:
    """Stand in for the optional package, which is not installed here."""
    errors = types.ModuleType("keyring.errors")
    errors.KeyringError = type("KeyringError", (Exception,), {})  # type: ignore[attr-defined]

    def get_password(service: str, name: str) -> str | None:
        if locked:
            raise errors.KeyringError("locked")
        return entries.get((service, name))

    module = types.ModuleType("keyring")
    module.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("deepseek", "DEEPSEEK_API_KEY"),
        ("dashscope", "DASHSCOPE_API_KEY"),
        ("qwen", "DASHSCOPE_API_KEY"),
        ("moonshot", "MOONSHOT_API_KEY"),
        ("kimi", "KIMI_API_KEY"),
        ("zhipu", "ZHIPUAI_API_KEY"),
        ("glm", "GLM_API_KEY"),
        ("zai", "ZAI_API_KEY"),
        ("minimax", "MINIMAX_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("mistral", "MISTRAL_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
        ("my-own server", "MY_OWN_SERVER_API_KEY"),
    ],
)
def test_the_usual_variables(provider: str, variable: str, places: Places) -> None:
    assert key_for(provider, None, {variable: f" {SECRET}\n"}, places) == SECRET
    assert key_for(provider, None, {variable: "  "}, places) is None


def test_the_order_of_the_places(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_keyring(monkeypatch, {("gongfu", "deepseek"): "from-keyring"})
    given, env = Provider(api_key="from-settings"), {"DEEPSEEK_API_KEY": "from-env"}
    assert key_for("deepseek", None, {}, places) == "from-keyring"
    assert find_key("deepseek", None, {}, places, keyring=False) is None
    write_keys(places, "deepseek: from-file\n")
    assert key_for("deepseek", None, {}, places) == "from-file"
    assert key_for("deepseek", None, env, places) == "from-env"
    assert key_for("deepseek", given, env, places) == "from-settings"


def test_a_locked_keyring_is_an_empty_one(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_keyring(monkeypatch, {}, locked=True)
    assert key_for("deepseek", None, {}, places) is None


@pytest.mark.parametrize("name", ["moonshot", "kimi", "MOONSHOT_API_KEY"])
def test_the_file_may_name_the_provider_or_its_variable(name: str, places: Places) -> None:
    write_keys(places, f"# mine\n{name}: {SECRET}\nother: null\n")
    assert key_for("moonshot", None, {}, places) == SECRET
    assert key_for("other", None, {}, places) is None


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o620, 0o601])
def test_a_file_that_others_can_reach_is_refused(mode: int, places: Places) -> None:
    write_keys(places, f"deepseek: {SECRET}\n", mode)
    with pytest.raises(UserError, match=f"chmod 600 {places.keys}") as caught:
        key_for("deepseek", None, {}, places)
    assert f"{mode:04o}" in str(caught.value)
    write_keys(places, f"deepseek: {SECRET}\n", 0o400)
    assert key_for("deepseek", None, {}, places) == SECRET


@pytest.mark.parametrize("text", ["a: [\n", f"- {SECRET}\n", f"'{SECRET}", "\x00"])
def test_a_wrong_file_is_told_without_its_text(text: str, places: Places) -> None:
    write_keys(places, text)
    with pytest.raises(ConfigError) as caught:
        key_for("deepseek", None, {}, places)
    assert str(places.keys) in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    write_keys(places, "")
    assert key_for("deepseek", None, {}, places) is None


def test_keys_are_masked(places: Places) -> None:
    assert masked(SECRET) == "sk-…6789"
    assert masked("short") == "…"
    key = find_key("deepseek", None, {"DEEPSEEK_API_KEY": SECRET}, places)
    assert key
    assert SECRET not in repr(key)
    assert SECRET not in f"{key}"
    assert key.place == "DEEPSEEK_API_KEY"


def test_every_variable_is_known_to_those_who_start_children() -> None:
    assert {v for k in CLOUD for v in k.keys} <= all_variables()
    assert variables_of("nobody.knows") == ("NOBODY_KNOWS_API_KEY",)
