"""What a turn looks like in a terminal."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core import events as ev
from gongfu.surfaces.cli.output import Output
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.markdown import MarkdownStream, draw
from gongfu.surfaces.cli.render.painter import Painter
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.width import width

from .events import DIFF, answer, entry, finished, started, turn_end
from .screen import FakeTerminal


def terminal(*, color: bool = False, **options: bool) -> Terminal:
    return Terminal(Lines(style=Style(color=color), speech=Speech()), session="s_1", **options)


def test_finished_blocks_are_committed_and_the_open_one_lives() -> None:
    it = terminal()
    assert it.feed(entry(ev.TextDelta(text="# Plan\n\nFirst ")), 60) == "Plan\n"
    assert it.living(1000.0, 60) == ["First "]
    assert it.feed(entry(ev.TextDelta(text="things first.\n\n- one\n")), 60) == "\nFirst things first.\n"
    assert it.living(1000.0, 60) == ["- one"]
    assert it.feed(entry(answer("…")), 60) == "\n • one\n"
    assert it.living(1000.0, 60) == []


def test_a_running_call_shows_its_last_output_and_then_one_line() -> None:
    it = terminal()
    it.feed(entry(ev.RequestSent(request="r", purpose="main", model="deepseek/chat"), time=1000.0), 80)
    assert it.living(1002.0, 80)[0].endswith("chat …  2.0s")
    it.feed(entry(answer("", "shell")), 80)
    it.feed(entry(started(), time=1000.0), 80)
    it.feed(entry(ev.ToolOutput(call="c0", text="".join(f"line {n}\n" for n in range(9)))), 80)
    lines = it.living(1003.5, 80)
    assert lines[0].endswith("shell  pytest -q  3.5s")
    assert lines[1:] == ["  │ line 6", "  │ line 7", "  │ line 8"]
    assert it.feed(entry(finished(display={"summary": "9 lines"})), 80) == "● shell  pytest -q  → 9 lines  0.8s\n"
    assert it.living(1004.0, 80) == []


def test_parallel_calls_end_in_any_order() -> None:
    it = terminal()
    it.feed(entry(started("read_file", "a", "c1")), 80)
    it.feed(entry(started("read_file", "b", "c2")), 80)
    assert len(it.living(1000.0, 80)) == 2
    assert "read_file  b" in it.feed(entry(finished(name="read_file", call="c2")), 80)
    assert it.living(1000.0, 80)[0].endswith("read_file  a  0.0s")


def test_diffs_are_coloured_and_without_colour_there_is_no_escape() -> None:
    display = {"kind": "diff", "path": "x.py", "diff": DIFF, "summary": "+1 -1"}
    for color in (True, False):
        it = terminal(color=color)
        it.feed(entry(started("edit_file", "x.py")), 80)
        text = it.feed(entry(finished(name="edit_file", display=display)), 80)
        text += it.feed(entry(turn_end("**bold** `code`\n\n```python\nx = 1\n```")), 80)
        assert ("\x1b[32m10 +     return 2\x1b[0m" in text) is color
        assert ("\x1b" in text) is color
        assert "bold code" in text.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\x1b[36m", "")


def test_the_answer_is_drawn_once_even_when_it_was_not_streamed() -> None:
    it = terminal()
    streamed = it.feed(entry(ev.TextDelta(text="All done.")), 80) + it.feed(entry(answer("All done.")), 80)
    end = it.feed(entry(turn_end("All done.")), 80)
    assert (streamed + end).count("All done.") == 1
    assert terminal().feed(entry(turn_end("Not streamed.")), 80).count("Not streamed.") == 1


def test_markdown_loses_nothing_that_the_model_wrote() -> None:
    text = draw("a `List<T>` and <b>raw</b> & <script>x</script>\nsecond line", 80, color=False)
    assert text == "a List<T> and <b>raw</b> & <script>x</script>\nsecond line"
    assert "\x1b" not in draw("evil \x1b[2J\x1b]0;t\x07", 80, color=False)


def test_chinese_text_fits_the_width() -> None:
    text = draw(
        "这是一个很长的段落，用来测试中文换行是否正确。" * 5 + "\n\n| 名称 | 值 |\n|---|---|\n| 中文 | 1 |",
        40,
        color=False,
    )
    assert max(width(line) for line in text.split("\n")) <= 40


BLOCKS = "# T\n\npara one\nline two\n\n- a\n- b\n\n  c\n\n```py\nx\n\ny\n```\n\n1. one\n\n2. two\n\n> q\n\nthe very end"


@given(st.lists(st.integers(1, 12), min_size=1, max_size=80))
def test_however_the_text_is_split_every_line_comes_once_and_in_order(sizes: list[int]) -> None:
    stream = MarkdownStream()
    done: list[str] = []
    rest = BLOCKS
    for size in sizes:
        done += stream.feed(rest[:size])
        rest = rest[size:]
    done += stream.feed(rest) + stream.finish()
    lines = [line for block in done for line in block.split("\n") if line.strip()]
    assert lines == [line for line in BLOCKS.split("\n") if line.strip()]
    assert stream.open == ""


def test_a_fence_or_a_list_is_one_block_however_many_empty_lines_it_has() -> None:
    stream = MarkdownStream()
    blocks = [block for char in BLOCKS for block in stream.feed(char)] + stream.finish()
    heads = [block.strip().split("\n")[0] for block in blocks]
    assert heads == ["# T", "para one", "- a", "```py", "1. one", "> q", "the very end"]


TEXTS = st.text(st.sampled_from("ab 中文é\t"), max_size=30)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.lists(TEXTS, max_size=4)), max_size=12), st.integers(8, 24))
def test_whatever_is_drawn_the_screen_ends_with_what_is_finished_and_what_lives(
    steps: list[tuple[bool, list[str]]], columns: int
) -> None:
    sink = io.StringIO()
    screen = FakeTerminal(columns)
    painter = Painter(Output(sink), lambda: (columns, 30), Style().dim)
    committed: list[str] = []
    living: list[str] = []
    for commit, lines in steps:
        if commit and lines:
            short = [line.replace("\t", " ")[: columns // 2] for line in lines]
            painter.commit("\n".join(short) + "\n")
            committed += short
        else:
            living = lines
            painter.live(living)
    painter.live(())
    screen.write(sink.getvalue())
    expected = [line.rstrip() for line in committed]
    while screen.lines and not screen.lines[-1] and len(screen.lines) > len(expected):
        screen.rows.pop()
    assert screen.lines == expected


def test_living_lines_are_redrawn_in_place_and_held_back_while_a_question_is_asked() -> None:
    sink = io.StringIO()
    screen = FakeTerminal(20)
    painter = Painter(Output(sink), lambda: (20, 30), Style().dim)
    painter.live(["working", "a line that is much longer than the window"])
    painter.live(["working 2", "中文中文中文中文中文中文"])
    screen.write(sink.getvalue())
    assert screen.lines == ["working 2", "中文中文中文中文中…"]
    painter.pause()
    painter.commit("held back\n")
    size = len(sink.getvalue())
    painter.live(["still"])
    assert len(sink.getvalue()) == size
    painter.resume()
    screen = FakeTerminal(20)
    screen.write(sink.getvalue())
    assert screen.lines == ["held back", "still"]
