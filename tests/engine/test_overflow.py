"""A provider that says the prompt is too long: one hard fold, one more try, then a stop with numbers; and what comes
after it. Row 27."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gongfu.core.events import EpochOpened, RequestFailed, RequestSent
from gongfu.core.words import say
from gongfu.models.protocol import Request
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.script import Call, Fault, Say
from gongfu.tools.protocol import Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio


async def _look(args: dict[str, Any], ctx: object) -> Outcome:
    return Outcome(text=f"{args['text']}: " + "some words of a long output\n" * 120)


def scripted(desk: Desk, steps: list[Any], *, window: int = 60_000) -> Scripted:
    desk.tools.append(Plain("look", _look))
    return Scripted(steps, info=msgspec.structs.replace(SCRIPTED, window=window, max_output=2000))


def looks(count: int) -> list[Any]:
    return [Call("look", {"text": f"place {n}"}) for n in range(count)]


def sent(desk: Desk) -> list[RequestSent]:
    return [e for e in desk.of(RequestSent) if e.purpose == "main"]


async def test_the_first_overflow_makes_one_hard_fold_and_one_more_try(desk: Desk) -> None:
    model = scripted(desk, [*looks(9), Fault("overflow"), *looks(1), Say("Done.")])
    async with desk.session(model) as session:
        assert (await done(session, "Look around.")).status == "done"
    assert [e.reason for e in desk.of(EpochOpened)] == ["overflow"]
    refused, again = sent(desk)[9:11]
    assert again.raw * 10 < refused.raw * 6
    assert again.estimate * 100 >= again.raw * 114  # q x 1.15
    assert len(desk.of(RequestFailed)) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_second_overflow_stops_with_numbers_and_keeps_the_history(desk: Desk, language: Any) -> None:
    model = scripted(desk, [*looks(9), Fault("overflow"), Fault("overflow"), *looks(1), Say("Done.")])
    async with desk.session(model) as session:
        end = await done(session, "Look around.")
        assert end.status == "failed"
        assert len(desk.of(EpochOpened)) == 1
        assert len(sent(desk)) == 11
        told = say(end.reason, language, **end.values)
        assert f"{sent(desk)[-1].estimate:,}" in told
        assert f"{sent(desk)[0].budget:,}" in told
        assert "60,000" in told
        history = len(session.messages)
        again = await done(session, "Go on.")
    assert again.status == "done"
    assert len(session.messages) > history >= 18


async def test_where_nothing_can_be_folded_the_same_bytes_are_not_sent_again(desk: Desk) -> None:
    model = scripted(desk, [Fault("overflow"), Say("Done.")])
    async with desk.session(model) as session:
        end = await done(session, "word " * 3000)
        assert end.status == "failed"
        assert "60,000" in say(end.reason, "en", **end.values)
        assert len(sent(desk)) == 1
        assert not desk.of(EpochOpened)


@pytest.mark.parametrize("restart", [False, True])
async def test_a_small_request_that_was_refused_does_not_narrow_a_session_for_good(desk: Desk, restart: bool) -> None:
    """Such a refusal has other reasons than the window, a huge image for one."""
    steps = [Fault("overflow"), Fault("overflow"), *looks(8), Say("Done."), Say("And done.")]
    model = scripted(desk, steps)
    async with desk.session(model) as session:
        await done(session, "A short one.")
        if not restart:
            await done(session, "A long one. " + "word " * 4000)
            assert (await done(session, "A long one. " + "word " * 4000)).status == "done"
    if restart:
        async with desk.session(model) as session:
            await done(session, "A long one. " + "word " * 4000)
            assert (await done(session, "A long one. " + "word " * 4000)).status == "done"


@pytest.mark.parametrize("real", [9000, 14_000, 30_000])
async def test_a_server_whose_window_is_smaller_than_known_is_stayed_below(desk: Desk, real: int) -> None:
    """It refuses whatever is longer than its real window; after it was met, that happens seldom."""
    desk.tools.append(Plain("look", _look))
    count = 0

    def answer(request: Request) -> Any:
        nonlocal count
        size = len(msgspec.json.encode(request.messages)) // 4
        if size > real:
            return Fault("overflow")
        count += 1
        return Say("Done.") if count % 10 == 0 else Call("look", {"text": f"place {count}"})

    def endless() -> Any:
        while True:
            yield answer

    model = Scripted(endless(), info=msgspec.structs.replace(SCRIPTED, window=60_000, max_output=2000))
    async with desk.session(model) as session:
        for turn in range(6):
            assert (await done(session, f"Task {turn}: look around.")).status == "done"
    refused = desk.of(RequestFailed)
    assert 0 < len(refused) <= 3


async def test_a_server_that_counts_double_is_believed(desk: Desk) -> None:
    """q comes to 2 by the usage that it reports, also after the program was started again."""
    desk.tools.append(Plain("look", _look))

    def play(turns: int) -> Any:
        from gongfu.core.specs import Usage

        def answer(request: Request) -> Any:
            real = 2 * sent(desk)[-1].raw
            assert real <= 30_000 - 2000, "the window that the server counts is full"
            nonlocal count
            count += 1
            usage = Usage(input=real, output=10)
            return Say("Done.", usage=usage) if count % 6 == 0 else Call("look", {"text": f"p{count}"}, usage=usage)

        count = 0
        while True:
            yield answer

    info = msgspec.structs.replace(SCRIPTED, window=30_000, max_output=2000)
    for turn in range(6):
        async with desk.session(Scripted(play(1), info=info)) as session:
            end = await done(session, f"Task {turn}: look around.")
            assert end.status == "done", (end.reason, end.values)
    assert len(desk.of(EpochOpened)) >= 1
    first, *later = sent(desk)
    assert first.estimate == first.raw
    assert all(e.estimate >= 2 * e.raw - 2 for e in later)
