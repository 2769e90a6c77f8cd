"""What a sub-agent reports outlives ordinary results of the main agent, at any size of the window."""

from __future__ import annotations

from typing import Any

import pytest

from gongfu.context.ledger import Ledger
from gongfu.context.units import Units
from gongfu.core.events import AnswerReceived, EpochOpened, MessageAdded, ToolFinished
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart, user
from gongfu.engine.folding import Folding
from gongfu.engine.state import SessionState

REPORT = "The parser drops the last token. It is in lexer.py:214; the fix is to flush before end of input."


class Story:
    """A session as its events tell it."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.calls = 0
        self.state.apply(MessageAdded(message=user("<environment>\nDate: 2026-11-30\n</environment>", kind="note")))

    def says(self, text: str) -> None:
        self.state.context.turn_started(len(self.state.transcript.messages))
        self.state.apply(MessageAdded(message=user(text)))

    def answers(self, text: str) -> None:
        self.state.apply(AnswerReceived(request="r", message=Message(role="assistant", parts=(TextPart(text=text),))))

    def runs(self, *batch: tuple[str, str, str]) -> list[str]:
        """One answer with calls: (tool, result, sender of the result)."""
        parts: list[Any] = []
        ids: list[str] = []
        for name, _, _ in batch:
            self.calls += 1
            ids.append(f"c{self.calls}")
            parts.append(CallPart(id=ids[-1], name=name, arguments=f'{{"path":"f{self.calls}.py"}}'))
        self.state.apply(AnswerReceived(request="r", message=Message(role="assistant", parts=tuple(parts))))
        for id, (name, text, agent) in zip(ids, batch, strict=True):
            result = ResultPart(call_id=id, text=text, agent=agent)
            self.state.apply(ToolFinished(call=id, name=name, result=result))
        return ids

    def fold(self, total: int, *, reason: Any = "high") -> EpochOpened:
        self.state.context.view.sync(self.state.transcript.messages)
        ledger = Ledger()
        fixed = min(1800, total // 5)
        folding = Folding(self.state, ledger, Units(ledger), reason=reason, model="m", total=total, fixed=fixed)
        event = folding.event(keep_recent=10, back=False)
        assert event is not None
        self.state.apply(event)
        return event

    def shown(self) -> dict[str, str]:
        """Results by call id, as the next request holds them."""
        self.state.context.view.sync(self.state.transcript.messages)
        return {r.call_id: r.text for m in self.state.context.view.messages for r in m.results}


def filled(total: int, *, sender: str, tool: str = "task") -> tuple[Story, list[str], str]:
    """Reads and commands until the budget is nearly used; the report lies in the older half."""
    story = Story()
    story.says("Find out why the parser loses a token.")
    ordinary: list[str] = []
    report = ""
    size = max(400, total // 12)
    while sum(map(len, (r.text for m in story.state.transcript.messages for r in m.results))) < total * 5:
        ordinary += story.runs(("read_file" if len(ordinary) % 2 else "shell", "x = 1\n" * (size // 6), ""))
        if len(ordinary) == 6:
            report = story.runs((tool, REPORT, sender))[0]
            story.answers("I know more now.")
            story.says("Go on.")
    return story, ordinary, report


@pytest.mark.parametrize("total", [8_000, 32_000, 100_000])
def test_a_report_survives_where_reads_and_commands_do_not(total: int) -> None:
    story, ordinary, report = filled(total, sender="agent-1")
    event = story.fold(total)
    shown = story.shown()
    assert shown[report] == REPORT
    older = [c for c in ordinary if int(c[1:]) < int(report[1:])]
    assert all("left out" in shown.get(c, "left out") for c in older)
    assert event.after <= total * 70 // 100


@pytest.mark.parametrize("total", [8_000, 32_000, 100_000])
def test_through_many_folds_no_report_is_absent_while_an_older_result_is_shown(total: int) -> None:
    story, _, report = filled(total, sender="agent-1")
    reports = [report]
    for _ in range(6):
        story.fold(total)
        for n in range(4):
            story.runs(("shell", "y = 2\n" * (total // 20), ""))
            if n == 1:
                reports += story.runs(("task", f"{REPORT} {len(reports)}", f"agent-{len(reports) + 1}"))
        shown = story.shown()
        for each in reports:
            if each not in shown:
                assert not [c for c in shown if int(c[1:]) < int(each[1:]) and c not in reports]
    assert shown[reports[-1]].startswith(REPORT)


def test_a_report_in_another_tool_is_key_by_its_sender_and_an_old_session_has_none() -> None:
    story, _, report = filled(8_000, sender="agent-1", tool="some_tool")
    story.fold(8_000)
    assert story.shown()[report] == REPORT
    old, _, same = filled(8_000, sender="", tool="some_tool")
    old.fold(8_000)
    assert same not in old.shown() or "left out" not in old.shown()[same]  # short results need no mask
    assert len(REPORT) < 200


def test_in_a_mixed_batch_only_the_key_calls_are_key() -> None:
    story = Story()
    story.says("Look.")
    plain, key = story.runs(("shell", "z = 3\n" * 900, ""), ("task", REPORT * 3, "agent-1"))
    for n in range(14):
        story.runs(("shell", f"{n}\n" * 900, ""))
    story.says("And now?")
    event = story.fold(16_000, reason="overflow")
    shown = story.shown()
    assert shown[key] == REPORT * 3
    assert plain not in shown or "left out" in shown[plain]
    assert plain in event.masked or event.dropped
    groups = [m for m in story.state.context.view.messages if m.calls]
    for group in groups:
        at = story.state.context.view.messages.index(group)
        answers = story.state.context.view.messages[at + 1]
        assert [c.id for c in group.calls] == [r.call_id for r in answers.results]


def test_of_state_tools_only_the_newest_is_key() -> None:
    story = Story()
    story.says("Plan and work.")
    states = [story.runs(("todo", f"Todo list: {n} of 9 done\n" + "- item\n" * 60, ""))[0] for n in range(9)]
    for n in range(14):
        story.runs(("shell", f"{n}\n" * 900, ""))
    story.fold(12_000, reason="overflow")
    shown = story.shown()
    assert shown[states[-1]].startswith("Todo list: 8")
    assert not any(s in shown and shown[s].startswith("Todo") for s in states[:-1])


def test_a_report_from_the_background_is_a_note_with_its_sender() -> None:
    story = Story()
    story.says("Search in the background.")
    story.state.apply(
        MessageAdded(message=Message(role="user", parts=(TextPart(text=REPORT),), kind="note", agent="a-1"))
    )
    for n in range(30):
        story.runs(("shell", f"{n}\n" * 900, ""))
    story.fold(16_000)
    assert any(m.text == REPORT and m.agent == "a-1" for m in story.state.context.view.messages)
