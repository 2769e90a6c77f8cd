"""A cancel at any moment: before the turn begins, between turns, twice, and when there is nothing to cancel."""

from __future__ import annotations

import anyio
import pytest

from gongfu.core.events import RequestSent, ToolStarted, TurnFinished
from gongfu.models.scripted.provider import Scripted
from gongfu.models.scripted.script import Call, Fault, Say

from .conftest import Desk, done

pytestmark = pytest.mark.anyio


async def test_a_cancel_before_the_turn_has_begun_stops_it(desk: Desk) -> None:
    model = Scripted([Say("never"), Say("Yes.")])
    async with desk.session(model) as session:
        prompted = await session.prompt("Go")
        await session.cancel()
        with anyio.fail_after(1):
            end = await prompted
        assert (end.status, end.reason) == ("cancelled", "engine.cancelled")
        assert desk.of(RequestSent) == []
        assert model.requests == []
        assert (await done(session, "")).text == "never"


async def test_a_cancel_with_nothing_to_stop_stops_nothing_later(desk: Desk) -> None:
    async with desk.session(Scripted([Say("One."), Say("Two.")])) as session:
        await session.cancel()
        assert (await done(session, "Go")).status == "done"
        await session.cancel()
        await session.cancel("p_none")
        assert (await done(session, "Go")).status == "done"


@pytest.mark.parametrize("step", [Call("hang", {"text": "x"}), Fault("hang", after=3), Fault("hang", after=-1)])
async def test_a_cancel_stops_one_turn_however_often_it_is_said(desk: Desk, step: Call | Fault) -> None:
    async with desk.session(Scripted([step, Say("Two.")])) as session:
        one, two = await session.prompt("one"), await session.prompt("two")
        begun = ToolStarted if isinstance(step, Call) else RequestSent
        async with session.stream.subscribe(after=0) as entries:
            async for entry in entries:
                if isinstance(entry.event, begun):
                    break
        await session.cancel()
        await session.cancel()
        with anyio.fail_after(2):
            assert (await one).status == "cancelled"
            assert (await two).text == "Two."
    assert [e.status for e in desk.of(TurnFinished)] == ["cancelled", "done"]
