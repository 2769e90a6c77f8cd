"""Settings from all layers, and every mistake with its place."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.config.load import ANY_MODEL, Flags, Loaded, load, names
from gongfu.config.paths import Places
from gongfu.config.settings import ProjectProvider, Provider, Settings
from gongfu.core.errors import ConfigError, UsageError, UserError

from .conftest import SAMPLE, write

NO_FLAGS = Flags()


def read(
    home: Places, *, env: dict[str, str] | None = None, flags: Flags = NO_FLAGS, name: str = "", **project: Any
) -> Loaded:
    given_project = {"project": None, "project_trusted": False} | project
    return load(home, env=env or {}, flags=flags, name=name, **given_project)


def settle(path: Path) -> None:
    """Make a file old enough to be cached."""
    old = time.time_ns() - 10**9
    os.utime(path, ns=(old, old))


def test_nothing_configured_gives_the_defaults(home: Places) -> None:
    loaded = read(home)
    assert loaded == Loaded(settings=Settings())
    assert not home.home.exists()


def test_the_documented_example_loads(home: Places) -> None:
    write(home.config, SAMPLE)
    settings = read(home, env={"DEEPSEEK_API_KEY": "k-1"}).settings
    assert settings.models.main == ("deepseek/deepseek-chat",)
    assert settings.providers["deepseek"] == Provider(
        base_url="https://api.example/v1", api_key="k-1", quirks="deepseek"
    )
    assert settings.model_settings["deepseek/deepseek-chat"].max_context_tokens == 0
    assert settings.limits.max_cost is None


def test_later_layers_win_and_are_named(home: Places, tmp_path: Path) -> None:
    write(home.config, "language: zh\nmodels: {main: [a/user], fast: [a/fast]}\nlimits: {max_steps: 90}\n")
    project = write(tmp_path / "p/.gongfu/config.yaml", "models: {main: [a/project]}\nlimits: {max_steps: 80}\n")
    env = {"GONGFU_MODEL": "a/env, b/env", "GONGFU_MAX_COST": "0.5", "GONGFU_LANGUAGE": ""}
    loaded = read(
        home, env=env, flags=Flags(permission="full", max_steps=70), project=tmp_path / "p", project_trusted=True
    )
    settings = loaded.settings
    assert settings.language == "zh"
    assert settings.models.main == ("a/env", "b/env")
    assert settings.models.fast == ("a/fast",)
    assert (settings.limits.max_steps, settings.limits.max_cost) == (70, 0.5)
    assert settings.permission.mode == "full"
    assert loaded.origins == {
        "language": str(home.config),
        "models.main": "GONGFU_MODEL",
        "models.fast": str(home.config),
        "limits.max_steps": "--max-steps",
        "limits.max_cost": "GONGFU_MAX_COST",
        "permission.mode": "--permission",
    }
    only_project = read(home, project=tmp_path / "p", project_trusted=True)
    assert only_project.settings.limits.max_steps == 80
    assert only_project.origins["models.main"] == str(project)


def test_the_context_window_goes_to_the_main_models(home: Places) -> None:
    env = {"GONGFU_CONTEXT_WINDOW": "20000"}
    assert read(home, env=env).settings.model_settings[ANY_MODEL].window == 20000
    chain = read(home, env=env | {"GONGFU_MODEL": "a/x,y"}).settings.model_settings
    assert {ref: one.window for ref, one in chain.items()} == {"a/x": 20000, "y": 20000}
    write(home.config, "models: {main: [a/x]}\nmodel_settings: {a/x: {window: 5, temperature: 0.5}}\n")
    kept = read(home, env=env).settings.model_settings["a/x"]
    assert (kept.window, kept.temperature) == (20000, 0.5)


# --- a project may tighten, never loosen -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "project", "result", "refused"),
    [
        ("permission: {mode: edits}", "permission: {mode: ask}", "ask", False),
        ("permission: {mode: ask}", "permission: {mode: edits}", "ask", True),
        ("", "permission: {mode: full}", "ask", True),
        ("permission: {mode: plan}", "permission: {mode: ask}", "plan", True),
        ("permission: {mode: full}", "permission: {mode: edits}", "edits", False),
    ],
)
def test_permission_only_gets_stricter(
    home: Places, tmp_path: Path, user: str, project: str, result: str, refused: bool
) -> None:
    write(home.config, user)
    file = write(tmp_path / "p/.gongfu/config.yaml", project)
    loaded = read(home, project=tmp_path / "p", project_trusted=True)
    assert loaded.settings.permission.mode == result
    wanted = {"file": str(file), "name": "permission.mode"}
    assert [notice.values for notice in loaded.notices] == ([wanted] if refused else [])


MODES = st.sampled_from(["plan", "ask", "edits", "full"])
STEPS = st.none() | st.integers(1, 400)
COSTS = st.sampled_from([None, 0.1, 2.5, 9.0])


@given(MODES, STEPS, COSTS, MODES, STEPS, COSTS)
def test_a_project_never_loosens(
    tmp_path_factory: pytest.TempPathFactory,
    mode: str,
    steps: int | None,
    cost: float | None,
    own_mode: str,
    own_steps: int | None,
    own_cost: float | None,
) -> None:
    folder = tmp_path_factory.mktemp("t")
    home = Places(home=folder / "home")

    def text(mode: str, steps: int | None, cost: float | None) -> str:
        money = "null" if cost is None else cost
        return (
            f"permission: {{mode: {mode}}}\nlimits: {{max_cost: {money}{f', max_steps: {steps}' if steps else ''}}}\n"
        )

    write(home.config, text(mode, steps, cost))
    write(folder / "p/.gongfu/config.yaml", text(own_mode, own_steps, own_cost))
    alone = read(home).settings
    both = read(home, project=folder / "p", project_trusted=True).settings
    order = ["plan", "ask", "edits", "full"]
    assert both.permission.mode == min(mode, own_mode, key=order.index)
    assert both.limits.max_steps == min(alone.limits.max_steps, own_steps or 10**6)
    costs = [one for one in (cost, own_cost) if one is not None]
    assert both.limits.max_cost == (min(costs) if costs else None)


def test_an_untrusted_project_sets_nothing_not_even_an_error(home: Places, tmp_path: Path) -> None:
    file = write(
        tmp_path / "p/.gongfu/config.yaml", "providers: {evil: {base_url: http://x, api_key: ${HOME}}}\n[broken"
    )
    loaded = read(home, project=tmp_path / "p", project_trusted=False)
    assert loaded.settings == Settings()
    assert [(notice.key, notice.values) for notice in loaded.notices] == [
        ("config.project_untrusted", {"file": str(file)})
    ]


def test_a_key_of_the_user_never_goes_to_an_address_of_the_project(home: Places, tmp_path: Path) -> None:
    write(home.config, "providers: {a: {base_url: https://good, api_key: secret}, b: {api_key: other}}\n")
    write(tmp_path / "p/.gongfu/config.yaml", "providers: {a: {base_url: https://elsewhere}}\n")
    loaded = read(home, project=tmp_path / "p", project_trusted=True)
    assert loaded.settings.providers["a"] == ProjectProvider(base_url="https://elsewhere")
    assert loaded.settings.providers["b"].api_key == "other"
    assert "providers.a.api_key" not in loaded.origins


def test_a_project_does_not_pass_secrets_to_commands(home: Places, tmp_path: Path) -> None:
    write(home.config, "shell: {keep_env: [A_TOKEN, B_TOKEN]}\n")
    project = write(tmp_path / "p/.gongfu/config.yaml", "shell: {keep_env: [C_TOKEN]}\n")
    assert read(home, project=tmp_path / "p", project_trusted=True).settings.shell.keep_env == ("A_TOKEN", "B_TOKEN")
    write(project, "shell: {keep_env: [B_TOKEN]}\n")
    assert read(home, project=tmp_path / "p", project_trusted=True).settings.shell.keep_env == ("B_TOKEN",)


def test_the_home_itself_is_no_project(home: Places) -> None:
    user = Places(home=home.home / ".gongfu")
    write(user.config, "permission: {mode: full}\n")
    loaded = read(user, project=home.home, project_trusted=False)
    assert loaded.settings.permission.mode == "full"
    assert loaded.notices == ()


# --- named configurations ----------------------------------------------------------------------------------------


def test_a_named_configuration_takes_the_place_of_the_users(home: Places) -> None:
    write(home.config, "language: zh\nlimits: {max_steps: 9}\n")
    write(home.configs / "work.yaml", "language: en\n")
    write(home.configs / "工作-2.yaml", "")
    settings = read(home, name="work").settings
    assert (settings.language, settings.limits.max_steps) == ("en", 200)
    assert read(home, name="工作-2").settings == Settings()
    assert names(home) == ["work", "工作-2"]


@pytest.mark.parametrize(
    "name", ["../config", "/etc/passwd", "a/b", "a\\b", "..", ".", "work.yaml/", "C:x", "~", "a\0", " ", "-x", "a..b"]
)
def test_a_configuration_is_named_and_never_a_path(home: Places, name: str) -> None:
    write(home.config, "")
    with pytest.raises(UsageError) as raised:
        read(home, name=name)
    assert raised.value.key == "config.no_name"


def test_an_unknown_configuration_names_those_there_are(home: Places) -> None:
    write(home.configs / "work.yaml", "")
    with pytest.raises(UsageError, match="work") as raised:
        read(home, name="wrok")
    assert raised.value.code == 2


# --- mistakes ----------------------------------------------------------------------------------------------------

MISTAKES = [
    ("models:\n  mian: [x]\n", "unknown_key", 2, 3),
    ("a: 1\n", "unknown_key_none", 1, 1),
    ("language: en\nmodels:\n  main: x\n", "wrong_type", 3, 9),
    ("limits: {max_steps: many}", "wrong_type", 1, 21),
    ("limits: {max_steps: 0}", "wrong_type", 1, 21),
    ("limits: {max_steps: 1.5}", "wrong_type", 1, 21),
    ("limits: {max_steps: true}", "wrong_type", 1, 21),
    ('limits: {max_steps: "5"}', "wrong_type", 1, 21),
    ("limits: {max_cost: .nan}", "wrong_type", 1, 20),
    ("models: {main: [a, 1]}", "wrong_type", 1, 20),
    ("models: {embedding: }\n", "wrong_type", 1, 20),
    ("permission: yes\n", "wrong_type", 1, 13),
    ("permission: {mode: Ask}\n", "wrong_type", 1, 20),
    ("providers: [a]\n", "wrong_type", 1, 12),
    ("providers:\n  a:\n    api: rest\n", "wrong_type", 3, 10),
    ("language: en\n\nlanguage: zh\n", "duplicate", 3, 1),
    ("limits: {max_cost: 1, max_cost: 2}", "duplicate", 1, 23),
    ("models:\n  main: [a\nlanguage: en\n", "bad_yaml", 3, 9),
    ("models:\n\tmain: [a]\n", "bad_yaml", 2, 1),
    ("language: 'en\n", "bad_yaml", 2, 1),
    ("language: *nothing\n", "bad_yaml", 1, 11),
    ("language: en\n---\nlanguage: zh\n", "bad_yaml", 2, 1),
    ("language: en\nx: a\x01\n", "bad_yaml", 2, 5),
    ("- language\n", "no_mapping", 1, 1),
    ("# x\n\nlanguage\n", "no_mapping", 3, 1),
    ("? [a, b]\n: 1\n", "bad_key", 1, 3),
    ("providers: {a: {api_key: ${NOT_SET}}}\n", "no_variable", 1, 26),
    ("providers:\n  a:\n    headers: {X: 'v ${NOT_SET}'}\n", "no_variable", 3, 18),
    ("providers: {a: {api_key: '${1 + 1}'}}\n", "bad_reference", 1, 26),
    ("providers: {a: {api_key: '${'}}\n", "bad_reference", 1, 26),
    ("limits:\n  max_steps: ${WORD}\n", "wrong_type", 2, 14),
    ("language: ${WORD}\n", "wrong_type", 1, 11),
]


@pytest.mark.parametrize(("text", "key", "line", "column"), MISTAKES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_mistake_is_told_with_file_line_and_column(
    home: Places, text: str, key: str, line: int, column: int, newline: str
) -> None:
    write(home.config, "").write_bytes(text.replace("\n", newline).encode())
    for _ in range(2):  # a mistake is never cached away
        settle(home.config)
        with pytest.raises(ConfigError) as raised:
            read(home, env={"WORD": "word"})
        assert raised.value.key == f"config.{key}"
        assert (raised.value.values["line"], raised.value.values["column"]) == (line, column)
        assert str(home.config) in str(raised.value)
        assert f"line {line}, column {column}" in str(raised.value)
        assert raised.value.code == 2


def test_the_near_match_is_named(home: Places) -> None:
    write(home.config, "model_setings: {}\n")
    with pytest.raises(ConfigError, match="Did you mean model_settings"):
        read(home)


@pytest.mark.parametrize("secret", ["api_key: 123456789", "headers: {X: 123456789}", "api_key: [sk-123456789]"])
def test_a_secret_of_the_wrong_type_is_not_shown(home: Places, secret: str) -> None:
    write(home.config, f"providers: {{a: {{{secret}}}}}\n")
    with pytest.raises(ConfigError) as raised:
        read(home)
    assert "123456789" not in str(raised.value)


@given(
    st.integers(0, 5),
    st.lists(st.sampled_from(["# note", "", "  # deeper", "limits:", "language: en"]), max_size=6, unique=True),
    st.text("abcdefg_", min_size=1, max_size=8),
)
def test_the_place_of_an_unknown_key_is_exact_anywhere(
    tmp_path_factory: pytest.TempPathFactory, indent: int, before: list[str], name: str
) -> None:
    home = Places(home=tmp_path_factory.mktemp("h"))
    column = indent + 1
    lines = [*before, f"context:\n{' ' * column}x{name}: 1"]
    write(home.config, "\n".join(lines))
    with pytest.raises(ConfigError) as raised:
        read(home)
    assert raised.value.key.startswith("config.unknown_key")
    assert raised.value.values["line"] == len(before) + 2
    assert raised.value.values["column"] == column + 1
    assert raised.value.values["name"] == f"context.x{name}"


@pytest.mark.parametrize(
    "bomb",
    [
        "[" * 1000,
        "x: &a [*a]\n",
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{n}: &{n} [{','.join(['*' + p] * 9)}]\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)),
    ],
)
def test_a_file_made_to_exhaust_is_refused(home: Places, bomb: str) -> None:
    write(home.config, bomb)
    with pytest.raises(ConfigError) as raised:
        read(home)
    assert raised.value.key in ("config.too_deep", "config.bad_yaml")


def test_what_is_no_text_is_told_with_its_place(home: Places) -> None:
    write(home.config, "").write_bytes("language: en\n# 中 ".encode() + "文".encode("gbk"))
    with pytest.raises(ConfigError) as raised:
        read(home)
    assert raised.value.key == "config.not_utf8"
    assert (raised.value.values["line"], raised.value.values["column"]) == (2, 5)


def test_a_folder_in_the_place_of_the_file(home: Places) -> None:
    home.config.mkdir(parents=True)
    with pytest.raises(ConfigError) as raised:
        read(home)
    assert raised.value.key == "config.unreadable"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to become another user")
def test_a_file_that_may_not_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    import tempfile

    code = (
        "import os, sys; os.setgid(65534); os.setuid(65534)\n"
        "from pathlib import Path; from gongfu.config.load import *; from gongfu.config.paths import Places\n"
        "from gongfu.core.errors import ConfigError\n"
        "try: load(Places(home=Path(sys.argv[1])), project=None, project_trusted=False, env={}, flags=Flags())\n"
        "except ConfigError as error: print(error.key, error)"
    )
    # Everything is imported before the rights are dropped: the checkout may lie in a private folder.
    code = "import gongfu.config.load, gongfu.core.words.config, gongfu.config.layer\n" + code
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        file = write(Path(folder) / "config.yaml", "language: en\n")
        file.chmod(0o600)
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("config.unreadable"), done.stderr


def test_a_home_that_is_read_only_still_loads(home: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home.config, "language: en\n")
    settle(home.config)
    home.cache.write_text("a file where the folder of the cache should be")
    for _ in range(2):
        assert read(home).settings.language == "en"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GONGFU_PERMISSION", "banana"),
        ("GONGFU_MAX_STEPS", "0"),
        ("GONGFU_MAX_STEPS", "many"),
        ("GONGFU_MAX_COST", "-1"),
        ("GONGFU_MAX_COST", "nan"),
        ("GONGFU_LANGUAGE", "fr"),
        ("GONGFU_CONTEXT_WINDOW", "big"),
        ("GONGFU_CONTEXT_WINDOW", "1.5"),
    ],
)
def test_a_wrong_variable_is_named(home: Places, variable: str, value: str) -> None:
    with pytest.raises(UserError, match=variable) as raised:
        read(home, env={variable: value})
    assert raised.value.code == 2


def test_a_wrong_flag_is_named(home: Places) -> None:
    with pytest.raises(UserError, match="--permission"):
        read(home, flags=Flags(permission="everything"))


# --- references --------------------------------------------------------------------------------------------------


def test_references_are_replaced_wherever_they_stand(home: Places) -> None:
    write(
        home.config,
        "providers:\n  a:\n    api_key: ${K}\n    base_url: https://${HOST}:${PORT}/v1\n"
        "    headers: {X-A: ${K}, X-B: 'pre${K}post', X-C: \"$${K}\", X-D: ${EMPTY}, X-E: '$K {K}'}\n"
        "limits: {max_steps: ${STEPS}, max_cost: ${COST}}\nmodels: {main: [a/${K}]}\n"
        "model_settings: {x: {supports_images: ${YES}, temperature: ${NONE}}}\n",
    )
    env = {"K": "k", "HOST": "h", "PORT": "1", "EMPTY": "", "STEPS": "7", "COST": "0.5", "YES": "true", "NONE": "null"}
    for _ in range(2):
        settings = read(home, env=env).settings
        assert settings.providers["a"].api_key == "k"
        assert settings.providers["a"].base_url == "https://h:1/v1"
        assert settings.providers["a"].headers == {
            "X-A": "k", "X-B": "prekpost", "X-C": "${K}", "X-D": "", "X-E": "$K {K}",
        }  # fmt: skip
        assert (settings.limits.max_steps, settings.limits.max_cost) == (7, 0.5)
        assert settings.models.main == ("a/k",)
        assert settings.model_settings["x"].supports_images is True
        assert settings.model_settings["x"].temperature is None
        settle(home.config)


def test_anchors_merges_and_empty_sections(home: Places) -> None:
    write(
        home.config,
        "\ufeffproviders:\n  a: &base {api: anthropic, quirks: q}\n  b: {<<: *base, quirks: own}\n"
        "  c: *base\n  d:\nlimits:\n",
    )
    providers = read(home).settings.providers
    assert providers["a"] == providers["c"] == Provider(api="anthropic", quirks="q")
    assert providers["b"] == Provider(api="anthropic", quirks="own")
    assert providers["d"] == Provider()


# --- the cache ---------------------------------------------------------------------------------------------------


def test_the_cache_spares_the_parser_and_holds_no_expanded_secret(home: Places) -> None:
    write(home.config, SAMPLE)
    settle(home.config)
    first = read(home, env={"DEEPSEEK_API_KEY": "k-secret"})
    (entry,) = home.cache.iterdir()
    if os.name == "posix":
        assert entry.stat().st_mode & 0o777 == 0o600
    assert b"k-secret" not in entry.read_bytes()
    code = (
        "import sys; from pathlib import Path; from gongfu.config.load import Flags, load\n"
        "from gongfu.config.paths import Places\n"
        "loaded = load(Places(home=Path(sys.argv[1])), project=None, project_trusted=False,"
        " env={'DEEPSEEK_API_KEY': 'k-secret'}, flags=Flags())\n"
        "heavy = ('ruamel', 'difflib', 'gongfu.config.types', 'gongfu.core.words')\n"
        "print([m for m in sys.modules if m.startswith(heavy)], loaded.settings.providers['deepseek'].api_key)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home.home)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "k-secret"]
    assert read(home, env={"DEEPSEEK_API_KEY": "k-secret"}) == first
    with pytest.raises(ConfigError) as raised:
        read(home)
    assert (raised.value.values["line"], raised.value.values["variable"]) == (10, "DEEPSEEK_API_KEY")


def test_a_changed_file_is_read_again(home: Places) -> None:
    for number in range(1, 30):
        write(home.config, f"limits: {{max_steps: {number:02d}}}\n")  # the same size, and often the same tick
        assert read(home).settings.limits.max_steps == number


def test_a_broken_cache_is_made_again(home: Places) -> None:
    write(home.config, "language: zh\n")
    settle(home.config)
    read(home)
    (entry,) = home.cache.iterdir()
    for broken in (b"", b"{", b"[]", b'{"version": 1}', entry.read_bytes()[:-9]):
        entry.write_bytes(broken)
        assert read(home).settings.language == "zh"


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_file_with_keys_that_others_can_read_is_told(home: Places) -> None:
    write(home.config, "providers: {a: {api_key: plain}}\n").chmod(0o644)
    assert [notice.key for notice in read(home).notices] == ["config.readable"]
    home.config.chmod(0o600)
    assert read(home).notices == ()
    write(home.config, "providers: {a: {api_key: ${K}}}\n").chmod(0o644)
    assert read(home, env={"K": "x"}).notices == ()
