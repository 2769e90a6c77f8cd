"""Hooks of the person, real programs, at every event of a session."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import anyio
import pytest

from gongfu.core.errors import UserError
from gongfu.core.events import (
    EpochOpened,
    HookRan,
    ToolStarted,
    TurnStarted,
    WarningRaised,
)
from gongfu.models.scripted import Call, Calls, Say

from .hooks import Place, prompt, shown, stored, until

pytestmark = pytest.mark.anyio
WRITE = Call("write_file", {"path": "new.txt", "content": "x"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_without_hooks_there_is_nothing(place: Place) -> None:
    app, _ = place.open(Say("ok"))
    async with app:
        session = await app.session()
        assert session.kit.hooks is None
        await prompt(session)
        assert stored(app, session, HookRan) == []


async def test_a_session_that_starts_and_one_that_goes_on(place: Place) -> None:
    place.hook("session_start", "print('Branch: main', event['source'])")
    app, model = place.open(Say("one"), Say("two"), Say("three"))
    async with app:
        session = await app.session()
        await prompt(session, "First")
        await prompt(session, "Second")
    app2, model2 = place.open(Say("four"))
    async with app2:
        again = await app2.session(session.id)
        await prompt(again, "Third")
    assert [e["source"] for e in place.log] == ["startup", "resume"]
    first, later = model.requests[0].messages, model2.requests[0].messages
    assert [m.kind for m in first] == ["note", "note", ""]
    assert "Note of a hook of the user (session_start):\nBranch: main startup" in first[1].text
    assert first[2].text == "First"
    assert [m.text for m in later[-2:]] == [
        "[Note of a hook of the user (session_start):\nBranch: main resume]",
        "Third",
    ]
    assert list(later[: len(first)]) == list(first)  # append only


async def test_a_prompt_is_told_and_noted_as_no_words_of_the_person(place: Place) -> None:
    place.hook("prompt", "print('Ticket 7 is open · 工单')")
    app, model = place.open(Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session, "Fix it, 请")
        (ran,) = stored(app, session, HookRan)
    (told,) = place.log
    assert (told["event"], told["hook_event_name"], told["prompt"]) == ("prompt", "UserPromptSubmit", "Fix it, 请")
    assert (told["session_id"], told["cwd"], told["permission_mode"]) == (session.id, str(place.work), "full")
    assert (told["agent"], told["transcript_path"]) == ("", "")
    words, note = model.requests[0].messages[-2:]
    assert (words.text, words.kind) == ("Fix it, 请", "")
    assert "Ticket 7 is open · 工单" in note.text
    assert note.kind == "note"
    assert (ran.event, ran.code, ran.decision, ran.call) == ("prompt", 0, "", "")


@pytest.mark.parametrize(
    "body",
    [
        "sys.stderr.write('no secrets here\\n'); sys.exit(2)",
        "print(json.dumps({'decision': 'block', 'reason': 'no secrets here'}))",
        "print(json.dumps({'decision': 'deny', 'reason': 'no secrets here'}))",
        "print(json.dumps({'continue': False, 'stopReason': 'no secrets here'}))",
    ],
)
async def test_a_prompt_that_is_refused_never_reaches_the_model(place: Place, body: str) -> None:
    place.hook("prompt", f"if 'password' in event['prompt']:\n    {body}")
    app, model = place.open(Say("ok"))
    async with app:
        session = await app.session()
        end = await prompt(session, "My password is 1234")
        assert (end.status, end.reason, end.values) == (
            "refused", "hooks.prompt_blocked", {"reason": "no secrets here"},
        )  # fmt: skip
        assert model.requests == []
        assert all("1234" not in m.text for m in session.messages)
        assert session.queue == ()
        (started,) = stored(app, session, TurnStarted)
        assert started.blocked
        assert (session.title, app.sessions()[0].title) == ("", "")  # other sessions are told titles
        assert (await prompt(session, "Hello")).text == "ok"
        assert "1234" not in model.bodies[0].decode()
        assert session.title == "Hello"
    again, model2 = place.open(Say("ok"))  # and not after a restart either
    async with again:
        old = await again.session(session.id)
        await prompt(old, "Again")
        assert "1234" not in model2.bodies[0].decode()
        assert "password" not in str(again.xray(session.id).units)


async def test_words_for_the_turn_that_runs_are_prompts_too(place: Place) -> None:
    place.hook("prompt", "if 'password' in event['prompt']:\n    sys.exit(2)\nprint('seen', event['prompt'])")
    gate = place.work / "gate"
    app, model = place.open(Call("shell", {"command": f"until test -e {gate}; do sleep 0.02; done"}), Say("ok"))
    async with app:
        session = await app.session()
        handle = await session.prompt("Go")
        await until(lambda: bool(stored(app, session, ToolStarted)))
        with pytest.raises(UserError) as refused:
            await session.steer("my password is 1234")
        assert refused.value.key == "hooks.prompt_blocked"
        await session.steer("be quick")
        gate.touch()
        with anyio.fail_after(10):
            await handle
    *_, words, note = model.requests[1].messages
    assert (words.text, words.kind) == ("be quick", "steer")
    assert "seen be quick" in note.text
    assert b"1234" not in b"".join(model.bodies)


async def test_a_prompt_that_was_not_let_through_when_the_turn_is_stopped_stays_out(place: Place) -> None:
    place.hook("prompt", "if '1234' in event['prompt']:\n    time.sleep(600)")
    app, model = place.open(Say("ok"))
    async with app:
        session = await app.session()
        handle = await session.prompt("My password is 1234")
        await until(lambda: bool(place.log))
        await session.cancel()
        with anyio.fail_after(10):
            assert (await handle).status == "cancelled"
        handle = await session.prompt("1234 again")
        await session.cancel()  # before it has begun
        with anyio.fail_after(10):
            assert (await handle).status == "cancelled"
        await prompt(session, "Hello")
    assert b"1234" not in model.bodies[0]


async def test_before_a_tool_and_after_it(place: Place) -> None:
    place.hook("before_tool", match="write_*|edit_*")
    place.hook("after_tool", "print('formatted', event['tool_input']['path'])", match="write_file")
    app, model = place.open(Calls((WRITE, Call("read_file", {"path": "a.txt"}))), Say("ok"))
    async with app:
        await prompt(await app.session())
    before, after = place.log
    call = before["tool_use_id"]
    assert (before["tool_name"], before["tool_input"]) == ("write_file", {"path": "new.txt", "content": "x"})
    assert (after["tool_use_id"], after["tool_response"]["status"]) == (call, "done")
    assert [m.role for m in model.requests[1].messages[-3:]] == ["assistant", "tool", "user"]
    note = model.requests[1].messages[-1]
    assert note.kind == "note"
    assert note.text == f"[Note of a hook of the user (after write_file {call}):\nformatted new.txt]"
    assert "formatted" not in shown(model.requests[1].messages[-2])


async def test_after_a_tool_that_failed(place: Place) -> None:
    place.hook("after_tool", "sys.stderr.write('told you'); sys.exit(2)")
    app, model = place.open(Call("read_file", {"path": "none.txt"}), Say("ok"))
    async with app:
        await prompt(await app.session())
    assert place.log[0]["tool_response"]["status"] == "failed"
    assert "it objects):\ntold you" in model.requests[1].messages[-1].text


async def test_a_turn_is_kept_going_three_times_at_most(place: Place) -> None:
    place.hook("turn_end", "sys.stderr.write('tests fail'); sys.exit(2)")
    app, model = place.open(*(Say(f"done {n}") for n in range(6)))
    async with app:
        session = await app.session()
        end = await prompt(session)
        assert (end.status, end.text, len(model.requests)) == ("done", "done 3", 4)
        assert [e["stop_hook_active"] for e in place.log] == [False, True, True]
        assert [e["last_assistant_message"] for e in place.log] == ["done 0", "done 1", "done 2"]
        note = model.requests[1].messages[-1]
        assert (note.kind, note.text) == (
            "note",
            "[Note of a hook of the user (turn_end, the turn goes on):\ntests fail]",
        )
        await prompt(session, "More")  # and a new turn counts anew
    assert [e["stop_hook_active"] for e in place.log[3:]] == [False, True]


async def test_a_fold_by_hand_can_be_refused(place: Place) -> None:
    place.hook("before_compact", "sys.stderr.write('not before lunch'); sys.exit(2)", match="manual")
    app, _ = place.open(Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        with pytest.raises(UserError) as refused:
            await session.compact("the plan")
        assert refused.value.key == "hooks.compact_blocked"
        assert refused.value.values == {"reason": "not before lunch"}
        assert (await prompt(session, "Go on")).status == "failed"  # the script is over, but the session is not stuck
    assert (place.log[0]["trigger"], place.log[0]["custom_instructions"]) == ("manual", "the plan")


async def test_a_fold_that_must_be_goes_on(place: Place) -> None:
    place.hook("before_compact", "sys.stderr.write('later'); sys.exit(2)")
    app, model = place.open(*(Say(f"{n} {'lorem ipsum ' * 900}") for n in range(8)), window=12_000)
    async with app:
        session = await app.session()
        for n in range(6):
            await prompt(session, f"Part {n} {'dolor sit ' * 300}")
            if place.log:
                break
        warned = [w for w in stored(app, session, WarningRaised) if w.key == "hooks.compact_goes_on"]
        assert place.log[0]["trigger"] == "auto"
        assert warned[0].values == {"reason": "later"}
        assert stored(app, session, EpochOpened)[0].reason == place.log[0]["reason"]
        assert len(model.requests) > 1


async def test_a_question_that_waits_is_told_and_nothing_waits_for_the_hook(place: Place) -> None:
    place.hook("notification", "time.sleep(60)")
    app, _ = place.open(WRITE, Say("ok"), permission="ask", answers="ask")
    async with app:
        session = await app.session()
        handle = await session.prompt("Go")
        await until(lambda: bool(session.pending.open) and bool(place.log))
        await session.answer(session.pending.open[0], "allow")
        with anyio.fail_after(10):
            assert (await handle).status == "done"
        began = time.monotonic()
    assert time.monotonic() - began < 5  # the hook is ended with the session
    (told,) = place.log
    assert (told["kind"], told["title"]) == ("permission", "Gongfu")
    assert "write_file" in told["message"]


async def test_a_long_turn_tells_its_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.engine.hooked.LONG", 0.0)
    place.hook("notification", match="turn")
    app, _ = place.open(Say("ok"))
    async with app:
        await prompt(await app.session())
    (told,) = place.log  # although the session was closed at once
    assert told["kind"] == "turn"
    assert "done" in told["message"]


async def test_what_nobody_waits_for_is_over_when_the_session_is_closed(place: Place) -> None:
    place.hook("notification", "time.sleep(600)")
    app, _ = place.open(Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        hooks = session.kit.hooks
        assert hooks is not None
        hooks.beside("notification", {"kind": "turn", "message": "never begun"})
        with anyio.fail_after(3):
            await session.close()
        assert place.log == []
        assert stored(app, session, HookRan) == []


async def test_sub_agents_have_the_hooks_too(place: Place) -> None:
    place.hook("before_tool", match="read_file")
    place.hook("turn_end", match="agent", name="sub")
    place.hook("turn_end", name="main")
    place.hook("session_start", name="start")
    place.hook("prompt", name="asked")
    app, _ = place.open(Call("task", {"task": "look"}), Call("read_file", {"path": "a.txt"}), Say("seen"), Say("ok"))
    async with app:
        assert (await prompt(await app.session())).text == "ok"
    told = [(e["hook"], e["agent"], e["hook_event_name"]) for e in place.log]
    assert told == [
        ("start", "", "SessionStart"), ("asked", "", "UserPromptSubmit"),
        ("before_tool0", "agent-1", "PreToolUse"), ("sub", "agent-1", "SubagentStop"), ("main", "", "Stop"),
    ]  # fmt: skip


async def test_hooks_of_a_project_that_is_not_trusted_do_not_run(place: Place) -> None:
    place.hook("prompt", name="mine")
    theirs = place.script("theirs")
    (place.work / ".gongfu").mkdir()
    hooks = [{"event": "prompt", "command": [sys.executable, str(theirs)]}]
    (place.work / ".gongfu/config.yaml").write_text(json.dumps({"hooks": hooks}))
    app, _ = place.open(Say("ok"))
    async with app:
        await prompt(await app.session())
    assert [e["hook"] for e in place.log] == ["mine"]
