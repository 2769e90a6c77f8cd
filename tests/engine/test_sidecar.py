"""Work beside the turn: bounded, cancelled with the session, and with a receipt for each request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from gongfu.core.errors import UserError
from gongfu.core.events import AnswerReceived, AnyEvent, RequestFailed, RequestSent
from gongfu.engine.agent import AgentSpec
from gongfu.engine.sidecar import AT_ONCE, WAITING, Sidecar
from gongfu.models.protocol import ModelProvider
from gongfu.models.scripted import Fault, Say, Scripted
from gongfu.models.scripted.provider import SCRIPTED

pytestmark = pytest.mark.anyio

FAST = replace(SCRIPTED, ref="other/fast", provider="other", name="fast")


class Bench:
    """A sidecar that keeps what it emits."""

    def __init__(self, tasks: anyio.abc.TaskGroup, fast: list[ModelProvider], main: list[ModelProvider]) -> None:
        self.events: list[AnyEvent] = []
        self.reports: list[str] = []

        async def pick_fast() -> list[ModelProvider]:
            return fast

        async def pick_main() -> list[ModelProvider]:
            return main

        self.car = Sidecar(
            agent=AgentSpec(system="x"),
            emit=lambda *events: self.events.extend(events),
            spawn=tasks.start_soon,
            fast=pick_fast,
            main=pick_main,
            report=self.reports.append,
        )

    def of(self, kind: type[Any]) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind)]

    async def ask(self, **kw: Any) -> Any:
        with anyio.fail_after(10):
            return await self.car.complete(**{"purpose": "p", "system": "s", "text": "t", "max_output": 60} | kw)


@asynccontextmanager
async def bench(*fast: ModelProvider, main: tuple[ModelProvider, ...] = ()) -> AsyncGenerator[Bench, None]:
    async with anyio.create_task_group() as tasks:
        made = Bench(tasks, list(fast), list(main))
        yield made
        with anyio.fail_after(5):
            await made.car.close()


async def test_each_attempt_has_its_receipt() -> None:
    fast = Scripted([Fault("status", status=500, retry_after=0.01), Say("named")], info=FAST)
    async with bench(fast) as made:
        reply = await made.ask()
    assert (reply.text, reply.truncated, reply.model) == ("named", False, "other/fast")
    first, second = made.of(RequestSent)
    assert (first.attempt, second.attempt) == (1, 2)
    assert [s.bytes for s in (first, second)] == [len(b) for b in fast.bodies]
    (failed,) = made.of(RequestFailed)
    assert (failed.request, failed.purpose) == (first.request, "p")
    (answer,) = made.of(AnswerReceived)
    assert (answer.request, answer.purpose, answer.cost) == (second.request, "p", 0.0)


async def test_two_attempts_are_all_and_then_the_next_model_is_asked() -> None:
    first = Scripted([Fault("status", status=500, retry_after=0.01, times=0)], info=FAST)
    other = Scripted([Say("named")], info=replace(FAST, ref="other/second"))
    async with bench(first, other) as made:
        reply = await made.ask()
    assert reply.model == "other/second"
    assert len(first.requests) == 2


@pytest.mark.parametrize("status", [401, 404, 400])
async def test_a_fault_is_no_answer_and_never_raised(status: int) -> None:
    async with bench(Scripted([Fault("status", status=status)], info=FAST)) as made:
        assert await made.ask() is None
    assert len(made.of(RequestFailed)) == 1


async def test_a_model_without_a_key_is_none() -> None:
    async with anyio.create_task_group() as tasks:
        made = Bench(tasks, [], [])

        async def keyless() -> list[ModelProvider]:
            raise UserError("engine.cancelled")

        made.car = Sidecar(
            agent=AgentSpec(system="x"), emit=lambda *_: None, spawn=tasks.start_soon, fast=keyless, main=keyless,
            report=made.reports.append,
        )  # fmt: skip
        assert await made.ask(may_use_main=True) is None
        assert not await made.car.available()


async def test_the_main_model_is_asked_only_where_that_is_allowed() -> None:
    main = Scripted([Say("from main")])
    async with bench(main=(main,)) as made:
        assert await made.ask() is None
        assert not main.requests
        assert (await made.ask(may_use_main=True)).text == "from main"


async def test_a_text_beyond_the_budget_is_not_sent() -> None:
    fast = Scripted([], info=replace(FAST, window=8192))
    async with bench(fast) as made:
        assert await made.ask(text="word " * 20_000) is None
    assert not fast.requests
    assert not made.events


async def test_an_answer_cut_by_its_limit_is_told() -> None:
    async with bench(Scripted([Say("half of it", finish="length")], info=FAST)) as made:
        assert (await made.ask()).truncated


async def test_no_answer_in_time_is_none_and_recorded() -> None:
    async with bench(Scripted([Fault("hang", after=-1)], info=FAST)) as made:
        assert await made.ask(seconds=0.05) is None
    assert [f.purpose for f in made.of(RequestFailed)] == ["p"]


async def test_jobs_are_bounded_and_the_oldest_that_may_be_is_dropped() -> None:
    gate = anyio.Event()
    ran: list[str] = []
    most = 0

    def job(name: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            nonlocal most
            ran.append(name)
            most = max(most, len(ran) if not gate.is_set() else 0)
            await gate.wait()

        return run

    async with bench() as made:
        for n in range(AT_ONCE):
            made.car.start(job(f"running {n}"), droppable=True)  # type: ignore[arg-type]
        for name in ("summary", "chain"):
            made.car.start(job(name))  # type: ignore[arg-type]
        await anyio.wait_all_tasks_blocked()
        for n in range(WAITING + 2):
            made.car.start(job(f"label {n}"), droppable=True)  # type: ignore[arg-type]
        await anyio.wait_all_tasks_blocked()
        assert most == AT_ONCE + 1
        gate.set()
        assert await made.car.drain(5)
        assert not made.car.busy
    assert ran[: AT_ONCE + 1] == [*(f"running {n}" for n in range(AT_ONCE)), "summary"]
    assert [name for name in ran if name.startswith("label")] == [f"label {n}" for n in range(2, WAITING + 2)]
    assert "chain" in ran


async def test_closing_cancels_what_runs_and_starts_nothing_more() -> None:
    ended: list[str] = []

    async def job() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("x")

    async with bench() as made:
        made.car.start(job)
        await anyio.wait_all_tasks_blocked()
        assert not await made.car.drain(0.01)
        await made.car.close()
        assert ended == ["x"]
        made.car.start(job)
        assert not made.car.busy


async def test_a_request_that_closing_cuts_off_says_nothing_more() -> None:
    async with bench(Scripted([Fault("hang", after=-1)], info=FAST)) as made:

        async def job() -> None:
            await made.ask()

        made.car.start(job)
        await anyio.wait_all_tasks_blocked()
        await made.car.close()
    assert [type(e) for e in made.events] == [RequestSent]
    assert not made.reports
