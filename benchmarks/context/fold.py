#!/usr/bin/env python3
"""What the context engine costs in very long sessions: appending a message, planning a request, folding.

    python benchmarks/context/fold.py [MESSAGES ...]

A history of turns with calls of 100 to 900 characters stands in one epoch, as it never would: the window is as large as it takes.
"Warm" is a session that runs; in one that was just loaded nothing has a price yet. The floor of an append is a list. All times are of CPU.

Targets: append at most 50 us a message at 100,000; a fold at most 50 ms at 10,000 messages and 500 ms at 100,000; at most 5 looks a unit.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from gongfu.context.budget import budget_for
from gongfu.context.ledger import Ledger
from gongfu.context.units import units
from gongfu.core.events import (
    AnswerReceived,
    EpochOpened,
    MessageAdded,
    PromptQueued,
    ToolFinished,
    TurnStarted,
)
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.engine.planner import Planner
from gongfu.engine.state import SessionState

TARGETS = {10_000: 50.0, 100_000: 500.0}
TOOLS = (ToolSpec(name="read_file", description="Reads a file.", parameters={"type": "object"}),)
TEXT = "the file reads a line and writes it back when nothing is wrong 文件 读取 之后 return value " * 12


def events(messages: int) -> Iterator[Any]:
    """About so many messages: turns of ten rounds, each a call and its result, now and then with a report."""
    dice = random.Random(1)
    yield MessageAdded(message=user("<environment>\nDate: 2026-11-30\n</environment>", kind="note"))
    made, call, turn = 1, 0, 0
    while made < messages:
        turn += 1
        yield PromptQueued(prompt=f"p{turn}", message=user(f"Task {turn}: {TEXT[: dice.randrange(40, 400)]}"))
        yield TurnStarted(turn=f"t{turn}", model="p/m", permission="full", prompt=f"p{turn}")
        for _ in range(10):
            call += 1
            name = "task" if call % 50 == 0 else "read_file"
            part = CallPart(id=f"c{call}", name=name, arguments=f'{{"path": "src/f{call % 40}.py", "offset": {call}}}')
            said = TextPart(text=TEXT[: dice.randrange(20, 120)])
            yield AnswerReceived(request=f"r{call}", message=Message(role="assistant", parts=(said, part)))
            result = ResultPart(
                call_id=part.id, text=TEXT[: dice.randrange(100, 900)], agent="scout" if name == "task" else ""
            )
            yield ToolFinished(call=part.id, name=name, result=result)
        yield AnswerReceived(request="", message=Message(role="assistant", parts=(TextPart(text=TEXT[:200]),)))
        made += 22


def loaded(log: list[Any]) -> SessionState:
    state = SessionState()
    for event in log:
        state.apply(event)
    return state


def planner(state: SessionState, ledger: Ledger, opened: list[Any]) -> Planner:
    def emit(event: Any) -> None:
        opened.append(event)
        state.apply(event)

    return Planner(system="You are a test.", tools=TOOLS, state=state, ledger=ledger, emit=emit)


def wide(tokens: int) -> ModelInfo:
    """A model whose window is 85% full with so many tokens."""
    return ModelInfo(ref="p/m", provider="p", name="m", window=tokens * 100 // 85 + 10_000, max_output=4096)


def append(log: list[Any], more: int = 2000) -> tuple[float, float]:
    """Microseconds for one more message: recorded, shown and priced; and for one in a list."""
    state, ledger = loaded(log), Ledger()
    view = state.context.view
    view.sync(state.transcript.messages)
    ledger.total(view.messages)
    fresh = [MessageAdded(message=user(f"{n} {TEXT[:400]}")) for n in range(more)]
    gc.collect()
    start = time.process_time()
    for event in fresh:
        state.apply(event)
        view.sync(state.transcript.messages)
        ledger.tokens(view.messages[-1])
    ours = time.process_time() - start
    plain: list[Any] = list(state.transcript.messages)
    start = time.process_time()
    for event in fresh:
        plain.append(event.message)  # noqa: PERF401 (one by one is what is measured)
    return ours / more * 1e6, (time.process_time() - start) / more * 1e6


def fold(log: list[Any], *, warm: bool) -> tuple[float, float, float, EpochOpened, int]:
    """Milliseconds of CPU for a request without a fold, a fold, a fold with the whole request and its receipt behind it;
    the fold, and how many units there were."""
    state, ledger, opened = loaded(log), Ledger(), list[Any]()
    view = state.context.view
    view.sync(state.transcript.messages)
    tokens = Ledger().total(view.messages)
    count = len(units(view.slots, Ledger()))
    plans = planner(state, ledger, opened)
    roomy, info = wide(tokens * 2), wide(tokens)
    before = 0.0
    if warm:
        plans.plan(roomy, budget_for(roomy, cap=0))
        state.transcript.apply(MessageAdded(message=user("One thing more.")))
        start = time.process_time()
        plans.plan(roomy, budget_for(roomy, cap=0))
        before = time.process_time() - start
    gc.collect()
    start = time.process_time()
    event = plans.fold(info, budget_for(info, cap=0), "high")
    took = time.process_time() - start
    plans.plan(info, budget_for(info, cap=0))
    whole = time.process_time() - start
    assert event is not None
    return before * 1e3, took * 1e3, whole * 1e3, event, count


def main() -> int:
    missed = 0
    for size in [int(a) for a in sys.argv[1:]] or list(TARGETS):
        log = list(events(size))
        ours, floor = min(append(log) for _ in range(3))
        warm = min((fold(log, warm=True) for _ in range(3)), key=lambda found: found[1])
        cold = min((fold(log, warm=False) for _ in range(3)), key=lambda found: found[1])
        event, count = warm[3], warm[4]
        looks = event.visits / count
        print(f"{size} messages, {count} units, load {os.getloadavg()[0]:.1f}")
        print(f"  append a message            {ours:8.1f} us (a list: {floor:.2f} us)")
        print(f"  plan a request, no fold     {warm[0]:8.1f} ms")
        print(f"  fold, warm                  {warm[1]:8.1f} ms, with the request and its receipt {warm[2]:.1f} ms")
        print(f"  fold, just loaded           {cold[1]:8.1f} ms, with the request and its receipt {cold[2]:.1f} ms")
        print(f"  on rung {event.rung}, {event.before} to {event.after} tokens, {looks:.2f} looks a unit")
        missed += ours > 50 or cold[1] > TARGETS.get(size, 1e9) or looks > 5
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
