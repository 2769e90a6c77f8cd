"""A main agent and its sub-agents, played by one script, and what can be said of a turn afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

import gongfu
from gongfu.core.messages import Message, ResultPart
from gongfu.models.protocol import Request
from gongfu.models.scripted import Scripted
from gongfu.models.scripted.script import Step

REF = "scripted/scripted"


def workplace(tmp_path: Path) -> Path:
    """A small repository."""
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


def opened(work: Path, cast: Any, **options: Any) -> gongfu.App:
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
