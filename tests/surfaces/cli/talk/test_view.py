"""What a person sees of a session in a conversation."""

from __future__ import annotations

import gc
import random
import re
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from gongfu.core import events as ev
from gongfu.core.messages import ImagePart, user
from gongfu.core.modes import Bounds
from gongfu.core.specs import Usage
from tests.surfaces.cli.events import DIFF, finished, started

from .shown import Shown, answer, done, queued, sent, shown, turn

pytestmark = pytest.mark.anyio

EXIT = {"kind": "command", "code": 3, "output": "".join(f"problem {n}\n" for n in range(9)), "summary": "exit 3"}


def play(it: Shown) -> None:
    """A turn with everything."""
    it.prompt("Fix the bug\nplease")
    it.feed(sent(estimate=5000, budget=100_000))
    it.feed(ev.ReasoningDelta(text="Hm."), after=1)
    it.feed(ev.TextDelta(text="I **look** first."), after=4)
    it.feed(answer("I **look** first.", ("c0", "read_file"), ("c1", "shell")))
    it.feed(started("read_file", "src/a.py", "c0"))
    it.feed(finished(name="read_file", call="c0", display={"kind": "text", "summary": "12 lines"}))
    it.feed(started("shell", "pytest -q", "c1"))
    it.feed(ev.ToolOutput(call="c1", text="problem 0\n"))
    it.feed(finished(call="c1", status="failed", display=EXIT, seconds=2.0), after=2)
    it.feed(ev.BatchLabelled(calls=("c0", "c1"), text="Look at the failing test", by="model"))
    it.feed(sent(), answer("", ("c2", "edit_file")))
    it.feed(started("edit_file", "x.py", "c2"))
    it.feed(finished(name="edit_file", call="c2", display={"kind": "diff", "diff": DIFF, "summary": "+1 -1"}))
    it.feed(ev.MessageAdded(message=user("also the docs", kind="steer")))
    it.feed(sent(), answer("", ("c3", "shell")))
    refusal = {"kind": "refusal", "why": "", "by": "person", "said": "not there"}
    it.feed(finished(call="c3", status="refused", display=refusal))
    it.feed(sent(), ev.TextDelta(text="# Done\n\n- 修好了 🎉\n- all"), answer("# Done\n\n- 修好了 🎉\n- all"))
    it.feed(done("# Done\n\n- 修好了 🎉\n- all"))


FULL = """
› Fix the bug
  please

· thought for 4s

I look first.

● read_file  src/a.py  → 12 lines  0.8s
● shell  pytest -q  → exit 3  2.0s
  │ … 3 lines before
  │ problem 3
  │ problem 4
  │ problem 5
  │ problem 6
  │ problem 7
  │ problem 8
● Look at the failing test
● edit_file  x.py  → +1 -1  0.8s
   9   def f():
  10 -     return 1
  10 +     return 2
  11   # end

» also the docs

✗ shell  → refused: you said no: not there  0.8s

Done

 • 修好了 🎉
 • all

done in 12.3s · steps 2 · 12.3k in (10.0k cached) · 678 out · $0.0123
"""

COMPACT = """
› Fix the bug
  please

I look first.

✗ Look at the failing test +1

» also the docs

✗ shell

Done

 • 修好了 🎉
 • all

done in 12.3s · steps 2 · 12.3k in (10.0k cached) · 678 out · $0.0123
"""


