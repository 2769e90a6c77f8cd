"""What a turn looks like without a terminal."""

from __future__ import annotations

import pytest

from gongfu.core import events as ev
from gongfu.core.display import Display, refusal_display
from gongfu.core.messages import CallPart, Message
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style

from .events import DIFF, answer, entry, finished, started, turn_end


def play(*events: ev.AnyEvent, language: str = "en", verbose: bool = False, **options: bool) -> tuple[str, str]:
    lines = Lines(style=Style(), speech=Speech(language=language), verbose=verbose)  # type: ignore[arg-type]
    plain = Plain(lines, session="s_1", **options)
    written = [plain.feed(entry(event)) for event in events]
    return "".join(w.out for w in written), "".join(w.err for w in written)


TURN = (
    ev.RequestSent(request="r", purpose="main", model="a/b"),
    ev.TextDelta(text="Let me look."),
    answer("Let me look.", "shell"),
    started(),
    finished("1 failed", display={"kind": "command", "code": 1, "summary": "exit 1, 12 lines", "output": "boom"}),
    ev.TextDelta(text="It is "),
    ev.TextDelta(text="fixed."),
    answer("It is fixed."),
    turn_end("It is fixed."),
)


def test_standard_output_holds_the_answer_alone() -> None:
    out, err = play(*TURN)
    assert out == "It is fixed.\n"
    assert "Let me look.\n" in err
    assert "● shell  pytest -q  → exit 1, 12 lines  0.8s\n" in err
    assert "boom" not in err
    assert "done in 12.3s · steps 2 · 12.3k in (10.0k cached) · 678 out · $0.0123 · s_1" in err
    assert "\x1b" not in out + err


def test_a_terminal_that_cannot_move_gets_every_word_once_as_it_comes() -> None:
    out, err = play(*TURN, stream=True)
    assert out == "Let me look.\nIt is fixed.\n"
    assert "● shell" in err


def test_quiet_leaves_the_answer_and_what_went_wrong() -> None:
    failed = ev.RequestFailed(request="r", fault="unauthorized", status=401, detail="bad key")
    out, err = play(*TURN, quiet=True)
    assert (out, err) == ("It is fixed.\n", "")
    _, err = play(failed, turn_end(status="failed", reason="engine.cancelled"), quiet=True)
    assert "✗ the key was not accepted (HTTP 401): bad key" in err
    assert "Cancelled." in err
    assert "steps" not in err


def test_verbose_shows_thinking_requests_and_whole_outputs() -> None:
    out, err = play(ev.ReasoningDelta(text="hm\nso"), *TURN, verbose=True)
    assert "│ hm\n│ so\n" in err
    assert "boom" in err
    assert "main request to a/b" in err
    assert out == "It is fixed.\n"


def test_an_edit_shows_its_diff_with_line_numbers() -> None:
    display = {"kind": "diff", "path": "x.py", "diff": DIFF, "added": 1, "removed": 1, "summary": "+1 -1"}
    _, err = play(started("edit_file", "x.py"), finished("edited", "edit_file", display=display))
    assert "● edit_file  x.py  → +1 -1" in err
    assert "   9   def f():\n  10 -     return 1\n  10 +     return 2\n  11   # end\n" in err


def test_a_long_diff_is_cut_and_counted() -> None:
    diff = "@@ -0,0 +1,100 @@\n" + "".join(f"+line {n}\n" for n in range(100))
    _, err = play(started(), finished(display={"kind": "diff", "diff": diff, "summary": "+100 -0"}))
    assert "line 39\n" in err
    assert "line 40\n" not in err
    assert "… 60 more lines" in err


def test_a_diff_of_several_files_and_of_lines_that_look_like_headers() -> None:
    diff = (
        "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,2 @@\n one\n--- a comment\n two\n"
        "--- a/y.c\n+++ b/y.c\n@@ -7 +7,2 @@\n-x\n+++ i;\n+y\n@@ -20,0 +22 @@\n+z\n\\ No newline at end of file\n"
    )
    _, err = play(finished("ok", "edit_file", display={"kind": "diff", "diff": diff, "summary": "+3 -2"}))
    shown = [line.removeprefix("  ") for line in err.splitlines()[1:]]
    assert shown == [
        "x.sql", " 1   one", " 2 - -- a comment", " 2   two", "y.c", " 7 - x", " 7 + ++ i;", " 8 + y", "   ⋮", "22 + z",
    ]  # fmt: skip


def test_failed_and_refused_calls_say_why() -> None:
    _, err = play(started("read_file", "x"), finished("No such file: x\nmore", "read_file", status="failed"))
    assert "✗ read_file  x  → failed: No such file: x …" in err
    _, err = play(started(), finished("", status="refused", display={"summary": "nobody to ask"}))
    assert "→ refused: nobody to ask" in err


def test_a_call_that_never_began_still_says_what_it_was_about() -> None:
    call = CallPart(id="c0", name="edit_file", arguments='{"path": "a.py", "old": "x"}')
    message = Message(role="assistant", parts=(call,))
    _, err = play(
        ev.AnswerReceived(request="r", message=message, finish="calls"),
        finished("old is not in a.py", "edit_file", status="failed", seconds=0.0),
    )
    assert err == "✗ edit_file  a.py  → failed: old is not in a.py\n"


