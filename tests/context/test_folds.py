"""What a fold may never do: lose the words of the running turn, lengthen what it masks, cut a turn in two, go by places
that a damaged log has moved."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.context.ledger import Ledger, message_tokens
from gongfu.context.shorten import masked_call
from gongfu.context.tiers import RULES
from gongfu.context.units import Units
from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    EpochOpened,
    MessageAdded,
    PromptQueued,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from gongfu.core.messages import CallPart, ImagePart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.told import BatchLabelled, RulesJoined
from gongfu.engine.folding import Folding
from gongfu.engine.state import SessionState

PROSE = "The parser reads one token at a time and keeps the last two. "


class Tale:
    """A session as its events tell it; `log` holds them."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.log: list[AnyEvent] = []
        self.calls = self.turns = 0
        self.emit(MessageAdded(message=user("<environment>\nDate: 2026-11-30\n</environment>", kind="note")))

    def emit(self, event: AnyEvent) -> None:
        self.log.append(event)
        self.state.apply(event)

    def says(self, text: str, *images: ImagePart) -> None:
        self.ends()
        self.turns += 1
        name = str(self.turns)
        self.emit(PromptQueued(prompt=name, message=user(text, images=images)))
        self.emit(TurnStarted(turn=name, model="p/m", permission="full", prompt=name))

    def ends(self) -> None:
        """The turn that runs is done."""
        if self.state.turn is not None:
            self.emit(TurnFinished(turn=self.state.turn.turn, status="done"))

    def steers(self, text: str) -> None:
        self.emit(MessageAdded(message=user(text, kind="steer")))

    def notes(self, text: str) -> None:
        self.emit(MessageAdded(message=user(text, kind="note")))

    def answers(self, text: str, *, thought: str = "") -> None:
        parts = (ReasoningPart(text=thought, signature="s", model="p/m"),) if thought else ()
        message = Message(role="assistant", parts=(*parts, TextPart(text=text)), model="p/m")
        self.emit(AnswerReceived(request="r", message=message))

    def runs(self, *batch: Any, thought: str = "", said: str = "") -> list[str]:
        """One answer with calls: (tool, result), or (tool, result, arguments), or (tool, result, arguments, images)."""
        parts: list[Any] = [ReasoningPart(text=thought, signature="s", model="p/m")] if thought else []
        parts += [TextPart(text=said)] if said else []
        ids: list[str] = []
        results: list[ResultPart] = []
        for name, text, *more in batch:
            self.calls += 1
            ids.append(f"c{self.calls}")
            arguments = json.dumps(more[0] if more else {"path": f"f{self.calls}.py"})
            parts.append(CallPart(id=ids[-1], name=name, arguments=arguments))
            results.append(ResultPart(call_id=ids[-1], text=text, images=more[1] if len(more) > 1 else ()))
        self.emit(AnswerReceived(request="r", message=Message(role="assistant", parts=tuple(parts), model="p/m")))
        for result in results:
            self.emit(ToolFinished(call=result.call_id, name="", result=result))
        return ids

    def fold(
        self, total: int, *, reason: Any = "high", fixed: int = 500, keep_recent: int = 10, back: bool = False
    ) -> EpochOpened | None:
        self.state.context.view.sync(self.state.transcript.messages)
        ledger = Ledger()
        folding = Folding(self.state, ledger, Units(ledger), reason=reason, model="m", total=total, fixed=fixed)
        event = folding.event(keep_recent=keep_recent, back=back)
        if event is not None:
            self.emit(event)
        return event

    @property
    def shown(self) -> list[Message]:
        self.state.context.view.sync(self.state.transcript.messages)
        return self.state.context.view.messages

    def result(self, call: str) -> str | None:
        return next((r.text for m in self.shown for r in m.results if r.call_id == call), None)

    def without(self, lost: set[int]) -> SessionState:
        """The state that the log makes without some of its rows."""
        state = SessionState()
        for number, event in enumerate(self.log):
            if number not in lost:
                state.apply(event)
        return state


