"""Arguments that no schema foresees, for every tool that there is, through the whole loop.

Tried: 60 calls of each tool that every request carries, each argument from a list of values that have hurt programs
before, some missing, some that no tool has. Each gets one result in words, no tool fails through a fault of its own,
nothing is left running, nothing outside the workspace is touched, and the session goes on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import AnswerReceived, ToolFinished, WarningRaised
from gongfu.models.protocol import Request
from gongfu.models.scripted import Call, Say, Scripted
from gongfu.models.scripted.script import Step
from gongfu.toolkit.catalog import CORE

from .cast import Run, opened, workplace

pytestmark = pytest.mark.anyio

CALLS = 60
WILD: list[Any] = [
    "\ud800",
    None, True, False, -1, 0, 1, 7, 10**30, -(2**63), 0.5, 1e308, "", " ", "\n", "a.txt", "b.txt", "./a.txt", "..",
    "../x", "new/deep/file", "a.txt/x", ".git/config", ".env", "\0", "a\0b", "\u202e", "功夫", "x" * 5000, "~",
    "~nobody/x", "$HOME", "*", "**", "[", "(", "(a+)+$", "{", "\\", "name", "newest", "lines", "j1", "j99", "c1",
    "agent-1", "output", "stop", "input", "echo hi", "exit 3", "'", "$((", "cat <<X", "CON", "C:\\x", "NaN",
    "file:///etc/passwd", [], [""], ["a"], [[]], [None], {}, {"a": 1}, {"old": "alpha", "new": "beta"}, ["read_file"],
    [{"old": "alpha", "new": 1}], [{"text": "x", "status": "done"}], [{}] * 50,
]  # fmt: skip


def arguments(dice: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    names = list(schema.get("properties", {}))
    needed = schema.get("required", [])
    chosen = [n for n in names if dice.random() < (0.9 if n in needed else 0.4)]
    if dice.random() < 0.1:
        chosen.append(dice.choice(["", "arguments", "x" * 300, "__class__", "self"]))
    return {name: dice.choice(WILD) for name in chosen}


class Wild:
    """A model that calls one tool with wild arguments; every tenth call is one that works, so that it goes on."""

    def __init__(self, name: str, seed: int) -> None:
        self._name = name
        self._dice = random.Random(seed)
        self._count = 0
        self.model = Scripted(self._endless())

    def _endless(self) -> Iterator[Any]:
        while True:
            yield self._answer

    def _answer(self, request: Request) -> Step:
        if "a sub-agent of" in request.system:
            return Say("Nothing to do.")
        self._count += 1
        if self._count > CALLS:
            return Say("The end.")
        if self._count % 10 == 0:
            return Call("list_files", {"path": ".", "depth": self._count})
        schema = next(t.parameters for t in request.tools if t.name == self._name)
        return Call(self._name, arguments(self._dice, schema))


NAMES = sorted(name for names in CORE.values() for name in names)


@pytest.mark.parametrize("name", NAMES)
async def test_every_call_ends_in_words(tmp_path: Path, name: str) -> None:
    work = workplace(tmp_path)
    wild = Wild(name, sum(name.encode()))
    async with opened(work, wild, yes=True, max_steps=500) as app:
        session = await app.session()
        assert set(session.kit.registry.names) == set(NAMES)
        with anyio.fail_after(60):
            end = await (await session.prompt("Go"))
        ran = Run(app, session, end, [])
        assert end.status == "done", (end.reason, end.values)
        assert not [w for w in ran.of(WarningRaised) if w.key == "engine.tool_bug"], ran.of(ToolFinished)
        answers = [e for e in ran.of(AnswerReceived) if e.purpose == "main"]
        calls = [c.id for e in answers for c in e.message.calls]
        results = ran.of(ToolFinished)
        assert sorted(e.call for e in results) == sorted(calls)
        assert all(e.result.text.strip() for e in results), [e for e in results if not e.result.text.strip()]
        assert all(len(e.result.text) < 40_000 for e in results)
    assert {p.name for p in tmp_path.iterdir()} == {"work", "home"}