def test_retries_and_warnings_are_seen() -> None:
    _, err = play(
        ev.RequestFailed(request="r", fault="throttled", status=429, detail="slow down", retry_in=2.0),
        ev.RequestFailed(request="r", fault="overloaded", next_model="x/y"),
        ev.WindowObserved(model="a/b", sent=50_000, served=4096),
        ev.HistoryRepaired(dropped=("c1",)),
        ev.JobChanged(job="j1", command="npm start", state="ended", code=1),
        ev.WarningRaised(key="nowhere.such", values={"a": 1}),
    )
    assert "⟳ too many requests (HTTP 429): slow down; trying again in 2.0 s" in err
    assert "going on with x/y" in err
    assert "4.1k of 50.0k tokens" in err
    assert "1 dropped" in err
    assert "job j1 ended with exit code 1: npm start" in err
    assert "⚠ nowhere.such {'a': 1}" in err


def test_it_speaks_chinese() -> None:
    out, err = play(*TURN, language="zh")
    assert out == "It is fixed.\n"
    assert "完成，用时 12.3s · 步数 2 · 输入 12.3k（缓存 10.0k） · 输出 678 · $0.0123 · s_1" in err


def test_what_a_tool_or_model_says_cannot_steer_a_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\r"
    _, err = play(started("shell", evil), finished(evil, status="failed"), answer(evil, "shell"))
    assert "\x1b" not in err
    assert "\x07" not in err
    assert "\u202e" not in err
    assert "\\u202e" in err


def test_a_broken_attempt_does_not_reach_the_answer() -> None:
    out, err = play(
        ev.TextDelta(text="half an ans"),
        ev.RequestFailed(request="r", fault="stream_cut", retry_in=0.5),
        ev.TextDelta(text="The answer."),
        answer("The answer."),
        turn_end("The answer."),
    )
    assert out == "The answer.\n"
    assert "the answer broke off" in err


def test_side_requests_are_not_shown_as_answers() -> None:
    out, err = play(answer("A title", purpose="title"), turn_end("Done."))
    assert out == "Done.\n"
    assert "A title" not in err


def test_unknown_price_is_said() -> None:
    _, err = play(turn_end("x", cost=None))
    assert "price unknown" in err


@pytest.mark.parametrize(
    ("display", "english", "chinese"),
    [
        (
            refusal_display("permissions.protected_secret", about=".env", by="nobody"),
            ".env may hold secrets, and nobody is there to allow it",
            ".env 可能含有机密，且没有人可以允许",
        ),
        (refusal_display("permissions.plan_only_reads", about="ls", by="policy"), "`plan` only reads: ls", "只读：ls"),
        (refusal_display("permissions.command", about="", by="person"), "you said no", "你没有允许"),
        (refusal_display("permissions.command", about="", by="person", said="no"), "you said no: no", "你没有允许：no"),
        (refusal_display("permissions.command", about="", by="before"), "before in this turn", "本轮已被拒绝过"),
        (refusal_display("permissions.of_a_later_version", about="x", by="policy"), "of_a_later_version", "of_a_later"),
    ],
)  # fmt: skip
def test_a_refusal_is_told_to_the_person_in_their_language(display: Display, english: str, chinese: str) -> None:
    for language, words in (("en", english), ("zh", chinese)):
        _, err = play(
            started(), finished("Refused: told the model", status="refused", display=display), language=language
        )
        assert words in err
        assert "told the model" not in err
        assert "Refused" not in err


@pytest.mark.parametrize(
    ("summary", "english", "chinese"),
    [
        ("exit 1, 12 lines", "exit 1, 12 lines", "退出码 1，12 行"),
        ("exit 0, 1 line", "exit 0, 1 line", "退出码 0，1 行"),
        ("1 lines", "1 line", "1 行"),
        ("11 lines", "11 lines", "11 行"),
        ("1,001 lines", "1,001 lines", "1,001 行"),
        ("1 matches in 1 files", "1 match in 1 file", "1 个文件中有 1 处匹配"),
        ("1 entries", "1 entry", "1 项"),
        ("200 of 1,234 files", "200 of 1,234 files", "200/1,234 个文件"),
        ("1 of 2 done", "1 of 2 done", "完成 1/2"),
        ("unchanged", "unchanged", "没有变化"),
        ("job j1 running", "job j1 running", "后台任务 j1 运行中"),
        ("stopped, 3 lines", "stopped, 3 lines", "已停止，3 行"),
        ("+1 -1", "+1 -1", "+1 -1"),
        ("2 staged, 1 untracked", "2 staged, 1 untracked", "2 个已暂存，1 个未跟踪"),
        ("2 failed, 1 errors, 4 passed", "2 failed, 1 error, 4 passed", "2 个失败，1 个错误，4 个通过"),
        ("10 references in 3 files", "10 references in 3 files", "3 个文件中有 10 处引用"),
        ("1 branch", "1 branch", "1 个分支"),
        ("32ec8eb, 3 files", "32ec8eb, 3 files", "32ec8eb，3 个文件"),
        ("created 试验; still on main", "created 试验; still on main", "已新建 试验，仍在 main"),
        ("Nothing changed.", "Nothing changed.", "没有变化"),
        ("no problems", "no problems", "没有问题"),
        ("3 packages in .venv", "3 packages in .venv", ".venv 中有 3 个包"),
        ("added 笔记", "added 笔记", "已添加 笔记"),
        ("something new", "something new", "something new"),
    ],
)
def test_what_a_tool_counts_is_told_in_the_language_of_the_person(summary: str, english: str, chinese: str) -> None:
    for language, words in (("en", english), ("zh", chinese)):
        _, err = play(
            started("x", "y"), finished("", "x", display={"kind": "text", "summary": summary}), language=language
        )
        assert f"→ {words}" in err
    _, err = play(started("ask_user", "?"), finished("", "ask_user", display={"summary": "3 files"}), language="zh")
    assert "→ 3 files" in err
