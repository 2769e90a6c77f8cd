"""Units, pairing, budget and layout: the invariants."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gongfu.context.budget import budget_for, tool_output_limit
from gongfu.context.layout import marks_of, with_tail
from gongfu.context.ledger import Ledger, message_tokens, tool_tokens
from gongfu.context.pairing import pair
from gongfu.context.tiers import ASSISTANT, REGULAR, USER
from gongfu.context.units import units
from gongfu.context.view import View
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec

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


def history(n: int) -> list[Message]:
    out: list[Message] = []
    for i in range(n):
        out.append(user(f"question {i}"))
        out.append(Message(role="assistant", parts=(CallPart(id=f"c{i}", name="echo"),)))
        out.append(Message(role="tool", parts=(ResultPart(call_id=f"c{i}", text="x" * i),)))
        out.append(Message(role="assistant", parts=(TextPart(text=f"answer {i}"),)))
    return out


def test_the_tail_rides_on_the_last_message_and_is_not_stored() -> None:
    for messages in (history(2), history(2)[:-1], history(2)[:-3]):
        carried = with_tail(tuple(messages), ("[Today is Monday.]",))
        assert list(carried[:-1]) == messages[:-1]
        assert "[Today is Monday.]" in str(carried[-1])
        assert "Monday" not in str(messages)
        assert with_tail(tuple(messages), ()) == tuple(messages)


@given(st.integers(0, 4), st.integers(0, 80))
def test_marks_stand_at_the_end_and_inside_and_move_seldom(head: int, more: int) -> None:
    count = head + more
    marks = marks_of(head, count)
    assert len(marks) <= 3
    assert list(marks) == sorted(set(marks))
    assert all(0 <= m < count for m in marks)
    if count:
        assert marks[-1] == count - 1
    if head and count:
        assert head - 1 in marks
    moved = sum(set(marks_of(head, n)[:-1]) != set(marks_of(head, n + 1)[:-1]) for n in range(head + 1, count))
    assert moved <= 2 * (more // 12) + 2


@given(st.integers(0, 20))
def test_units_cover_the_history_once_in_order(n: int) -> None:
    view = View()
    messages = history(n)
    view.sync(messages)
    cut = units(view.slots, Ledger())
    places = [at for u in cut for at in range(u.at, u.at + u.size)]
    assert places == list(range(len(messages)))
    assert {u.tier for u in cut} <= {USER, ASSISTANT, REGULAR}
    assert sum(u.tokens for u in cut) == sum(map(message_tokens, messages))
    assert all(u.less <= u.tokens for u in cut)


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
