"""The filter of written calls: the same for every split, and nothing is lost."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.models.markers import PAIRS, STRAY, Found, bare_name
from gongfu.models.recover import MarkerFilter, Style

ONE = json.dumps({"name": "bash", "arguments": {"command": "ls"}})
CLOSERS = [c for closers in PAIRS.values() for c in closers]
PIECES = st.sampled_from(
    [
        *PAIRS, *CLOSERS, *STRAY, ONE, ONE[:-3], "bash", "read", "```", "```json\n", "~~~\n", "\n", "`", " ", "text",
        "<", "[", "{", "}", '"', "[ARGS]", "functions.bash:0", "<|tool_call_argument_begin|>", "<｜tool▁sep｜>",
        "command>", "ls", "name=", "<parameter=command>", "</parameter>", "<arg_key>command</arg_key>",
        "<arg_value>ls</arg_value>", '{"command": "ls"}', "<|message|>", "bash(command='ls')", "é中🙂",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def run(text: str, cuts: list[int], style: Style) -> list[str | Found]:
    """What comes out for a text fed in pieces, neighbouring texts joined."""
    sieve = MarkerFilter(("bash", "read_file"), style)
    out: list[str | Found] = []
    bounds = [0, *sorted({c for c in cuts if 0 < c < len(text)}), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    for found in [f for p in pieces for f in sieve.feed(p)] + sieve.flush():
        if isinstance(found, str) and out and isinstance(out[-1], str):
            out[-1] += found
        else:
            out.append(found)
    return out


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12), st.sampled_from(["markers", "fenced"]))
@settings(max_examples=400, deadline=None)
def test_the_split_changes_nothing(text: str, cuts: list[int], style: Style) -> None:
    whole = run(text, [], style)
    assert run(text, cuts, style) == whole
    assert run(text, list(range(len(text))), style) == whole


@given(TEXTS, st.sampled_from(["markers", "fenced"]))
@settings(max_examples=400, deadline=None)
def test_nothing_is_lost(text: str, style: Style) -> None:
    """What is shown and what became a call is the text again, stray tokens behind a call aside."""
    out = run(text, [3, 7], style)
    rest = text
    stray_allowed = False
    for found in out:
        piece = found if isinstance(found, str) else found.source
        stray_allowed = stray_allowed or isinstance(found, Found)
        while piece:
            if rest.startswith(piece[:1]) and (not stray_allowed or not any(rest.startswith(s) for s in STRAY)):
                rest, piece = rest[1:], piece[1:]
                continue
            stray = next((s for s in STRAY if rest.startswith(s)), "")
            if stray and piece.startswith(stray):
                rest, piece = rest[len(stray) :], piece[len(stray) :]
            else:
                assert stray
                rest = rest[len(stray) :]
    for stray in sorted(STRAY, key=len, reverse=True):
        rest = rest.replace(stray, "")
    assert rest == ""


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_text_without_markers_passes_at_once(text: str) -> None:
    if "<" in text or "[" in text:
        return
    sieve = MarkerFilter(("bash",))
    assert "".join(p for p in sieve.feed(text) if isinstance(p, str)) == text


def test_a_breaking_stream_shows_no_half_marker() -> None:
    for held, kept in (("a <tool_c", "a "), (f"a <tool_call>{ONE[:20]}", "a "), ("a < b", "a < b"), ("a <", "a ")):
        sieve = MarkerFilter(("bash",))
        shown = "".join(p for p in sieve.feed(held) if isinstance(p, str))
        assert shown + sieve.drop_half() == kept


def test_names() -> None:
    for written in (
        "bash",
        " bash\n",
        '"bash"',
        "functions.bash",
        "functions.bash:12",
        "bash<|channel|>commentary",
        "`bash`",
    ):
        assert bare_name(written) == "bash"
    assert bare_name("a:b") == "a:b"


@pytest.mark.parametrize("marker", ["<tool_call>", "<function=", "[TOOL_CALLS]", "<|tool_call_begin|>", "<invoke "])
def test_a_flood_of_openers_is_text_and_takes_no_time(marker: str) -> None:
    """Twice the openers may not take four times the work; before, a few hundred took half a minute."""
    filtered = MarkerFilter(("shell",))
    pieces = [p for _ in range(3000) for p in filtered.feed(marker)] + filtered.flush()
    shown = "".join(p for p in pieces if isinstance(p, str))
    assert not [p for p in pieces if not isinstance(p, str)]
    assert shown == marker * 3000


def test_a_call_that_was_not_closed_is_found_behind_a_few_openers() -> None:
    filtered = MarkerFilter(("shell",))
    text = "<tool_call> is a marker.\n" * 3 + '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}'
    pieces = [*filtered.feed(text), *filtered.flush()]
    assert [p.name for p in pieces if not isinstance(p, str)] == ["shell"]
