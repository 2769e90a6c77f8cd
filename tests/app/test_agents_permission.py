"""What sub-agents may do: their parent's permissions, asked for in one place, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import (
    AgentEvent,
    QuestionAsked,
)
from gongfu.models.scripted import Call, Calls, Say

from .cast import Cast, opened, results, run, workplace

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


async def test_plan_holds_for_a_sub_agent_and_nobody_there_means_no(work: Path) -> None:
    for mode, words in (("plan", "Refused by the policy"), ("ask", "nobody is there")):
        cast = Cast(
            [Call("task", {"task": "write it"}), Say("ok")],
            write=[Call("write_file", {"path": "new.txt", "content": "x"}), Say("could not")],
        )
        async with opened(work, cast, permission=mode, answers="no") as app:
            ran = await run(app)
            (result,) = results(cast.asked["write"][1])
            assert result.status == "refused"
            assert words in result.text
            assert not (work / "new.txt").exists()
            if mode == "ask":
                (asked,) = ran.of(QuestionAsked)
                assert (asked.agent, asked.call) == ("agent-1", "c1")
                assert len(ran.of(QuestionAsked, ran.children[0])) == 1


async def test_a_person_answers_for_sub_agents_in_one_place_and_once_for_the_session(work: Path) -> None:
    cast = Cast(
        [
            Calls((Call("task", {"task": "one"}), Call("task", {"task": "two"}))),
            Call("shell", {"command": "python3 -c 1"}),
            Say("ok"),
        ],
        one=[Call("shell", {"command": "python3 -c 1"}), Say("ran one")],
        two=[Call("shell", {"command": "python3 -c 2"}), Say("ran two")],
    )
    asked: list[QuestionAsked] = []
    async with opened(work, cast) as app:
        session = await app.session()

        async def answer(event: Any) -> None:
            if isinstance(event, QuestionAsked):
                asked.append(event)
                await session.answer(event.question, "session" if event.text == "python3 -c 1" else "deny: not that")

        async with session.stream.subscribe() as entries, anyio.create_task_group() as tasks:

            async def watch() -> None:
                async for entry in entries:
                    await answer(entry.event)

            tasks.start_soon(watch)
            with anyio.fail_after(20):
                await (await session.prompt("Go"))
            tasks.cancel_scope.cancel()
    assert sorted((q.text, q.agent) for q in asked) == [("python3 -c 1", "agent-1"), ("python3 -c 2", "agent-2")]
    assert results(cast.asked["one"][1])[0].status == "done"
    assert "not that" in results(cast.asked["two"][1])[0].text
    assert results(cast.asked[""][2])[-1].status == "done"  # what was allowed for the session holds in all of it


async def test_what_one_was_allowed_for_the_session_another_that_waits_is_not_asked_for(work: Path) -> None:
    cast = Cast(
        [Calls((Call("task", {"task": "one"}), Call("task", {"task": "two"}))), Say("ok")],
        one=[Call("shell", {"command": "python3 -c 1"}), Say("ran one")],
        two=[Call("shell", {"command": "python3 -c 1"}), Say("ran two")],
    )
    asked: list[QuestionAsked] = []
    async with opened(work, cast) as app:
        session = await app.session()
        both = anyio.Event()
        waiting: set[str] = set()

        async def watch() -> None:
            async with session.stream.subscribe(0) as entries:
                async for entry in entries:
                    event = entry.event
                    if isinstance(event, AgentEvent) and event.event["type"] == "question_asked":
                        waiting.add(event.agent)
                        if len(waiting) == 2:
                            both.set()
                    if isinstance(event, QuestionAsked):
                        asked.append(event)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            with anyio.fail_after(20):
                prompted = await session.prompt("Go")
                await both.wait()
                await anyio.wait_all_tasks_blocked()
                await session.answer(asked[0].question, "session")
                assert (await prompted).status == "done"
            tasks.cancel_scope.cancel()
    assert len(asked) == 1
    for name in ("one", "two"):
        assert results(cast.asked[name][1])[0].status == "done"


async def test_what_was_denied_once_no_agent_of_the_turn_asks_for_again(work: Path) -> None:
    denied = Call("shell", {"command": "rm a.txt"})
    cast = Cast([Call("task", {"task": "one"}), denied, Say("ok"), denied, Say("ok")], one=[denied, Say("not ran")])
    asked: list[str] = []
    async with opened(work, cast) as app:
        session = await app.session()

        async def watch() -> None:
            async with session.stream.subscribe(0) as entries:
                async for entry in entries:
                    if isinstance(entry.event, QuestionAsked):
                        asked.append(entry.event.agent)
                        await session.answer(entry.event.question, "deny")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            with anyio.fail_after(20):
                await (await session.prompt("Go"))
                assert asked == ["agent-1"]
                await (await session.prompt("And again"))
            tasks.cancel_scope.cancel()
    assert asked == ["agent-1", ""]  # another turn asks again
    assert "Refused before in this turn" in results(cast.asked[""][2])[1].text
    assert (work / "a.txt").exists()
