"""What a conversation does to the course of its session: model, mode, permission, folding, the queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import ModeChanged, ModelChosen, PermissionSet, ReasoningSet
from gongfu.models.scripted import Call, Fault, Say
from gongfu.surfaces.cli.talk.commands.choices import cycle
from gongfu.surfaces.cli.talk.commands.course import take_back
from gongfu.surfaces.cli.talk.face import Pick, Picked
from tests.app.cast import REF, Cast, workplace

from .faces import Conversation, Stub, conversation

pytestmark = pytest.mark.anyio

HANG = Fault("hang", after=0)


def recorded(talk: Conversation, kind: type[Any]) -> list[Any]:
    return [e.event for e in talk.app.journal.read(talk.session.id) if isinstance(e.event, kind)]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


# --- /model ---


async def test_a_model_is_chosen_by_name_for_the_next_turn_and_a_wrong_name_changes_nothing(work: Path) -> None:
    cast = Cast([Say("I am the first.")])
    script = work.parent / "two.yaml"
    script.write_text("- say: I am the second.\n")
    async with conversation(work, cast) as talk:
        await talk.say("Who?")
        assert "✗" in await talk.do("/model nobody/knows-this")
        assert recorded(talk, ModelChosen) == []
        shown = await talk.do(f"/model scripted:{script}")
        assert "Model:" in shown
        assert "folded" in shown
        await talk.say("And now?")
        assert "I am the second." in talk.session.messages[-1].text
        assert "already" in await talk.do(f"/model scripted:{script}")
        await talk.do("/model default")
        assert talk.session.state.model == ""


async def test_models_are_picked_with_what_is_known_of_them_and_turning_away_changes_nothing(work: Path) -> None:
    config = "models:\n  main: [deepseek/deepseek-chat]\n"
    home = work.parent / "home"
    home.mkdir()
    (home / "config.yaml").write_text(config)
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face) as talk:
        face.picks = [None]
        assert await talk.do("/model") == ""
        (pick,) = face.asked
        assert pick.search
        option = next(o for o in pick.options if o.value == "deepseek/deepseek-chat")
        assert "window" in option.detail
        assert "key" in option.detail.lower()  # what is missing
        face.picks = [Picked(value="", text="nobody/x")]
        assert "✗" in await talk.do("/model")
        assert talk.session.state.created is None


async def test_a_model_becomes_the_default_only_where_the_person_says_so(work: Path) -> None:
    async with conversation(work, Cast([Say("x")])) as talk:
        file = talk.app.places.config
        await talk.do(f"/model {REF}")
        assert not file.exists()
        assert "New sessions" in await talk.do(f"/model {REF} --save")
        assert REF in file.read_text()


# --- /mode, /think ---


async def test_a_work_mode_is_picked_and_left(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face) as talk:
        face.picks = [lambda pick: next(o.value for o in pick.options if o.value != "none")]
        assert "Mode:" in await talk.do("/mode")
        assert talk.session.mode
        assert all(option.detail for option in face.asked[0].options)
        await talk.do("/mode none")
        assert talk.session.mode == ""
        assert "✗" in await talk.do("/mode no-such-mode")
        await talk.say("Go.")
        assert len(recorded(talk, ModeChanged)) <= 1


async def test_effort_is_recorded_and_words_that_are_none_change_nothing(work: Path) -> None:
    async with conversation(work, Cast([Say("x")])) as talk:
        assert "✗" in await talk.do("/think very")
        assert "Thinking" in await talk.do("/think high")
        assert [e.effort for e in recorded(talk, ReasoningSet)] == ["high"]
        await talk.do("/think default")
        assert talk.session.state.reasoning == ""


# --- /permission ---


async def test_full_has_to_be_confirmed_and_a_no_keeps_what_there_was(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face) as talk:
        face.picks = ["no"]
        assert "stays at ask" in await talk.do("/permission full")
        assert (
            "any command" in " ".join(face.asked[0].lines).replace("\n", " ") or "Every call" in face.asked[0].lines[0]
        )
        assert talk.session.permission == "ask"
        face.picks = ["full", "yes"]
        await talk.do("/permission")
        assert talk.session.permission == "full"
        await talk.say("Go.")
        face.picks = []
        await talk.do("/permission auto")
        assert [e.mode for e in recorded(talk, PermissionSet)][-1] == "auto"
        assert "✗" in await talk.do("/permission everything")


async def test_more_than_the_project_asks_for_is_confirmed_with_what_it_asks_for(work: Path) -> None:
    (work / ".gongfu").mkdir()
    (work / ".gongfu" / "config.yaml").write_text("permission:\n  mode: plan\n")
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face, trust=True) as talk:
        assert talk.session.permission == "plan"
        face.picks = ["no", "yes"]
        await talk.do("/permission edits")
        assert talk.session.permission == "plan"
        assert "plan" in face.asked[0].lines[0]
        await talk.do("/permission edits")
        assert talk.session.permission == "edits"
        await talk.do("/permission plan")  # what the project wants is not asked about
        assert talk.session.permission == "plan"
        assert cycle(talk) == "plan"  # a key does not loosen it by the way


async def test_a_key_goes_through_the_permissions(work: Path) -> None:
    async with conversation(work, Cast([Say("x")])) as talk:
        assert [cycle(talk) for _ in range(4)] == ["edits", "plan", "auto", "ask"]


async def test_grants_are_listed_and_taken_back(work: Path) -> None:
    face = Stub()
    steps = [
        Call("shell", {"command": "touch made"}),
        Say("Done."),
        Call("shell", {"command": "touch made"}),
        Say("Done."),
    ]
    async with conversation(work, Cast(steps), face=face) as talk:
        assert "Nothing" in await talk.do("/permission grants")
        face.answers = ["project"]
        await talk.say("Touch it.")
        assert "shell" in await talk.do("/permission grants")
        assert "✗" in await talk.do("/permission revoke 99")
        assert "1 grant" in await talk.do("/permission revoke all")
        face.answers = ["deny"]
        await talk.say("Again.")
        assert len(face.questions) == 2  # it is asked for again


# --- /compact, /continue, /queue ---


async def test_compacting_tells_what_it_came_to_and_that_there_is_nothing_to_gain(work: Path) -> None:
    (work / "long.txt").write_text("word " * 60_000)
    steps = [Call("read_file", {"path": "long.txt"}), Say("Read.")] * 6 + [Say("Hm.")]
    async with conversation(work, Cast(steps)) as talk:
        assert "Nothing to gain" in await talk.do("/compact")
        for at in range(6):
            await talk.say(f"Read it, {at}.")
        shown = await talk.do("/compact the word")
        assert "→" in shown
        assert "the word" in shown


async def test_a_turn_that_was_stopped_goes_on(work: Path) -> None:
    cast = Cast([HANG, Say("Here it is.")])
    async with conversation(work, cast) as talk:
        assert "✗" in await talk.do("/continue")
        await talk.do("Begin.")
        await talk.asking()
        assert "turn has ended" in await talk.do("/continue")
        await talk.interrupt()
        await talk.idle()
        await talk.do("/continue")
        await talk.idle()
        assert "Here it is." in talk.session.messages[-1].text


async def test_waiting_prompts_are_listed_dropped_and_taken_back(work: Path) -> None:
    async with conversation(work, Cast([HANG])) as talk:
        assert "No prompt" in await talk.do("/queue")
        await talk.do("First.")
        await talk.asking()
        for text in ("one", "two", "three\nlines", "four"):
            await talk.queue(text)
        shown = await talk.do("/queue")
        assert "1. one" in shown
        assert "3. three …" in shown
        assert "✗" in await talk.do("/queue drop 7")
        assert "two" in await talk.do("/queue drop 2")
        assert await take_back(talk) == "four"
        assert await take_back(talk) == "three\nlines"
        assert [one.message.text for one in talk.session.queue] == ["one"]
        await talk.do("/queue clear")
        assert talk.session.queue == ()
        assert await take_back(talk) is None
        await talk.interrupt()
        await talk.idle()


def _first(pick: Pick) -> str:
    return pick.options[0].value


async def test_all_of_it_speaks_chinese(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face, language="zh") as talk:
        face.picks = ["no", None, _first]
        assert "保持为" in await talk.do("/permission full")
        await talk.do("/mode")
        await talk.do("/think")
        assert "没有可折叠的内容" in await talk.do("/compact")
        assert "没有排队的提示" in await talk.do("/queue")
        with anyio.fail_after(5):
            assert "没有可撤销的内容" in await talk.do("/undo")
