"""Labels and titles are made beside the turn: never waited for, never part of what the main model is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from gongfu.core.events import (
    AnswerReceived,
    BatchLabelled,
    MessageAdded,
    RequestFailed,
    RequestSent,
    SessionCreated,
    SessionTitled,
    TextDelta,
    ToolFinished,
    TurnFinished,
)
from gongfu.core.messages import Message, TextPart
from gongfu.core.specs import Usage
from gongfu.engine.session import Session
from gongfu.models.protocol import Answer, Delta, Prepared, Request
from gongfu.models.scripted import Call, Calls, Fault, Say, Scripted
from gongfu.models.scripted.provider import SCRIPTED, body_of
from tests.engine.conftest import Desk, done

pytestmark = pytest.mark.anyio

LABEL = "tool_use_summary_generation"
MIXED = Calls((Call("echo", {"text": "one"}), Call("fail", {"text": "two"})))
SAME = Calls((Call("echo", {"text": "one"}), Call("echo", {"text": "two"})))
FAST = replace(SCRIPTED, ref="other/fast", provider="other", name="fast")


class Fast:
    """A fast model that answers when it is let: each request waits for its turn in `gates`."""

    def __init__(self, *answers: str) -> None:
        self.info = FAST
        self.answers = list(answers)
        self.asked: list[Request] = []
        self.gates = [anyio.Event() for _ in answers]

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        yield Prepared(body=body_of(request))
        at = len(self.asked)
        self.asked.append(request)
        await self.gates[at].wait()
        message = Message(role="assistant", parts=(TextPart(text=self.answers[at]),))
        yield Answer(message=message, finish="stop", usage=Usage(input=50, output=5))

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def waiting_for(session: Session, kind: type[Any], count: int = 1) -> AsyncGenerator[None, None]:
    """The block ends when `count` events of a kind have come since it began."""
    async with session.stream.subscribe() as entries:
        yield
        with anyio.fail_after(10):
            async for entry in entries:
                count -= isinstance(entry.event, kind)
                if not count:
                    return


def calls_of(desk: Desk) -> list[tuple[str, ...]]:
    return [tuple(c.id for c in a.message.calls) for a in desk.of(AnswerReceived) if a.message.calls]


async def test_a_plain_label_stands_between_the_results_and_the_next_request(desk: Desk) -> None:
    main = Scripted([SAME, Say("done")])
    async with desk.session(main) as session:
        await done(session, "go")
    (label,) = desk.of(BatchLabelled)
    assert (label.text, label.by, label.calls) == ("echo ×2", "plain", ("c1", "c2"))
    kinds = desk.kinds()
    at = kinds.index("BatchLabelled")
    assert kinds[at - 1] == "ToolFinished"
    assert kinds[at + 1] == "RequestSent"


async def test_a_model_names_what_is_not_plain_and_is_counted_apart(desk: Desk) -> None:
    usage = Usage(input=70, output=6)
    main, fast = Scripted([MIXED, Say("done")]), Scripted([Say('- "Echoed one"', usage=usage)], info=FAST)
    async with desk.session(main, fast=[fast], labels=True) as session:
        async with waiting_for(session, BatchLabelled):
            finished = await done(session, "go")
        assert session.usage[LABEL].usage == usage
        assert session.usage[LABEL].requests == 1
        assert session.usage["main"].requests == 2
        assert session.state.ratios.get(FAST.ref) is None
    (label,) = desk.of(BatchLabelled)
    assert (label.text, label.by, label.calls) == ("Echoed one", "model", ("c1", "c2"))
    sent = [s for s in desk.of(RequestSent) if s.purpose == LABEL]
    assert [(s.scope, s.model, s.attempt, s.bytes) for s in sent] == [
        ("auxiliary", "other/fast", 1, len(fast.bodies[0]))
    ]
    assert 0 < sent[0].estimate <= sent[0].budget
    assert finished.requests == 2
    (request,) = fast.requests
    assert (request.purpose, request.max_output, request.tools, request.reasoning) == (LABEL, 60, (), "off")


async def test_without_a_fast_model_only_plain_labels_and_no_further_request(desk: Desk) -> None:
    main = Scripted([MIXED, SAME, Say("done")])
    async with desk.session(main, labels=True, titles=True) as session:
        await done(session, "go")
    main.finish()
    assert [s.purpose for s in desk.of(RequestSent)] == ["main"] * 3
    assert [label.by for label in desk.of(BatchLabelled)] == ["plain"]


async def test_switched_off_the_fast_model_is_not_asked_for_labels(desk: Desk) -> None:
    fast = Scripted([], info=FAST)
    async with desk.session(Scripted([MIXED, SAME, Say("done")]), fast=[fast], labels=False) as session:
        await done(session, "go")
    assert not fast.requests
    assert [label.text for label in desk.of(BatchLabelled)] == ["echo ×2"]


async def test_a_slow_fast_model_delays_neither_request_nor_end(desk: Desk) -> None:
    main, fast = Scripted([MIXED, MIXED, Say("done")]), Fast("never", "never")
    async with desk.session(main, fast=[fast], labels=True) as session:
        finished = await done(session, "go")
        assert finished.status == "done"
        with anyio.fail_after(5):
            while len(fast.asked) < 2:
                await anyio.lowlevel.checkpoint()
            await session.close()
    assert len(main.requests) == 3
    assert len(fast.asked) == 2
    assert not desk.of(BatchLabelled)
    assert not desk.of(RequestFailed)


async def test_labels_that_come_in_another_order_name_their_own_calls(desk: Desk) -> None:
    main, fast = Scripted([MIXED, MIXED, Say("done")]), Fast("the first", "the second")
    async with desk.session(main, fast=[fast], labels=True) as session:
        await done(session, "go")
        for at in (1, 0):
            async with waiting_for(session, BatchLabelled):
                fast.gates[at].set()
    first, second = calls_of(desk)
    assert [(label.text, label.calls) for label in desk.of(BatchLabelled)] == [
        ("the second", second),
        ("the first", first),
    ]


async def test_what_the_main_model_is_sent_is_the_same_with_labels_and_without(desk: Desk) -> None:
    sent: list[list[tuple[Any, ...]]] = []
    for id, labels in (("s_on", True), ("s_off", False)):
        main, fast = Scripted([MIXED, SAME, MIXED, Say("done")]), Fast("one", "two", "title")
        for gate in fast.gates:
            gate.set()
        async with desk.session(main, id=id, fast=[fast] if labels else [], labels=labels, titles=labels) as session:
            await done(session, "go")
            await session.sidecar.drain(5)
        without_ids = [
            (r.system, r.standing, r.tools, r.marks, [replace(m, id="") for m in r.messages]) for r in main.requests
        ]
        sent.append(without_ids)
    assert desk.of(BatchLabelled, "s_on") != []
    assert sent[0] == sent[1]


async def test_an_aborted_turn_gets_no_late_label(desk: Desk) -> None:
    main, fast = Scripted([MIXED, Call("hang", {"text": ""})]), Fast("too late")
    async with desk.session(main, fast=[fast], labels=True) as session:
        async with waiting_for(session, ToolFinished, 2):
            handle = await session.prompt("go")
        with anyio.fail_after(5):
            while not fast.asked:
                await anyio.lowlevel.checkpoint()
        await session.cancel()
        assert (await handle).status == "cancelled"
        fast.gates[0].set()
        await session.sidecar.drain(5)
    assert not desk.of(BatchLabelled)
    assert [f.purpose for f in desk.of(RequestFailed)] == [LABEL]


async def test_an_interrupted_batch_is_not_labelled(desk: Desk) -> None:
    async with desk.session(Scripted([Calls((Call("hang", {"text": ""}), Call("hang", {"text": "2"})))])) as session:
        handle = await session.prompt("go")
        with anyio.fail_after(5):
            while len(desk.tool("hang").runs) < 2:
                await anyio.lowlevel.checkpoint()
        await session.cancel()
        await handle
    assert not desk.of(BatchLabelled)


@pytest.mark.parametrize("answer", ["", "I cannot do that", "API Error: 500", "``"])
async def test_an_empty_or_refused_label_is_none(desk: Desk, answer: str) -> None:
    fast = Scripted([Say(answer)], info=FAST)
    async with desk.session(Scripted([MIXED, Say("done")]), fast=[fast], labels=True) as session:
        await done(session, "go")
        await session.sidecar.drain(5)
    assert not desk.of(BatchLabelled)
    assert not desk.reports


async def test_a_failing_fast_model_is_left_alone_after_three_times(desk: Desk) -> None:
    batches = [Calls((Call("echo", {"text": f"{n}"}), Call("fail", {"text": f"{n}"}))) for n in range(24)]
    main = Scripted([*batches, Say("done")])
    fast = Scripted([Fault("status", status=401, times=0)], info=FAST)
    async with desk.session(main, fast=[fast], labels=True) as session:
        finished = await done(session, "go")
        await session.sidecar.drain(5)
    assert finished.status == "done"
    assert 3 <= len(fast.requests) <= 12  # those under way when the third fails are not called back
    assert not desk.of(BatchLabelled)
    assert {f.purpose for f in desk.of(RequestFailed)} == {LABEL}
    assert not desk.reports


async def test_a_fault_of_a_job_is_logged_and_reaches_nobody(desk: Desk) -> None:
    class Broken(Fast):
        async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
            yield Prepared(body=b"x")
            raise ZeroDivisionError("a bug")

    async with desk.session(Scripted([MIXED, Say("done")]), fast=[Broken()], labels=True) as session:
        assert (await done(session, "go")).status == "done"
        await session.sidecar.drain(5)
    assert "ZeroDivisionError" in desk.reports[0]


async def test_secrets_of_calls_and_results_do_not_reach_the_fast_model(desk: Desk) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
    batch = Calls((Call("echo", {"text": secret}), Call("fail", {"text": "x"})), text=f"I use {secret}")
    fast = Scripted([Say("Echoed a key")], info=FAST)
    main = Scripted([batch, Say("done")])
    async with desk.session(main, fast=[fast], labels=True) as session, waiting_for(session, BatchLabelled):
        await done(session, "go")
    assert secret.encode() not in fast.bodies[0]
    assert b"abcdefghijkl" not in fast.bodies[0]


async def test_the_beginning_of_label_requests_is_always_the_same(desk: Desk) -> None:
    fast = Scripted([Say("one"), Say("two")], info=FAST)
    main = Scripted([MIXED, MIXED, Say("done")])
    async with desk.session(main, fast=[fast], labels=True) as session, waiting_for(session, BatchLabelled, 2):
        await done(session, "go")
    assert fast.requests[0].system == fast.requests[1].system


async def test_batches_of_a_sub_agent_are_not_labelled(desk: Desk) -> None:
    fast = Scripted([], info=FAST)
    async with desk.session(Scripted([SAME, MIXED, Say("done")]), fast=[fast], labels=True, titles=True) as session:
        session.stream.emit(SessionCreated(session="s_test", directory="/", root="/", parent="s_parent"))
        await done(session, "go")
        await session.sidecar.drain(5)
    assert not desk.of(BatchLabelled)
    assert not fast.requests


async def test_a_model_that_shares_the_only_slot_of_the_main_one_is_not_asked(desk: Desk) -> None:
    fast = Scripted([], info=replace(FAST, provider=SCRIPTED.provider, slots=1))
    async with desk.session(Scripted([MIXED, Say("done")]), fast=[fast], labels=True) as session:
        await done(session, "go")
        await session.sidecar.drain(5)
    assert not fast.requests


async def test_an_answer_beside_the_turn_leaves_the_answer_that_is_being_written(desk: Desk) -> None:
    async with desk.session(Scripted([])) as session:
        session.stream.emit(TextDelta(text="half an ans"))
        said = Message(role="assistant", parts=(TextPart(text="a label"),))
        session.stream.emit(AnswerReceived(request="r", message=said, purpose=LABEL))
        session.stream.emit(RequestFailed(request="r", fault="overloaded", purpose=LABEL))
        assert session.stream.partial == ("half an ans", "")
        assert not session.messages


async def test_labels_are_there_again_when_the_session_is_opened_again(desk: Desk) -> None:
    async with desk.session(Scripted([SAME, Say("done")])) as session:
        await done(session, "go")
    before = desk.of(BatchLabelled)
    async with desk.session(Scripted([SAME, Say("done")])) as session:
        await done(session, "again")
    labels = desk.of(BatchLabelled)
    assert labels[:1] == before
    assert [label.calls for label in labels] == [("c1", "c2"), ("c3", "c4")]


# --- titles -------------------------------------------------------------------------------------------------------


async def test_the_fast_model_gives_the_session_its_title_in_the_first_turn_alone(desk: Desk) -> None:
    fast = Scripted([Say('Title for "it"'), Say("no other")], info=FAST)
    main = Scripted([SAME, Say("done"), SAME, Say("more")])
    async with desk.session(main, fast=[fast], titles=True) as session:
        async with waiting_for(session, SessionTitled, 2):
            await done(session, "please fix the pager of this thing")
        assert session.title == 'Title for "it"'
        await done(session, "and more")
        await session.sidecar.drain(5)
    assert [t.title for t in desk.of(SessionTitled)] == ["please fix the pager of this thing", 'Title for "it"']
    (request,) = fast.requests
    assert request.purpose == "title"
    assert "please fix the pager" in request.messages[0].text


async def test_a_single_answer_gets_its_title_after_the_turn(desk: Desk) -> None:
    fast = Scripted([Say("A greeting")], info=FAST)
    async with desk.session(Scripted([Say("Hello yourself")]), fast=[fast], titles=True) as session:
        async with waiting_for(session, SessionTitled, 2):
            await done(session, "hello")
        assert session.title == "A greeting"
    assert "Hello yourself" in fast.requests[0].messages[0].text


async def test_a_program_that_ends_with_its_turn_asks_for_no_title(desk: Desk) -> None:
    fast = Scripted([], info=FAST)
    async with desk.session(Scripted([Say("Hello yourself")]), fast=[fast], titles=True) as session:
        await done(session, "hello")
        with anyio.fail_after(0.4):
            await session.close()
    assert not fast.requests
    assert [t.title for t in desk.of(SessionTitled)] == ["hello"]


@pytest.mark.parametrize("step", [Say(""), Say("I cannot"), Fault("status", status=401)])
async def test_the_first_line_stays_the_title_when_none_comes(desk: Desk, step: Any) -> None:
    fast = Scripted([step], info=FAST)
    async with desk.session(Scripted([SAME, Say("done")]), fast=[fast], titles=True) as session:
        await done(session, "hello")
        await session.sidecar.drain(5)
        assert session.title == "hello"
    assert desk.of(TurnFinished)[0].status == "done"
    assert not [m for m in desk.of(MessageAdded) if m.message.kind == ""]