async def test_a_turn_in_full(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        play(it)
        assert it.text == FULL


async def test_a_turn_in_the_compact_view_has_a_line_for_each_group(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.view.set_view(compact=True)
        play(it)
        assert it.text == COMPACT


async def test_a_turn_in_chinese_on_forty_columns(tmp_path: Path) -> None:
    async with shown(tmp_path / "w", columns=40, language="zh") as it:
        play(it)
        assert "\n· 思考了 4s\n" in it.text
        assert "\n● shell  pytest -q  → 退出码 3  2.0s\n" in it.text
        assert "· 输出 678\n$0.0123\n" in it.text


@pytest.mark.parametrize("color", [True, False])
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50), (40, 12), (20, 6)])
async def test_no_size_has_anything_wider_or_higher(tmp_path: Path, columns: int, rows: int, *, color: bool) -> None:
    async with shown(tmp_path / "w", columns=columns, rows=rows, color=color) as it:
        play(it)
        assert ("\x1b" in it.painted) is color
        words = re.sub(r"[\s│]+", "", it.text)
        for said in ("Fixthebug", "Ilookfirst.", "alsothedocs", "修好了🎉"):
            assert words.count(said) == 1


async def test_hostile_text_steers_nothing(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;title\x07\u202eevil\r\x9b31m"
    async with shown(tmp_path / "w", color=True) as it:
        it.prompt(evil)
        it.feed(sent(), ev.TextDelta(text=f"{evil}\n\n```\n{evil}\n"))
        it.feed(answer(f"{evil}\n\n```\n{evil}\n", ("c0", "shell")), started("shell", evil), queued("q", evil))
        it.feed(ev.ToolOutput(call="c0", text=f"{evil}\n"), ev.TodoChanged(items=(ev.TodoItem(text=evil),)))
        started_ = ev.AgentStarted(agent=evil, session="s", call="c0", task=evil)
        inner = {"type": "tool_started", "name": evil, "title": evil}
        it.feed(started_, ev.AgentEvent(agent=evil, session="s", event=inner), ev.SessionTitled(title=evil))
        it.view.steered(evil)
        painted = "\n".join(it.view.living(it.time, 80, 60)) + it.view.status(it.time, 80)[0]
        it.feed(finished(status="failed", text=evil, display={**EXIT, "output": evil}), done(evil))
        rest = re.sub(r"\x1b\[[0-9;]*m", "", painted + it.painted)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", rest)


async def test_a_terminal_without_symbols_gets_plain_frames(tmp_path: Path) -> None:
    async with shown(tmp_path / "w", encoding="ascii") as it:
        it.prompt("x")
        it.feed(sent())
        assert it.living()[-1].split(" ")[0] in "|/-\\"


# --- prompts ---


async def test_a_command_is_shown_as_it_was_typed_and_pictures_are_named(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        picture = ImagePart(media_type="image/png", data="x", width=640, height=480)
        text = it.prompt("a long text that came of it", bounds=Bounds(command="/review src"), images=(picture,))
        assert text == "\n› /review src\n  [image: png 640×480]\n"


async def test_a_long_prompt_is_cut_in_the_middle(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        text = it.prompt("\n".join(f"row {n}" for n in range(100)))
        assert [row.strip() for row in text.strip().split("\n")][7:10] == ["row 7", "… 89 more lines …", "row 97"]
        text = it.prompt("word " * 100_000)
        assert text.count("\n") < 16


async def test_a_prompt_shows_when_its_turn_begins_and_waits_before(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("first")
        it.feed(sent())
        assert it.feed(*(queued(f"q{n}", f"later {n}") for n in range(6))) == ""
        it.view.steered("and be quick")
        assert it.living()[-5:] == [
            "  for the next step: and be quick",
            "  queued 1. later 0",
            "  queued 2. later 1",
            "  queued 3. later 2",
            "  … 3 more",
        ] or it.living()[-1].endswith("more")
        it.feed(ev.MessageAdded(message=user("and be quick", kind="steer")))
        assert not any("be quick" in row for row in it.living())
        it.feed(ev.PromptDropped(prompt="q0"), done())
        assert it.feed(turn("q1")) == "\n› later 1\n"
        assert "later 0" not in it.text


async def test_an_interrupted_turn_that_goes_on_has_no_prompt(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        assert it.feed(turn(resumed=True)) == "\n· going on\n"


# --- what is alive ---


async def test_what_is_awaited_is_told_with_its_time(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("x")
        it.feed(sent())
        assert it.living(4.2)[-1][2:] == "waiting for quick-1 · 4s · Esc stops"
        it.feed(ev.ReasoningDelta(text="Hm"), after=2)
        assert it.living(2)[-1][2:] == "quick-1 is thinking · 4s · Esc stops"
        it.feed(ev.CallDelta(name="write_file", size=1200))
        assert it.living(1)[-1][2:] == "quick-1 is writing write_file, 1,200 characters · 1s · Esc stops"
        it.feed(ev.RequestFailed(request="r", fault="network", retry_in=2.0))
        assert it.living()[-1][2:].startswith("waiting before the next try")
        it.feed(done())
        assert it.living() == []


async def test_running_calls_show_the_end_of_their_output(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("x")
        it.feed(answer("", ("c0", "shell")), started())
        it.feed(ev.ToolOutput(call="c0", text="one\ntwo\nthree\n10%\r20%\r30%"))
        assert it.living(3)[:5] == ["", "● shell  pytest -q  3s", "  │ two", "  │ three", "  │ 30%"]


async def test_many_calls_at_once_keep_the_newest(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("x")
        it.feed(answer("", *((f"c{n}", "shell") for n in range(20))))
        it.feed(*(started(title=f"run {n}", call=f"c{n}") for n in range(20)))
        rows = it.living()
        assert rows[1] == "  … 15 more"
        assert rows[-2].startswith("● shell  run 19")


async def test_sub_agents_are_a_tree(tmp_path: Path) -> None:
    async with shown(tmp_path / "w", rows=50) as it:
        it.prompt("x")
        it.feed(answer("", ("c0", "task"), ("c1", "task")), started("task", "two things", "c0"))
        it.feed(ev.AgentStarted(agent="agent-1", session="s1", call="c0", task="find the callers"))
        it.feed(ev.AgentStarted(agent="agent-2", session="s2", call="c0", task="read the docs"))
        it.feed(ev.AgentStarted(agent="agent-3", session="s3", call="c9", task="watch", background=True))

        def inner(agent: str, /, **event: Any) -> ev.AgentEvent:
            return ev.AgentEvent(agent=agent, session="s", event=event)

        it.feed(inner("agent-1", type="tool_started", name="grep", title="def f"), after=3)
        it.feed(inner("agent-1", type="agent_started", agent="agent-1.1", call="c2", task="look at one"))
        it.feed(inner("agent-1.1", type="tool_started", name="read_file", title="a.py"), after=2)
        assert it.living()[1:-1] == [
            "● task  two things  5s",
            "  ├ agent-1  1 call · 5s  grep  def f",
            "  │ └ agent-1.1  1 call · 2s  read_file  a.py",
            "  └ agent-2  5s  read the docs",
            "● agent-3  background · 5s  watch",
        ]
        it.feed(inner("agent-1", type="agent_finished", agent="agent-1.1"))
        it.feed(ev.AgentFinished(agent="agent-2", session="s2", call="c0", status="done"))
        assert [row[:13] for row in it.living()[2:4]] == ["  └ agent-1  ", "● agent-3  ba"]


async def test_the_todo_list_is_one_line_or_unfolded(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        items = [ev.TodoItem(text=f"do {n}", status="done" if n < 6 else "pending") for n in range(12)]
        items[6] = ev.TodoItem(text="do it now", status="in_progress")
        it.prompt("x")
        it.feed(sent(), ev.TodoChanged(items=tuple(items)))
        assert it.living()[-1] == "  do it now  todo 6/12 · Ctrl-T shows all"
        it.view.todo_shown = True
        rows = it.living()
        assert "  ▶ do it now" in rows
        assert "todo 6/12 · Ctrl-T hides" in rows
        it.feed(done())
        assert "  ▶ do it now" in it.living()


async def test_the_open_block_is_drawn_as_it_will_look(tmp_path: Path) -> None:
    async with shown(tmp_path / "w", columns=30) as it:
        it.prompt("x")
        it.feed(sent(), ev.TextDelta(text="- one `code`\n- **two** words that go on for longer\n"))
        assert it.living()[1:-2] == [" • one code", " • two words that go on for", "   longer"]
        it.feed(ev.TextDelta(text="\nEnd.\n\n```python\nx = 1\n    y = 2\n"))
        assert it.living()[1:-2] == [" x = 1", "     y = 2"]


# --- long ones ---


async def test_a_long_fence_comes_in_pieces_that_stay_code(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("x")
        code = [f"row {n}" if n % 7 else "" for n in range(1, 300)]
        fence = "Look:\n\n```text\n" + "\n".join(code) + "\n```\n\nThat is it."
        it.feed(sent())
        early = ""
        for at in range(0, len(fence), 11):
            early = early or it.feed(ev.TextDelta(text=fence[at : at + 11])) if "row 60" in it.text else early
            if "row 60" not in it.text:
                it.feed(ev.TextDelta(text=fence[at : at + 11]))
            elif not early:
                early = it.text
        it.feed(answer(fence), done(fence))
        lines = it.text.split("\n")
        start = lines.index(" row 1")
        assert [line[1:] for line in lines[start : start + len(code)]] == code
        assert lines.count("That is it.") == 1


async def test_streaming_takes_time_in_proportion(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("x")

        def took(lines: int, text: str) -> float:
            deltas = [ev.Entry(seq=0, time=1.0, event=ev.TextDelta(text=text)) for _ in range(lines)]
            it.view.feed(ev.Entry(seq=0, time=1.0, event=ev.TextDelta(text="\n\n```\n")), 80)
            since = time.process_time()
            for entry in deltas:
                it.view.feed(entry, 80)
            spent = time.process_time() - since
            it.view.feed(ev.Entry(seq=0, time=1.0, event=answer("")), 80)
            return spent

        took(100, "x = 1\n")
        small, large = took(500, "x = 1\n"), took(4000, "x = 1\n")
        assert large < small * 8 * 4


async def test_hundreds_of_turns_leave_nothing_behind(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        view = it.view

        def turns(first: int, last: int) -> None:
            for n in range(first, last):
                calls = (f"c{n}a", "read_file"), (f"c{n}b", "shell")
                events: list[ev.AnyEvent] = [queued(f"p{n}", "Do it " * 20), turn(f"p{n}"), sent(f"r{n}")]
                events += [ev.ReasoningDelta(text="hm " * 50), answer("", *calls)]
                for id, name in calls:
                    events += [started(name, "x", id), ev.ToolOutput(call=id, text="out\n" * 50)]
                    events += [ev.QuestionAsked(question=f"q{id}", about="permission", text="?", call=id)]
                    events += [ev.QuestionAnswered(question=f"q{id}", answer="allow"), finished(name=name, call=id)]
                events += [ev.BatchLabelled(calls=(f"c{n}a", f"c{n}b"), text="Work", by="model")]
                events += [ev.AgentStarted(agent=f"a{n}", session="s", call=f"c{n}a", task="t"), done()]
                for event in events:
                    view.feed(ev.Entry(seq=1, time=1.0, event=event), 80)

        turns(0, 300)
        tracemalloc.start()
        try:
            turns(300, 310)
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            turns(310, 410)
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        assert grown < 10_000
        assert len(view.living(2.0, 80, 60)) == 0


# --- every word once ---


async def test_an_answer_comes_once_however_its_events_arrive(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        text = "word-1 word-2\n\n- word-3\n- word-4\n\nword-5"
        it.prompt("x")
        it.feed(sent(), ev.TextDelta(text=text[:20]))
        it.feed(ev.MessagePartial(text=text[:31]))  # what a reader gets who fell behind
        it.feed(answer(text), done(text))
        it.prompt("y")
        it.feed(sent(), answer("word-6 was not streamed"), done("word-6 was not streamed"))
        assert re.findall(r"word-\d", it.text) == [f"word-{n}" for n in range(1, 7)]


@pytest.mark.parametrize("seed", range(6))
async def test_all_words_of_all_answers_come_once_and_in_order(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with shown(tmp_path / "w", columns=chance.choice([24, 40, 80]), color=bool(seed % 2)) as it:
        number, wanted = 0, []
        for _ in range(6):
            blocks: list[str] = []
            for _ in range(chance.randint(1, 6)):
                words = [f"w{number + n}" for n in range(chance.choice([1, 5, 40]))]
                number += len(words)
                wanted += words
                form = chance.choice(["{}", "- {}", "```py\n{}\n```", "# {}", "> {}", "1. {}"])
                between = chance.choice([" ", "\n"]) if "#" not in form else " "
                between = between if form[0] not in "->1" else "\n" + form[:-2] if between == "\n" else " "
                blocks.append(form.format(between.join(words)))
            text = "\n\n".join(blocks)
            it.prompt("go")
            it.feed(sent())
            at = 0
            while at < len(text):
                size = chance.randint(1, 30)
                it.feed(ev.TextDelta(text=text[at : at + size]))
                at += size
            it.feed(answer(text), done(text))
        assert re.findall(r"w\d+", it.text) == wanted


# --- the status line ---


async def test_the_status_tells_the_facts_and_drops_the_least_important(tmp_path: Path) -> None:
    async with shown(tmp_path / "w", columns=100) as it:
        it.prompt("x")
        it.feed(ev.SessionTitled(title="修复错误 of the parser"), sent(estimate=12_000, budget=100_000))
        usage = Usage(input=14_000, cached=7_000, output=1_000)
        it.feed(answer("ok", usage=usage, cost=0.05))
        line = it.status()
        assert line.startswith(" quick-1 · ask · ")
        assert "15% of 100k · cache 50% · $0.0500" in line
        assert line.endswith("修复错误 of the parser")
        it.view.set_view(compact=True, verbose=True)
        assert "compact · verbose" in it.status()
        it.columns = 30
        assert it.status().startswith(" quick-1 · ask · 15% of 100k")
        it.columns = 6
        assert it.status() == " quic…"


# --- opened again ---


async def test_an_opened_session_shows_its_end(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        assert it.view.opening(80) == ""
        app, session = it.view._app, it.session
        session.begin()
        emit = session.stream.emit
        for n in range(40):
            emit(queued(f"p{n}", f"prompt {n}"), turn(f"p{n}"), sent(f"r{n}", estimate=100, budget=1000))
            emit(answer(f"answer **{n}**"), done(f"answer **{n}**", status="cancelled" if n == 39 else "done"))
            app.rows.note_turn(session.id, usage=Usage(), cost=None, at=time.time())
        emit(ev.SessionTitled(title="A title"))
        app.rows.set_title(session.id, "A title")
        text = it.view.opening(80)
        it.check(text)
        assert "› prompt 39\n\nanswer 39\n\n" in text
        assert "prompt 0\n" not in text
        assert text.count("›") < 15
        assert text.startswith("\n… earlier turns are not shown\n\n› prompt ")
        assert text.split("\n")[-2:] == [
            f"A title · 40 turns · just now · all of it: gongfu show {session.id}",
            "The last turn did not come to its end; /continue goes on.",
        ]
        assert "10% of 1k" in it.status()


async def test_a_huge_last_turn_shows_its_end_only(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        app, session = it.view._app, it.session
        session.begin()
        code = "\n".join(f"row {n}" for n in range(5000))
        session.stream.emit(queued("p", "go"), turn("p"), sent(), answer(f"So:\n\n```\n{code}\n```\n"), done())
        text = it.view.opening(80)
        it.check(text)
        assert " row 4999\n" in text
        assert text.count("\n") < 60
        assert app.journal.tail(session.id, 2)[-1].seq == app.journal.last(session.id)
