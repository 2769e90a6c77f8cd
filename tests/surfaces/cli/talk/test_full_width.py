"""What people type with an input method counts as what they mean."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gongfu.core.events import QuestionAsked
from gongfu.plugins.mentions import unfinished
from gongfu.surfaces.cli.answers import decided, said
from gongfu.surfaces.cli.talk.face import Option, Pick, Picked
from gongfu.surfaces.cli.talk.full_width import halved
from gongfu.surfaces.cli.talk.keys import Keys
from gongfu.surfaces.cli.talk.plain import _chosen

from .typing import typing

MEANT = {
    "／help": "/help", "、help": "/help", "／": "/", "、": "/", "！ls -l": "!ls -l", "！": "!", "／？": "/?",
    "/model　qwen　x": "/model qwen　x", "／model　": "/model ",
    "！重要": "！重要", "、再说": "、再说", "看／help": "看／help", "": "", "/": "/", "/usr/lib　x": "/usr/lib　x",
    "／ x": "／ x",
}  # fmt: skip


@pytest.mark.parametrize("typed", MEANT)
def test_marks_at_the_start(typed: str) -> None:
    assert halved(typed) == MEANT[typed]


@pytest.mark.anyio
async def test_the_input_takes_them_key_by_key_and_at_once() -> None:
    async with typing() as typist:
        for typed, meant in (("／help", "/help"), ("、model　x", "/model x"), ("！ls", "!ls"), ("看看！", "看看！")):
            await typist.type(*typed, "\r")
            await typist.paste(typed)
            await typist.type("\r")
            assert [one.text for one in typist.sent[-2:]] == [meant, meant]
        await typist.type("重要", "\x01", "！", "\r")  # in front of words it is a mark like any other
        assert typist.sent[-1].text == "！重要"


@pytest.mark.parametrize("before", ["看看＠src", "＠src", "a ＠src"])
def test_a_mention(before: str) -> None:
    found = unfinished(before)
    assert found is not None
    assert (found.path, before[found.start]) == ("src", "＠")


def test_an_address_is_no_mention() -> None:
    assert unfinished("me＠src") is None


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("ｙ", "allow"),
        ("Ｎ　不要", "deny: 不要"),
        ("ｓ　１，２", "session:1,2"),
        ("是", "allow"),
        ("否，太危险", "deny: 太危险"),
        ("好，但是", ""),
    ],
)
def test_an_answer_to_a_permission(line: str, answer: str) -> None:
    assert decided(line, ("session",), 3) == answer


def test_numbers_and_letters_of_a_list() -> None:
    question = QuestionAsked(question="q", about="question", text="?", options=("a", "b"))
    assert said(question, "２") == "b"
    pick = Pick(title="?", options=(Option(value="one", label="One"), Option(value="two", label="Two", key="t")))
    for text in ("ｔ", "Ｔ", "２", "ｔｗ", "TWO"):
        assert _chosen(pick, text) == Picked(value="two"), text


def test_the_key_for_the_keys() -> None:
    keys = Keys(cast("Any", SimpleNamespace()))
    assert {"?", "？"} <= {key for binding in keys.bindings.bindings for key in binding.keys}
