"""Sub-agents through the App: child sessions with inherited permissions and budget, and their reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import (
    AgentEvent,
    AgentFinished,
    AgentStarted,
    AnswerReceived,
    MessageAdded,
    SessionCreated,
    ToolFinished,
)
from gongfu.core.specs import Usage
from gongfu.models.scripted import Call, Calls, Fault, Say

from .cast import Cast, Run, notes, opened, results, run, workplace

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


async def test_the_report_of_a_sub_agent_stands_at_full_text_in_the_next_request(work: Path) -> None:
    report = "\n".join(f"{n}: a line of the report, 报告第 {n} 行" for n in range(300))
    cast = Cast(
        [Call("task", {"task": "look at a.txt and tell", "role": "你是一位细心的审阅者。"}), Say("Thanks.")],
        look=[
            Calls((Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "b.txt"}))),
            Call("shell", {"command": "true"}),
            Say(report),
        ],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert ran.finished.status == "done"
        (result,) = results(cast.asked[""][1])
        assert result.text.startswith(report)
        assert result.text.endswith(" tokens]")
        assert "[3 calls: 2 read_file, 1 shell; 3 requests, " in result.text
        assert (result.agent, result.status) == ("agent-1", "done")
        first = cast.asked["look"][0]
        assert "你是一位细心的审阅者。" in first.system
        assert [m.text for m in first.messages if not m.kind] == ["look at a.txt and tell"]
        (started,), (finished,) = ran.of(AgentStarted), ran.of(AgentFinished)
        assert (started.agent, started.call, started.role) == ("agent-1", "c1", "你是一位细心的审阅者。")
        assert (finished.text, finished.calls, finished.requests, finished.status) == (report, 3, 3, "done")
        assert ran.children == [started.session]
        (created,) = ran.of(SessionCreated, started.session)
        assert (created.parent, created.brief.agent) == (ran.session.id, "agent-1")
        assert {e.message.agent for e in ran.of(AnswerReceived, started.session)} == {"agent-1"}
        assert {e.message.agent for e in ran.of(AnswerReceived)} == {""}
        assert [row.id for row in app.sessions()] == [ran.session.id]
        assert app.rows.latest().id == ran.session.id  # type: ignore[union-attr]
        inner = [e for e in ran.live if isinstance(e, AgentEvent)]
        assert {(e.agent, e.session) for e in inner} == {("agent-1", started.session)}
        kinds = [e.event["type"] for e in inner]
        assert {"session_created", "turn_started", "tool_started", "tool_finished", "text_delta"} <= set(kinds)
        assert kinds[-1] == "turn_finished"
        order = [type(e).__name__ for e in ran.live]
        assert order.index("AgentStarted") < order.index("AgentEvent")
        assert len(order) - order[::-1].index("AgentEvent") - 1 < order.index("AgentFinished")
        assert await app.delete(ran.session.id) == [ran.session.id, started.session]


async def test_a_sub_agent_has_the_tools_it_was_given_and_no_others(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "look around", "tools": ["read_file", "list_files"]}), Say("ok")],
        look=[
            Call("shell", {"command": "touch made"}),
            Call("write_file", {"path": "b.txt", "content": "x"}),
            Say("no"),
        ],
    )
    async with opened(work, cast, permission="full") as app:
        await run(app)
    assert [t.name for t in cast.asked["look"][0].tools] == ["list_files", "read_file", "recall"]  # its own text
    refused = results(cast.asked["look"][2])
    assert [r.status for r in refused] == ["failed", "failed"]
    assert "no tool 'shell'" in refused[0].text
    assert "You were given a part of the tools" in refused[0].text
    assert not (work / "made").exists()
    assert (work / "b.txt").read_text() == "beta\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"task": " \n"}, "task is empty"),
        ({}, "task"),
        ({"task": "x", "tools": []}, "leave it out"),
        ({"task": "x", "tools": ["read_file", "fly", "读文件"]}, "no tool fly, 读文件 to give; yours are: "),
        ({"task": "x", "max_steps": 0}, "at least 1"),
        ({"task": "x", "model": "nowhere/none"}, "Nothing was started. Models to choose from: scripted/scripted."),
    ],
)
async def test_wrong_arguments_start_nothing_and_say_what_would_be_right(work: Path, arguments: Any, said: str) -> None:
    cast = Cast([Call("task", arguments), Say("ok")], x=[Say("never")])
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert ran.of(AgentStarted) == []
        assert ran.children == []
    (result,) = results(cast.asked[""][1])
    assert result.status == "failed"
    assert said in result.text
    assert cast.asked["x"] == []


async def test_two_sub_agents_of_one_answer_work_side_by_side(work: Path) -> None:
    together = anyio.Event()
    there: set[str] = set()

    async def meet(event: Any) -> None:
        if isinstance(event, AgentEvent) and event.event["type"] == "tool_started":
            there.add(event.agent)
            if len(there) == 2:
                together.set()
                (work / "go").write_text("")

    wait = "until [ -e go ]; do sleep 0.02; done"
    cast = Cast(
        [Calls((Call("task", {"task": "one thing"}), Call("task", {"task": "two things"}))), Say("both")],
        one=[Call("shell", {"command": wait}), Say("first")],
        two=[Call("shell", {"command": wait}), Say("second")],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app, during=meet)
    assert together.is_set()
    one, two = results(cast.asked[""][1])
    assert one.text.startswith("first\n")
    assert two.text.startswith("second\n")
    assert {one.agent, two.agent} == {"agent-1", "agent-2"}
    assert len({e.session for e in ran.live if isinstance(e, AgentStarted)}) == 2


async def test_a_sub_agent_of_a_sub_agent_is_the_last(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "one level"}), Say("top")],
        one=[
            Calls((Call("task", {"task": "two levels"}), Call("task", {"task": "x", "tools": ["task"]}))),
            Say("middle"),
        ],
        two=[Call("task", {"task": "three levels"}), Say("bottom")],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        inner = {(e.agent, e.session) for e in ran.live if isinstance(e, AgentEvent)}
        assert {name for name, _ in inner} == {"agent-1", "agent-1.1"}
        sessions = dict(inner)
        (created,) = ran.of(SessionCreated, sessions["agent-1.1"])
        assert created.parent == sessions["agent-1"]
        assert created.brief.depth == 2
        (finished,) = ran.of(AgentFinished)
        assert finished.requests == 2 + 2
        assert ran.finished.requests == 2 + 2 + 2
        below, given = results(cast.asked["one"][1])
        assert below.text.startswith("bottom\n")
        assert "2 levels deep" in given.text
        assert "task" not in [t.name for t in cast.asked["two"][0].tools]
        (denied,) = results(cast.asked["two"][1])
        assert "go no deeper" in denied.text
        assert set(await app.delete(ran.session.id)) == {ran.session.id, *sessions.values()}


async def test_what_a_sub_agent_uses_is_on_the_account_of_the_turn(work: Path) -> None:
    spent = Usage(input=1000, output=100)
    cast = Cast(
        [
            Call("task", {"task": "spend it"}, usage=Usage(input=10, output=1)),
            Say("ok", usage=Usage(input=10, output=1)),
        ],
        spend=[Call("read_file", {"path": "a.txt"}, usage=spent), Say("spent", usage=spent)],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert ran.finished.usage == Usage(input=2020, output=202)
        assert ran.finished.requests == 4
        lines = ran.session.usage
        assert (lines["main"].requests, lines["main"].usage.input) == (2, 20)
        assert (lines["sub-agent"].requests, lines["sub-agent"].usage.input) == (2, 2000)
        rows = {row.id: row.tokens for row in app.rows.list(children=True)}
        assert rows == {ran.session.id: 2222, ran.children[0]: 2200}


@pytest.mark.parametrize("background", [False, True])
async def test_a_sub_agent_never_exceeds_what_is_left_of_the_turn(work: Path, background: bool) -> None:
    spent = Usage(input=1000, output=100)
    cast = Cast(
        [Call("task", {"task": "spend it", "background": background}, usage=spent), Say("waiting", usage=spent)],
        spend=[Call("read_file", {"path": name}, usage=spent) for name in ("a.txt", "b.txt", "c.txt", "d.txt")],
    )
    async with opened(work, cast, yes=True, max_tokens=3000) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.reason) == ("budget", "engine.limit_tokens")
        (finished,) = ran.of(AgentFinished)
        assert finished.status == "budget"
        assert finished.requests == (2 if not background else 1)
        said = ran.of(ToolFinished)[0].result if not background else ran.of(MessageAdded)[-1].message
        assert "did not finish (budget)" in said.text
        assert said.agent == "agent-1"


async def test_steps_of_its_own_end_a_sub_agent_and_its_partial_words_come_back(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "dig deep", "max_steps": 2}), Say("ok")],
        dig=[
            Call("read_file", {"path": "a.txt"}, text="So far: alpha."),
            Call("read_file", {"path": "b.txt"}, text="And beta."),
        ],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert ran.finished.status == "done"
    (result,) = results(cast.asked[""][1])
    assert (result.status, result.agent) == ("failed", "agent-1")
    assert "did not finish (budget)" in result.text
    assert "And beta." in result.text
    assert "[2 calls: 2 read_file; 2 requests, " in result.text


async def test_a_sub_agent_whose_model_fails_is_a_failed_call(work: Path) -> None:
    cast = Cast([Call("task", {"task": "fail now"}), Say("ok")], fail=[Fault("status", status=400)])
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert ran.finished.status == "done"
    (result,) = results(cast.asked[""][1])
    assert result.status == "failed"
    assert "did not finish (failed)" in result.text
    assert "the script asks for this fault" in result.text


async def test_a_report_from_the_background_comes_as_a_note_and_the_turn_waits_for_it(work: Path) -> None:
    cast = Cast(
        [
            Call("task", {"task": "watch the file", "background": True}),
            Say("I wait."),
            Say("The file holds alpha."),
        ],
        watch=[Call("shell", {"command": "sleep 0.2; cat a.txt"}), Say("It holds alpha. 完毕。")],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.text) == ("done", "The file holds alpha.")
        (added,) = [e for e in ran.of(MessageAdded) if e.message.agent]
        assert (added.message.kind, added.message.role, added.message.agent) == ("note", "user", "agent-1")
    (result,) = results(cast.asked[""][1])
    assert (result.status, result.agent) == ("done", "agent-1")
    assert notes(cast.asked[""][1]) == []
    (note,) = notes(cast.asked[""][2])
    assert note.text.startswith(
        "[Report of agent-1, started in the background: watch the file]\n\nIt holds alpha. 完毕。"
    )
    assert "[1 call: 1 shell; 2 requests, " in note.text


async def test_a_word_of_the_person_does_not_wait_for_the_background(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "watch", "background": True}), Say("I wait."), Say("Heard."), Say("All there.")],
        watch=[Call("shell", {"command": "until [ -e go ]; do sleep 0.02; done"}), Say("Seen.")],
    )
    async with opened(work, cast, yes=True) as app:
        session = await app.session()
        prompted = await session.prompt("Go")
        with anyio.fail_after(20):
            async with session.stream.subscribe(0) as entries:
                async for entry in entries:
                    match entry.event:
                        case AnswerReceived() if entry.event.message.text == "I wait.":
                            await session.steer("Hurry.")
                        case AnswerReceived() if entry.event.message.text == "Heard.":
                            (work / "go").write_text("")
                            break
                        case _:
                            pass
            assert (await prompted).text == "All there."
    assert cast.asked[""][2].messages[-1].text == "Hurry."
    assert notes(cast.asked[""][2]) == []
    assert len(notes(cast.asked[""][3])) == 1


@pytest.mark.parametrize("background", [False, True])
async def test_to_cancel_a_turn_cancels_its_sub_agents_at_once(work: Path, background: bool) -> None:
    cast = Cast(
        [Call("task", {"task": "sleep long", "background": background}), Say("I wait.")],
        sleep=[Call("shell", {"command": "echo $$ > pid; sleep 60"}), Say("never")],
    )
    async with opened(work, cast, yes=True) as app:
        session = await app.session()
        prompted = await session.prompt("Go")
        with anyio.fail_after(10):
            async with session.stream.subscribe(0) as entries:
                async for entry in entries:
                    if isinstance(entry.event, AgentEvent) and entry.event.event["type"] == "tool_started":
                        break
            await session.cancel()
            assert (await prompted).status == "cancelled"
        ran = Run(app, session, None, [])
        (finished,) = ran.of(AgentFinished)
        assert finished.status == "cancelled"
        (tool,) = ran.of(ToolFinished, ran.children[0])
        assert tool.result.status == "cancelled"
        (call,) = ran.of(ToolFinished)
        assert call.result.status == ("done" if background else "cancelled")
        said = [e.message for e in ran.of(MessageAdded) if e.message.agent]
        assert len(said) == background
        assert session.children.running == ()
        child = await app.session(ran.children[0])
        assert child.state.interrupted()


async def test_a_sub_agents_session_can_be_opened_again_and_is_what_it_was(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "look", "role": "Be brief.", "tools": ["read_file"]}), Say("ok")],
        look=[Call("read_file", {"path": "a.txt"}), Say("alpha"), Say("again alpha")],
    )
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        id = ran.children[0]
    async with opened(work, cast, yes=True) as app:
        session = await app.session(id)
        assert {m.agent for m in session.messages} == {""}
        assert (await (await session.prompt("Once more?"))).text == "again alpha"
    first, *_, last = cast.asked["look"]
    assert (first.system, first.tools) == (last.system, last.tools)
    assert last.messages[: len(first.messages)] == first.messages
