"""Labels, titles and summaries hold no secret that stood in the talk, whole or cut short."""

from __future__ import annotations

import json
import re

import pytest

from gongfu.context.labels import plain
from gongfu.context.pairs import Pair
from gongfu.context.shown import without_secrets
from gongfu.context.summary import completed, extract
from gongfu.core.messages import CallPart, ResultPart
from gongfu.core.tokens import text_tokens
from gongfu.engine.labelling import first_title
from tests.core.secret_cases import shapes

SHAPES = [(secret, frame) for _, secret, frame in shapes() if "\n" not in secret]


def shown(secret: str, frame: str, text: str) -> bool:
    """Whether eight characters of the secret are in a text, other than those that stand around it anyway."""
    text = re.sub(r"\[secret[a-z0-9 ]*\]?", "", text)
    body = re.sub(r"-----[A-Z ]+-----|\\n", " " * 8, secret)
    pieces = (body[i : i + 8] for i in range(len(body) - 7))
    return any(piece in text and piece not in frame and " " not in piece for piece in pieces)


@pytest.mark.parametrize("before", ["", "curl -s ", "a longer command that is cut somewhere, "])
def test_a_plain_label_shows_no_secret(before: str) -> None:
    for secret, frame in SHAPES:
        command = before + frame.format(secret)
        call = CallPart(id="c1", name="shell", arguments=json.dumps({"command": command}))
        label = plain([call], {"c1": ResultPart(call_id="c1", text="")}, {"c1": {"code": 0}})
        assert label is not None
        assert not shown(secret, frame, label), (command, label)


def test_the_first_title_shows_no_secret() -> None:
    for secret, frame in SHAPES:
        said = f"Please use {frame.format(secret)}"
        assert not shown(secret, frame, first_title(said)), (said, first_title(said))
    assert first_title("\n  Fix   the parser\nnow") == "Fix the parser"
    assert first_title("x" * 100) == "x" * 59 + "…"


def test_the_extract_of_a_fold_holds_no_secret_and_keeps_its_room() -> None:
    for secret, frame in SHAPES:
        line = " ".join(frame.format(secret).split())
        pairs = [
            Pair(turn=n, user=f"Always use {line} for it.", answer=f"It failed: {line}.", labels=(line,))
            for n in range(3)
        ]
        for room in (200, 900):
            text = extract("", pairs, room=room)
            assert not shown(secret, frame, text), (line, text)
            assert text_tokens(text) <= room
        text = completed(f"## Decisions\n- {line}", f"## Constraints\n- never {line}", pairs, room=900)
        assert not shown(secret, frame, text), (line, text)


def test_words_alone_are_left_as_they_are() -> None:
    assert without_secrets("Fix the parser", 60) == "Fix the parser"
    assert without_secrets("x" * 1000, 60).startswith("x" * 60)
