"""Settings changed by name: the rest of the file stays byte for byte, and nothing wrong is ever written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.config import edit
from gongfu.config.document import Document, KeyPath, dotted
from gongfu.config.edit import get_value, history, masked, resolve, set_value, unset_value
from gongfu.config.load import Flags, load
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.errors import ConfigError, UsageError, UserError

from .conftest import SAMPLE, write

REF = "deepseek/deepseek-chat"


def loaded(home: Places) -> Settings:
    env = {"DEEPSEEK_API_KEY": "k"}
    return load(home, project=None, project_trusted=False, env=env, flags=Flags()).settings


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that went and that came, when all others kept their order."""
    old, new = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]


# --- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("language", ("language",)),
        ("limits.max_steps", ("limits", "max_steps")),
        ("limits", ("limits",)),
        ("providers.ollama.base_url", ("providers", "ollama", "base_url")),
        ('model_settings."a/b-1.5".window', ("model_settings", "a/b-1.5", "window")),
        ("model_settings.a/b-1.5.window", ("model_settings", "a/b-1.5", "window")),
        ("model_settings.a/b-1.5", ("model_settings", "a/b-1.5")),
        ("model_settings.x.y.z.window", ("model_settings", "x.y.z", "window")),
        ('model_settings."q\\"uo\\\\te".window', ("model_settings", 'q"uo\\te', "window")),
        ("providers.a.headers.X-Key", ("providers", "a", "headers", "X-Key")),
    ],
)
def test_a_dotted_name_means_one_path(name: str, path: KeyPath) -> None:
    assert resolve(name) == path
    assert resolve(dotted(path)) == path


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=12))
def test_any_name_of_a_model_can_be_written(name: str) -> None:
    path = ("model_settings", name, "window")
    assert resolve(dotted(path)) == path


@pytest.mark.parametrize("name", ["", ".", "limits.", ".limits", "a..b", 'model_settings."x', 'model_settings."x"y.z'])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve(name)
    assert raised.value.key == "config.no_setting_name"
    assert str(raised.value)


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"limits\.max_steps"):
        resolve("limits.maxsteps")
    with pytest.raises(UsageError, match="zzz"):
        resolve("zzz")


# --- looking up --------------------------------------------------------------------------------------------------


def test_values_come_as_plain_data(home: Places) -> None:
    write(home.config, SAMPLE)
    found = loaded(home)
    assert get_value(found, "models.main") == [REF]
    assert get_value(found, "limits.max_minutes") is None
    assert get_value(found, f"model_settings.{REF}.temperature") == 0.7
    assert get_value(found, "permission") == {"mode": "ask", "allow": [], "ask": [], "deny": []}
    assert get_value(found, "providers.ollama.base_url") == "http://127.0.0.1:11434/v1"
    with pytest.raises(UsageError) as raised:
        get_value(found, "providers.other.base_url")
    assert raised.value.key == "config.not_set"


def test_secrets_are_masked() -> None:
    data = {"a": {"api_key": "sk-123456789012", "headers": {"X": "short"}, "base_url": "u"}, "b": {"api_key": "${K}"}}
    assert masked(data, ("providers",)) == {
        "a": {"api_key": "…9012", "headers": {"X": "…"}, "base_url": "u"},
        "b": {"api_key": "${K}"},
    }
    assert masked("sk-123456789012", ("providers", "a", "api_key")) == "…9012"


# --- setting -----------------------------------------------------------------------------------------------------

