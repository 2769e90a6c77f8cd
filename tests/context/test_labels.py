"""Labels: what is plain, what a model is asked, and what is made of its answer."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gongfu.context.labels import LENGTH, clean, gate, plain, prompt, title_prompt
from gongfu.core.messages import CallPart, ResultPart, Status


def call(name: str, /, at: str = "c1", **args: Any) -> CallPart:
    return CallPart(id=at, name=name, arguments=msgspec.json.encode(args).decode())


def label(*calls: CallPart, status: Status = "done", display: dict[str, Any] | None = None) -> str | None:
    results = {c.id: ResultPart(call_id=c.id, text="text", status=status) for c in calls}
    return plain(calls, results, {c.id: display or {} for c in calls})


# --- gate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["1", "true", "TRUE", " true "])
def test_the_environment_switches_on_whatever_the_setting(word: str) -> None:
    assert gate({"GONGFU_EMIT_TOOL_USE_SUMMARIES": word}, False)


@pytest.mark.parametrize("word", ["0", "false", "False"])
def test_the_environment_switches_off_whatever_the_setting(word: str) -> None:
    assert not gate({"GONGFU_EMIT_TOOL_USE_SUMMARIES": word}, True)


@pytest.mark.parametrize("word", ["", "maybe", "2"])
def test_other_words_leave_it_to_the_setting(word: str) -> None:
    env = {"GONGFU_EMIT_TOOL_USE_SUMMARIES": word}
    assert gate(env, True)
    assert not gate(env, False)
    assert gate({}, True)


# --- plain labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "args", "display", "expected"),
    [
        ("read_file", {"path": "src/app/main.py"}, {}, "Read main.py"),
        ("read_file", {"path": "C:\\src\\main.py"}, {}, "Read main.py"),
        ("edit_file", {"path": "a/b.py", "old": "x", "new": "y"}, {"added": 3, "removed": 1}, "Edit b.py +3 −1"),
        ("write_file", {"path": "n.py"}, {"added": 3, "removed": 0, "new": True}, "Create n.py +3 −0"),
        ("write_file", {"path": "n.py"}, {"added": 3, "removed": 2}, "Write n.py +3 −2"),
        ("list_files", {}, {}, "List the folder"),
        ("list_files", {"path": "src/"}, {}, "List src"),
        ("find_files", {"pattern": "**/*.py"}, {}, "Find **/*.py"),
        ("search_text", {"pattern": "def main"}, {}, "Search for def main"),
        ("shell", {"command": "pytest -q"}, {"code": 0}, "Run pytest -q (exit 0)"),
        ("shell", {"command": "make", "background": True}, {}, "Start make"),
        ("shell_job", {"action": "output", "job": "j1"}, {}, "Look at job j1"),
        ("shell_job", {"action": "list"}, {}, "List the jobs"),
        ("todo", {"items": []}, {"summary": "1 of 3 done"}, "Update the todo list (1 of 3 done)"),
        ("ask_user", {"question": "Which\ncolour?"}, {}, "Ask: Which colour?"),
        ("recall", {"id": "a3"}, {}, "Recall a3"),
        ("recall", {"query": "the port"}, {}, "Recall the port"),
        ("task", {"task": "run all tests"}, {"agent": "agent-1"}, "Delegate to agent-1: run all tests"),
        ("task", {"task": "run all tests"}, {}, "Delegate: run all tests"),
    ],
)
def test_one_call_of_a_known_tool_is_plain(
    name: str, args: dict[str, Any], display: dict[str, Any], expected: str
) -> None:
    assert label(call(name, **args), display=display) == expected


def test_a_command_tells_its_exit_code() -> None:
    command = call("shell", command="pytest -q")
    assert label(command, status="failed", display={"code": 2}) == "Run pytest -q (exit 2)"
    assert label(command, status="failed", display={"code": -9, "summary": "stopped"}) == "Run pytest -q (stopped)"
    assert label(command, status="refused") == "Run pytest -q (refused)"


def test_several_of_one_kind_are_counted() -> None:
    reads = [call("read_file", at=f"c{n}", path=f"{n}.py") for n in range(3)]
    assert label(*reads) == "Read 3 files"
    assert label(*(call("read_file", at=f"c{n}", path="same.py", offset=n) for n in range(3))) == "Read same.py"
    edits = [call("edit_file", at=f"c{n}", path=f"{n}.py") for n in range(2)]
    assert label(*edits, display={"added": 2, "removed": 1}) == "Edit 2 files +4 −2"
    assert label(*(call("shell", at=f"c{n}", command="x") for n in range(4))) == "Run 4 commands"
    assert label(*(call("fetch", at=f"c{n}") for n in range(2))) == "fetch ×2"


def test_what_failed_is_counted_apart() -> None:
    calls = [call("read_file", at=f"c{n}", path=f"{n}.py") for n in range(3)]
    statuses: list[Status] = ["done", "failed", "failed"]
    results = {c.id: ResultPart(call_id=c.id, text="", status=s) for c, s in zip(calls, statuses, strict=True)}
    assert plain(calls, results) == "Read 3 files (2 failed)"
    assert label(calls[0], status="refused") == "Read 0.py (refused)"


def test_a_mixed_batch_and_an_unknown_tool_are_not_plain() -> None:
    assert label(call("read_file", path="a"), call("shell", at="c2", command="ls")) is None
    assert label(call("fetch", url="x")) is None
    assert plain([], {}) is None


def test_arguments_that_are_no_json_do_no_harm() -> None:
    broken = CallPart(id="c1", name="read_file", arguments='{"path": ', problem="cut off")
    assert plain([broken], {}) == "Read a file (interrupted)"


@given(st.text(max_size=300), st.sampled_from(["read_file", "shell", "search_text", "ask_user", "task"]))
def test_a_plain_label_is_one_safe_line(text: str, name: str) -> None:
    args = {"path": text, "command": text, "pattern": text, "question": text, "task": text}
    made = label(call(name, **args)) or ""
    assert len(made) <= LENGTH
    assert made == "" or made.isprintable()


# --- what a model is asked ----------------------------------------------------------------------------------------


def test_the_request_is_bounded_and_its_beginning_always_the_same() -> None:
    calls = [call("fetch", at=f"c{n}", url="u" * 5000) for n in range(30)]
    results = {c.id: ResultPart(call_id=c.id, text="o" * 50_000) for c in calls}
    system, text = prompt(calls, results, "i" * 5000)
    assert len(text) <= 4000
    assert text.count("fetch") == 12
    assert "and 18 more calls" in text
    assert text.count("i" * 100) == 1
    assert len(text.split("\n")[0]) <= len("Intent: ") + 200
    assert prompt(calls[:1], {}, "")[0] == system


def test_a_single_call_shows_three_hundred_characters_of_each_side() -> None:
    one = call("fetch", url="u" * 5000)
    _, text = prompt([one], {"c1": ResultPart(call_id="c1", text="A" * 5000 + "Z" * 5000)}, "")
    first, second = text.split("\n")
    assert len(first) == len("1. fetch ") + 300
    assert len(second) == len("-> done: ") + 300
    assert "A" * 100 in second
    assert "Z" * 50 in second


SECRETS = [
    "sk-proj-abcdefghijklmnopqrstuvwx0123456789",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("where", ["input", "output", "intent", "title"])
def test_secrets_are_left_out_wherever_they_stand(secret: str, where: str) -> None:
    around = f"before {secret} after"
    result = {"c1": ResultPart(call_id="c1", text=around if where == "output" else "")}
    _, text = prompt([call("fetch", x=around if where == "input" else "")], result, around if where == "intent" else "")
    if where == "title":
        _, text = title_prompt(around, around)
    assert secret not in text
    assert secret[8:24] not in text
    assert "before" in text
    assert "after" in text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("DB_PASSWORD=hunter2secret", "hunter2secret"),
        ('{"api_key": "plainword"}', "plainword"),
        ("password: 'two words'", "two words"),
        ("postgres://user:letmein@host/db", "letmein"),
        ("Authorization: Bearer opaquevalue", "opaquevalue"),
        ("Set-Cookie: sid=cookievalue; Path=/", "cookievalue"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nline\n", "MIIEabc"),
    ],
)
def test_named_secrets_are_left_out(text: str, hidden: str) -> None:
    _, asked = prompt([call("fetch")], {"c1": ResultPart(call_id="c1", text=text)}, "")
    assert hidden not in asked


def test_a_key_that_ends_in_what_is_shown_is_left_out_too() -> None:
    body = "\n".join(f"secretline{n:04}" for n in range(500))
    text = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\ndone"
    _, asked = prompt([call("fetch")], {"c1": ResultPart(call_id="c1", text=text)}, "")
    assert "secretline" not in asked
    assert asked.endswith("done")


# --- what is made of an answer ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Fix the pager", "Fix the pager"),
        ("\n\n  Fix the pager  \nand more", "Fix the pager"),
        ("- Fix the pager", "Fix the pager"),
        ("1. Fix the pager", "Fix the pager"),
        ("• 修复分页", "修复分页"),
        ('"Fix the pager"', "Fix the pager"),
        ("```Fix the pager```", "Fix the pager"),
        ("“Fix the pager”", "Fix the pager"),
        ("Label: Fix the pager", "Fix the pager"),
        ("SUMMARY：Fix the pager", "Fix the pager"),
        ("结果：修复分页", "修复分页"),
        ('- "Result: Fix the pager"', "Fix the pager"),
        ('Label: "Fix the pager"', "Fix the pager"),
        ("Fix \x1b[31mthe\x1b[0m pager", "Fix the pager"),
        ("\x1b[1m- Fix the pager", "Fix the pager"),
        ("Fix \u202ethe\u202c pager\x07", "Fix the pager"),
        ("Fix\tthe  pager", "Fix the pager"),
        ("Fix the pager\u2028second", "Fix the pager"),
        ('Rename "foo"', 'Rename "foo"'),
        ("Run `pytest`", "Run `pytest`"),
        ("重命名「foo」", "重命名「foo」"),
        ("Results improved", "Results improved"),
        ("-flag added", "-flag added"),
        ("", ""),
        ("``` ```", ""),
        ("Label:", ""),
    ],
)
def test_an_answer_becomes_a_label(answer: str, expected: str) -> None:
    assert clean(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "API Error: 500",
        "error: no",
        "Error：no",
        "I cannot do that",
        "I can't help",
        "I can’t help",
        "UNABLE TO name it",
        "错误：没有",
        "无法生成",
        "抱歉，我不能",
        '- "I cannot do that"',
        "\x1b[31mError: no",
        "Label: Unable to say",
    ],
)
def test_an_error_or_refusal_is_no_label(answer: str) -> None:
    assert clean(answer) == ""


def test_a_long_label_is_cut_between_characters() -> None:
    assert clean("x" * 300) == "x" * LENGTH
    family = "👨‍👩‍👧"
    assert clean("a" * 97 + family + "b") == "a" * 97
    assert len(clean(family * 50)) == LENGTH // len(family) * len(family)


WORDS = ("label:", "Summary：", "result", "错误", "error:", "I can't", "- ", "1. ", "word", "\x1b[1m", "\x1b]", "\x9b")
SIGNS = ('"', "`", "'", "「", "」", "”", "“", "\u202e", "\u200d", "\u2028", "\n", " ", "👍🏽", "e\u0301", "🇩🇪", "\x07")
PIECES = st.lists(st.one_of(st.sampled_from((*WORDS, *SIGNS)), st.characters()), max_size=80).map("".join)


@given(PIECES)
@example('"a" "')
@example("``a`")
def test_a_label_is_safe_short_and_stays_as_it_is(text: str) -> None:
    made = clean(text)
    assert len(made) <= LENGTH
    assert clean(made) == made
    assert made == made.strip()
    for char in made:
        assert char in "\u200c\u200d" or unicodedata.category(char)[0] != "C"
        assert unicodedata.category(char) not in ("Zl", "Zp")


@pytest.mark.parametrize(
    "piece", ['"', "`'", "- ", "\x1b[", "\x9d", "\x1b]", "label:", "\n", " ", "🇩", "e\u0301", "1. "]
)
def test_cleaning_takes_time_linear_in_the_length(piece: str) -> None:
    def seconds(count: int) -> float:
        text = piece * count
        started = time.process_time()
        clean(text)
        return time.process_time() - started

    seconds(10)
    assert seconds(100_000) < 1.0  # a quadratic way takes minutes


@pytest.mark.parametrize("piece", ["x", "a-", "token", "http://", "-----BEGIN ", "eyJ", "some words of a log\n"])
def test_looking_for_secrets_takes_little_time_whatever_the_text(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    calls = [call("fetch", at=f"c{n}", text=text) for n in range(12)]
    results = {c.id: ResultPart(call_id=c.id, text=text) for c in calls}
    started = time.process_time()
    prompt(calls, results, text)
    assert time.process_time() - started < 1.5  # looked through as a whole each takes minutes
