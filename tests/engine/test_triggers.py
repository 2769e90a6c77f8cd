"""When a fold happens by itself: high use, a cold cache, another model, other tools, another mode; and that it does not
happen otherwise, nor twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gongfu.context.budget import Budget
from gongfu.context.ledger import Ledger
from gongfu.core.events import AnswerReceived, AnyEvent, EpochOpened, MessageAdded, RequestSent, ToolFinished
from gongfu.core.messages import CallPart, Message, ResultPart, user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.engine.planner import Plan, Planner
from gongfu.engine.state import SessionState

INFO = ModelInfo(ref="a/b", provider="a", name="b", window=40_000)
LOOK = ToolSpec(name="look", description="Look.", parameters={})
TOTAL = 20_000


class Desk:
    """A session of which `share` percent of the budget are in use; `now` is the time."""

    def __init__(self, share: int) -> None:
        self.state = SessionState()
        self.now = 1000.0
        self.events: list[AnyEvent] = []
        self.reopen()
        self.emit(MessageAdded(message=user("Go.")))
        number = 0
        while self.planner.used(INFO) * 100 < TOTAL * share:
            number += 1
            call = CallPart(id=f"c{number}", name="look")
            self.emit(AnswerReceived(request="r", message=Message(role="assistant", parts=(call,))))
            result = ResultPart(call_id=call.id, text=f"{number} " + "some words of a result\n" * 40)
            self.emit(ToolFinished(call=call.id, name="look", result=result))

    def reopen(self, *, system: str = "You are a test.", tools: tuple[ToolSpec, ...] = (LOOK,)) -> None:
        """The program is started again, perhaps with others tools or in another mode."""
        self.planner = Planner(
            system=system, tools=tools, state=self.state, ledger=Ledger(), emit=self.emit, clock=lambda: self.now
        )

    def emit(self, event: AnyEvent) -> None:
        self.events.append(event)
        self.state.at = self.now
        self.state.apply(event)

    def send(self, info: ModelInfo = INFO) -> Plan:
        """A request with its receipt and answer."""
        plan = self.planner.plan(info, Budget(window=30_000, output=8000, total=TOTAL))
        name = f"r{len(self.events)}"
        told = plan.described
        self.emit(
            RequestSent(
                request=name, purpose="main", model=info.ref, raw=plan.layout.raw, epoch=plan.epoch,
                stable=plan.stable, after=told.after, included=told.included,
            )
        )  # fmt: skip
        answer = Message(role="assistant", parts=(CallPart(id=f"c9{len(self.events)}", name="look"),))
        self.emit(AnswerReceived(request=name, message=answer))
        result = ResultPart(call_id=answer.calls[0].id, text="seen")
        self.emit(ToolFinished(call=result.call_id, name="look", result=result))
        return plan

    @property
    def reasons(self) -> list[str]:
        return [e.reason for e in self.events if isinstance(e, EpochOpened)]


def idle(desk: Desk) -> None:
    desk.now += 301


def other_model(desk: Desk) -> None:
    del desk


def other_tools(desk: Desk) -> None:
    desk.reopen(tools=(LOOK, msgspec.structs.replace(LOOK, name="more")))


def other_mode(desk: Desk) -> None:
    desk.reopen(system="You are a test that only plans.")


@pytest.mark.parametrize(
    ("change", "reason"), [(idle, "cold"), (other_model, "model"), (other_tools, "tools"), (other_mode, "mode")]
)
@pytest.mark.parametrize(("share", "folds"), [(50, 0), (65, 1)])
def test_what_breaks_the_cache_folds_above_55_percent(change: Any, reason: str, share: int, folds: int) -> None:
    desk = Desk(share)
    desk.send()
    assert desk.reasons == []
    change(desk)
    info = msgspec.structs.replace(INFO, ref="a/c", name="c") if change is other_model else INFO
    plan = desk.send(info)
    assert desk.reasons == [reason] * folds
    assert plan.fold == (reason if folds else "")
    desk.send(info)
    assert desk.reasons == [reason] * folds


def test_a_start_of_the_program_alone_folds_nothing() -> None:
    desk = Desk(65)
    desk.send()
    desk.reopen()
    desk.now += 299
    desk.send()
    assert desk.reasons == []


def test_high_use_folds_to_half_and_once() -> None:
    desk = Desk(81)
    plan = desk.send()
    assert desk.reasons == ["high"]
    assert plan.layout.estimate <= TOTAL * 70 // 100
    desk.send()
    assert desk.reasons == ["high"]
    event = next(e for e in desk.events if isinstance(e, EpochOpened))
    assert event.before - event.after >= event.least >= TOTAL // 5


def test_a_fold_that_would_free_too_little_is_not_tried_with_each_request() -> None:
    """One huge prompt of the running turn: nothing can go."""
    desk = Desk(1)
    desk.emit(MessageAdded(message=user("word " * 15_400)))
    for _ in range(4):
        desk.send()
    assert desk.reasons == []