CHANGES = [
    ("language", "zh", "language: zh                      # auto | en | zh"),
    ("models.main", "a/b, c/d", "  main: [a/b, c/d]    # a fallback chain"),
    ("models.main", "[a/b]", "  main: [a/b]    # a fallback chain"),
    ("models.embedding", "o'x/y", "  embedding: 'o''x/y'"),
    ("limits.max_cost", "1.5", "limits: {max_steps: 200, max_cost: 1.5, extra_steps_on_continue: 50}"),
    ("limits.max_cost", "null", None),
    ("limits.max_minutes", "9",
     "limits: {max_steps: 200, max_cost: null, extra_steps_on_continue: 50, max_minutes: 9}"),
    ("context.max_tool_output", "2048", "  max_tool_output: 2048   # bytes"),
    ("permission.mode", "full", "permission: {mode: full}"),
    (f"model_settings.{REF}.temperature", "0.2",
     f"  {REF}: {{max_context_tokens: 0, max_output_tokens: 8192, temperature: 0.2}}"),
    (f'model_settings."{REF}".reasoning', "off",
     f'  {REF}: {{max_context_tokens: 0, max_output_tokens: 8192, temperature: 0.7, reasoning: "off"}}'),
    ("providers.ollama.api_key", "${OLLAMA}",
     '  ollama:   {api: openai_chat, base_url: http://127.0.0.1:11434/v1, quirks: ollama, api_key: "${OLLAMA}"}'),
    ("model_settings.openai/gpt-4.1", "{window: 9}", "  openai/gpt-4.1: {window: 9}"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line"), CHANGES)
def test_a_change_touches_one_line(home: Places, name: str, text: str, line: str | None) -> None:
    write(home.config, SAMPLE)
    assert set_value(home, name, text) == home.config
    gone, came = changed_lines(SAMPLE, home.config.read_text("utf-8"))
    assert came == ([] if line is None else [line])
    assert len(gone) <= 1
    if os.name == "posix":
        assert home.config.stat().st_mode & 0o777 == 0o600


def test_new_sections_and_entries_are_added_in_their_place(home: Places) -> None:
    write(home.config, SAMPLE)
    set_value(home, "shell.idle_seconds", "5")
    set_value(home, "providers.my proxy: 1.base_url", "https://x/v1")
    set_value(home, 'model_settings."a.b/c".window', "100")
    text = home.config.read_text("utf-8")
    assert changed_lines(SAMPLE, text)[0] == [] or all(line in text.splitlines() for line in SAMPLE.splitlines())
    assert "  max_tool_output: 32768   # bytes\nshell:\n  idle_seconds: 5\n# the end\n" in text
    assert 'quirks: ollama}\n  "my proxy: 1":\n    base_url: https://x/v1\nmodel_settings:\n' in text
    assert "temperature: 0.7}\n  a.b/c:\n    window: 100\npermission" in text
    found = loaded(home)
    assert found.shell.idle_seconds == 5
    assert found.providers["my proxy: 1"].base_url == "https://x/v1"
    assert found.model_settings["a.b/c"].window == 100


@pytest.mark.parametrize(
    "start", [None, "", "# only a comment\n", "# no line end", "---\n", "limits:\n", "limits: ~ # c\n", "limits: {}\n"]
)
def test_the_first_setting_of_a_file(home: Places, start: str | None) -> None:
    if start is not None:
        write(home.config, start)
    set_value(home, "limits.max_steps", "7")
    set_value(home, "limits.max_cost", "2")
    assert loaded(home).limits.max_steps == 7
    assert loaded(home).limits.max_cost == 2
    text = home.config.read_text("utf-8")
    assert all(
        comment in text for comment in ("# only a comment", "# no line end", "# c") if start and comment in start
    )


def test_line_ends_and_byte_order_mark_stay(home: Places) -> None:
    home.config.parent.mkdir()
    home.config.write_bytes(b"\xef\xbb\xbf# c\r\nlanguage: en\r\nlimits:\r\n  max_steps: 5\r\n# end\r\n")
    set_value(home, "language", "zh")
    set_value(home, "limits.max_cost", "1")
    assert home.config.read_bytes() == (
        b"\xef\xbb\xbf# c\r\nlanguage: zh\r\nlimits:\r\n  max_steps: 5\r\n  max_cost: 1\r\n# end\r\n"
    )
    unset_value(home, "limits.max_steps")
    assert b"\r\nlimits:\r\n  max_cost: 1\r\n# end\r\n" in home.config.read_bytes()


def test_a_linked_file_stays_where_it_is(home: Places, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles/gongfu.yaml", "language: en\n")
    home.home.mkdir()
    home.config.symlink_to(real)
    set_value(home, "language", "zh")
    assert home.config.is_symlink()
    assert real.read_text() == "language: zh\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limits.max_steps", "many"),
        ("limits.max_steps", "0"),
        ("limits.max_steps", ""),
        ("limits.max_cost", "-1"),
        ("permission.mode", "everything"),
        ("permission", "mode: full"),
        ("models.main", "[a, 1]"),
        ("models.main", "[a\nlanguage: zh"),
        ("models.main", "[a]\nlanguage: zh"),
        ("providers.a", "{api: rest}"),
        ("providers.a", "{keys: 1}"),
        ("providers.a", "text"),
    ],
)
def test_a_value_that_does_not_fit_is_not_written(home: Places, name: str, text: str) -> None:
    write(home.config, SAMPLE)
    with pytest.raises(UserError) as raised:
        set_value(home, name, text)
    assert raised.value.code == 2
    assert str(raised.value)
    assert home.config.read_text("utf-8") == SAMPLE
    assert history(home) == []


def test_a_wrong_secret_is_not_shown(home: Places) -> None:
    with pytest.raises(UsageError) as raised:
        set_value(home, "providers.a.headers", "sk-123456789")
    assert "123456789" not in str(raised.value)


