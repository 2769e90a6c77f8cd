"""Undo, redo, rewind and the switching of sessions in a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import PromptDropped
from gongfu.models.scripted import Call, Fault, Say
from tests.app.cast import Cast, opened, workplace

from .faces import Conversation, Stub, conversation

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def writes(*names: str) -> list[Any]:
    return [
        step for name in names for step in (Call("write_file", {"path": name, "content": f"{name}\n"}), Say("Done."))
    ]


async def ready(talk: Conversation, *prompts: str) -> None:
    talk.session.set_permission("edits")
    for prompt in prompts:
        await talk.say(prompt)


# --- undo, redo ---


async def test_files_are_given_back_and_again(work: Path) -> None:
    face = Stub()
    cast = Cast([*writes("one", "two"), Say("I see.")])
    async with conversation(work, cast, face=face) as talk:
        assert "nothing to undo" in await talk.do("/undo")
        await ready(talk, "Make one.", "Make two.")
        shown = await talk.do("/undo 2")
        assert "Make two., Make one." in shown
        assert "/redo" in shown
        assert "gongfu " not in shown
        assert not (work / "one").exists()
        assert "/redo" in await talk.do("/undo")  # nothing is left, and what can be done
        await talk.do("/redo")
        assert (work / "two").read_text() == "two\n"
        assert "nothing to redo" in await talk.do("/redo")
        assert "✗" in await talk.do("/undo all")
        await talk.say("Go on.")
        told = [m.text for m in cast.asked[""][-1].messages if m.kind == "note"]
        assert any("undid" in text for text in told)


async def test_what_somebody_else_changed_is_kept_unless_the_person_says_otherwise(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast(writes("one")), face=face) as talk:
        await ready(talk, "Make one.")
        (work / "one").write_text("mine\n")
        face.picks = ["no"]
        assert "Nothing was changed" in await talk.do("/undo")
        assert any("one" in line for line in face.asked[0].lines)
        assert "yes" not in [option.value for option in face.asked[0].options]  # there is nothing else to give back
        assert (work / "one").read_text() == "mine\n"
        face.picks = ["force"]
        await talk.do("/undo")
        assert not (work / "one").exists()


# --- rewind ---


async def test_talk_and_files_go_back_and_the_prompt_lies_in_the_input(work: Path) -> None:
    face = Stub()
    cast = Cast([*writes("one", "two"), Say("Anew.")])
    async with conversation(work, cast, face=face) as talk:
        assert "no prompt" in await talk.do("/rewind")
        await ready(talk, "Make one.", "Make two.")
        old = talk.session
        old.inbox.note(_note("By hand."))
        face.picks = ["2", "both"]
        shown = await talk.do("/rewind")
        first, second = face.asked
        assert [option.label for option in first.options] == ["Make two.", "Make one."]
        assert "1 file" in first.options[0].detail
        assert "2 files" in first.options[1].detail
        assert any("- two" in line for line in second.lines)
        assert "two" in shown  # the line of the event
        assert old.id in shown
        assert face.input == "Make two."
        assert (work / "one").exists()
        assert not (work / "two").exists()
        assert talk.session is not old
        assert talk.session.permission == "edits"
        await talk.say("Something else.")
        await face.until(lambda: "Anew." in face.text)  # what happens in the new session is shown
        texts = [m.text for m in cast.asked[""][-1].messages]
        assert "By hand." in texts
        assert "Make two." not in texts


async def test_only_the_talk_or_only_the_files_go_back(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast(writes("one", "two")), face=face) as talk:
        await ready(talk, "Make one.", "Make two.")
        session = talk.session
        face.picks = ["files"]
        await talk.do("/rewind 2")
        assert talk.session is session
        assert not (work / "two").exists()
        assert face.input == ""
        face.picks = ["talk"]
        await talk.do("/rewind 1")
        assert talk.session is not session
        assert (work / "one").exists()
        assert face.input == "Make one."
        assert "✗" in await talk.do("/rewind 9") or "no prompt" in face.text


async def test_a_command_comes_back_as_it_was_typed(work: Path) -> None:
    folder = work.parent / "home" / "commands"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text("Look at {{args}} and tell.\n")
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face) as talk:
        await talk.do("/look a.txt")
        await talk.idle()
        assert "Look at" in talk.session.messages[-2].text
        face.picks = ["1", "talk"]
        await talk.do("/rewind")
        assert face.input == "/look a.txt"


async def test_turning_away_from_a_rewind_changes_nothing(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast(writes("one")), face=face) as talk:
        await ready(talk, "Make one.")
        session = talk.session
        face.picks = [None, "1", None, "1", "no"]
        for _ in range(3):
            await talk.do("/rewind")
        assert talk.session is session
        assert (work / "one").exists()
        assert len(talk.app.sessions()) == 1


async def test_a_background_command_is_asked_about_before_its_session_is_left(work: Path) -> None:
    face = Stub()
    steps = [Call("shell", {"command": "sleep 60", "background": True}), Say("Runs.")]
    async with conversation(work, Cast(steps), face=face, permission="full") as talk:
        await talk.say("Start it.")
        session = talk.session
        face.picks = ["no", "yes"]
        assert "Nothing was changed" in await talk.do("/clear")
        assert talk.session is session
        assert "sleep 60" in face.asked[0].lines[0]
        await talk.do("/clear")
        assert talk.session is not session


# --- sessions ---


async def test_a_new_session_keeps_what_was_chosen(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast([Say("x")]), face=face) as talk:
        mode = talk.app.modes.names()[0]
        await talk.do("/permission auto")
        await talk.do(f"/mode {mode}")
        await talk.do("/think low")
        await talk.say("Go.")
        old = talk.session
        shown = await talk.do("/new")
        assert old.id in shown
        assert face.cleared == 1
        new = talk.session
        assert new is not old
        assert (new.permission, new.mode, new.state.reasoning) == ("auto", mode, "low")
        assert new.messages == ()
        await talk.do("/clear")  # an empty one is not left for another
        assert talk.session is new


async def test_another_session_is_picked_named_or_found(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast([Say("The answer is a heron.")]), face=face) as talk:
        assert "no other session" in await talk.do("/resume")
        await talk.say("Which bird?")
        first = talk.session.id
        await talk.do("/clear")
        await talk.say("Something else.")
        second = talk.session.id
        face.picks = [first]
        assert first in await talk.do("/sessions")
        assert talk.session.id == first
        labels = [option.label for option in face.asked[0].options]
        assert labels == ["Something else.", "Which bird?"]
        assert "now" in face.asked[0].options[0].detail
        await talk.do(f"/resume {second}")
        assert talk.session.id == second
        face.picks = [first]
        await talk.do("/resume heron")
        assert talk.session.id == first
        assert "No session" in await talk.do("/resume nothing-like-this")
        assert "already" in await talk.do(f"/resume {first}")


async def test_a_session_that_is_open_elsewhere_is_not_taken(work: Path) -> None:
    cast = Cast([Say("x")])
    async with conversation(work, cast) as talk:
        await talk.say("Mine.")
        mine = talk.session
        async with opened(work, cast) as other:
            theirs = await other.session()
            await (await theirs.prompt("Theirs."))
            assert "✗" in await talk.do(f"/resume {theirs.id}")
            assert talk.session is mine
        await talk.do(f"/resume {theirs.id}")
        assert talk.session.id == theirs.id


async def test_a_fork_goes_on_and_the_origin_keeps_its_queue(work: Path) -> None:
    cast = Cast([Fault("hang", after=0), Say("y")])
    async with conversation(work, cast) as talk:
        assert "nothing to copy" in await talk.do("/fork")
        await talk.do("Begin.")
        await talk.asking()
        await talk.interrupt()
        await talk.idle()
        old = talk.session
        shown = await talk.do("/fork Another way")
        assert old.id in shown
        assert talk.session is not old
        assert talk.session.title == "Another way"
        assert talk.app.rows.get(old.id).title == "Begin."
        assert not [e for e in talk.app.journal.read(old.id) if isinstance(e.event, PromptDropped)]
        with anyio.fail_after(10):
            await talk.say("Go on.")
        assert talk.session.messages[-1].text == "y"


async def test_a_title_is_shown_and_given(work: Path) -> None:
    async with conversation(work, Cast([Say("x")])) as talk:
        assert "no title" in await talk.do("/title")
        await talk.do("/title  My \x1b[31m own ")
        await talk.say("Go.")
        assert talk.session.title == "My own"
        assert talk.app.rows.get(talk.session.id).title == "My own"


async def test_leaving_stops_the_turn_first(work: Path) -> None:
    face = Stub()
    async with conversation(work, Cast([Fault("hang", after=0)]), face=face) as talk:
        await talk.do("Begin.")
        await talk.asking()
        await talk.do("/exit")
        assert face.left
        assert not talk.session.running


def _note(text: str) -> Any:
    from gongfu.core.messages import user

    return user(text, kind="note")
