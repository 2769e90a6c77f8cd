"""A session with a scripted model and a few plain tools, without an App."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.core.events import AnyEvent, Entry, SessionCreated, TurnFinished
from gongfu.core.specs import ToolSpec
from gongfu.engine.agent import AgentSpec
from gongfu.engine.kit import Kit
from gongfu.engine.limits import LimitSpec
from gongfu.engine.session import Session
from gongfu.models.protocol import ModelProvider
from gongfu.store.artifacts import Artifacts
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.tools.registry import Registry
from gongfu.workspace.root import Workspace

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Plain:
    """A tool made of one coroutine; it keeps what it was called with."""

    def __init__(
        self,
        name: str,
        body: Callable[[dict[str, Any], CallContext], Awaitable[Outcome]],
        *,
        access: tuple[str, ...] = ("read",),
        claims: Callable[[dict[str, Any]], tuple[Claim, ...]] = lambda args: (),
        facts: Facts | None = None,
    ) -> None:
        self.spec = ToolSpec(name=name, description=f"The tool {name}.", parameters=SCHEMA, access=access)  # type: ignore[arg-type]
        self._body = body
        self._claims = claims
        self._facts = facts or Facts(access=access)  # type: ignore[arg-type]
        self.runs: list[dict[str, Any]] = []

    def claims(self, args: dict[str, Any], /) -> tuple[Claim, ...]:
        return self._claims(args)

    async def facts(self, args: dict[str, Any], /) -> Facts:
        return self._facts

    async def run(self, args: dict[str, Any], ctx: CallContext, /) -> Outcome:
        self.runs.append(args)
        return await self._body(args, ctx)


async def _echo(args: dict[str, Any], ctx: CallContext) -> Outcome:
    return Outcome(text=f"echo {args['text']}")


async def _fail(args: dict[str, Any], ctx: CallContext) -> Outcome:
    raise ToolFailure("that cannot be; do it otherwise")


async def _break(args: dict[str, Any], ctx: CallContext) -> Outcome:
    raise ZeroDivisionError("a bug")


async def _hang(args: dict[str, Any], ctx: CallContext) -> Outcome:
    await anyio.sleep_forever()
    raise AssertionError


def plain_tools() -> list[Plain]:
    return [Plain("echo", _echo), Plain("fail", _fail), Plain("broken", _break), Plain("hang", _hang)]


class Desk:
    """Opens sessions on one store, again and again, as separate runs of the program would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database.open(folder / "store.db")
        self.journal = Journal(self.database)
        self.tools: list[Plain] = plain_tools()
        self.reports: list[str] = []
        self.events: list[AnyEvent] = []
        self.today = "2026-11-30"

    def tool(self, name: str) -> Plain:
        return next(t for t in self.tools if t.spec.name == name)

    @asynccontextmanager
    async def session(
        self,
        *chain: ModelProvider,
        id: str = "s_test",
        mode: str = "full",
        answers: str = "no",
        limits: LimitSpec = LimitSpec(),
        output: int = 32_768,
        retry_seconds: float = 120.0,
        fast: Sequence[ModelProvider] = (),
        labels: bool = False,
        titles: bool = False,
        summaries_may_use_main: bool = False,
    ) -> AsyncGenerator[Session, None]:
        (self.folder / "work").mkdir(exist_ok=True)

        async def pick() -> Sequence[ModelProvider]:
            return chain

        async def pick_fast() -> Sequence[ModelProvider]:
            return fast

        async def nothing() -> None:
            return None

        async def no_fork(session: Session, seq: int) -> Session:
            raise AssertionError

        def report(text: str) -> Path:
            self.reports.append(text)
            return self.folder / "faults.log"

        def begin(session: Session) -> None:
            session.stream.emit(SessionCreated(session=id, directory=str(self.folder), root=str(self.folder)))

        def kit(session: Session) -> Kit:
            return Kit(
                agent=AgentSpec(
                    system="You are a test.",
                    mode=mode,  # type: ignore[arg-type]
                    limits=limits,
                    max_tool_output=output,
                    retry_seconds=retry_seconds,
                ),
                workspace=Workspace(self.folder / "work", self.folder / "work"),
                journal=self.journal,
                sessions=Sessions(self.database),
                artifacts=Artifacts(self.folder / "artifacts"),
                registry=Registry([self.tools]),
                answers=answers,  # type: ignore[arg-type]
                tasks=tasks,
                chain=pick,
                fast=pick_fast,
                environment=lambda: f"<environment>\nDate: {self.today}\n</environment>",
                today=lambda: self.today,
                report=report,
                after_turn=nothing,
                begin=begin,
                close=nothing,
                fork=no_fork,
                labels=labels,
                titles=titles,
                summaries_may_use_main=summaries_may_use_main,
            )

        async with anyio.create_task_group() as tasks:
            session = Session(id, kit)
            if self.journal.last(id):
                await session.load()
            try:
                yield session
            finally:
                with anyio.CancelScope(shield=True):
                    await session.close()

    def stored(self, id: str = "s_test") -> list[Entry]:
        return list(self.journal.read(id))

    def kinds(self, id: str = "s_test") -> list[str]:
        return [type(e.event).__name__ for e in self.stored(id)]

    def of(self, kind: type[Any], id: str = "s_test") -> list[Any]:
        return [e.event for e in self.stored(id) if isinstance(e.event, kind)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def done(session: Session, text: str, **kw: Any) -> TurnFinished:
    """Prompt and wait for the end of the turn, at most ten seconds."""
    with anyio.fail_after(10):
        return await (await session.prompt(text, **kw))