def test_a_file_that_is_wrong_already_is_not_changed_but_can_be_put_right(home: Places) -> None:
    write(home.config, "language: en\nmodles: {main: [x]}\n")
    with pytest.raises(ConfigError) as raised:
        set_value(home, "language", "zh")
    assert raised.value.key == "config.unknown_key"
    assert unset_value(home, "modles")
    assert home.config.read_text() == "language: en\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("providers:\n  a: &x {api: anthropic}\n  b: *x\n", "providers.b.quirks"),
        ("providers:\n  a: &x {api: anthropic}\n  b: *x\n", "providers.a.quirks"),
        ("providers:\n  a: &x {api: anthropic}\n  b: {<<: *x}\n", "providers.a.quirks"),
        ("? language\n: en\n", "language"),
    ],
)
def test_what_cannot_be_changed_alone_is_not_changed(home: Places, text: str, name: str) -> None:
    write(home.config, text)
    with pytest.raises(ConfigError) as raised:
        set_value(home, name, "zh")
    assert raised.value.key == "config.not_editable"
    assert home.config.read_text() == text


# --- taking out --------------------------------------------------------------------------------------------------


def test_taking_out_leaves_every_comment(home: Places) -> None:
    write(home.config, SAMPLE)
    for name in (
        "models.fast",
        "models.main",
        f"model_settings.{REF}.max_output_tokens",
        "limits.max_steps",
        "providers.ollama",
    ):
        assert unset_value(home, name)
        assert not unset_value(home, name)
    text = home.config.read_text("utf-8")
    assert [line for line in SAMPLE.splitlines() if "#" in line and "main" not in line] == [
        line for line in text.splitlines() if "#" in line
    ]
    assert "models:\n  # the work\n  embedding: 'ollama/bge-m3'\n\nproviders:" in text
    assert f"  {REF}: {{max_context_tokens: 0, temperature: 0.7}}\n" in text
    assert "limits: {max_cost: null, extra_steps_on_continue: 50}\n" in text
    assert unset_value(home, "models.embedding")
    assert "models:" not in home.config.read_text("utf-8")
    assert not unset_value(home, "shell.idle_seconds")


def test_taking_out_of_nothing(home: Places) -> None:
    assert not unset_value(home, "language")
    assert not home.config.exists()


# --- round trips -------------------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\ue000\ue001"), max_size=12) | st.sampled_from(
    [
        "true",
        "null",
        "1",
        "1.5",
        "# no comment",
        "a: b",
        "- x",
        "${NAME}",
        "a ${B} c",
        "'",
        '"',
        "\\",
        "{",
        "]",
        "on",
        " x ",
    ]
)
NAMES = WORDS.filter(lambda text: bool(text) and text != "<<")
LEAVES: list[tuple[KeyPath, st.SearchStrategy[Any]]] = [
    (("language",), st.sampled_from(["auto", "en", "zh"])),
    (("models", "main"), st.lists(WORDS, max_size=3)),
    (("models", "embedding"), WORDS),
    (("limits", "max_steps"), st.integers(1, 10**6)),
    (("limits", "max_cost"), st.none() | st.integers(0, 99) | st.floats(0, 1e9)),
    (("shell", "idle_seconds"), st.floats(0.001, 1e6)),
    (("shell", "keep_env"), st.lists(WORDS, max_size=2)),
]


@st.composite
def entries(draw: st.DrawFn) -> tuple[KeyPath, Any]:
    kind = draw(st.integers(0, 2))
    if kind == 0:
        path, values = draw(st.sampled_from(LEAVES))
        return path, draw(values)
    if kind == 1:
        field = draw(st.sampled_from(["window", "max_output_tokens"]))
        return ("model_settings", draw(NAMES), field), draw(st.integers(0, 10**6))
    field = draw(st.sampled_from(["base_url", "api_key", "quirks"]))
    return ("providers", draw(NAMES), field), draw(WORDS)


