"""Whatever happens in a tree of sub-agents: one result for each call, one end for each agent, one account for all."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import (
    AgentFinished,
    AgentStarted,
    AnswerReceived,
    RequestSent,
    ToolFinished,
    TurnFinished,
)
from gongfu.core.specs import Usage
from gongfu.models.protocol import Request
from gongfu.models.scripted import Call, Calls, Fault, Say, Scripted
from gongfu.models.scripted.script import Step

from .cast import opened, workplace

pytestmark = pytest.mark.anyio


class Chaos:
    """Answers every request by the dice; the tree dries up by itself."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.left = 40
        self.model = Scripted(self._steps())

    def _steps(self) -> Any:
        while True:
            yield self._answer

    def _answer(self, request: Request) -> Step:
        self.left -= 1
        usage = Usage(input=100, output=10)
        roll = self.dice.random()
        if self.left < 0 or roll < 0.3:
            return Say(f"Said {self.left}.", usage=usage)
        if roll < 0.35:
            return Fault("status", status=400)
        if roll < 0.4:
            return Fault("slow", seconds=0.005, answer=Say("Slowly said.", usage=usage))
        calls = tuple(self._call(request) for _ in range(self.dice.randint(1, 3)))
        return Calls(calls, usage=usage)

    def _call(self, request: Request) -> Call:
        names = {t.name for t in request.tools}
        if "task" in names and self.dice.random() < 0.6:
            background = self.dice.random() < 0.5
            steps = self.dice.choice([None, 1, 3])
            limit = {} if steps is None else {"max_steps": steps}
            return Call("task", {"task": f"part {self.left}", "background": background, **limit})
        command = self.dice.choice(["true", "sleep 0.02", "false"])
        return self.dice.choice(
            [Call("shell", {"command": command}), Call("read_file", {"path": "a.txt"}), Call("nope")]
        )


@pytest.mark.parametrize("seed", range(12))
async def test_every_call_has_one_result_and_every_agent_one_end(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    chaos = Chaos(dice)
    limit = dice.choice([None, 1500, 3000])
    cancel_after = dice.choice([None, None, 0.05, 0.15])
    async with opened(workplace(tmp_path), chaos, yes=True, max_tokens=limit) as app:
        session = await app.session()
        prompted = await session.prompt("Go")
        with anyio.fail_after(20):
            if cancel_after is not None:
                await anyio.sleep(cancel_after)
                await session.cancel()
            finished = await prompted
        assert list(app._open) == [session.id]
        requests, usage = 0, Usage()
        for row in app.rows.list(children=True):
            events = [e.event for e in app.journal.read(row.id)]
            calls = Counter(
                c.id for e in events if isinstance(e, AnswerReceived) and not e.cut for c in e.message.calls
            )
            assert Counter(e.call for e in events if isinstance(e, ToolFinished)) == calls
            begun = [e.agent for e in events if isinstance(e, AgentStarted)]
            ends = [e.agent for e in events if isinstance(e, AgentFinished)]
            assert sorted(begun) == sorted(ends)
            assert len(set(begun)) == len(begun)
            assert isinstance(events[-1], TurnFinished)
            requests += sum(isinstance(e, RequestSent) for e in events)
            usage = sum((e.usage for e in events if isinstance(e, AnswerReceived)), usage)
        assert finished.requests == requests
        assert finished.usage.input >= usage.input
        if limit is None and cancel_after is None:
            assert finished.usage == usage or finished.usage.output > usage.output  # a fault may have cost something
