"""The plan of a request: the standing block stays the same in an epoch, optional rules are the first to give way."""

from __future__ import annotations

import msgspec
import pytest

from gongfu.context.budget import Budget
from gongfu.context.layout import Layout
from gongfu.context.ledger import Ledger
from gongfu.core.errors import Refusal
from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    MessageAdded,
    PromptQueued,
    RequestSent,
    ToolFinished,
    TurnFinished,
    TurnStarted,
    WarningRaised,
)
from gongfu.core.messages import CallPart, Message, ReasoningPart, ResultPart, user
from gongfu.core.specs import ModelInfo
from gongfu.core.tokens import text_tokens
from gongfu.engine.planner import Plan, Planner
from gongfu.engine.state import SessionState
from gongfu.models.anthropic_body import MessagesWriter
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Request
from gongfu.models.quirks import load_quirks
from tests.context.rules.project import draft, pinned

INFO = ModelInfo(ref="a/b", provider="a", name="b", window=40_000)


class Desk:
    """A planner with the state that its events make."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.events: list[AnyEvent] = []
        self.planner = Planner(
            system="You are a test.", tools=(), state=self.state, ledger=Ledger(), emit=self.emit, clock=lambda: 0.0
        )

    def emit(self, event: AnyEvent) -> None:
        self.events.append(event)
        self.state.apply(event)

    def send(self, total: int, *, info: ModelInfo = INFO) -> Plan:
        """Plan a request and record it, as the asker does."""
        budget = Budget(window=total + 9000, output=8000, total=total)
        plan = self.planner.plan(info, budget)
        told = plan.described
        self.emit(
            RequestSent(
                request=f"r{len(self.events)}", purpose="main", model=info.ref, raw=plan.layout.raw, rules=plan.rules,
                epoch=plan.epoch, stable=plan.stable, after=told.after, included=told.included,
            )
        )  # fmt: skip
        return plan


def rules_desk(tokens: int) -> Desk:
    """A session with optional rules of about so many tokens in two files, and a first prompt."""
    desk = Desk()
    half = "Keep functions short. " * (tokens // 10)
    desk.emit(pinned(draft(half), draft(half + "Really.", path="src/AGENTS.md", depth=1), policy="optional"))
    desk.emit(MessageAdded(message=user("Go.")))
    return desk


def test_optional_rules_are_chosen_once_an_epoch_whatever_the_estimate_does() -> None:
    desk = rules_desk(2000)
    first = desk.send(22_000)
    assert first.standing is not None
    assert len(first.standing.optional) == 2
    for ratio in (1.6, 1.0, 1.9, 1.2):
        desk.state.ratios[INFO.ref] = [ratio]
        desk.emit(MessageAdded(message=user("More.")))
        again = desk.send(22_000)
        assert again.layout.standing == first.layout.standing
        assert again.described.broke == ""


def test_one_that_did_not_fit_at_first_does_not_come_in_later() -> None:
    desk = rules_desk(2000)
    desk.state.ratios[INFO.ref] = [2.0]
    first = desk.send(22_000)
    assert first.standing is not None
    left = len(first.standing.left_out)
    assert left
    desk.state.ratios[INFO.ref] = [1.0]
    assert desk.send(22_000).layout.standing == first.layout.standing
    warnings = [e for e in desk.events if isinstance(e, WarningRaised) and e.key == "rules.left_out"]
    assert len(warnings) == 1


def test_optional_rules_give_way_before_the_turn_is_refused_and_the_person_is_told() -> None:
    desk = rules_desk(2000)
    kept = desk.send(22_000)
    desk.emit(MessageAdded(message=user("word " * 18_500)))
    size = text_tokens("word " * 18_500)
    plan = desk.send(size + 700)
    assert plan.standing is not None
    assert kept.standing is not None
    assert not plan.standing.optional
    assert plan.layout.estimate <= size + 700
    assert {o.id for o in plan.omitted if o.reason == "budget"} == {e.id for e in kept.standing.optional}
    assert [e for e in desk.events if isinstance(e, WarningRaised) and e.key == "rules.left_out"]
    with pytest.raises(Refusal, match="CURRENT_TURN_DOES_NOT_FIT"):
        desk.send(size - 10)


def test_another_model_chooses_anew() -> None:
    desk = rules_desk(2000)
    desk.send(22_000)
    smaller = ModelInfo(ref="a/c", provider="a", name="c", window=12_000)
    plan = desk.send(8_000, info=smaller)
    assert plan.standing is not None
    assert plan.standing.left_out


@pytest.mark.parametrize("ending", ["results", "words"])
def test_no_cache_mark_stands_behind_the_tail(ending: str) -> None:
    """The tail is in no later request: what is cached with it at its end would never be found again."""
    desk = Desk()
    desk.emit(MessageAdded(message=user("Go.")))
    for number in range(9):
        call = CallPart(id=f"c{number}", name="look")
        desk.emit(AnswerReceived(request="r", message=Message(role="assistant", parts=(call,))))
        desk.emit(ToolFinished(call=call.id, name="look", result=ResultPart(call_id=call.id, text="seen")))
    if ending == "words":
        desk.emit(MessageAdded(message=user("More.")))
    budget = Budget(window=40_000, output=8000, total=30_000)
    plain = desk.planner.plan(INFO, budget).layout
    assert plain.marks[-1] == len(plain.messages) - 1
    tailed = desk.planner.plan(INFO, budget, ("[The budget is low.]",)).layout
    assert "budget is low" in str(tailed.messages[-1])
    assert tailed.marks[-1] == len(tailed.messages) - 2
    marks = [b"cache_control" in m for m in _messages(tailed)]
    assert any(marks)
    assert not marks[-1]


def _messages(layout: Layout) -> list[bytes]:
    request = Request(
        model="claude-sonnet-4-5", system="You are.", messages=layout.messages, marks=layout.marks, max_output=1000
    )
    body = MessagesWriter(INFO, load_quirks("anthropic")).write(request).data
    blocks = [b for m in msgspec.json.decode(body)["messages"] for b in m["content"]]
    return [msgspec.json.encode(block) for block in blocks]


def test_thinking_that_is_never_sent_costs_nothing() -> None:
    """A model that thinks much and is never sent it back keeps its window for what is sent."""
    desk = Desk()
    desk.emit(MessageAdded(message=user("Go.")))
    for number in range(12):
        thought = ReasoningPart(text="Let me think about that for a while. " * 200, model=INFO.ref)
        call = CallPart(id=f"c{number}", name="look")
        desk.emit(AnswerReceived(request="r", message=Message(role="assistant", parts=(thought, call))))
        desk.emit(ToolFinished(call=call.id, name="look", result=ResultPart(call_id=call.id, text="seen")))
    silent = msgspec.structs.replace(INFO, reasoning_sent="never")
    plan = desk.send(20_000, info=silent)
    assert plan.fold == ""
    assert plan.layout.raw < 600
    assert plan.layout.raw == sum(i.tokens for i in plan.included)
    assert desk.planner.used(silent) == plan.layout.raw
    told = desk.send(90_000)
    assert told.layout.raw > 10_000
    assert told.layout.raw == sum(i.tokens for i in told.included)
    assert desk.send(20_000, info=silent).layout.raw == plan.layout.raw


@pytest.mark.parametrize("restart", [False, True])
def test_thinking_of_earlier_turns_costs_nothing_where_only_the_running_one_is_sent(restart: bool) -> None:
    info = msgspec.structs.replace(INFO, reasoning_back="tool_rounds", reasoning_sent="tool_rounds")
    desk = Desk()
    number = 0
    for turn in range(5):
        name = f"p{turn}"
        desk.emit(PromptQueued(prompt=name, message=user(f"Task {turn}.")))
        desk.emit(TurnStarted(turn=name, model=info.ref, permission="full", prompt=name))
        for _ in range(3):
            number += 1
            plan = desk.send(20_000, info=info)
            assert plan.fold == ""
            thought = ReasoningPart(text="Let me think about that for a while. " * 100, model=info.ref)
            call = CallPart(id=f"c{number}", name="look")
            parts = (thought, call)
            desk.emit(AnswerReceived(request="r", message=Message(role="assistant", parts=parts, model=info.ref)))
            desk.emit(ToolFinished(call=call.id, name="look", result=ResultPart(call_id=call.id, text="seen")))
        desk.emit(TurnFinished(turn=name, status="done"))
    if restart:
        desk.planner = Planner(
            system="You are a test.", tools=(), state=desk.state, ledger=Ledger(), emit=desk.emit, clock=lambda: 0.0
        )
    plan = desk.send(20_000, info=info)
    assert plan.layout.raw == sum(i.tokens for i in plan.included)
    assert plan.layout.raw == desk.planner.used(info)
    request = Request(model=info.name, system="You are a test.", messages=plan.layout.messages, max_output=1000)
    body = BodyWriter(info, load_quirks("openai")).write(request).data.decode()
    sent = body.count("Let me think about that")
    assert sent == 300
    assert abs(plan.layout.raw - text_tokens("Let me think about that for a while. " * sent)) < 700