def write_value(value: Any) -> str:
    return json.dumps(value)  # JSON is YAML


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Settings, and their text in some mixture of block and flow style, comments and blank lines."""
    data: dict[str, Any] = {}
    for path, value in draw(st.lists(entries(), max_size=8)):
        holder = data
        for part in path[:-1]:
            holder = holder.setdefault(str(part), {})
        holder[str(path[-1])] = value
    step = draw(st.sampled_from([1, 2, 4]))
    noise = st.sampled_from(["", "", "# a note\n", "\n", "   # deep\n"])
    tail = st.sampled_from(["", "", "  # why"])

    def lines(items: dict[str, Any], indent: int) -> str:
        text = ""
        for key, value in items.items():
            text += draw(noise)
            head = f"{' ' * indent}{write_value(key)}:"
            if isinstance(value, dict) and value and draw(st.booleans()):
                text += f"{head}{draw(tail)}\n{lines(value, indent + step)}"
            elif isinstance(value, list) and value and draw(st.booleans()):
                rows = "".join(f"{' ' * (indent + step)}- {write_value(item)}{draw(tail)}\n" for item in value)
                text += f"{head}{draw(tail)}\n{rows}"
            else:
                text += f"{head} {write_value(value)}{draw(tail)}\n"
        return text

    text = lines(data, 0) + draw(noise)
    return data, text.removesuffix("\n") if draw(st.booleans()) else text


def comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("# ")]


@settings(max_examples=60, deadline=None)
@given(documents(), entries())
def test_any_setting_can_be_set_and_taken_out_of_any_file(
    tmp_path_factory: pytest.TempPathFactory, document: tuple[dict[str, Any], str], entry: tuple[KeyPath, Any]
) -> None:
    data, text = document
    path, value = entry
    home = Places(home=tmp_path_factory.mktemp("e"))
    write(home.config, "").write_bytes(text.encode())
    there = edit._has(data, path)  # pyright: ignore[reportPrivateUsage]
    written = json.dumps(value) if isinstance(value, list) else value if isinstance(value, str) else json.dumps(value)
    set_value(home, dotted(path), written)
    after = home.config.read_bytes().decode()
    assert Document(after, "f").data == edit._with(data, path, value)  # pyright: ignore[reportPrivateUsage]
    gone, came = changed_lines(text, after)
    if there:
        assert comments(after) == comments(text)
    else:
        assert len(gone) <= 1, "only a line that ends without a line break, or a flow mapping, may change"
        assert len(came) <= len(gone) + len(path)
    assert unset_value(home, dotted(path))
    last = home.config.read_bytes().decode()
    assert not edit._has(Document(last, "f").data, path)  # pyright: ignore[reportPrivateUsage]
    assert comments(last) == comments(text)


# --- history, and others who write --------------------------------------------------------------------------------


def test_every_earlier_version_is_kept_privately(home: Places, tmp_path: Path) -> None:
    set_value(home, "language", "en")
    assert history(home) == []
    for language in ("zh", "auto"):
        set_value(home, "language", language)
    set_value(home, "language", "zh", config="work")
    set_value(home, "language", "en", config="work")
    set_value(home, "limits.max_steps", "3", project=tmp_path / "p")
    set_value(home, "limits.max_steps", "4", project=tmp_path / "p")
    kept = history(home)
    assert [version.path.read_text() for version in kept] == [
        "limits:\n  max_steps: 3\n", "language: zh\n", "language: zh\n", "language: en\n",
    ]  # fmt: skip
    assert [version.file for version in kept][1:] == ["configs-work", "config", "config"]
    assert (tmp_path / "p/.gongfu/config.yaml").read_text() == "limits:\n  max_steps: 4\n"
    if os.name == "posix":
        assert all(version.path.stat().st_mode & 0o777 == 0o600 for version in kept)
    with pytest.raises(UsageError):
        set_value(home, "language", "zh", config="../x")


def test_many_writers_lose_no_change(home: Places) -> None:
    """Four processes set 6 keys each in one file."""
    write(home.config, "# c\n")
    code = (
        "import sys; from pathlib import Path; from gongfu.config.edit import set_value\n"
        "from gongfu.config.paths import Places\n"
        "for n in range(6): set_value(Places(home=Path(sys.argv[1])), f'model_settings.m{sys.argv[2]}x{n}.window', '5')"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(home.home), str(n)]) for n in range(4)]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    assert len(loaded(home).model_settings) == 24
    assert len(history(home)) == 24


def test_a_lock_that_a_killed_process_left_is_taken_over(home: Places) -> None:
    lock = home.ensure(home.locks) / "settings"
    lock.touch()
    os.utime(lock, (0, 0))
    set_value(home, "language", "zh")
    assert not lock.exists()


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError) as raised:
        set_value(Places(home=tmp_path / "file"), "language", "zh")
    assert raised.value.key == "config.no_home"


@pytest.mark.parametrize(
    ("which", "rule"),
    [("deny", "shell(npm"), ("ask", "path()"), ("allow", "what ever(x)"), ("deny", "host"), ("deny", "path(a) b")],
)
def test_a_rule_that_is_none_is_not_written_and_is_found_in_a_file(home: Places, which: str, rule: str) -> None:
    """Else the next run would be the one that says so, and no run would be possible."""
    with pytest.raises(UsageError) as said:
        edit.set_value(home, f"permission.{which}", json.dumps(["shell(ls *)", rule]))
    assert (said.value.key, said.value.values["origin"]) == ("config.wrong_given", f"permission.{which}[1]")
    assert not (home.home / "config.yaml").exists()
    home.home.mkdir(exist_ok=True)
    (home.home / "config.yaml").write_text(f"permission:\n  {which}:\n    - shell(ls *)\n    - {json.dumps(rule)}\n")
    with pytest.raises(ConfigError) as wrong:
        load(home, project=None, project_trusted=False, env={}, flags=Flags())
    assert (wrong.value.values["line"], wrong.value.values["name"]) == (4, f"permission.{which}[1]")
