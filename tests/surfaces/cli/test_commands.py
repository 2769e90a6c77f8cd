"""Commands around the runs, and everything that can be typed wrong."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

import gongfu.surfaces.cli as package
from gongfu.core.words import cli as words
from gongfu.core.words import cli_help, setup
from gongfu.surfaces.cli.bare import COMMANDS
from gongfu.surfaces.cli.reference import render_cli
from gongfu.surfaces.cli.result import to_json
from gongfu.surfaces.cli.width import width

from .conftest import PYTHON, Program


def script(program: Program, steps: str) -> str:
    """A model reference that plays `steps`."""
    path = program.folder.parent / "script.yaml"
    path.write_text(f"steps:\n{steps}", encoding="utf-8")
    return f"scripted:{path}"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("sesions",), "Did you mean `gongfu sessions`?"),
        (("sesions", "list"), "Did you mean `gongfu sessions`?"),
        (("fix",), "gongfu run fix"),
        (("你好",), "gongfu run 你好"),
        (("--jsn", "do it"), "Did you mean --json?"),
        (("--yolo", "do it"), "Did you mean --yes?"),
        (("--allowed-tools", "x", "do it"), "Did you mean --permission?"),
        (("--zzz", "do it"), "There is no option --zzz.\n"),
        (("completion",), "one of bash, zsh, fish"),
        (("sessions", "delete"), "ID is missing"),
        (("config", "--config", "nope", "list"), "There is no configuration nope"),
        (("config", "--all", "get", "language"), "There is no option --all"),
        (("config", "unset", "limits.max_stepz"), "Did you mean limits.max_steps?"),
        (("init", "--model", "nonsense"), "No provider is known for the model 'nonsense'"),
        (("run", "--max-cost", "x", "do it"), "--max-cost must be a number above 0, not 'x'"),
        (("run", "--max-cost", "-1", "do it"), "--max-cost must be a number above 0"),
        (("run", "--max-cost", "nan", "do it"), "--max-cost must be a number above 0"),
        (("run", "--max-steps", "1.5", "do it"), "--max-steps must be a whole number above 0"),
        (("run", "--permission", "yolo", "do it"), "ask, edits, plan, auto, full"),
        (("run", "--json", "--stream-json", "do it"), "--json and --stream-json cannot be used together"),
        (("-c", "-s", "s_1", "do it"), "--continue and --session cannot be used together"),
        (("run", "-m"), "needs a value"),
        (("run",), "There is no task"),
        (("config", "got"), "Did you mean `gongfu config get`?"),
        (("config", "get"), "NAME is missing"),
        (("config", "get", "limits.max_stepz"), "Did you mean limits.max_steps?"),
        (("config", "set", "limits.max_steps", "many"), "limits.max_steps"),
        (("completion", "tcsh"), "bash, zsh, fish"),
        (("sessions", "--limit", "0"), "--limit must be a whole number"),
        (("show", "s_1", "s_2"), "takes no further arguments"),
        (("run", "--output-schema", "none.json", "do it"), "none.json"),
        (("run", "--image", "none.png", "do it"), "none.png"),
        (("models", "pull", "gpt-9"), "gpt-9"),
        (("--config", "nope", "do it"), "nope"),
        (("--root", "/does/not/exist", "do it"), "/does/not/exist"),
    ],
)
def test_what_is_typed_wrong_is_said_and_nothing_else_happens(
    program: Program, args: tuple[str, ...], says: str
) -> None:
    done = program.call(*args)
    assert done.code in (1, 2), done
    assert says in done.err, done
    assert done.err.startswith("gongfu: ")
    assert "Traceback" not in done.err
    assert (done.out == "") == ("--json" not in args)


def test_the_same_in_chinese(program: Program) -> None:
    done = program.call("sesions", LANG="zh_CN.UTF-8")
    assert "你是不是想用 `gongfu sessions`" in done.err
    assert "没有选项 --foo" in program.call("run", "--foo", "--lang", "zh").err
    assert "缺少 NAME" in program.call("config", "get", LC_ALL="zh_TW.UTF-8").err


def test_the_language_comes_from_the_flag_the_variable_the_settings_and_the_locale(program: Program) -> None:
    program.call("config", "set", "language", "zh")
    assert program.call("--help").out.startswith("用法：")
    assert "不是命令" in program.call("sesions").err
    assert "还没有会话" in program.call("sessions").err
    assert program.call("--help", GONGFU_LANGUAGE="en").out.startswith("Usage:")
    assert program.call("--help", "--lang", "en").out.startswith("Usage:")
    program.call("config", "set", "language", "auto")
    assert program.call("--help").out.startswith("Usage:")
    assert program.call("--help", LC_ALL="zh_CN.UTF-8").out.startswith("用法：")


def test_a_phrase_is_a_task_and_a_word_is_one_when_said_so(program: Program) -> None:
    model = script(program, "  - {say: Done., times: 0}\n")
    for args in (("修复失败的测试",), ("run", "fix"), ("-p", "fix"), ("fix", "the", "bug"), ("fix the bug",)):
        done = program.call("--model", model, *args)
        assert (done.code, done.out) == (0, "Done.\n"), (args, done)


def test_a_run_that_cannot_begin_leaves_no_session(program: Program) -> None:
    assert program.call("run", "hello there").code == 2
    assert json.loads(program.call("sessions", "--json").out)["sessions"] == []


def test_images_for_a_model_without_eyes_and_bad_schemas_are_refused_before_anything_is_sent(program: Program) -> None:
    (program.folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(30))
    (program.folder / "a.txt").write_text("text")
    (program.folder / "bad.json").write_text('{"type": 5}')
    (program.folder / "list.json").write_text("[]")
    (program.folder / "no.json").write_text("{")
    key = {"DEEPSEEK_API_KEY": "x", "GONGFU_MODEL": "deepseek/deepseek-chat"}
    cases = [("--image", "a.png"), ("--image", "a.txt")]
    cases += [("--output-schema", f"{name}.json") for name in ("bad", "list", "no")]
    for option, name in cases:
        done = program.call("run", option, name, "look at it", **key)
        assert done.code == 2, (name, done)
        assert "Nothing was sent" in done.err


def test_help_is_a_word_too(program: Program) -> None:
    assert program.call("help").out == program.call("--help").out
    assert program.call("help", "run").out == program.call("run", "-h").out


def test_options_may_stand_before_a_command(program: Program) -> None:
    assert json.loads(program.call("--json", "sessions").out) == {"type": "sessions", "sessions": []}
    assert program.call("--lang=zh", "config", "set", "--help").out.startswith("用法：")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_command_has_help_in_both_languages(program: Program, language: str) -> None:
    paths = [(name,) for name in COMMANDS]
    paths += [("config", verb) for verb in ("get", "set", "unset", "list", "path", "schema", "history")]
    paths += [("models", verb) for verb in ("list", "test", "pull")]
    paths += [("sessions", "delete"), ("sessions", "search"), ()]
    for path in paths:
        done = program.call(*path, "--help", "--lang", language)
        assert done.code == 0, (path, done)
        assert done.out.startswith("用法：" if language == "zh" else "Usage:"), path
        assert "Show this help" in done.out or language == "zh"


def test_every_sentence_of_the_command_line_is_in_the_catalogue() -> None:
    known = {
        "cli": set(words.TEXT),
        "setup": set(setup.TEXT),
        "cli_help": set(cli_help.TEXT),
    }
    used: set[tuple[str, str]] = set()
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        source = Path(str(importlib.import_module(module.name).__file__)).read_text(encoding="utf-8")
        own = re.search(r'def _say\(.*\n.*\n?.*f"([a-z_]+)\.\{name\}"', source)  # an area of its own
        for key in re.findall(r'(?:say|speech|_answer)\(\s*(?:cli, )?"([a-z_.]+)"', source):
            area, _, name = key.rpartition(".")
            used.add((area or (own[1] if own else "cli"), name))
        for key in re.findall(r'(?:Error|Refusal)\(\s*"([a-z_.]+)"', source):
            area, _, name = key.rpartition(".")
            used.add((area, name))
    missing = [f"{area}.{name}" for area, name in used if area in known and name not in known[area]]
    assert not missing
    assert len(used) > 100


@pytest.mark.parametrize("area", [words, setup, cli_help])
def test_both_languages_have_the_same_placeholders(area: object) -> None:
    for key, (english, chinese) in area.TEXT.items():  # type: ignore[attr-defined]
        fields = [set(re.findall(r"(?<!\{)\{(\w+)", text)) for text in (english, chinese)]
        assert fields[0] == fields[1], key


def test_the_version_and_the_reference(program: Program) -> None:
    assert re.fullmatch(r"gongfu \d+\.\d+\.\d+\S*\n", program.call("--version").out)
    for language in ("en", "zh"):
        text = render_cli(language)  # type: ignore[arg-type]
        for command in ("gongfu run", "gongfu models pull", "--stream-json", "| 130 |"):
            assert command in text


def test_settings_are_set_read_listed_and_taken_out_again(program: Program) -> None:
    assert program.call("config", "set", "limits.max_steps", "33").code == 0
    assert program.call("config", "get", "limits.max_steps").out == "33\n"
    program.call("config", "set", "providers.mine.api_key", "sk-a-long-secret-key-1234")
    program.call("config", "set", "providers.mine.base_url", "http://127.0.0.1:1/v1")
    listed = program.call("config")
    assert "limits.max_steps" in listed.out
    assert "config.yaml" in listed.out
    for args in (("config",), ("config", "--json"), ("config", "get", "providers.mine.api_key"), ("config", "--all")):
        assert "sk-a-long" not in program.call(*args).out, args
    assert "max_minutes" in program.call("config", "--all").out
    file = program.home / "config.yaml"
    assert program.call("config", "path").out == f"{file}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert program.call("config", "unset", "limits.max_steps").code == 0
    assert program.call("config", "get", "limits.max_steps").out == "200\n"
    assert len(json.loads(program.call("config", "history", "--json").out)["versions"]) >= 2
    assert "properties" in program.call("config", "schema").out


def test_broken_settings_are_told_with_line_and_column(program: Program) -> None:
    program.home.mkdir()
    (program.home / "config.yaml").write_text("limits:\n  max_steps: lots\n")
    for args in (("do it please",), ("config",), ("sessions",), ("models", "list")):
        done = program.call(*args)
        assert done.code == 2, (args, done)
        assert "line 2, column 14" in done.err, (args, done)
    done = program.call("doctor")
    assert done.code == 1
    assert "line 2, column 14" in done.out


def test_sessions_are_listed_shown_counted_and_deleted(program: Program) -> None:
    model = script(
        program,
        "  - {call: shell, arguments: {command: echo hello}, text: I look.}\n  - {say: All **well** 好。, times: 0}\n",
    )
    assert "no sessions" in program.call("sessions").err
    program.call("run", "--yes", "--model", model, "look around here 看看")
    listed = program.call("sessions")
    id = re.search(r"s_\w+", listed.out)
    assert id, listed
    assert "look around here 看看" in listed.out
    shown = program.call("show")
    for text in ("› look around here 看看", "I look.", "shell  echo hello", "All **well** 好。", "done in"):
        assert text in shown.out
    assert "hello\n" not in shown.out
    assert "hello\n" in program.call("show", "--verbose").out
    usage = program.call("show", id[0][:12], "--usage")
    assert re.search(r"main\s+2\s", usage.out), usage
    whole = json.loads(program.call("show", "--json").out)
    assert whole["id"] == id[0]
    assert [m["role"] for m in whole["messages"]][-1] == "assistant"
    assert program.call("sessions", "delete", id[0]).code == 2, "nobody to ask"
    assert program.call("sessions", "delete", id[0], "--yes").code == 0
    assert json.loads(program.call("sessions", "--json", "--all").out)["sessions"] == []
    assert program.call("show", id[0]).code == 1


def test_doctor_tells_what_is_missing_and_how_to_get_it(program: Program) -> None:
    done = program.call("doctor", "--json")
    report = json.loads(done.out)
    checks = {check["name"]: check for check in report["checks"]}
    assert done.code == 1
    assert not report["ok"]
    assert checks["model"]["level"] == "fail"
    assert checks["model"]["fix"] == "gongfu init"
    assert checks["embedded"]["fix"] == "gongfu models pull"
    assert checks["home"]["level"] == "ok"
    model = script(program, "  - {say: hi, times: 0}\n")
    program.call("config", "set", "models.main", model)
    assert program.call("doctor").code == 0
    assert "✓" in program.call("doctor").out


def test_doctor_finds_an_endpoint_that_is_not_there(program: Program) -> None:
    done = program.call("doctor", GONGFU_MODEL="x", OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="k")
    assert done.code == 1
    assert "http://127.0.0.1:9/v1 cannot be reached" in done.out
    assert "gongfu models test openai/x" in done.out


def test_init_takes_what_is_there_or_what_another_agent_had(program: Program) -> None:
    done = program.call("init")
    assert done.code == 2
    assert "Nothing was changed" in done.err
    done = program.call("init", "--yes", DEEPSEEK_API_KEY="sk-x")
    assert done.code == 0, done
    assert "deepseek/" in done.out
    tea = program.folder / "tea.yaml"
    tea.write_text(
        "main_model: {api_key: sk-111122223333, api_url: 'https://api.deepseek.com/v1', model_name: deepseek-chat,"
        " options: {max_tokens: 1024, temperature: 0.7}}\n"
        "cheap_model: {api_key: YOUR_API_KEY, api_url: 'http://localhost:11434/v1', model_name: qwen3}\n"
        "embedding: {api_url: 'http://emb.example.org/v1', model_name: bge, api_key: k}\nextra: 1\n"
    )
    done = program.call("init", "--from", str(tea))
    assert done.code == 0, done
    assert "extra has no counterpart" in done.err
    assert program.call("config", "get", "models.main").out == '["deepseek/deepseek-chat"]\n'
    assert program.call("config", "get", "models.fast").out == '["ollama/qwen3"]\n'
    assert program.call("config", "get", 'model_settings."deepseek/deepseek-chat".temperature').out == "0.7\n"
    keys = program.home / "keys.yaml"
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert "sk-111122223333" in keys.read_text()
    assert "sk-111122223333" not in (program.home / "config.yaml").read_text()
    assert "sk-111" not in done.out + done.err
    other = program.folder / "other.yaml"
    other.write_text("something: else\n")
    assert program.call("init", "--from", str(other)).code == 2


def test_the_demo_plays_its_script_and_tells_the_truth(program: Program) -> None:
    done = program.run("demo", "--model", "scripted")
    assert done.code == 0, done
    for text in ("AssertionError", "5 -     ", "amount += price", "OK", "nothing left this machine"):
        assert text in done.out, text
    assert "This was a script, not a model." in done.out


def test_a_demo_that_fails_says_so(program: Program) -> None:
    model = script(program, "  - {say: It is fixed., times: 0}\n")
    done = program.run("demo", "--model", model)
    assert done.code == 1, done
    assert "The bug is not fixed" in done.out


def test_models_are_listed_with_what_is_known_of_them(program: Program) -> None:
    rows = json.loads(program.call("models", "--json", DEEPSEEK_API_KEY="x").out)["models"]
    known = {row["ref"]: row for row in rows}
    cloud = next(row for ref, row in known.items() if ref.startswith("deepseek/"))
    assert cloud["place"] == "DEEPSEEK_API_KEY"
    assert cloud["window"] > 0
    assert cloud["input_price"] > 0
    assert "pull" in known["local"]["problem"]
    assert program.call("models", "pull").code == 3


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(program: Program, shell: str) -> None:
    done = program.call("completion", shell)
    assert "_GONGFU_COMPLETE" in done.out
    assert done.err == ""


def test_completion_completes(program: Program) -> None:
    done = program.run(_GONGFU_COMPLETE="bash_complete", COMP_WORDS="gongfu mod", COMP_CWORD="1")
    assert "plain,models" in done.out, done
    done = program.run(_GONGFU_COMPLETE="bash_complete", COMP_WORDS="gongfu run --perm", COMP_CWORD="2")
    assert "--permission" in done.out, done


def _raise(text: str) -> None:
    raise ValueError(text)


def test_a_bug_leaves_a_report_and_a_sentence(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    import gongfu.surfaces.cli.settings as broken

    def crash(*args: object, **values: object) -> int:
        raise RuntimeError("boom 爆")

    monkeypatch.setattr(broken, "list_settings", crash)
    done = program.call("config", "list")
    assert done.code == 1
    assert "Traceback" not in done.err
    path = re.search(r"\S+crash-\S+\.txt", done.err)
    assert path, done
    report = Path(path[0])
    assert "RuntimeError: boom 爆" in report.read_text(encoding="utf-8")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    report.unlink()
    token = "gh" + "p_" + "a1B2" * 9
    monkeypatch.setattr(broken, "list_settings", lambda *_, **__: crash(_raise(f"push {token}; my-own-key-of-words")))
    done = program.call("config", "list", "--verbose", OPENAI_API_KEY="my-own-key-of-words")
    path = re.search(r"\S+crash-\S+\.txt", done.err)
    assert path, done
    for text in (done.err, Path(path[0]).read_text(encoding="utf-8")):
        assert "Traceback" in text
        assert "push [secret github token]; [secret key]" in text
        assert token not in text
        assert "my-own-key" not in text
    monkeypatch.setattr(broken, "list_settings", crash)
    assert "Traceback" in program.call("config", "list", "--verbose").err
    assert "Traceback" in program.call("config", "list", GONGFU_DEBUG="1").err


def test_gongfu_alone_says_what_it_is_and_what_is_configured(program: Program) -> None:
    from gongfu.surfaces.cli.cli import Cli
    from gongfu.surfaces.cli.welcome import welcome

    cli = Cli([], {**program.env, "DEEPSEEK_API_KEY": "x"}, stdin=None, stdout=None, stderr=None)
    shown: list[str] = []
    cli.out.write = lambda text, flush=True: shown.append(text)  # type: ignore[method-assign]
    assert welcome(cli) == 0
    text = "".join(shown)
    assert "deepseek/" in text
    assert 'gongfu "fix the failing test"' in text
    shown.clear()
    cli.wanted_language = "zh"
    assert welcome(cli) == 0
    text = "".join(shown)
    assert 'gongfu "修好失败的测试"' in text
    assert "fix the" not in text
    behind = [line for line in text.splitlines() if "gongfu " in line and line.startswith("  ")][-5:]
    assert len({width(line[: line.rindex("  ")]) for line in behind}) == 1  # aligned by cells


def test_one_word_is_a_first_prompt_where_a_conversation_is_asked_for(program: Program) -> None:
    refused, opened = program.call("你好"), program.call("-i", "你好")
    assert (refused.code, opened.code) == (2, 2)
    assert "is not a command" in refused.err
    assert "is not a command" not in opened.err  # but there is no terminal to hold it


def test_options_before_a_subcommand_count_as_those_behind_it(program: Program) -> None:
    assert program.call("config", "set", "--config", "work", "language", "zh").code == 0
    for args in (("config", "--config", "work", "get", "language"), ("config", "get", "--config", "work", "language")):
        assert program.call(*args).out == "zh\n"
    shown = program.call("config", "--json", "--config", "work", "list")
    assert json.loads(shown.out)["settings"] == {"language": "zh"}


def test_a_model_that_nobody_has_is_not_written_down(program: Program) -> None:
    assert program.call("init", "--model", "nonsense").code == 2
    assert not (program.home / "config.yaml").exists()


@pytest.mark.parametrize("columns", [30, 40, 80, 200])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_is_no_wider_than_the_terminal(
    program: Program, monkeypatch: pytest.MonkeyPatch, columns: int, lang: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = program.call("run", "--help", "--lang", lang).out
    assert max(map(width, shown.splitlines())) <= max(min(columns, 80), 40)


def test_one_event_stays_one_line_for_everyone_who_reads_lines() -> None:
    text = to_json({"text": "a\u2028b\u2029c\x85d 中"})
    assert len(text.splitlines()) == 1
    assert json.loads(text) == {"text": "a\u2028b\u2029c\x85d 中"}


def test_doctor_finds_a_store_that_cannot_be_used(program: Program) -> None:
    assert "Store" not in program.call("doctor").out
    program.home.mkdir(exist_ok=True)
    (program.home / "gongfu.db").write_text("garbage" * 1000)
    for lang, name in (("en", "✗ Store"), ("zh", "✗ 会话库")):
        checked = program.call("doctor", "--lang", lang)
        assert name in checked.out
        assert "gongfu doctor --salvage" in checked.out
        assert checked.code == 1
    assert program.call("doctor", "--salvage").code == 0
    assert "Store" not in program.call("doctor").out


def test_a_folder_that_was_deleted_is_called_the_current_one(program: Program) -> None:
    gone = program.folder / "gone"
    gone.mkdir()
    words = [*PYTHON, "sessions"]
    script = f"cd {shlex.quote(str(gone))} && rmdir {shlex.quote(str(gone))} && exec {shlex.join(words)}"
    done = subprocess.run(
        ["sh", "-c", script], env=program.env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "The current folder is not there any more" in done.stderr
