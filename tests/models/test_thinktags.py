"""Thinking between tags is the same for every split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.models.thinktags import ThinkSplitter

PIECES = [
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "\n",
    "\r\n",
    " ",
    "hm",
    "<",
    "</",
    "answer",
    "功夫",
    "<thinking>",
    "`",
]


def run(pieces: list[str]) -> list[tuple[bool, str]]:
    splitter = ThinkSplitter()
    out: list[tuple[bool, str]] = []
    for thinking, text in [f for p in pieces for f in splitter.feed(p)] + splitter.flush():
        if out and out[-1][0] == thinking:
            out[-1] = (thinking, out[-1][1] + text)
        elif text:
            out.append((thinking, text))
    return out


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.integers(0, 60))
def test_the_split_changes_nothing(text: str, cut: int) -> None:
    whole = run([text])
    assert run(list(text)) == whole
    assert run([text[:cut], text[cut:]]) == whole


@pytest.mark.parametrize(
    "pieces", [["<think>\nhm</think>ok"], ["<think>", "\nhm</think>ok"], ["<think>", "\n", "hm", "</think>", "ok"]]
)
def test_the_line_break_behind_the_tag_is_no_thought(pieces: list[str]) -> None:
    assert run(pieces) == [(True, "hm"), (False, "ok")]
