"""What an adapter remembers of its last request changes no byte of the next."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from operator import is_
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gongfu.core.messages import CallPart, ImagePart, Message, Part, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.prefix import shared_start
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.models.anthropic_body import MessagesWriter
from gongfu.models.chat_body import BodyWriter
from gongfu.models.history import Memo, Profile, project
from gongfu.models.protocol import Request
from gongfu.models.quirks import Quirks, load_quirks, quirk_names
from gongfu.models.responses_body import ResponsesWriter

TEXT = st.sampled_from(["", " ", "a", "b\ud800", "中文", '{"x": 1}'])
IMAGES = st.builds(ImagePart, media_type=st.just("image/png"), data=st.sampled_from(["", "aGk="]), width=st.just(300))
WORDS = st.builds(
    lambda text, images, kind: Message(role="user", parts=(TextPart(text=text), *images), kind=kind),
    TEXT,
    st.lists(IMAGES, max_size=1),
    st.sampled_from(["", "", "note", "steer"]),
)
THOUGHTS = st.builds(
    ReasoningPart,
    text=TEXT,
    signature=st.sampled_from(["", "s"]),
    data=st.sampled_from(["", "[1]"]),
    id=st.sampled_from(["", "w"]),
    model=st.sampled_from(["v/a", "v/b", ""]),
)
TOOLS = (ToolSpec(name="shell", description="Run.", parameters={"type": "object", "properties": {"a": {}}}),)


@st.composite
def answers(draw: st.DrawFn, number: int) -> list[Message]:
    """An answer of a model, and mostly the results of its calls."""
    calls = tuple(
        CallPart(
            id=f"c{number}_{n}",
            wire_id=draw(st.sampled_from(["", "w", "bash:0", "é" * 30])),
            name=draw(st.sampled_from(["shell", "re ad"])),
            arguments=draw(st.sampled_from(["{}", "{"])),
        )
        for n in range(draw(st.integers(0, 2)))
    )
    parts: list[Part] = [*draw(st.lists(THOUGHTS, max_size=1)), TextPart(text=draw(TEXT)), *calls]
    out = [Message(role="assistant", parts=tuple(parts), model=draw(st.sampled_from(["v/a", "v/b"])))]
    if calls and draw(st.integers(0, 9)):
        results = [
            ResultPart(call_id=c.id, text=draw(TEXT), images=tuple(draw(st.lists(IMAGES, max_size=1)))) for c in calls
        ]
        out.append(Message(role="tool", parts=tuple(results)))
    return out


def tailed(messages: list[Message]) -> list[Message]:
    """The same with words at the end of the last message, as the engine adds them to one request."""
    if not messages or messages[-1].role == "assistant":
        return messages
    last = messages[-1]
    if last.role == "user":
        return [*messages[:-1], replace(last, parts=(*last.parts, TextPart(text="tail")))]
    result = last.results[-1]
    return [*messages[:-1], replace(last, parts=(*last.parts[:-1], replace(result, text=result.text + " tail")))]


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[Message, ...]]:
    """The histories of one session's requests: mostly growing, sometimes cut, folded, changed inside or with a tail."""
    history: list[Message] = []
    requests: list[tuple[Message, ...]] = []
    for number in range(draw(st.integers(2, 8))):
        change = draw(st.sampled_from(["answer"] * 6 + ["words"] * 3 + ["cut", "fold", "other"]))
        if change == "answer":
            history = [*history, *draw(answers(number))]
        elif change == "words" or not history:
            history = [*history, draw(WORDS)]
        elif change == "cut":
            history = history[: draw(st.integers(0, len(history)))]
        elif change == "fold":
            history = [user("summary", kind="note"), *history[draw(st.integers(0, len(history))) :]]
        else:
            at = draw(st.integers(0, len(history) - 1))
            history = [*history[:at], replace(history[at], model="v/c"), *history[at + 1 :]]
        requests.append(tuple(tailed(history) if draw(st.booleans()) else history))
    return requests


Writer = Callable[[ModelInfo, Quirks], Any]
INFOS = st.builds(
    ModelInfo,
    ref=st.just("v/a"),
    provider=st.just("v"),
    name=st.sampled_from(["a", "claude-x"]),
    window=st.just(5000),
    max_output=st.just(4000),
    images=st.booleans(),
    reasoning=st.booleans(),
    reasoning_back=st.sampled_from(["never", "tool_rounds", "always"]),
    source=st.just("x"),
)


@pytest.mark.parametrize("make", [BodyWriter, MessagesWriter, ResponsesWriter])
@given(data=st.data(), requests=sessions(), info=INFOS, name=st.sampled_from(quirk_names()))
@settings(max_examples=20, deadline=None)
def test_a_used_writer_writes_what_a_new_one_does(
    make: Writer, data: st.DataObject, requests: list[tuple[Message, ...]], info: ModelInfo, name: str
) -> None:
    quirks = load_quirks(name)
    used = make(info, quirks)
    for messages in requests:
        marks = tuple(data.draw(st.sets(st.integers(-1, len(messages)), max_size=2)))
        system = data.draw(st.sampled_from(["", "sys"]))
        request = Request(model="v/a", system=system, messages=messages, tools=TOOLS, marks=marks)
        assert used.write(request) == make(info, quirks).write(request)


