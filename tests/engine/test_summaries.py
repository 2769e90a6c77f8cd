"""Summaries beside the turn: when they are asked for, what becomes of them, and that nothing waits for one."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace

from gongfu.core.errors import UserError
from gongfu.core.events import EpochOpened, RequestSent, SummaryFailed, SummaryMade, WarningRaised
from gongfu.core.tokens import text_tokens
from gongfu.engine import summaries
from gongfu.engine.session import Session
from gongfu.engine.summaries import FAILURES, STAYING
from gongfu.models.scripted import SCRIPTED, Call, Fault, Match, Planned, Say, Scripted
from tests.engine.conftest import Desk, done

pytestmark = pytest.mark.anyio

SMALL = replace(SCRIPTED, window=8192, max_output=2048)  # 5,120 tokens of budget
GOOD = "## Constraints\n- Never touch the schema.\n## Changes done\n- The parser was rewritten."


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "PAUSE", 0.0)


def script(turns: int, *, batches: int = 1, size: int = 300) -> list[Planned]:
    """Turn after turn: calls of echo, then an answer of about `size` tokens."""
    steps: list[Planned] = []
    for n in range(turns):
        steps += [Call("echo", {"text": f"step {n}.{b}"}) for b in range(batches)]
        steps.append(Say(f"Part {n} is done. " + "It went well. " * (size // 4)))
    return steps


def main(turns: int, *, batches: int = 1, size: int = 300) -> Scripted:
    return Scripted(script(turns, batches=batches, size=size), info=SMALL)


def fast(*answers: Planned, times: int = 1) -> Scripted:
    info = replace(SCRIPTED, ref="scripted/fast", name="fast")
    return Scripted([*answers] * times, info=info)


async def talk(session: Session, turns: int, *, start: int = 0) -> None:
    for n in range(start, start + turns):
        await done(session, f"Do part {n}. Never touch file_{n}.")
        await session.sidecar.drain(5)


def asked(desk: Desk, purpose: str = "summary") -> list[RequestSent]:
    return [e for e in desk.of(RequestSent) if e.purpose == purpose]


async def test_a_summary_is_ready_before_the_fold_and_the_fold_takes_it(desk: Desk) -> None:
    model, helper = main(16), fast(Say(GOOD), times=9)
    async with desk.session(model, fast=[helper]) as session:
        await talk(session, 16)
    made = desk.of(SummaryMade)
    assert made
    assert made[0].kind == "history"
    assert "The parser was rewritten." in made[0].text
    for receipt in asked(desk):
        assert (receipt.scope, receipt.model) == ("auxiliary", "scripted/fast")
    order = desk.kinds()
    assert order.index("SummaryMade") < order.index("EpochOpened")
    moved = [e for e in desk.of(EpochOpened) if e.moved]
    assert moved
    assert "The parser was rewritten." in moved[0].summary
    assert all(r.purpose == "main" for r in model.requests)
    told = [m.text for m in model.requests[-1].messages if m.kind == "note"]
    assert any("> - The parser was rewritten." in text for text in told)


async def test_a_summary_outlives_the_program(desk: Desk) -> None:
    async with desk.session(main(11), fast=[fast(Say(GOOD), times=9)]) as session:
        await talk(session, 11)
        assert desk.of(SummaryMade)
        assert not desk.of(EpochOpened)
    async with desk.session(main(6)) as session:
        await talk(session, 6, start=11)
    fold = next(e for e in desk.of(EpochOpened) if e.moved)
    assert "The parser was rewritten." in fold.summary


async def test_what_the_model_left_out_of_the_person_s_words_is_there_all_the_same(desk: Desk) -> None:
    async with desk.session(main(13), fast=[fast(Say(GOOD), times=9)]) as session:
        await talk(session, 13)
    made = desk.of(SummaryMade)[0]
    assert made.upto > 5
    for n in range(made.upto):
        assert f"- Never touch file_{n}." in made.text


async def test_a_summary_covers_all_but_the_newest_turns_and_is_not_asked_for_again_at_once(desk: Desk) -> None:
    helper = fast(Say(GOOD), times=20)
    async with desk.session(main(14), fast=[helper]) as session:
        await talk(session, 13)
        (first, *later) = desk.of(SummaryMade)
        assert first.upto <= 13 - STAYING
        assert len(later) <= 2
    words = "\n".join(m.text for m in helper.requests[0].messages)
    assert f"Turn {first.upto - 1}, person:" in words
    assert f"Turn {first.upto}, person:" not in words
    assert "> Do part 0. Never touch file_0." in words
    if later:
        again = "\n".join(m.text for m in helper.requests[1].messages)
        assert again.startswith("Earlier summary:\n> ## Constraints")
        assert "Turn 0, person:" not in again


async def test_no_request_waits_for_a_summary(desk: Desk) -> None:
    helper = fast(Fault("hang", after=-1), times=20)
    async with desk.session(main(16), fast=[helper]) as session:
        for n in range(16):
            await done(session, f"Do part {n}.")  # at most ten seconds each
        assert session.sidecar.busy
        folds = [e for e in desk.of(EpochOpened) if e.moved]
        assert folds
        assert "turn 0: Do part 0." in folds[0].summary
    assert not desk.of(SummaryMade)
    assert not desk.of(SummaryFailed), "what the end of the session cuts off has not failed"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Say(GOOD, finish="length"), "truncated"),
        (Say("word " * 9000), "longer"),
        (Say("I'm sorry, but I can't help with this conversation."), "refusal"),
        (Say("…"), "empty"),
        (Fault("status", status=400), "no answer"),
    ],
)
async def test_a_bad_summary_is_refused_three_times_and_then_none_is_asked_for(
    desk: Desk, answer: Planned, reason: str
) -> None:
    helper = fast(answer, times=40)
    async with desk.session(main(26), fast=[helper]) as session:
        await talk(session, 26)
        assert {e.reason for e in desk.of(SummaryFailed)} == {reason}
        assert len(desk.of(SummaryFailed)) == FAILURES
        assert not desk.of(SummaryMade)
    warnings = [e for e in desk.of(WarningRaised) if e.key == "context.summaries_stopped"]
    assert len(warnings) == 1
    asked_for = len(helper.requests)
    assert asked_for == FAILURES
    folds = [e for e in desk.of(EpochOpened) if e.moved]
    assert folds
    for n in folds[-1].moved:
        assert f"- Never touch file_{n}." in folds[-1].summary
    async with desk.session(main(3), fast=[helper]) as session:  # the breaker is in the log
        await talk(session, 3, start=26)
    assert len(helper.requests) == asked_for


async def test_a_summary_that_works_closes_the_count(desk: Desk) -> None:
    helper = fast(Say("…"), Say("…"), Say(GOOD), times=9)
    async with desk.session(main(24), fast=[helper]) as session:
        await talk(session, 24)
    assert len(desk.of(SummaryFailed)) >= 2
    assert desk.of(SummaryMade)
    assert not [e for e in desk.of(WarningRaised) if e.key == "context.summaries_stopped"]


async def test_without_a_model_for_it_nothing_is_asked_and_nothing_is_said(desk: Desk) -> None:
    model = main(16)
    async with desk.session(model) as session:
        await talk(session, 16)
    assert {r.purpose for r in model.requests} == {"main"}
    assert not desk.of(SummaryFailed)
    assert next(e for e in desk.of(EpochOpened) if e.moved).summary


async def test_the_main_model_writes_summaries_where_it_may(desk: Desk) -> None:
    model = Scripted([*script(16), Say(GOOD, when=Match(purpose="summary"))], info=SMALL)
    async with desk.session(model, summaries_may_use_main=True) as session:
        await talk(session, 16)
    assert "summary" in {r.purpose for r in model.requests}
    assert desk.of(SummaryMade)
    assert {r.scope for r in asked(desk)} == {"auxiliary"}


async def test_a_server_of_one_slot_is_left_to_the_turn(desk: Desk) -> None:
    """Else the next request waited for the summary, and the server's cache held another prompt."""
    alone = replace(SMALL, slots=1)
    model = Scripted(script(16), info=alone)
    async with desk.session(model, summaries_may_use_main=True) as session:
        await talk(session, 16)
    assert not asked(desk)
    assert desk.of(EpochOpened)
    elsewhere = replace(SCRIPTED, ref="other/fast", provider="other", name="fast", slots=1)
    async with desk.session(
        Scripted(script(16), info=alone), id="s_2", fast=[Scripted([Say(GOOD)] * 9, info=elsewhere)]
    ) as two:
        await talk(two, 16)
    assert [e for e in desk.of(RequestSent, "s_2") if e.purpose == "summary"]


