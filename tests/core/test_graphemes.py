"""Texts are cut between characters as people see them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.graphemes import after, before, cut

WHOLE = ["é", "👨‍👩‍👧", "👍🏽", "🇩🇪", "각", "한", "❤️", "क्ष", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "中", "a"]


@pytest.mark.parametrize("char", WHOLE)
def test_a_character_is_kept_whole_or_left_out(char: str) -> None:
    text = "xy" + char + "z"
    cuts = {cut(text, n) for n in range(2, len(text) + 1)}
    assert cuts == {"xy", "xy" + char, text}


def test_flags_are_cut_in_pairs() -> None:
    assert cut("🇩🇪🇫🇷🇮🇹", 5) == "🇩🇪🇫🇷"
    assert cut("🇩🇪🇫🇷🇮🇹", 3) == "🇩🇪"


def test_a_character_longer_than_the_limit_is_cut_inside() -> None:
    assert cut("e" + "\u0301" * 50, 10) == "e" + "\u0301" * 9


@given(st.lists(st.sampled_from(WHOLE), max_size=20), st.integers(0, 60))
def test_never_longer_and_always_a_beginning_of_whole_characters(chars: list[str], limit: int) -> None:
    text, kept = "".join(chars), ""
    for char in chars:
        if len(kept) + len(char) > limit:
            break
        kept += char
    got = cut(text, limit)
    assert got == kept or (not kept and got == text[:limit])


@given(st.lists(st.sampled_from(WHOLE), max_size=20))
def test_ways_there_and_back_stop_at_the_same_places(chars: list[str]) -> None:
    text = "".join(chars)
    there, at = [0], 0
    while at < len(text):
        at = after(text, at)
        there.append(at)
    back = [at]
    while at:
        at = before(text, at)
        back.append(at)
    assert back[::-1] == there
    assert all(cut(text, place) == text[:place] for place in there)
    assert after(text, len(text)) == len(text)
    assert before(text, 0) == 0