@pytest.mark.soak
@pytest.mark.parametrize("make", [BodyWriter, MessagesWriter, ResponsesWriter])
@given(data=st.data(), requests=sessions(), info=INFOS, name=st.sampled_from(quirk_names()))
@settings(max_examples=60, deadline=None)
def test_a_used_writer_writes_what_a_new_one_does_at_length(
    make: Writer, data: st.DataObject, requests: list[tuple[Message, ...]], info: ModelInfo, name: str
) -> None:
    test_a_used_writer_writes_what_a_new_one_does.hypothesis.inner_test(make, data, requests, info, name)


PROFILES = st.builds(
    Profile,
    model=st.just("v/a"),
    reasoning=st.sampled_from(["never", "tool_rounds", "always"]),
    demanded=st.booleans(),
    unsigned=st.booleans(),
    images=st.booleans(),
    alternate=st.booleans(),
    result_then_assistant=st.booleans(),
    ids=st.sampled_from(["any", "plain", "nine"]),
    id_size=st.sampled_from([0, 12]),
    unique_ids=st.booleans(),
)


@given(sessions(), PROFILES)
@settings(max_examples=40, deadline=None)
def test_a_used_memo_projects_as_none_does(requests: list[tuple[Message, ...]], profile: Profile) -> None:
    memo = Memo()
    for messages in requests:
        assert project(messages, profile, memo) == project(messages, profile)


@pytest.mark.soak
@given(sessions(), PROFILES)
@settings(max_examples=150, deadline=None)
def test_a_used_memo_projects_as_none_does_at_length(requests: list[tuple[Message, ...]], profile: Profile) -> None:
    test_a_used_memo_projects_as_none_does.hypothesis.inner_test(requests, profile)


def test_thinking_comes_back_when_the_words_behind_it_are_taken_back() -> None:
    profile, memo = Profile(model="v/a", reasoning="tool_rounds"), Memo()
    thinking = Message(role="assistant", parts=(ReasoningPart(text="hm"), TextPart(text="yes")), model="v/a")
    history = [user("go"), thinking, user("more")]
    for messages in (history[:2], history, history[:2], [*history[:2], user("a note", kind="note")]):
        parts = project(messages, profile, memo)[1].parts
        assert any(isinstance(part, ReasoningPart) for part in parts) == (messages[-1] is not history[2])


def test_a_result_bears_the_name_of_its_own_call() -> None:
    """Ids may repeat in a history: the name is that of the call right before the result."""
    info = ModelInfo(ref="v/a", provider="v", name="a")
    quirks = replace(load_quirks("default"), result_name=True)
    history = [user("go")]
    for name in ("first", "second"):
        history.append(Message(role="assistant", parts=(CallPart(id=name, wire_id="same", name=name),)))
        history.append(Message(role="tool", parts=(ResultPart(call_id=name, text="x"),)))
    body = BodyWriter(info, quirks).write(Request(model="a", system="", messages=tuple(history))).data
    assert body.index(b'"name":"first","content"') < body.index(b'"name":"second","content"')


def long_history(steps: int) -> list[Message]:
    history = [user("go")]
    for n in range(steps):
        call = CallPart(id=f"c{n}", name="shell", arguments='{"a":1}')
        history.append(Message(role="assistant", parts=(TextPart(text=f"step {n}"), call)))
        history.append(Message(role="tool", parts=(ResultPart(call_id=f"c{n}", text="x" * 400),)))
    return history


@pytest.mark.parametrize("make", [BodyWriter, MessagesWriter, ResponsesWriter])
def test_a_grown_history_is_neither_projected_nor_written_again(make: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted by the messages that are looked into: only the new ones are."""
    looked: list[Message] = []
    calls = Message.calls.fget
    assert calls is not None
    counted = property(lambda message: (looked.append(message), calls(message))[1])
    info = ModelInfo(ref="v/a", provider="v", name="a", reasoning_back="tool_rounds")
    writer = make(info, load_quirks("default"))
    history = long_history(300)
    writer.write(Request(model="a", system="s", messages=tuple(history[:-2])))
    monkeypatch.setattr(Message, "calls", counted)
    writer.write(Request(model="a", system="s", messages=tuple(history)))
    assert len(looked) < 20


def test_what_is_remembered_does_not_outgrow_the_history() -> None:
    info = ModelInfo(ref="v/a", provider="v", name="a")
    writer = BodyWriter(info, load_quirks("default"))
    history = long_history(200)
    tracemalloc.start()
    try:
        for end in range(1, len(history) + 1, 2):
            size = len(writer.write(Request(model="a", system="s", messages=tuple(history[:end]))).data)
        kept, _ = tracemalloc.get_traced_memory()
        for _ in range(50):
            writer.write(Request(model="a", system="s", messages=tuple(history)))
        again, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3 * size
    assert again < kept + size // 10


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_the_shared_start_is_counted(one: list[int], other: list[int]) -> None:
    count = shared_start(one, other)
    assert all(map(is_, one[:count], other[:count]))
    assert count == min(len(one), len(other)) or one[count] != other[count]
