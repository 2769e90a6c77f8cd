"""What hooks decide of a call, and how they change it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import (
    HookRan,
    QuestionAsked,
    ToolStarted,
    WarningRaised,
)
from gongfu.models.scripted import Call, Say

from .hooks import Place, prompt, stored, until

pytestmark = pytest.mark.anyio
WRITE = Call("write_file", {"path": "new.txt", "content": "x"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        "sys.stderr.write('not today'); sys.exit(2)",
        "print(json.dumps({'decision': 'deny', 'reason': 'not today'}))",
        "print(json.dumps({'decision': 'block', 'reason': 'not today'}))",
    ],
)
async def test_a_call_that_a_hook_denies_does_not_run(place: Place, body: str) -> None:
    place.hook("before_tool", body)
    app, model = place.open(WRITE, Say("ok"))
    async with app:
        session = await app.session()
        assert (await prompt(session)).status == "done"
        assert stored(app, session, ToolStarted) == []
        (ran,) = stored(app, session, HookRan)
    assert not (place.work / "new.txt").exists()
    (result,) = model.requests[1].messages[-1].results
    assert (result.status, result.text) == ("refused", "Refused by a hook of the user: not today")
    assert ran.reason == "not today"
    assert ran.decision in ("deny", "block")
    assert ran.call == result.call_id


async def test_the_strictest_of_several_decides_and_they_run_in_order(place: Place) -> None:
    place.hook("before_tool", "print(json.dumps({'decision': 'allow'}))", name="one")
    place.hook("before_tool", "print(json.dumps({'decision': 'ask', 'reason': 'sure?'}))", name="two")
    place.hook("before_tool", "print(json.dumps({'decision': 'allow'}))", name="three")
    app, model = place.open(WRITE, Say("ok"))
    async with app:
        await prompt(await app.session())
    assert [e["hook"] for e in place.log] == ["one", "two", "three"]
    assert not (place.work / "new.txt").exists()  # nobody was there to be asked
    assert model.requests[1].messages[-1].results[0].status == "refused"


@pytest.mark.parametrize(
    ("permission", "mode"),
    [({"deny": ["write_file"]}, "full"), ({"deny": ["path(new.*)"]}, "ask"), ({}, "plan")],
)
async def test_no_hook_allows_what_a_rule_denies(place: Place, permission: dict[str, Any], mode: str) -> None:
    place.hook("before_tool", "print(json.dumps({'decision': 'allow'}))")
    place.settings(place._hooks, permission=permission)
    app, model = place.open(WRITE, Say("ok"), permission=mode)
    async with app:
        await prompt(await app.session())
    assert not (place.work / "new.txt").exists()
    assert model.requests[1].messages[-1].results[0].status == "refused"


async def test_a_hook_that_allows_spares_the_question(place: Place) -> None:
    place.hook("before_tool", "print(json.dumps({'decision': 'allow'}))", match="write_file")
    app, _ = place.open(WRITE, Say("ok"), permission="ask")
    async with app:
        session = await app.session()
        await prompt(session)
        assert stored(app, session, QuestionAsked) == []
    assert (place.work / "new.txt").read_text() == "x"


async def test_a_hook_may_make_a_call_be_asked_for(place: Place) -> None:
    place.hook("before_tool", "print(json.dumps({'decision': 'ask', 'reason': 'it is Friday'}))")
    app, _ = place.open(Call("read_file", {"path": "a.txt"}), Say("ok"), answers="ask")
    async with app:
        session = await app.session()
        handle = await session.prompt("Go")
        await until(lambda: bool(session.pending.open))
        (asked,) = stored(app, session, QuestionAsked)
        assert "it is Friday" in str(asked)
        await session.answer(asked.question, "allow")
        with anyio.fail_after(10):
            assert (await handle).status == "done"
        assert len(stored(app, session, ToolStarted)) == 1


async def test_arguments_are_changed_by_one_hook_after_the_other(place: Place) -> None:
    add = "args = event['tool_input']; args['content'] += '{0}'; print(json.dumps({{'arguments': args}}))"
    place.hook("before_tool", add.format("-one"), name="one")
    place.hook("before_tool", add.format("-two"), name="two")
    app, model = place.open(WRITE, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        (started,) = stored(app, session, ToolStarted)
    assert (place.work / "new.txt").read_text() == "x-one-two"
    assert place.log[1]["tool_input"]["content"] == "x-one"
    assert started.arguments["content"] == "x-one-two"
    note = model.requests[1].messages[-1]
    assert note.kind == "note"
    assert "changed arguments" in note.text
    assert "x-one-two" in note.text


@pytest.mark.parametrize("changed", [{"path": 7}, {"content": "no path"}])
async def test_arguments_that_do_not_fit_fail_the_call(place: Place, changed: dict[str, Any]) -> None:
    place.hook("before_tool", f"print(json.dumps({{'arguments': {changed!r}}}))")
    app, model = place.open(WRITE, Say("ok"))
    async with app:
        await prompt(await app.session())
    (result,) = model.requests[1].messages[-1].results
    assert result.status == "failed"
    assert "A hook of the user changed the arguments, and they do not fit" in result.text
    assert [p.name for p in place.work.iterdir() if p.name in ("new.txt", "b")] == []


async def test_changed_arguments_are_judged_as_they_will_run(place: Place) -> None:
    outside = place.work.parent / "outside.txt"
    place.hook("before_tool", f"print(json.dumps({{'arguments': {{'path': {str(outside)!r}, 'content': 'y'}}}}))")
    app, _ = place.open(WRITE, Say("ok"), permission="edits")
    async with app:
        await prompt(await app.session())
    assert not outside.exists()
    assert not (place.work / "new.txt").exists()


@pytest.mark.parametrize(
    "body", ['print(\'{"decision": "den\')', "print(json.dumps({'decision': 'maybe'}))", "sys.exit(1)"]
)
async def test_what_cannot_be_understood_is_told(place: Place, body: str) -> None:
    place.hook("before_tool", body)
    app, _ = place.open(WRITE, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        (warning,) = stored(app, session, WarningRaised)
    assert warning.key in ("hooks.unreadable", "hooks.failed")
    decided = "maybe" in body  # it decided something, and nobody was there to be asked
    assert (place.work / "new.txt").exists() is not decided


async def test_a_hook_that_fails_tells_its_first_line(place: Place) -> None:
    place.hook("after_tool", "sys.stderr.write('\\nno such module\\nand more'); sys.exit(1)")
    app, model = place.open(WRITE, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        (warning,) = stored(app, session, WarningRaised)
    assert warning.values["detail"] == "exit 1: no such module"
    assert len(model.requests[1].messages) == 4


async def test_a_hook_can_end_the_turn(place: Place) -> None:
    place.hook("after_tool", "print(json.dumps({'continue': False, 'stopReason': 'enough.'}))")
    app, model = place.open(WRITE, Say("never"))
    async with app:
        end = await prompt(await app.session())
    assert (end.status, end.reason, end.values) == ("refused", "hooks.stopped", {"reason": "enough"})
    assert len(model.requests) == 1
