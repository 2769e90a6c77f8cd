"""Nothing is said twice in a conversation, nothing is lost, and what to do next can be done there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gongfu.core import events as ev
from gongfu.core.errors import UserError
from gongfu.models.scripted import Call, Say
from gongfu.surfaces.cli.render.markdown import draw
from gongfu.surfaces.cli.render.painted import bare
from gongfu.surfaces.cli.width import width
from tests.app.cast import Cast, workplace
from tests.surfaces.cli.events import DIFF, finished, started

from .faces import Stub, conversation
from .shown import answer, done, sent, shown

pytestmark = pytest.mark.anyio

REASON = "There is no tool 'grep'. The tools are: ask_user, edit_file, find_files, find_tools, list_files, recall."
FAULT = {"model": "lab/quick-1", "kind": "unauthorized", "detail": "no such key."}


async def test_the_reason_of_a_failure_stands_beside_the_call_or_below_it(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        it.feed(sent(), answer("", ("c0", "grep"), ("c1", "read_file")))
        long = it.feed(started("grep", "x", "c0"), finished(REASON, name="grep", call="c0", status="failed"))
        assert long.count("There is no tool") == 1
        assert " ".join(long.split()).replace("│ ", "").endswith(REASON)
        short = it.feed(
            started("read_file", "a", "c1"), finished("a is missing.", name="read_file", call="c1", status="failed")
        )
        assert short.count("a is missing.") == 1


async def test_a_change_that_was_agreed_to_can_still_be_read(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        it.feed(sent(), answer("", ("c0", "edit_file")), started("edit_file", "x.py", "c0"))
        it.feed(ev.QuestionAsked(question="q", call="c0", about="permission", text="?"))
        it.feed(ev.QuestionAnswered(question="q", answer="yes", by="person"))
        display = {"kind": "diff", "diff": DIFF, "summary": "+1 -1"}
        assert "return 2" in it.feed(finished(name="edit_file", call="c0", display=display))


async def test_an_answer_that_broke_off_is_shown_once(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        it.feed(sent(), ev.TextDelta(text="This is long enough to be bro"))
        it.feed(ev.RequestFailed(request="r", fault="stream_cut", retry_in=0.0))
        it.feed(answer("This is long enough to be bro"))
        it.feed(sent("r2"), ev.TextDelta(text="ken off."), answer("ken off."))
        it.feed(done("This is long enough to be broken off."))
        assert it.text.count("This is long enough") == it.text.count("ken off.") == 1


async def test_a_fault_is_told_once_with_the_ways_to_go_on(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        it.feed(sent(), ev.RequestFailed(request="r", fault="unauthorized", status=401, detail="no such key."))
        end = it.feed(done(status="failed", reason="engine.fault", values=FAULT))
        assert it.text.count("no such key") == 1
        assert "/continue" in end
        assert "/model" in end


@pytest.mark.parametrize("reason", ["engine.fault", "engine.interrupted"])
async def test_a_conversation_names_its_own_commands(tmp_path: Path, reason: str) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        end = it.feed(done(status="failed", reason=reason, values=FAULT))
        assert "/continue" in end
        assert "gongfu --continue" not in end
        assert "unauthorized" not in end


async def test_while_it_asks_or_stops_esc_is_not_said_to_stop(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        it.feed(sent())
        assert "Esc stops" in it.living()[-1]
        it.feed(ev.QuestionAsked(question="q", call="c0", about="permission", text="?"))
        assert "Esc" not in it.living()[-1]
        it.view.stopping()
        assert "Stopping" in it.living()[-1]
        it.feed(done(status="cancelled"))
        it.prompt("Again")
        assert "Stopping" not in it.living()[-1]


async def test_the_status_tells_the_model_that_was_chosen_at_once(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        await (await it.session.prompt("Go"))
        assert "scripted" in it.status()
        it.session.state.apply(ev.ModelChosen(model="lab/other-2,lab/third"))
        assert it.status().startswith(" other-2 ·")


@pytest.mark.parametrize("columns", [40, 80])
async def test_complaints_break_between_words(tmp_path: Path, columns: int) -> None:
    face = Stub(columns=columns, rows=24)
    async with conversation(workplace(tmp_path), Cast([Say("ok")]), face=face) as talk:
        before = len(face.shown)
        talk.complain(UserError("engine.fault", **FAULT))
        rows = "\n".join(face.shown[before:]).split("\n")
        assert all(width(row) < columns for row in rows)
        told = talk.cli.say("engine.fault", **FAULT).replace("gongfu --continue", "/continue")
        assert " ".join(" ".join(rows).split()) == f"✗ {told}"


async def test_what_a_call_or_a_command_tells_is_not_told_beside_it(tmp_path: Path) -> None:
    async with shown(tmp_path / "w") as it:
        it.prompt("Go")
        it.feed(sent(), answer("", ("c0", "shell"), ("c1", "ask_user")), started("shell", "sleep 9", "c0"))
        assert it.feed(ev.JobChanged(job="j1", command="sleep 9", state="running")) == ""
        assert "j1" in it.feed(ev.JobChanged(job="j1", command="sleep 9", state="ended", code=0))
        it.feed(finished(call="c0"), started("ask_user", "Which one?", "c1"))
        assert "Which one" not in "".join(it.living())
        it.feed(done())
        folded = {"epoch": 2, "before": 9000, "after": 3000}
        assert it.feed(ev.EpochOpened(reason="manual", **folded)) == ""
        assert "9.0k" in it.feed(ev.EpochOpened(reason="high", **folded))


@pytest.mark.parametrize(("typed", "meant"), [("memory", "rules"), ("contxt", "context"), ("login", "model")])
async def test_what_is_called_otherwise_elsewhere_is_named(tmp_path: Path, typed: str, meant: str) -> None:
    async with conversation(workplace(tmp_path), Cast([Say("ok")])) as talk:
        assert f"/{meant}?" in await talk.do(f"/{typed}")
        assert "did you mean" not in await talk.do("/hooks")


def test_an_address_that_names_itself_is_not_told_twice() -> None:
    text = draw("<https://a.b/c> and [x](https://y.z) and [https://q.r](https://q.r)", 80, color=False)
    assert text == "https://a.b/c and x (https://y.z) and https://q.r"


def test_a_picture_is_its_words_and_its_address() -> None:
    text = draw("![a plan](pic.png), ![](x.png), [![badge](c.svg)](http://d.e)", 80, color=False)
    assert text == "a plan (pic.png), x.png, badge (c.svg) (http://d.e)"


def test_no_cell_of_a_table_is_cut() -> None:
    cell, word = "你好世界，这里是中文的很长的说明，没有空格。", "a_very_long_name_without_any_spaces_at_all" * 2
    text = draw(f"| a | b |\n|---|---|\n| {cell} | {word} |", 50, color=False)
    assert all(width(row) <= 50 for row in text.split("\n"))
    assert set(cell) <= set(text)
    assert text.count("_") == word.count("_")


async def test_a_file_of_several_turns_counts_once_and_before_the_first_prompt_there_is_nothing(tmp_path: Path) -> None:
    face, work = Stub(), workplace(tmp_path)
    answers = [step for text in "ab" for step in (Call("shell", {"command": f"echo {text} > one"}), Say(text))]
    async with conversation(work, Cast(answers), face=face, permission="full") as talk:
        for prompt in ("First.", "Second."):
            await talk.say(prompt)
        face.picks = ["1", "both"]
        shown = await talk.do("/rewind")
        assert "1 file changed" in face.asked[0].options[1].detail
        assert "0 turns" not in shown
        assert not (work / "one").exists()


@pytest.mark.parametrize("columns", [24, 80])
async def test_what_a_command_waits_for_lives_and_leaves_nothing(tmp_path: Path, columns: int) -> None:
    face, stopped = Stub(columns=columns), list[str]()
    async with conversation(workplace(tmp_path), Cast([Say("ok")]), face=face) as talk:
        before = len(face.shown)
        with talk.underway("folding the context", lambda: stopped.append("it")):
            (line,) = talk.living(time.time() + 5, columns, 24)
            assert width(bare(line)) <= columns
            assert "folding the" in line
            assert "Esc stops" in line or columns < 40
            assert talk.moving
            await talk.interrupt()
        assert stopped == ["it"]
        assert list(talk.living(time.time(), columns, 24)) == []
        assert len(face.shown) == before
