"""Several models in a row: which one is asked, what a fault costs, and what the person is told."""

from __future__ import annotations

import msgspec
import pytest

from gongfu.core.events import AnswerReceived, RequestFailed, RequestSent, WarningRaised
from gongfu.core.specs import Price, Usage
from gongfu.engine.limits import LimitSpec
from gongfu.models.protocol import ModelProvider
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.script import Call, Fault, FaultKind, Say

from .conftest import Desk, done

pytestmark = pytest.mark.anyio


def scripted(name: str, steps: list[object], **info: object) -> Scripted:
    return Scripted(steps, info=msgspec.structs.replace(SCRIPTED, ref=f"p/{name}", name=name, **info))  # type: ignore[arg-type]


def asked(desk: Desk, id: str = "s_test") -> list[str]:
    return [e.model.removeprefix("p/") for e in desk.of(RequestSent, id)]


@pytest.mark.parametrize(
    ("kind", "status", "wait"),
    [("status", 401, None), ("status", 402, None), ("status", 400, None), ("overflow", 0, None), ("status", 429, 3600)],
)
async def test_a_model_that_failed_for_good_is_not_asked_again_in_the_turn(
    desk: Desk, kind: FaultKind, status: int, wait: float | None
) -> None:
    bad = scripted("a", [Fault(kind, status=status, retry_after=wait)] * 9)
    good = scripted("b", [*(Call("echo", {"text": str(n)}) for n in range(3)), Say("There.")])
    async with desk.session(bad, good) as session:
        end = await done(session, "Go")
    assert (end.status, end.text) == ("done", "There.")
    assert asked(desk) == ["a", "b", "b", "b", "b"]
    (failed,) = desk.of(RequestFailed)
    assert failed.next_model == "p/b"


async def test_the_next_turn_begins_with_the_first_model_again(desk: Desk) -> None:
    first = scripted("a", [Fault("status", status=402), Say("I am back.")])
    async with desk.session(first, scripted("b", [Say("There.")])) as session:
        assert (await done(session, "Go")).text == "There."
        assert (await done(session, "Go")).text == "I am back."


async def test_when_the_next_one_fails_too_one_whose_trouble_may_have_passed_is_asked_again(desk: Desk) -> None:
    first = scripted("a", [Fault("status", status=429, retry_after=3600), Say("I am back.")])
    second = scripted("b", [Call("echo", {"text": "1"}), Fault("status", status=402)])
    async with desk.session(first, second) as session:
        assert (await done(session, "Go")).text == "I am back."
    assert asked(desk) == ["a", "b", "b", "a"]
    barred = scripted("a", [Fault("status", status=401)])
    second = scripted("b", [Call("echo", {"text": "1"}), Fault("status", status=402)])
    async with desk.session(barred, second, id="s_2") as session:
        end = await done(session, "Go")
    assert (end.status, end.values["kind"]) == ("failed", "refused")
    assert asked(desk, "s_2") == ["a", "b", "b"]


async def test_a_prompt_too_long_for_one_window_goes_to_the_model_with_a_larger_one(desk: Desk) -> None:
    small, large = scripted("a", [], window=8192), scripted("b", [Say("Read.")])
    async with desk.session(small, large) as session:
        end = await done(session, "x " * 50_000)
    assert (end.status, end.text) == ("done", "Read.")
    async with desk.session(scripted("a", [], window=8192), scripted("b", [], window=8192), id="s_2") as session:
        end = await done(session, "x " * 50_000)
    assert (end.status, end.reason) == ("refused", "context.current_turn_does_not_fit")


async def test_with_another_model_ready_faults_cost_less_time(desk: Desk) -> None:
    """A wait of 25 s fits into the time of one model alone, and is not begun when another stands ready."""
    steps = [Fault("status", status=503, retry_after=25)]
    async with desk.session(scripted("a", [*steps]), scripted("b", [Say("There.")])) as session:
        assert (await done(session, "Go")).text == "There."


async def test_a_stream_that_breaks_and_goes_on_is_told_as_going_on(desk: Desk) -> None:
    broken = Fault("drop", after=3, answer=Say("This is the first half and more to come."))
    chain: list[ModelProvider] = [scripted("a", [broken] * 4), scripted("b", [Say("The end.")])]
    async with desk.session(*chain) as session:
        end = await done(session, "Go")
    assert end.status == "done"
    told = [(f.retry_in, f.next_model) for f in desk.of(RequestFailed)]
    assert told == [(0.0, ""), (0.0, ""), (0.0, ""), (None, "p/b")]
    assert len([a for a in desk.of(AnswerReceived) if a.cut]) == 4  # what was said is kept to the last
    assert end.text.endswith("The end.")


PRICED = {"price": Price(input=1_000_000.0, output=0.0)}


async def test_broken_answers_are_paid_for(desk: Desk) -> None:
    broken = Fault("drop", after=3, answer=Say("This is the first half and more to come."))
    model = scripted("a", [broken] * 4, **PRICED)
    async with desk.session(model, limits=LimitSpec(cost=1.0)) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("budget", "engine.limit_cost")
    assert end.cost is not None
    assert end.cost > 1
    assert asked(desk) == ["a"]


async def test_a_server_that_counts_half_is_charged_by_the_estimate(desk: Desk) -> None:
    model = scripted("a", [Say("Hello there.", usage=Usage(output=3))], **PRICED)
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert end.usage.output == 3
    assert end.usage.input > 10
    assert end.cost == pytest.approx(end.usage.input)


async def test_the_next_model_goes_on_with_what_the_first_one_said(desk: Desk) -> None:
    broken = Fault("drop", after=3, answer=Say("This is the first half and more to come."))
    second = scripted("b", [Say("The end.")])
    async with desk.session(scripted("a", [broken] * 4), second) as session:
        await done(session, "Go")
    assert [m.role for m in second.requests[0].messages[-2:]] == ["assistant", "user"]


async def test_words_before_a_fault_for_good_are_kept(desk: Desk) -> None:
    fault = Fault("error_event", status=400, after=3, message="bad", answer=Say("This is the first half and more."))
    async with desk.session(scripted("a", [fault])) as session:
        end = await done(session, "Go")
    assert (end.status, end.values["kind"]) == ("failed", "bad_request")
    (kept,) = desk.of(AnswerReceived)
    assert kept.cut
    assert kept.message.text
    assert end.text == kept.message.text
    second = scripted("b", [Say("The end.")])
    async with desk.session(scripted("a", [fault]), second, id="s_2") as session:
        end = await done(session, "Go")
    assert end.text == f"{kept.message.text}The end."
    assert [m.role for m in second.requests[0].messages[-2:]] == ["assistant", "user"]


async def test_an_answer_that_was_ended_for_its_content_is_told(desk: Desk) -> None:
    async with desk.session(scripted("a", [Say("I will not go on", finish="filter")])) as session:
        end = await done(session, "Go")
    assert (end.status, end.text) == ("done", "I will not go on")
    assert [w.key for w in desk.of(WarningRaised)] == ["engine.filtered_part"]