async def test_a_long_turn_gets_a_summary_of_its_calls_once_a_fold_is_not_far(desk: Desk) -> None:
    helper = fast(Say("- echo 2 found the cause"), times=9)
    model = main(9, batches=3, size=250)
    async with desk.session(model, fast=[helper]) as session:
        await talk(session, 2)
        assert not asked(desk, "tool_chain"), "far from a fold it would be wasted"
        await talk(session, 6, start=2)
    chains = [e for e in desk.of(SummaryMade) if e.kind == "chain"]
    assert chains
    assert chains[0].text == "- echo 2 found the cause"
    request = next(r for r in helper.requests if r.purpose == "tool_chain")
    text = request.messages[0].text
    turn = chains[0].upto - 1
    assert f"> Do part {turn}." in text
    assert text.count("echo >") == 3
    assert f"result:\n> echo step {turn}.2" in text
    assert request.tools == ()


async def test_a_chain_summary_leaves_the_recollection_its_room(desk: Desk) -> None:
    long = "- echo found the cause in one of very many places\n" * 40
    helper = Scripted(
        [Say(long, when=Match(purpose="tool_chain")), Say(GOOD, when=Match(purpose="summary"))],
        info=replace(SCRIPTED, ref="scripted/fast", name="fast"),
    )
    steps = script(14, batches=4, size=150)
    wordy = [
        Call("echo", {"text": s.arguments["text"] + " and more" * 40}) if isinstance(s, Call) else s for s in steps
    ]  # type: ignore[index]
    async with desk.session(Scripted(wordy, info=SMALL), fast=[helper]) as session:
        await talk(session, 14)
    chains = [e for e in desk.of(SummaryMade) if e.kind == "chain"]
    assert chains
    assert all(text_tokens(e.text) <= 5120 * 8 // 300 for e in chains)
    folds = [e for e in desk.of(EpochOpened) if e.moved]
    assert folds
    for fold in folds:
        assert "- Never touch file_0." in fold.summary


async def test_a_short_turn_gets_none(desk: Desk) -> None:
    helper = fast(Say(GOOD), times=9)
    async with desk.session(main(10, batches=2, size=250), fast=[helper]) as session:
        await talk(session, 10)
    assert not asked(desk, "tool_chain")


async def test_a_program_that_ends_with_its_turn_asks_for_none(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "PAUSE", 0.5)
    helper = fast(Say(GOOD), times=9)
    async with desk.session(main(1, batches=4, size=3400), fast=[helper]) as session:
        await done(session, "Do it.")
        await anyio.wait_all_tasks_blocked()
        assert session.sidecar.busy
    assert helper.requests == []


async def test_a_fold_by_hand_waits_for_its_summary_and_tells_the_model_the_focus(desk: Desk) -> None:
    helper = fast(Say(GOOD), times=9)
    async with desk.session(main(6), fast=[helper]) as session:
        await talk(session, 6)
        assert not desk.of(SummaryMade)
        with anyio.fail_after(10):
            await session.summaries.compact("the parser")
        (made,) = desk.of(SummaryMade)
        assert (made.upto, made.focus) == (3, "the parser")
        assert helper.requests[0].messages[0].text.endswith("what has to do with: the parser")
        await session.summaries.compact()
        assert len(desk.of(SummaryMade)) == 1, "there is nothing new to summarise"


async def test_a_fold_by_hand_waits_for_a_summary_that_is_being_made(desk: Desk) -> None:
    helper = fast(Fault("slow", seconds=0.01, answer=Say(GOOD)), times=9)
    async with desk.session(main(12), fast=[helper]) as session:
        for n in range(12):
            await done(session, f"Do part {n}.")
            if session.sidecar.busy:
                break
        await session.summaries.compact()
        assert len(helper.requests) == 1
        assert len(desk.of(SummaryMade)) == 1


async def test_a_fold_by_hand_of_a_short_session_asks_nobody(desk: Desk) -> None:
    helper = fast(Say(GOOD))
    async with desk.session(main(3), fast=[helper]) as session:
        await talk(session, 3)
        await session.summaries.compact("x")
    assert helper.requests == []


async def test_a_fold_by_hand_right_behind_a_turn_waits_until_that_is_put_away(desk: Desk) -> None:
    async with desk.session(main(6)) as session:

        async def slowly() -> None:
            await anyio.sleep(0.05)

        session.kit = replace(session.kit, after_turn=slowly)
        await talk(session, 6)
        assert await session.compact() is not None


async def test_a_prompt_waits_for_a_fold_by_hand_that_waits_for_its_summary(desk: Desk) -> None:
    """Else the fold would happen in the middle of a turn, between calls and their results."""
    slow = Fault("slow", seconds=0.05, answer=Say(GOOD))
    helper = fast(slow, times=9)
    async with desk.session(main(8), fast=[helper]) as session, anyio.create_task_group() as tasks:
        await talk(session, 6)
        tasks.start_soon(session.compact, "the parser")
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(10):
            end = await done(session, "Do part 6. Never touch file_6.")
        assert end.status == "done"
    entries = [type(e).__name__ for e in (s.event for s in desk.stored())]
    assert entries.index("EpochOpened") < len(entries) - 1 - entries[::-1].index("TurnStarted")
    (epoch,) = desk.of(EpochOpened)
    assert (epoch.reason, epoch.focus) == ("manual", "the parser")


async def test_a_fold_by_hand_can_be_cancelled_while_it_waits(desk: Desk) -> None:
    helper = fast(Fault("hang", after=-1))
    async with desk.session(main(8), fast=[helper]) as session, anyio.create_task_group() as tasks:
        await talk(session, 6)
        errors: list[str] = []

        async def fold() -> None:
            try:
                await session.compact("the parser")
            except UserError as error:
                errors.append(error.key)

        tasks.start_soon(fold)
        await anyio.wait_all_tasks_blocked()
        await session.cancel()
        with anyio.fail_after(5):
            assert (await done(session, "Do part 6. Never touch file_6.")).status == "done"
        assert errors == ["engine.cancelled"]
    assert not desk.of(EpochOpened)
