"""The queue before an endpoint of one slot."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.messages import user
from gongfu.models.gate import FAST, MAIN, Gate, Gated
from gongfu.models.protocol import Delta, Prepared, Request
from gongfu.models.scripted import Fault, Say, Scripted

pytestmark = pytest.mark.anyio

REQUEST = Request(model="m", system="", messages=(user("hi"),))


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await anyio.lowlevel.checkpoint()


async def test_main_goes_before_fast_and_equals_keep_their_order() -> None:
    gate = Gate(1)
    order: list[str] = []
    release = anyio.Event()

    async def hold() -> None:
        async with gate.slot(FAST):
            await release.wait()

    async def enter(name: str, priority: int) -> None:
        async with gate.slot(priority):
            order.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(hold)
        await settle()
        for name, priority in (("fast 1", FAST), ("main 1", MAIN), ("fast 2", FAST), ("main 2", MAIN)):
            group.start_soon(enter, name, priority)
            await settle()
        assert gate.waiting == 4
        release.set()
    assert order == ["main 1", "main 2", "fast 1", "fast 2"]
    assert gate.waiting == 0


async def test_cancelling_who_waits_leaves_the_queue() -> None:
    gate = Gate(1)
    entered: list[str] = []

    async def enter(name: str, scope: anyio.CancelScope) -> None:
        with scope:
            async with gate.slot(MAIN):
                entered.append(name)

    async with anyio.create_task_group() as group:
        async with gate.slot(MAIN):
            scopes = [anyio.CancelScope() for _ in range(3)]
            for n, scope in enumerate(scopes):
                group.start_soon(enter, str(n), scope)
            await settle()
            scopes[0].cancel()
            await settle()
            assert gate.waiting == 2
        # the slot is handed to "1" now; cancelling it in this very moment must pass the slot on
        scopes[1].cancel()
    assert "0" not in entered
    assert entered[-1] == "2"
    with anyio.fail_after(1):
        async with gate.slot(FAST):
            pass


@given(
    st.lists(st.tuples(st.sampled_from([MAIN, FAST]), st.booleans(), st.integers(0, 3)), max_size=20), st.integers(1, 3)
)
async def test_never_more_than_its_slots_and_none_is_lost(tasks: list[tuple[int, bool, int]], slots: int) -> None:
    gate = Gate(slots)
    inside = 0
    most = 0

    async def enter(priority: int, scope: anyio.CancelScope, turns: int) -> None:
        nonlocal inside, most
        with scope:
            async with gate.slot(priority):
                inside += 1
                most = max(most, inside)
                try:
                    for _ in range(turns):
                        await anyio.lowlevel.checkpoint()
                finally:
                    inside -= 1

    async with anyio.create_task_group() as group:
        scopes: list[anyio.CancelScope] = []
        for priority, _, turns in tasks:
            scopes.append(anyio.CancelScope())
            group.start_soon(enter, priority, scopes[-1], turns)
        for (_, cancel, turns), scope in zip(tasks, scopes, strict=True):
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            if cancel:
                scope.cancel()
    assert most <= slots
    async with anyio.create_task_group() as group:
        with anyio.fail_after(1):
            for _ in range(slots):  # all slots are free again
                await gate.slot(FAST).__aenter__()
    assert gate.waiting == 0


async def drain(deltas: AsyncGenerator[Delta, None]) -> list[Delta]:
    async with aclosing(deltas):
        return [d async for d in deltas]


async def test_a_stream_holds_the_slot_from_sending_to_its_end() -> None:
    gate = Gate(1)
    slow = Gated(Scripted([Fault("hang")]), gate, FAST)
    quick = Gated(Scripted([Say("hello")]), gate, MAIN)
    async with aclosing(quick.complete(REQUEST)) as prepared:
        assert isinstance(await anext(prepared), Prepared)  # only asked what would be sent: no slot is taken
        async with anyio.create_task_group() as group:
            group.start_soon(drain, slow.complete(REQUEST))
            await settle()
            with anyio.move_on_after(0.05) as waited:
                await drain(quick.complete(REQUEST))
            assert waited.cancelled_caught
            group.cancel_scope.cancel()
    assert len(await drain(quick.complete(REQUEST))) == 3


async def test_a_fault_gives_the_slot_back() -> None:
    gate = Gate(1)
    provider = Gated(Scripted([Fault("status"), Say("hello")]), gate, MAIN)
    with pytest.raises(Exception, match="overloaded"):
        await drain(provider.complete(REQUEST))
    with anyio.fail_after(1):
        assert len(await drain(provider.complete(REQUEST))) == 3
