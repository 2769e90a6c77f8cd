"""How labels look: after their batch, as the header of the compact view, late, and in a session read again."""

from __future__ import annotations

from typing import Any

import pytest

from gongfu.core import events as ev
from gongfu.core.specs import Usage
from gongfu.surfaces.cli.render.history import History
from gongfu.surfaces.cli.render.label_words import told
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.width import width

from .events import answer, entry, finished, turn_end

LINES = Lines(style=Style(), speech=Speech(language="en"))


def batch(first: int, *names: str, text: str = "", status: Any = "done") -> list[ev.AnyEvent]:
    """An answer with calls numbered from `first`, and their results."""
    said = answer(text, *names)
    ids = [f"c{first + at}" for at in range(len(names))]
    parts = [p if not hasattr(p, "name") else type(p)(id=ids.pop(0), name=p.name) for p in said.message.parts]  # type: ignore[union-attr]
    message = type(said.message)(role="assistant", parts=tuple(parts))
    ends = [finished("ok", name=n, call=f"c{first + at}", status=status, seconds=0.0) for at, n in enumerate(names)]
    return [*([ev.TextDelta(text=text)] if text else []), ev.AnswerReceived(request="r", message=message), *ends]


def label(text: str, *calls: int, by: Any = "model") -> ev.BatchLabelled:
    return ev.BatchLabelled(calls=tuple(f"c{n}" for n in calls), text=text, by=by)


def plain(*events: ev.AnyEvent, **options: bool) -> list[str]:
    shown = Plain(LINES, **options)
    return "".join(w.head + w.err for w in (shown.feed(entry(e)) for e in events)).splitlines()


def terminal(*events: ev.AnyEvent, **options: bool) -> list[str]:
    shown = Terminal(LINES, **options)
    return [line for e in events for line in shown.feed(entry(e), 80).splitlines() if line.strip()]


def history(*events: ev.AnyEvent, compact: bool = False) -> list[str]:
    shown = History(LINES, lambda text: text, compact=compact)
    return [line for block in shown.blocks([entry(e) for e in events]) for line in block.splitlines() if line.strip()]


ONE = batch(1, "shell", "read_file")
TWO = batch(3, "edit_file", "edit_file")
END = (ev.TextDelta(text="Done."), answer("Done."), turn_end("Done."))


@pytest.mark.parametrize("show", [plain, terminal, history])
def test_the_label_stands_after_its_batch(show: Any) -> None:
    lines = show(*ONE, label("Looked around", 1, 2), *TWO, label("Edit 2 files +3 −1", 3, 4, by="plain"), *END)
    assert lines[:6] == [
        "● shell", "● read_file", "● Looked around", "● edit_file", "● edit_file", "● Edit 2 files +3 −1",
    ]  # fmt: skip


@pytest.mark.parametrize("show", [plain, terminal, history])
def test_a_single_call_says_it_itself_where_the_label_is_plain(show: Any) -> None:
    lines = show(*batch(1, "read_file"), label("Read a.py", 1, by="plain"), *END)
    assert "● Read a.py" not in lines
    lines = show(*batch(1, "fetch"), label("Fetched the release notes", 1), *END)
    assert lines[:2] == ["● fetch", "● Fetched the release notes"]


@pytest.mark.parametrize("show", [plain, terminal])
def test_a_late_label_says_whose_it_is(show: Any) -> None:
    lines = show(*ONE, *TWO, label("Looked around", 1, 2), *END)
    assert lines[4] == "● Looked around  ← shell, read_file"
    lines = show(*ONE, ev.TextDelta(text="Done."), answer("Done."), label("Looked around", 1, 2), turn_end("Done."))
    assert "● Looked around  ← shell, read_file" in lines


def test_read_again_a_late_label_stands_where_it_belongs() -> None:
    lines = history(*ONE, *TWO, label("Looked around", 1, 2), *END)
    assert lines[:4] == ["● shell", "● read_file", "● Looked around", "● edit_file"]


@pytest.mark.parametrize("show", [plain, terminal, history])
def test_the_compact_view_has_one_line_for_batches_that_follow_each_other(show: Any) -> None:
    events = [*ONE, label("Looked around", 1, 2), *TWO, label("Edit 2 files", 3, 4, by="plain"), *END]
    lines = show(*events, compact=True)
    assert lines[0] == "● Looked around +1"
    assert not any("read_file" in line or "edit_file" in line for line in lines)


@pytest.mark.parametrize("show", [plain, terminal, history])
def test_words_between_batches_begin_a_new_header(show: Any) -> None:
    three = batch(5, "shell", text="Now the tests.")
    events = [*ONE, label("Looked around", 1, 2), *TWO, *three, label("Run pytest (exit 0)", 5, by="plain"), *END]
    lines = [line for line in show(*events, compact=True) if line.startswith(("●", "Now"))]
    assert lines == ["● Looked around +1", "Now the tests.", "● Run pytest (exit 0)"]


@pytest.mark.parametrize("show", [plain, terminal, history])
def test_without_a_label_the_header_names_the_tools(show: Any) -> None:
    three = batch(1, "shell", "read_file", "read_file")
    assert show(*three, *TWO, *END, compact=True)[0] == "● shell, read_file ×2 +1"
    lines = show(*three, *TWO, label("Changed both", 3, 4), *END, compact=True)
    assert lines[0] == "● Changed both +1"


