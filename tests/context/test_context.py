"""Units, pairing, budget and layout: the invariants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.context.budget import Budget, budget_for, tool_output_limit
from gongfu.context.layout import assemble, stable_tokens
from gongfu.context.pairing import pair
from gongfu.context.units import Ledger, message_tokens, tool_tokens, units
from gongfu.core.errors import Refusal
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.core.tokens import calibrated, image_tokens, text_tokens

ids = st.sampled_from(["c1", "c2", "c3", "c4"])
texts = st.builds(TextPart, text=st.text(max_size=20))
calls = st.builds(CallPart, id=ids, name=st.just("echo"))
results = st.builds(ResultPart, call_id=ids, text=st.text(max_size=10))


def messages_of(role: str, parts: st.SearchStrategy[object]) -> st.SearchStrategy[Message]:
    return st.builds(Message, role=st.just(role), parts=st.lists(parts, max_size=4).map(tuple))


wild = st.lists(
    st.one_of(messages_of("user", texts), messages_of("assistant", texts | calls), messages_of("tool", results)),
    max_size=12,
)


@given(wild)
def test_pairing_gives_every_call_one_result_right_behind_it(messages: list[Message]) -> None:
    seen: set[str] = set()
    unique: list[Message] = []
    for message in messages:  # ids of calls are unique by construction of the engine
        kept = tuple(p for p in message.parts if not (isinstance(p, CallPart) and (p.id in seen or seen.add(p.id))))
        unique.append(Message(role=message.role, parts=kept))
    paired, repair = pair(unique)
    for at, message in enumerate(paired):
        if message.role == "assistant" and message.calls:
            assert [r.call_id for r in paired[at + 1].results] == [c.id for c in message.calls]
            assert paired[at + 1].role == "tool"
        if message.role == "tool":
            assert paired[at - 1].calls
    again, nothing = pair(paired)
    assert again == paired
    assert not nothing
    assert [m for m in paired if m.role != "tool"] == [m for m in unique if m.role != "tool"]
    if not repair and all(m.role != "tool" or m.results for m in unique):
        assert len(repair.added) == 0


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_estimate_of_a_text(one: str, two: str) -> None:
    assert text_tokens(one) >= len(one) / 4
    assert text_tokens(one + two) <= text_tokens(one) + text_tokens(two) <= text_tokens(one + two) + 1
    assert text_tokens("a" * 400) == 100
    assert text_tokens("功夫" * 100) == 150


def test_images_and_calibration() -> None:
    assert image_tokens(0, 0) == 1600
    assert image_tokens(512, 512) >= 255
    assert image_tokens(100, 4000) == image_tokens(4000, 100)
    assert calibrated(100, []) == 100
    assert calibrated(100, [0.5, 0.7]) == 100
    assert calibrated(100, [9.0]) == 200
    assert calibrated(100, [2.0, 1.1, 1.2, 1.1, 1.3, 1.1]) == 130


@given(
    st.integers(0, 2_000_000),
    st.integers(0, 200_000),
    st.one_of(st.none(), st.integers(0, 500_000)),
    st.integers(0, 9000),
)
def test_budgets_stay_inside_the_window(window: int, output: int, cap: int | None, served: int) -> None:
    budget = budget_for(
        ModelInfo(ref="a/b", provider="a", name="b", window=window, max_output=output), cap=cap, served=served
    )
    assert 0 <= budget.total + budget.output <= budget.window
    assert budget.window <= (window or 32_768)
    if cap:
        assert budget.window <= cap
    if served:
        assert budget.window <= served
    assert 1024 <= tool_output_limit(budget, 32_768) <= 32_768


def test_a_small_model_is_led_and_gets_as_much_as_an_unknown_one() -> None:
    small = ModelInfo(ref="local/a", provider="local", name="a", window=8192, max_output=1024, small=True)
    assert budget_for(small).total == 32_768 - 4096


def test_row_28_the_answer_is_clamped_to_what_the_window_leaves() -> None:
    """Row 28: window 200k, prompt 180k, output limit 32k."""
    budget = budget_for(ModelInfo(ref="a/b", provider="a", name="b", window=200_000, max_output=64_000))
    assert budget.output == 32_000
    assert budget.total == 200_000 - 32_000 - 4000


TOOLS = (ToolSpec(name="echo", description="Echo.", parameters={"type": "object", "properties": {}}),)
BIG = Budget(window=100_000, output=8000, total=90_000)


def lay(history: list[Message], *, budget: Budget = BIG, tail: tuple[str, ...] = ()) -> object:
    fixed = stable_tokens("sys", TOOLS)
    return assemble(system="sys", tools=TOOLS, fixed=fixed, history=history, ledger=Ledger(), budget=budget, tail=tail)


def history(n: int) -> list[Message]:
    out: list[Message] = []
    for i in range(n):
        out.append(user(f"question {i}"))
        out.append(Message(role="assistant", parts=(CallPart(id=f"c{i}", name="echo"),)))
        out.append(Message(role="tool", parts=(ResultPart(call_id=f"c{i}", text="x" * i),)))
        out.append(Message(role="assistant", parts=(TextPart(text=f"answer {i}"),)))
    return out


@given(st.integers(1, 30), st.integers(1, 119))
def test_a_longer_history_has_the_shorter_one_as_its_prefix(n: int, cut: int) -> None:
    whole = history(n)
    short = whole[: cut % len(whole) + 1]
    one, two = lay(short), lay(whole)
    assert two.messages[: len(short)] == one.messages
    assert one.estimate == stable_tokens("sys", TOOLS) + sum(map(message_tokens, short))
    assert one.marks == (len(short) - 1,)


def test_the_tail_rides_on_the_last_message_and_is_not_stored() -> None:
    for messages in (history(2), history(2)[:-1], history(2)[:-3]):
        with_tail = lay(messages, tail=("[Today is Monday.]",))
        plain = lay(messages)
        assert with_tail.messages[:-1] == plain.messages[:-1]
        assert "[Today is Monday.]" in str(with_tail.messages[-1])
        assert "Monday" not in str(messages)
        assert with_tail.estimate > plain.estimate


def test_what_cannot_fit_is_refused_with_numbers() -> None:
    small = Budget(window=2000, output=500, total=400)
    with pytest.raises(Refusal, match="REQUEST_EXCEEDS_WINDOW") as long:
        lay(history(60), budget=small)
    assert long.value.values["budget"] == 400
    assert long.value.code == 3
    with pytest.raises(Refusal, match="CURRENT_TURN_DOES_NOT_FIT"):
        lay([user("x" * 4000)], budget=small)


@given(st.integers(0, 20))
def test_units_cover_the_history_once_in_order(n: int) -> None:
    messages = history(n)
    cut = list(units(messages, Ledger()))
    assert [m for u in cut for m in u.messages] == messages
    assert [u.start for u in cut] == sorted(u.start for u in cut)
    assert {u.kind for u in cut} <= {"user", "tools", "assistant"}
    assert sum(u.tokens for u in cut) == sum(map(message_tokens, messages))


def test_pricing_a_growing_history_is_linear() -> None:
    """Twice the history may not cost four times the visits."""
    visits = 0

    class Counting(Ledger):
        def tokens(self, message: Message) -> int:
            nonlocal visits
            visits += id(message) not in self._known
            return super().tokens(message)

    ledger = Counting()
    messages = history(100)
    for end in range(1, len(messages)):
        ledger.total(messages[:end])
    assert visits == len(messages) - 1


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.booleans()), max_size=12))
def test_a_total_is_right_however_the_history_changes(changes: list[tuple[int, int, bool]]) -> None:
    """It grows, is cut, loses its beginning, has another message in its middle."""
    ledger, whole, other = Ledger(), history(15), user("another one altogether")
    for first, last, swapped in changes:
        messages = [*whole[:first], *([other] if swapped else []), *whole[last:]]
        assert ledger.total(messages) == sum(map(message_tokens, messages))


def test_a_grown_history_is_looked_at_only_where_it_grew() -> None:
    looked: list[Message] = []

    class Looking(Ledger):
        def tokens(self, message: Message) -> int:
            looked.append(message)
            return super().tokens(message)

    ledger, messages = Looking(), history(100)
    ledger.total(messages[:-2])
    looked.clear()
    assert ledger.total(messages) == sum(map(message_tokens, messages))
    assert looked == messages[-2:]


def test_tools_are_priced() -> None:
    assert tool_tokens(TOOLS) > 15
