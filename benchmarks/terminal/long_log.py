"""A long session as the store holds it: turns with calls and results, receipts, labels, and the folds that its window needed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gongfu.context.budget import budget_for
from gongfu.context.ledger import Ledger
from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    BatchLabelled,
    MessageAdded,
    PromptQueued,
    RequestSent,
    SessionCreated,
    SessionTitled,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec, Usage
from gongfu.engine.planner import Planner
from gongfu.engine.state import SessionState
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions

WINDOW = 128_000
ROUNDS = 8  # calls a turn
TOOLS = (ToolSpec(name="read_file", description="Reads a file.", parameters={"type": "object"}),)
LINE = "    def reads(self, line: str) -> str:  # line %d of what the file says about orders and their totals\n"


def _result(dice: random.Random) -> str:
    size, start = dice.randrange(1000, 4000), dice.randrange(9000)
    return "".join(LINE % (start + n) for n in range(size // len(LINE) + 1))[:size]


class Writer:
    """Writes a session the way the engine does: every request is planned, and folds when that is due."""

    def __init__(self) -> None:
        self.log: list[AnyEvent] = []
        self.state = SessionState()
        self.info = ModelInfo(ref="p/m", provider="p", name="m", window=WINDOW, max_output=8192)
        self.planner = Planner(system="You are a test.", tools=TOOLS, state=self.state, ledger=Ledger(), emit=self.emit)
        self.dice = random.Random(1)

    def emit(self, event: AnyEvent) -> None:
        self.log.append(event)
        self.state.at += 1.0
        self.state.apply(event)

    def ask(self, said: str, call: CallPart | None) -> None:
        budget = budget_for(self.info, cap=0)
        plan = self.planner.plan(self.info, budget)
        request = f"r{self.state.requests}"
        self.emit(
            RequestSent(
                request=request, purpose="main", model="p/m", estimate=plan.layout.estimate, budget=budget.total,
                messages=len(plan.layout.messages), raw=plan.layout.raw, epoch=plan.epoch, after=plan.described.after,
                included=plan.described.included, omitted=plan.omitted, reused=plan.described.reused,
                broke=plan.described.broke, fold=plan.fold, stable=plan.stable, window=WINDOW,
            )
        )  # fmt: skip
        parts = (TextPart(text=said), *((call,) if call else ()))
        message = Message(role="assistant", parts=parts, model="p/m")
        usage = Usage(input=plan.layout.raw, output=60)
        self.emit(AnswerReceived(request=request, message=message, usage=usage, model="p/m", finish="stop", cost=0.0))

    def turn(self, number: int) -> None:
        words = f"Task {number}: make the totals of module {number % 40} right, and say what you found. " * 3
        self.emit(PromptQueued(prompt=f"p{number}", message=user(words, id=f"p{number}")))
        self.emit(TurnStarted(turn=f"t{number}", model="p/m", permission="full", prompt=f"p{number}"))
        for _ in range(ROUNDS):
            at = self.state.calls + 1
            call = CallPart(id=f"c{at}", name="read_file", arguments=f'{{"path": "src/f{at % 40}.py", "offset": {at}}}')
            self.ask("I look at the next file." if at % 3 else "", call)
            self.emit(ToolStarted(call=call.id, name=call.name, title=f"Read src/f{at % 40}.py"))
            result = ResultPart(call_id=call.id, text=_result(self.dice))
            self.emit(ToolFinished(call=call.id, name=call.name, result=result, seconds=0.1))
            self.emit(BatchLabelled(calls=(call.id,), text=f"Read f{at % 40}.py"))
        self.ask(f"The totals of module {number % 40} were off by one; they are right now. " * 8, None)
        self.emit(TurnFinished(turn=f"t{number}", status="done", requests=ROUNDS + 1, steps=ROUNDS + 1, seconds=9.0))


def written(store: Path, session: str, root: str, messages: int) -> Writer:
    """Write a session of about so many messages into a store."""
    writer = Writer()
    writer.emit(SessionCreated(session=session, directory=root, root=root))
    writer.emit(SessionTitled(title="Totals"))
    writer.emit(MessageAdded(message=user("<environment>\nDate: 2026-11-30\n</environment>", kind="note")))
    number = 0
    while len(writer.state.transcript.messages) < messages:
        number += 1
        writer.turn(number)
    database = Database.open(store)
    try:
        Sessions(database).create(session, directory=root, root=root, at=1.0)
        Journal(database).append(session, writer.log, at=1.0)
    finally:
        database.close()
    return writer


def told(writer: Writer) -> dict[str, Any]:
    """What was written, in figures."""
    return {
        "messages": len(writer.state.transcript.messages), "events": len(writer.log),
        "folds": writer.state.context.view.epoch, "requests": writer.state.requests,
    }  # fmt: skip