def test_the_header_is_alive_while_batches_go_on() -> None:
    shown = Terminal(LINES, compact=True)
    for event in (*ONE, label("Looked around", 1, 2), *TWO):
        assert shown.feed(entry(event), 80) == ""
    assert shown.living(1000.0, 80)[0] == "● Looked around +1"
    assert "● Looked around +1\n" in shown.feed(entry(turn_end("", status="cancelled")), 80)


def test_the_header_is_written_before_the_answer() -> None:
    shown = Plain(LINES, compact=True)
    written = [shown.feed(entry(e)) for e in (*ONE, label("Looked around", 1, 2), *END)]
    texts = [w.head + w.err + w.out for w in written if w.head or w.err or w.out]
    assert texts[0] == "● Looked around\n"
    assert written[-1].out == "Done.\n"
    assert not written[-1].err.startswith("●")


def test_on_a_simple_terminal_the_header_stands_above_the_words() -> None:
    shown = Plain(LINES, compact=True, stream=True)
    written = [shown.feed(entry(e)) for e in (*ONE, label("Looked around", 1, 2), *END)]
    assert "".join(w.head + w.out + w.err for w in written).startswith("● Looked around\nDone.")


def test_quiet_shows_no_labels() -> None:
    assert plain(*ONE, label("Looked around", 1, 2), *END, quiet=True) == []
    assert not any("Looked" in line for line in terminal(*ONE, label("Looked around", 1, 2), *END, quiet=True))


def test_a_label_cannot_steer_the_terminal_and_fits_into_it() -> None:
    narrow = Lines(style=Style(), speech=Speech(language="en"), columns=40)
    shown = Terminal(narrow)
    text = "".join(shown.feed(entry(e), 40) for e in (*ONE, label("修" * 60 + "\x1b[2J", 1, 2)))
    assert "\x1b" not in text
    assert max(width(line) for line in text.splitlines()) <= 40


@pytest.mark.parametrize("show", [plain, terminal])
def test_what_goes_wrong_beside_the_turn_is_not_shown(show: Any) -> None:
    sent = ev.RequestSent(request="r9", purpose="tool_use_summary_generation", model="a/fast")
    failed = ev.RequestFailed(request="r9", fault="unauthorized", status=401, purpose="tool_use_summary_generation")
    assert show(*ONE, sent, failed, *END) == show(*ONE, *END)


@pytest.mark.parametrize("show", [plain, terminal, history])
def test_what_was_asked_beside_the_turn_has_its_own_line(show: Any) -> None:
    beside = answer("Looked around", purpose="tool_use_summary_generation")
    beside = type(beside)(
        request="r9", message=beside.message, purpose=beside.purpose, usage=Usage(input=300, output=9), cost=0.0
    )
    lines = show(*ONE, beside, *END)
    assert lines[-1] == "  tool_use_summary_generation · 300 in · 9 out · $0"
    assert "12.3k in" in lines[-2]


@pytest.mark.parametrize(
    ("label", "chinese"),
    [
        ("Read main.py", "读取 main.py"),
        ("Read 3 files (2 failed)", "读取 3 个文件（2 个失败）"),
        ("Read a file (interrupted)", "读取 文件（被中断）"),
        ("Edit b.py +3 −1", "修改 b.py +3 −1"),
        ("Edit 2 files +9 −4 (1 failed, 1 refused)", "修改 2 个文件 +9 −4（1 个失败，1 个被拒绝）"),
        ("Create n.py +3 −0", "新建 n.py +3 −0"),
        ("List the folder", "列出文件夹"),
        ("Find **/*.py", "查找 **/*.py"),
        ("Search for def main", "搜索 def main"),
        ("Run pytest -q (exit 2)", "运行 pytest -q（退出码 2）"),
        ("Run pytest -q (stopped)", "运行 pytest -q（已停止）"),
        ("Run echo (a) (exit 0)", "运行 echo (a)（退出码 0）"),
        ("Run 4 commands (1 failed)", "运行 4 条命令（1 个失败）"),
        ("Start make", "启动 make"),
        ("Look at job j1", "查看后台任务 j1"),
        ("Update the todo list (1 of 3 done)", "更新待办列表（完成 1/3）"),
        ("Ask: Which colour?", "提问：Which colour?"),
        ("Recall a3", "取回 a3"),
        ("Delegate to agent-1: run all tests", "委派给 agent-1：run all tests"),
        ("fetch ×2", "fetch ×2"),
    ],
)
def test_plain_labels_are_said_in_the_person_s_language(label: str, chinese: str) -> None:
    assert told(label, Speech(language="zh")) == chinese
    assert told(label, Speech(language="en")) == label


def test_a_model_s_label_stays_as_it_was_written() -> None:
    spoken = Lines(style=Style(), speech=Speech(language="zh"))
    shown = Plain(spoken, compact=True)
    events = (*ONE, label("Read the whole tree", 1, 2), *END)
    assert "● Read the whole tree" in "".join(shown.feed(entry(e)).err for e in events)
