"""Results never fill the window: however many calls an answer makes, the session can go on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gongfu.core.events import ToolFinished
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.script import Call, Calls, Say
from gongfu.tools.protocol import Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio

TEXT = "\n".join(f"line {n} of a long output" for n in range(3000))


async def long(args: dict[str, Any], ctx: object) -> Outcome:
    return Outcome(text=f"{args['text']}\n{TEXT}")


@pytest.mark.parametrize("window", [8192, 32_768, 200_000])
@pytest.mark.parametrize("count", [1, 12, 40])
async def test_many_results_at_once_fit(desk: Desk, window: int, count: int) -> None:
    desk.tools.append(Plain("long", long))
    calls = Calls(tuple(Call("long", {"text": str(n)}) for n in range(count)))
    model = Scripted([calls, Say("ok")], info=msgspec.structs.replace(SCRIPTED, window=window))
    async with desk.session(model) as session:
        assert (await done(session, "Go")).status == "done"
    for finished in desk.of(ToolFinished):
        assert "recall id=" in finished.result.text
        assert len(finished.result.text) >= 200


async def test_one_after_the_other_they_get_shorter_before_the_window_is_full(desk: Desk) -> None:
    desk.tools.append(Plain("long", long))
    steps = [*(Call("long", {"text": str(n)}) for n in range(20)), Say("ok")]
    model = Scripted(steps, info=msgspec.structs.replace(SCRIPTED, window=32_768))
    async with desk.session(model) as session:
        assert (await done(session, "Go")).status == "done"
    sizes = [len(f.result.text) for f in desk.of(ToolFinished)]
    assert sizes[0] > 5000
    assert sizes[-1] < sizes[0] / 2
