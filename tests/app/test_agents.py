"""Sub-agents through the App: child sessions with inherited permissions, rules and budget, and their reports."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

import gongfu
from gongfu.core.events import (
    AgentEvent,
    AgentFinished,
    AgentStarted,
    AnswerReceived,
    MessageAdded,
    QuestionAsked,
    SessionCreated,
    ToolFinished,
)
from gongfu.core.messages import Message, ResultPart
from gongfu.core.specs import Usage
from gongfu.models.protocol import Request
from gongfu.models.scripted import Call, Calls, Fault, Say, Scripted
from gongfu.models.scripted.script import Step

pytestmark = pytest.mark.anyio
REF = "scripted/scripted"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (folder / "a.txt").write_text("alpha\n")
    (folder / "b.txt").write_text("beta\n")
    return folder


class Cast:
    """Answers whoever asks: the main agent from `main`, a sub-agent from the steps under the first word of its task."""

    def __init__(self, main: list[Step], **agents: list[Step]) -> None:
        self.parts = {"": main, **agents}
        self.model = Scripted(self._endless())
        self.asked: dict[str, list[Request]] = {name: [] for name in self.parts}

    def _endless(self) -> Any:
        while True:
            yield self._answer

    def _answer(self, request: Request) -> Step:
        who = "" if "a sub-agent of" not in request.system else word(request)
        self.asked[who].append(request)
        steps = self.parts[who]
        return steps.pop(0) if len(steps) > 1 else steps[0]


def word(request: Request) -> str:
    prompt = next(m for m in request.messages if m.role == "user" and m.kind == "")
    return prompt.text.split()[0]


def opened(work: Path, cast: Cast, **options: Any) -> gongfu.App:
    given = {"home": work.parent / "home", "env": {"PATH": os.environ["PATH"], "HOME": str(work.parent)}} | options
    return gongfu.open(work, providers={REF: cast.model}, **given)


class Run:
    """One turn and what can be said of it afterwards."""

    def __init__(self, app: gongfu.App, session: Any, finished: Any, live: list[Any]) -> None:
        self.app, self.session, self.finished, self.live = app, session, finished, live

    def of(self, kind: type[Any], id: str = "") -> list[Any]:
        return [e.event for e in self.app.journal.read(id or self.session.id) if isinstance(e.event, kind)]

    @property
    def children(self) -> list[str]:
        return [row.id for row in self.app.rows.list(children=True) if row.parent]


async def run(app: gongfu.App, prompt: str = "Go", *, during: Callable[[Any], Any] | None = None) -> Run:
    session = await app.session()
    live: list[Any] = []
    with anyio.fail_after(20):
        async with session.stream.subscribe() as entries, anyio.create_task_group() as tasks:

            async def watch() -> None:
                async for entry in entries:
                    live.append(entry.event)
                    if during is not None:
                        await during(entry.event)

            tasks.start_soon(watch)
            finished = await (await session.prompt(prompt))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    return Run(app, session, finished, live)


def results(request: Request) -> list[ResultPart]:
    return [r for m in request.messages for r in m.results]


def notes(request: Request) -> list[Message]:
    return [m for m in request.messages if m.kind == "note" and m.agent]


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
