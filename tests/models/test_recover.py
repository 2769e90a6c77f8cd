"""The filter of written calls: the same for every split, and nothing is lost."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gongfu.models import recover
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


MANY = "<tool_call>```<tool_call><tool_call><tool_call>```json\n" + ONE


@given(
    TEXTS,
    st.lists(st.integers(0, 200), max_size=12),
    st.sampled_from(["markers", "fenced"]),
    st.sampled_from([100_000, 0, 300, 1000]),
)
@example(MANY, [54], "fenced", 100_000)
@example(MANY.removeprefix("<tool_call>"), [], "fenced", 100_000)
@example("<|python_tag|>" + ONE + "<|eot_id|> <|eom_id|>", [], "markers", 100_000)
@example("<tool_call>ReadFile</tool_call> <tool_call>" + ONE, [14], "markers", 100_000)
@example("```" + "x" * 60 + "\n" + ONE + "\n```", [], "fenced", 100_000)
@settings(max_examples=100, deadline=None)
def test_the_split_changes_nothing(text: str, cuts: list[int], style: Style, cost: int) -> None:
    """Nor where a flood begins, which a small `cost` makes of nearly every text."""
    with patch.object(recover, "_COST", cost):
        whole = run(text, [], style)
        assert run(text, cuts, style) == whole
        assert run(text, list(range(len(text))), style) == whole


@pytest.mark.soak
@given(
    TEXTS,
    st.lists(st.integers(0, 200), max_size=12),
    st.sampled_from(["markers", "fenced"]),
    st.sampled_from([100_000, 0, 300, 1000]),
)
@settings(max_examples=400, deadline=None)
def test_the_split_changes_nothing_at_length(text: str, cuts: list[int], style: Style, cost: int) -> None:
    test_the_split_changes_nothing.hypothesis.inner_test(text, cuts, style, cost)


@given(TEXTS, st.sampled_from(["markers", "fenced"]))
@settings(max_examples=100, deadline=None)
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


@pytest.mark.soak
@given(TEXTS, st.sampled_from(["markers", "fenced"]))
@settings(max_examples=400, deadline=None)
def test_nothing_is_lost_at_length(text: str, style: Style) -> None:
    test_nothing_is_lost.hypothesis.inner_test(text, style)


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


FLOODS = [
    "<tool_call>",
    "<tool_call></tool_call>",
    f"<tool_call>{ONE[:-3]}</tool_call>",
    f"<tool_call>{ONE.replace('bash', 'rm')}</tool_call>",
    f"<tool_call>{ONE}",
    "[TOOL_CALLS]a{",
    "<function=",
    '<invoke name="',
    "<arg_key>",
    "</tool_call>",
    "<",
    "[",
    "{",
    "`",
    "```json\n{",
    "<think>",
    "word ",
    "x",
    " ",
    '\\"</tool_call>',
]


def seconds(text: str, style: Style, size: int) -> float:
    sieve = MarkerFilter(("bash",), style)
    begun = time.process_time()
    for at in range(0, len(text), size):
        sieve.feed(text[at : at + size])
    sieve.flush()
    return time.process_time() - begun


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("head", ["", '<tool_call>{"a": "'])
@pytest.mark.parametrize(("style", "size"), [("markers", 1 << 20), ("fenced", 8)])
def test_a_flood_takes_time_in_proportion(flood: str, head: str, style: Style, size: int) -> None:
    """Twice the text may not take four times the work, be it in one piece or in many."""
    short, long = (head + flood * (length // len(flood)) for length in (20_000, 40_000))

    took = seconds(long, style, size)
    if took < 0.1:
        return  # then it is, whatever half of it takes
    half = min(seconds(short, style, size) for _ in range(2))
    for _ in range(2):  # another process may slow down any one of them
        if took < 4 * half + 0.1:
            break
        took = min(took, seconds(long, style, size))
    assert took < 4 * half + 0.1


@pytest.mark.parametrize("closer", ["</function>", "</parameter>\n</function> x"])
def test_a_long_value_may_hold_its_own_closers(closer: str) -> None:
    value = f"a {closer} b\n" * 100 + "x" * 100_000
    call = f"<function=bash>\n<parameter=command>\n{value}\n</parameter>\n</function>"
    found = [f for f in run(call, list(range(0, len(call), 50)), "markers") if isinstance(f, Found)]
    assert [f.name for f in found] == ["bash"]


def test_a_call_behind_many_closers_in_its_own_text_is_read() -> None:
    """A file about markers may be written: what stands inside of a string is no closer, however often."""
    text = "</tool_call> <tool_call> \\n" * 5000
    call = f'<tool_call>{{"name": "bash", "arguments": {{"command": "{text}"}}}}</tool_call>'
    (found,) = run(f"{call}", list(range(0, len(call), 7)), "markers")
    assert isinstance(found, Found)
    assert found.source == call
    assert isinstance(found.arguments, dict)
    assert found.arguments["command"].count("</tool_call>") == 5000


def test_a_call_that_was_not_closed_is_found_behind_a_few_openers() -> None:
    filtered = MarkerFilter(("shell",))
    text = "<tool_call> is a marker.\n" * 3 + '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}'
    pieces = [*filtered.feed(text), *filtered.flush()]
    assert [p.name for p in pieces if not isinstance(p, str)] == ["shell"]