def text(size: int, seed: int = 1) -> str:
    """Lines of about so many tokens."""
    dice = random.Random(seed)
    words = ["file", "reads", "a", "line", "and", "writes", "it", "back", "when", "nothing", "is", "wrong"]
    lines = [" ".join(dice.choices(words, k=11)) for _ in range(max(1, size // 12))]
    return "\n".join(lines)


# --- the running turn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["high", "overflow", "manual"])
@pytest.mark.parametrize("total", [3000, 6000, 14_000])
def test_the_prompt_of_the_turn_stays_whole_when_more_words_come_behind_it(reason: str, total: int) -> None:
    tale = Tale()
    tale.says("Old task. " + text(total // 6))
    tale.answers(text(total // 4))
    prompt = "Mend the parser. " + text(total // 8)
    tale.says(prompt)
    for number in range(14):
        tale.runs(("shell", text(total // 12, number)))
        if number in (3, 9):
            tale.steers(f"And mind the tests, please ({number}).")
    assert tale.fold(total, reason=reason) is not None
    said = [m.text for m in tale.shown if m.role == "user" and m.kind != "note"]
    assert prompt in said
    assert said[-1] == "And mind the tests, please (9)."


def test_a_turn_that_still_runs_is_no_past_exchange() -> None:
    """Its answer is not there yet: a pair of it would keep half of it for ever."""
    tale = Tale()
    tale.says("First task: keep the port at 4711.")
    tale.answers("Done.")
    tale.says("Second task: " + text(300))
    for number in range(30):
        tale.runs(("shell", text(500, number)))
        if number % 7 == 0:
            tale.notes("[The connection broke. " + text(600, number) + "]")
    event = tale.fold(12_000)
    assert event is not None
    assert 1 not in event.moved
    tale.answers("The second task is done: the value is 1234.")
    for turn in range(2, 6):
        tale.says(f"Task {turn}: " + text(900, turn))
        for number in range(4):
            tale.runs(("shell", text(300, number)))
        tale.answers(text(900, turn))
    moved: list[int] = []
    for _ in range(3):
        event = tale.fold(12_000, reason="manual")
        if event is not None:
            moved += event.moved
    pairs = {p.turn: p for p in tale.state.context.pairs.pairs}
    if 1 in moved:
        assert pairs[1].answer == "The second task is done: the value is 1234."
    assert all(p.answer for p in pairs.values())


@pytest.mark.parametrize("reason", ["high", "overflow"])
def test_thinking_of_the_running_turn_stays_whatever_words_come_in_between(reason: str) -> None:
    """A provider that wants thinking back wants that of the whole turn: words by the way begin no other one."""
    tale = Tale()
    tale.says("First task.")
    tale.runs(("shell", text(1500)), thought="old thought")
    tale.answers("Done.", thought="old last thought")
    tale.says("Second task.")
    for number in range(8):
        tale.runs(("shell", text(700, number)), thought=f"thought {number}")
    tale.steers("Mind the tests.")
    assert tale.fold(8000, reason=reason) is not None
    for message in tale.shown:
        thoughts = [p.text for p in message.parts if isinstance(p, ReasoningPart)]
        if message.calls and message.calls[0].id != "c1":
            assert thoughts, message.calls[0].id
        elif message.role == "assistant":
            assert not thoughts


# --- what masks and cuts cost ----------------------------------------------------------------------------------------


def test_a_short_result_is_not_masked_into_a_longer_one() -> None:
    tale = Tale()
    tale.says("Task.")
    for number in range(25):
        tale.runs(("shell", text(900, number)), ("shell", "ok"), ("shell", "exit 1: no such file"))
    event = tale.fold(24_000)
    assert event is not None
    masked = [r.text for m in tale.shown for r in m.results if r.call_id in event.masked]
    assert masked.count("ok") == sum("result of" in t for t in masked) > 0


def test_masked_calls_cost_what_the_fold_reckoned_with() -> None:
    """Arguments of many values, each too short to be cut, are not made shorter by a mask."""
    tale = Tale()
    tale.says("Task.")
    edits = {"path": "a.py", "old": text(80, 1), "new": text(80, 2)}
    for number in range(120):
        tale.runs(("edit_file", f"ok {number}", edits))
    tale.state.context.view.sync(tale.state.transcript.messages)
    ledger = Ledger()
    for unit in Units(ledger).update(tale.state.context.view.slots):
        assert unit.less == unit.tokens or unit.kind == "text" or unit.less < unit.tokens - 20
    event = tale.fold(20_000)
    assert event is not None
    assert event.rung < 4
    assert event.after <= 20_000 * 60 // 100


@pytest.mark.parametrize(
    "arguments",
    [
        "[" * 3000,
        '{"a":' * 900 + "1" + "}" * 900,
        '{"a":' + "[" * 700 + "]" * 700 + "}",
        json.dumps({"a": "字" * 60_000}),
    ],
)
def test_any_arguments_can_be_masked_or_stay(arguments: str) -> None:
    call = CallPart(id="c1", name="write_file", arguments=arguments)
    masked = masked_call(call)
    assert masked is call or (len(masked.arguments) <= 1600 and isinstance(json.loads(masked.arguments), dict))


@pytest.mark.parametrize("total", [5000, 9000])
def test_many_images_in_a_prompt_of_old_are_left_out_where_there_is_no_room(total: int) -> None:
    tale = Tale()
    tale.says("What is in these?", *(ImagePart(media_type="image/png", data="AAAA") for _ in range(6)))
    tale.answers("Six cats.")
    tale.says("Thank you. And now mend the parser.")
    event = tale.fold(total)
    assert event is not None
    assert event.after <= total
    assert tale.shown[-1].text == "Thank you. And now mend the parser."
    assert "What is in these?" in "\n".join(m.text for m in tale.shown)


def test_joined_rules_that_move_up_are_reckoned_with() -> None:
    """They leave the messages and stand in front of them: they cost what they cost."""
    tale = Tale()
    tale.says("Task.")
    for number in range(30):
        tale.runs(("shell", text(500, number)))
    note = user(text(900), kind="note", id=RULES)
    tale.emit(RulesJoined(paths=("src/AGENTS.md",)))
    tale.emit(MessageAdded(message=note))
    event = tale.fold(20_000)
    assert event is not None
    assert event.rules == ("src/AGENTS.md",)
    assert not any(m.id == RULES for m in tale.shown)
    assert event.after == 500 + message_tokens(note) + sum(map(message_tokens, tale.shown))


# --- the newest tool group --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(9000,), (3000, 3000, 3000), (8000, 20, 20, 20, 20), (400,) * 30])
def test_the_newest_results_are_cut_until_they_fit_and_small_ones_are_left_alone(sizes: tuple[int, ...]) -> None:
    tale = Tale()
    tale.says("Task.")
    ids = tale.runs(*(("shell", text(size, n)) for n, size in enumerate(sizes)))
    total = 6000
    event = tale.fold(total)
    assert event is not None
    assert event.after <= total
    shown = [tale.result(call) or "" for call in ids]
    assert all(shown)
    for size, seen, number in zip(sizes, shown, range(len(sizes)), strict=True):
        if size < 100:
            assert seen == text(size, number)
    assert sum(len(s) for s in shown) > total * 4 // 3  # what room there is is used


@pytest.mark.parametrize("total", [4000, 7000])
def test_huge_arguments_of_the_newest_group_do_not_stop_a_session_for_good(total: int) -> None:
    """Another model with a smaller window goes on: arguments are cut as strict JSON where nothing else helps."""
    tale = Tale()
    tale.says("Write it.")
    content = text(15_000)
    ids = tale.runs(("write_file", "written: " + text(900), {"path": "a.txt", "content": content}))
    tale.answers("It is written.")
    tale.says("Now tell me what you wrote.")
    event = tale.fold(total)
    assert event is not None
    assert event.after <= total
    call = next(c for m in tale.shown for c in m.calls)
    values = json.loads(call.arguments)
    assert values["path"] == "a.txt"
    assert f"recall id={ids[0]}" in values["content"]
    assert tale.shown[-1].text == "Now tell me what you wrote."
    assert ids[0] in tale.state.context.view.cut  # whoever wrote the file has it no longer in view


def test_images_of_the_newest_result_give_way_before_a_refusal() -> None:
    tale = Tale()
    tale.says("Look at them.")
    images = tuple(ImagePart(media_type="image/png", data="AAAA") for _ in range(4))
    ids = tale.runs(("view_image", "four images", {"path": "a.png"}, images))
    event = tale.fold(5000)
    assert event is not None
    assert event.after <= 5000
    seen = next(r for m in tale.shown for r in m.results if r.call_id == ids[0])
    assert "four images" in seen.text
    assert "image" in seen.text.removeprefix("four images")
    assert len(seen.images) < 4


def test_what_was_cut_once_is_not_cut_again_by_the_next_fold() -> None:
    tale = Tale()
    tale.says("Task.")
    images = tuple(ImagePart(media_type="image/png", data="AAAA") for _ in range(4))
    ids = tale.runs(("shell", text(5000)), ("shell", "字" * 9000), ("view_image", text(900), {"path": "a"}, images))
    assert tale.fold(6000) is not None
    before = [tale.result(call) for call in ids]
    tale.says("Next.")
    tale.runs(("shell", text(900)))
    tale.fold(12_000, reason="manual")
    tale.fold(12_000, reason="manual")
    for call, seen in zip(ids, before, strict=True):
        now = tale.result(call)
        assert now is None or now == seen or now.endswith(f"recall id={call}]")


# --- damaged logs ----------------------------------------------------------------------------------------------------


def long_tale() -> Tale:
    tale = Tale()
    for turn in range(9):
        tale.says(f"Task {turn}: " + text(200, turn))
        for number in range(4):
            batch = [("shell", text(350, number)), ("read_file", text(250, number))][: 1 + number % 2]
            ids = tale.runs(*batch, thought="hm" if number == 1 else "")
            tale.emit(BatchLabelled(calls=tuple(ids), text="Look around"))
        tale.answers(f"Answer {turn}. " + text(200, turn))
        tale.fold(12_000, reason="high" if turn % 3 else "manual")
    return tale


TALE = long_tale()


@settings(max_examples=120, deadline=None)
@given(st.sets(st.integers(1, len(TALE.log) - 1), min_size=1, max_size=6))
def test_lost_rows_never_tear_a_group_nor_hide_the_newest_words(lost: set[int]) -> None:
    state = TALE.without(lost)
    mended = state.transcript.mend()
    if mended is not None:
        state.apply(mended)
    for call in state.transcript.open_calls:
        state.apply(ToolFinished(call=call.id, name=call.name, result=ResultPart(call_id=call.id, text="late")))
    state.context.view.sync(state.transcript.messages)
    messages = state.context.view.messages
    wanted: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert [r.call_id for r in message.results] == wanted
            wanted = []
        else:
            assert not wanted
            wanted = [c.id for c in message.calls]
    history = state.transcript.messages
    newest = next((m for m in reversed(history) if m.role == "user" and not m.kind), None)
    if newest is not None:
        assert any(m is newest for m in messages)


def test_a_log_without_loss_folds_as_it_did() -> None:
    state = TALE.without(set())
    state.context.view.sync(state.transcript.messages)
    assert state.context.view.messages == TALE.shown
    assert state.context.view.epoch >= 3
    assert sum(map(message_tokens, TALE.shown)) < 12_000
