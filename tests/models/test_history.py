"""The projection of a history: deterministic, stable in its beginning, valid whatever comes in."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.messages import CallPart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.models.chat_body import BodyWriter
from gongfu.models.history import Memo, Profile, project
from gongfu.models.protocol import Request
from gongfu.models.quirks import load_quirks, quirk_names

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)  # lone surrogates too


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Histories as the engine makes them: every call has its result right behind it."""
    out: list[Message] = [user(draw(TEXT))]
    for number in range(draw(st.integers(0, 5))):
        model = draw(st.sampled_from(["v/a", "v/b"]))
        parts: list[Any] = []
        if draw(st.booleans()):
            parts.append(ReasoningPart(text=draw(TEXT), signature=draw(st.sampled_from(["", "s"])), model=model))
        parts.append(TextPart(text=draw(TEXT)))
        calls = [
            CallPart(id=f"c{number}_{n}", wire_id=draw(st.sampled_from(["", "bash:0", "x y", "é" * 50])),
                     name=draw(TEXT), arguments=draw(st.sampled_from(["{}", '{"a": 1}', "{", ""])))
            for n in range(draw(st.integers(0, 3)))
        ]  # fmt: skip
        out.append(Message(role="assistant", parts=(*parts, *calls), model=model))
        if calls:
            out.append(Message(role="tool", parts=tuple(ResultPart(call_id=c.id, text=draw(TEXT)) for c in calls)))
        if draw(st.booleans()):
            out.append(user(draw(TEXT), kind=draw(st.sampled_from(["", "note", "steer"]))))
    return out


PROFILES = st.builds(
    Profile,
    model=st.just("v/a"),
    reasoning=st.sampled_from(["never", "always"]),
    demanded=st.booleans(),
    unsigned=st.booleans(),
    call_signatures=st.booleans(),
    images=st.booleans(),
    ids=st.sampled_from(["any", "plain", "nine"]),
    id_size=st.sampled_from([0, 40]),
    unique_ids=st.booleans(),
)


@given(histories(), PROFILES)
@settings(max_examples=50, deadline=None)
def test_a_longer_history_begins_with_the_shorter_one(history: list[Message], profile: Profile) -> None:
    whole = project(history, profile)
    memo = Memo()
    for end in range(1, len(history) + 1):
        if history[end - 1].role == "assistant" and history[end - 1].calls:
            continue  # its results are not there yet
        part = project(history[:end], profile, memo)
        assert part == whole[: len(part)]
        assert part == project(history[:end], profile)


@pytest.mark.soak
@given(histories(), PROFILES)
@settings(max_examples=150, deadline=None)
def test_a_longer_history_begins_with_the_shorter_one_at_length(history: list[Message], profile: Profile) -> None:
    test_a_longer_history_begins_with_the_shorter_one.hypothesis.inner_test(history, profile)


@given(histories(), st.sampled_from(quirk_names()), st.sampled_from(["never", "tool_rounds", "always"]))
@settings(max_examples=50, deadline=None)
def test_every_body_is_valid_json_and_keeps_the_rules(history: list[Message], name: str, back: Any) -> None:
    info = ModelInfo(ref="v/a", provider="v", name="a", reasoning_back=back)
    quirks = load_quirks(name)
    sent = json.loads(BodyWriter(info, quirks).write(Request(model="v/a", system="s", messages=tuple(history))).data)
    waiting: list[str] = []
    roles: list[str] = []
    for message in sent["messages"][1:]:
        roles.append(message["role"])
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            assert message["content"]
            continue
        assert not waiting
        calls = message.get("tool_calls") or []
        waiting = [c["id"] for c in calls]
        assert calls or message["content"]
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert quirks.id_size == 0 or len(call["id"]) <= quirks.id_size
    if quirks.alternate:
        plain = [r for r in roles if r != "tool"]
        assert all(a != b or a == "assistant" for a, b in pairwise(plain))


@pytest.mark.soak
@given(histories(), st.sampled_from(quirk_names()), st.sampled_from(["never", "tool_rounds", "always"]))
@settings(max_examples=150, deadline=None)
def test_every_body_is_valid_json_and_keeps_the_rules_at_length(history: list[Message], name: str, back: Any) -> None:
    test_every_body_is_valid_json_and_keeps_the_rules.hypothesis.inner_test(history, name, back)


def test_two_requests_of_a_session_share_their_beginning_byte_for_byte() -> None:
    tools = (
        ToolSpec(name="bash", description="Run.", parameters={"type": "object", "properties": {"b": {}, "a": {}}}),
    )
    for name in quirk_names():
        info = ModelInfo(ref="v/a", provider="v", name="a", window=100_000, max_output=9000, reasoning_back="always")
        writer, fresh = BodyWriter(info, load_quirks(name)), BodyWriter(info, load_quirks(name))
        history = [user("go")]
        before = b""
        for n in range(12):
            request = Request(model="v/a", system="sys", messages=tuple(history), tools=tools)
            data = writer.write(request).data
            assert data.startswith(before), name
            before = data[: data.rindex(b"}]") + 1]
            call = CallPart(id=f"c{n}", wire_id=f"w{n}", name="bash", arguments='{"a":1}')
            history += [
                Message(role="assistant", parts=(ReasoningPart(text="hm", model="v/a"), call), model="v/a"),
                Message(role="tool", parts=(ResultPart(call_id=f"c{n}", text=f"out {n}"),)),
            ]
        assert fresh.write(request).data == data  # what was remembered changes nothing


def test_projecting_a_message_again_costs_nothing_new() -> None:
    history = [user("go"), Message(role="assistant", parts=(CallPart(id="c", name="b"),)),
               Message(role="tool", parts=(ResultPart(call_id="c", text=""),))]  # fmt: skip
    memo = Memo()
    first = project(history, Profile(model="v/a"), memo)
    again = project([*history, user("x")], Profile(model="v/a"), memo)
    assert all(a is b for a, b in zip(first, again, strict=False))
