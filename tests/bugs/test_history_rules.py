"""Rows 6, 16, 25, 26 and 30, seen from the provider: what goes back of the history."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from gongfu.core.messages import CallPart, ImagePart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo
from gongfu.models.chat_body import BodyWriter
from gongfu.models.history import Profile, project
from gongfu.models.protocol import Request
from gongfu.models.quirks import Quirks, for_model, load_quirks

A, B = "vendor/a", "vendor/b"


def said(*parts: Any, model: str = A) -> Message:
    return Message(role="assistant", parts=parts, model=model)


def results(*pairs: tuple[str, str]) -> Message:
    return Message(role="tool", parts=tuple(ResultPart(call_id=i, text=t) for i, t in pairs))


def body(
    messages: list[Message],
    quirks: str | Quirks = "default",
    *,
    name: str = "a",
    back: Any = "never",
    images: bool = False,
    tools: bool = True,
) -> list[dict[str, Any]]:
    """The messages of the body that would be sent, without the system prompt."""
    info = ModelInfo(
        ref=f"vendor/{name}", provider="vendor", name=name, reasoning_back=back, images=images, tools=tools, source="x"
    )
    table = for_model(load_quirks(quirks), name) if isinstance(quirks, str) else quirks
    sent = json.loads(BodyWriter(info, table).write(Request(model=info.ref, system="", messages=tuple(messages))).data)
    return sent["messages"]


ROUND = [
    user("go"),
    said(
        ReasoningPart(text="hm", model=A), CallPart(id="c1", wire_id="w1", name="bash", arguments='{"command": "ls"}')
    ),
    results(("c1", "out")),
]


# --- 6, 16: the shape that the server expects -----------------------------------------------------------------------


def test_arguments_go_back_as_text_or_as_an_object_as_the_server_expects() -> None:
    call = body(ROUND)[1]["tool_calls"][0]
    assert call == {"id": "w1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    from msgspec.structs import replace

    objects = body(ROUND, replace(load_quirks("default"), object_arguments=True))[1]["tool_calls"][0]
    assert objects["function"]["arguments"] == {"command": "ls"}


@pytest.mark.parametrize("raw", ["", "{", "[1]", '{"a": NaN}', '{"a": "\ud800"}', "null", '{"a": 1} tail', "{'a': 1}"])
def test_arguments_in_the_history_are_strict_json_objects(raw: str) -> None:
    sent = body([user("go"), said(CallPart(id="c", name="bash", arguments=raw)), results(("c", "x"))])
    assert isinstance(json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]), dict)


def test_broken_raw_arguments_are_not_echoed() -> None:
    part = CallPart(id="c", name="bash", arguments="{}", raw='{"command": "rm', problem="cut off")
    text = json.dumps(body([user("go"), said(part), results(("c", "not run"))]))
    assert "rm" not in text


@pytest.mark.parametrize("name", ["", "a b", "工具", "x" * 90, "functions.bash", "read_file<|channel|>"])
def test_names_are_plain(name: str) -> None:
    sent = body([user("go"), said(CallPart(id="c", name=name)), results(("c", "x"))])
    found = sent[1]["tool_calls"][0]["function"]["name"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", found)


def repeated(count: int = 3) -> list[Message]:
    history = [user("go")]
    for n in range(count):
        history += [said(CallPart(id=f"c{n}", wire_id="bash:0", name="bash")), results((f"c{n}", str(n)))]
    return history


def test_the_same_wire_id_every_round_goes_back_as_it_came() -> None:
    sent = body(repeated(), "kimi")
    assert [m["tool_calls"][0]["id"] for m in sent[1::2]] == ["bash:0"] * 3
    assert [m["tool_call_id"] for m in sent[2::2]] == ["bash:0"] * 3


def test_two_calls_of_one_message_never_share_an_id() -> None:
    twice = [CallPart(id=f"c{n}", wire_id="call_0", name="bash") for n in range(2)]
    sent = body([user("go"), said(*twice), results(("c0", "a"), ("c1", "b"))])
    ids = [c["id"] for c in sent[1]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [m["tool_call_id"] for m in sent[2:]] == ids


def test_ids_are_unique_and_plain_where_that_is_demanded() -> None:
    profile = Profile(model=A, ids="plain", unique_ids=True)
    out = project(repeated(), profile)
    ids = [c.id for m in out for c in m.calls]
    assert len(set(ids)) == 3
    assert [r.call_id for m in out for r in m.results] == ids
    assert all(i.replace("_", "").replace("-", "").isalnum() for i in ids)


def test_mistral_gets_nine_letters_and_digits() -> None:
    sent = body(repeated(), "mistral")
    ids = [m["tool_calls"][0]["id"] for m in sent if m["role"] == "assistant"]
    assert len(set(ids)) == 3
    assert all(len(i) == 9 and i.isalnum() for i in ids)
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == ids
    assert all(m["name"] == "bash" for m in sent if m["role"] == "tool")
    own = [user("go"), said(CallPart(id="c", wire_id="aB3dE6gH9", name="bash")), results(("c", "x"))]
    assert body(own, "mistral")[1]["tool_calls"][0]["id"] == "aB3dE6gH9"


def test_openai_gets_at_most_forty_characters() -> None:
    long = [user("go"), said(CallPart(id="c_1", wire_id="x" * 60, name="bash")), results(("c_1", "x"))]
    sent = body(long, "openai")
    assert len(sent[1]["tool_calls"][0]["id"]) <= 40
    assert sent[2]["tool_call_id"] == sent[1]["tool_calls"][0]["id"]


# --- 25: pairs ------------------------------------------------------------------------------------------------------

TWO = said(CallPart(id="c1", name="bash"), CallPart(id="c2", name="bash"), CallPart(id="c3", name="bash"))
BROKEN: dict[str, list[Message]] = {
    "cut after a call": [user("go"), TWO],
    "two of three results": [user("go"), TWO, results(("c1", "1"), ("c3", "3"))],
    "words between": [user("go"), TWO, user("wait"), results(("c1", "1"), ("c2", "2"), ("c3", "3")),
                      said(TextPart(text="k"))],
    "result without call": [user("go"), results(("zz", "1")), said(TextPart(text="ok"))],
    "results apart and out of order": [user("go"), TWO, results(("c3", "3")), results(("c1", "1")),
                                       results(("c2", "2"))],
    "a result twice": [user("go"), TWO, results(("c1", "1"), ("c1", "again"), ("c2", "2"), ("c3", "3"))],
    "the same id in two rounds": [user("go"), said(CallPart(id="x", name="bash")), results(("x", "1")),
                                  said(CallPart(id="x", name="bash")), results(("x", "2"))],
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("quirks", ["default", "mistral", "llamacpp", "openai", "gemini"])
def test_every_call_has_its_one_result_right_behind_it(case: str, quirks: str) -> None:
    sent = body(BROKEN[case], quirks)
    waiting: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
        else:
            assert not waiting
            waiting = [c["id"] for c in message.get("tool_calls", [])]
    assert not waiting
    text = json.dumps(sent)
    for found in [m for m in BROKEN[case] if m.role == "user"]:
        assert found.text in text


def test_user_words_after_results_stay_in_order() -> None:
    sent = body(BROKEN["words between"])
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "tool", "user", "assistant"]


def test_mistral_gets_no_user_message_right_after_a_result() -> None:
    sent = body([*ROUND, user("and now?")], "mistral")
    roles = [m["role"] for m in sent]
    assert ("tool", "user") not in list(pairwise(roles))


def test_roles_alternate_where_the_template_demands_it() -> None:
    history = [
        said(TextPart(text="hello")),
        user("a"),
        user("b", kind="note"),
        said(TextPart(text="1")),
        said(TextPart(text="2")),
    ]
    roles = [m["role"] for m in body(history, "llamacpp")]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert body(history, "llamacpp")[2]["content"] == "a\n\nb"


# --- 26: thinking goes back where it is demanded, and only there ------------------------------------------------------

THREE = [
    *ROUND,
    said(TextPart(text="done")),
    user("more"),
    said(ReasoningPart(text="again", model=A), CallPart(id="c2", name="bash")),
    results(("c2", "out")),
    said(CallPart(id="c3", name="bash")),
    results(("c3", "out")),
]


def thoughts(messages: list[dict[str, Any]], field: str = "reasoning_content") -> list[Any]:
    return [m.get(field) for m in messages if m["role"] == "assistant"]


def test_always_and_also_when_empty() -> None:
    assert thoughts(body(THREE, "kimi", back="always")) == ["hm", "", "again", ""]


def test_of_the_running_tool_rounds_only() -> None:
    assert thoughts(body(THREE, "deepseek", back="tool_rounds")) == [None, None, "again", ""]


def test_a_steer_or_a_note_does_not_end_the_tool_rounds() -> None:
    steered = [*ROUND, user("faster", kind="steer"), user("note", kind="note")]
    assert thoughts(body(steered, "deepseek", back="tool_rounds")) == ["hm"]


@pytest.mark.parametrize("quirks", ["default", "openai", "qwen", "mistral", "gemini", "ollama", "vllm", "lmstudio"])
def test_others_must_not_get_it(quirks: str) -> None:
    text = json.dumps(body(THREE, quirks))
    assert "hm" not in text
    assert "reasoning" not in text


def test_its_field_is_the_servers_own() -> None:
    assert thoughts(body(ROUND, "ollama", back="always"), "reasoning") == ["hm"]
    details = thoughts(body(ROUND, "minimax"), "reasoning_details")
    assert details == [[{"type": "reasoning.text", "text": "hm"}]]
    from msgspec.structs import replace

    tags = body(ROUND, replace(load_quirks("default"), reasoning_field="think"), back="always")
    assert tags[1]["content"] == "<think>\nhm\n</think>\n\n"


def test_encrypted_details_go_back_as_they_came() -> None:
    data = '[{"type":"reasoning.encrypted","data":"xyz=","id":"r1","format":"v1","index":0}]'
    history = [
        user("go"),
        said(ReasoningPart(text="hm", data=data, model=A), CallPart(id="c", name="bash")),
        results(("c", "x")),
    ]
    assert thoughts(body(history, "openrouter"), "reasoning_details") == [json.loads(data)]
    assert thoughts(body(history, "openrouter", name="b"), "reasoning_details") == [None]


def test_a_signature_goes_back_on_its_call() -> None:
    history = [
        user("go"),
        said(ReasoningPart(signature="SIG", id="w1", model=A), CallPart(id="c1", wire_id="w1", name="bash"),
             CallPart(id="c2", wire_id="w2", name="bash")),
        results(("c1", "1"), ("c2", "2")),
    ]  # fmt: skip
    calls = body(history, "gemini")[1]["tool_calls"]
    assert calls[0]["extra_content"] == {"google": {"thought_signature": "SIG"}}
    assert "extra_content" not in calls[1]
    foreign = body(history, "gemini", name="b")[1]["tool_calls"]
    assert foreign[0]["extra_content"]["google"]["thought_signature"] == "skip_thought_signature_validator"
    assert "extra_content" not in json.dumps(body(history, "default"))


# --- 30: signed thinking and a change of models ----------------------------------------------------------------------


def test_foreign_thinking_is_dropped_and_ones_own_is_untouched() -> None:
    signed = ReasoningPart(text="a \ud800 thought", signature="S" * 40, model=A)
    sealed = ReasoningPart(data="ENC", id="rs_1", model=A)
    history = [user("go"), said(signed, sealed, TextPart(text="ok"))]
    same = project(history, Profile(model=A, reasoning="always"))
    assert same[1].parts[:2] == (signed, sealed)
    assert same[1].parts[0] is signed
    other = project(history, Profile(model=B, reasoning="always", demanded=False))
    assert other[1].parts == (TextPart(text="ok"),)
    plain = [user("go"), said(ReasoningPart(text="x"), TextPart(text="ok"))]
    unsigned = project(plain, Profile(model=A, reasoning="always", unsigned=False))
    assert unsigned[1].parts == (TextPart(text="ok"),)


def test_switching_away_and_back_gives_the_same_bytes() -> None:
    own = body(ROUND, "kimi", back="always")
    mixed = [*ROUND, said(ReasoningPart(text="foreign", model=B), TextPart(text="hi"), model=B)]
    sent = body(mixed, "kimi", back="always")
    assert sent[: len(own)] == own
    assert sent[-1] == {"role": "assistant", "content": "hi", "reasoning_content": ""}


# --- what else must hold ----------------------------------------------------------------------------------------------


def test_no_lone_surrogate_leaves() -> None:
    history = [
        user("a\ud83d"),
        said(TextPart(text="\ude00b"), CallPart(id="c\ud800", name="bash", arguments='{"command": "x"}')),
        results(("c\ud800", "\udc80")),
    ]
    text = json.dumps(body(history), ensure_ascii=False)
    assert text.encode()
    assert "\ufffd" in text


def test_images_are_dropped_with_a_note_or_moved_behind_the_results() -> None:
    image = ImagePart(media_type="image/png", data="QUJD")
    history = [
        user("look", images=(image,)),
        said(CallPart(id="c", name="shot")),
        Message(role="tool", parts=(ResultPart(call_id="c", text="", images=(image, image)),)),
    ]
    blind = body(history)
    assert "QUJD" not in json.dumps(blind)
    assert "1 image(s) left out" in blind[0]["content"]
    assert "2 image(s) left out" in blind[2]["content"]
    seeing = body(history, images=True)
    assert seeing[0]["content"][1]["image_url"]["url"] == "data:image/png;base64,QUJD"
    assert [m["role"] for m in seeing] == ["user", "assistant", "tool", "user"]
    assert sum("image_url" in p for p in seeing[3]["content"]) == 2


def test_nothing_empty_is_sent() -> None:
    history = [
        user(""),
        said(TextPart(text=" \n")),
        said(ReasoningPart(text="hm")),
        user("x"),
        said(CallPart(id="c", name="b")),
        results(("c", "")),
    ]
    sent = body(history)
    assert [m["role"] for m in sent] == ["user", "user", "assistant", "tool"]
    assert all(m["content"] or m.get("tool_calls") for m in sent)


def test_a_model_without_tools_is_told_in_words() -> None:
    sent = body(ROUND, tools=False)
    assert "tool_calls" not in json.dumps(sent)
    assert '{"name": "bash", "arguments": {"command": "ls"}}' in sent[1]["content"]
    assert sent[2]["role"] == "user"
    assert "out" in sent[2]["content"]
