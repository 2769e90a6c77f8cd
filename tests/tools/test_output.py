"""Bounded output and clean terminal text."""

from __future__ import annotations

import time
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.tools.output import ROW, bound, clean_terminal, rows


def test_what_fits_stays() -> None:
    assert bound("a\nb\n", 100).text() == "a\nb\n"
    assert not bound("中" * 10, 30).cut


def test_head_and_tail_at_line_ends_with_a_line_that_counts() -> None:
    text = "".join(f"line {i}\n" for i in range(1, 1001))
    shown = bound(text, 1000)
    out = shown.text("a7")
    assert len(out.encode()) <= 1000
    head, _, tail = out.partition("[... ")
    assert head.endswith("\n")
    assert out.startswith("line 1\nline 2\n")
    assert out.endswith("\nline 1000\n")
    first = head.count("\n") + 1
    assert shown.first == first
    assert shown.lines == 1000 - head.count("\n") - tail.partition("\n")[2].count("\n")
    assert f"{shown.lines:,} lines ({shown.size:,} bytes)" in out
    assert f"recall id=a7 offset={first}" in out
    assert "recall" not in shown.text()


def test_a_line_without_end_is_cut_between_characters() -> None:
    for text in ("中" * 5000, "e\u0301" * 5000, "👩\u200d💻" * 3000):
        shown = bound(text, 1000)
        assert shown.inside
        assert len(shown.text("a1").encode()) <= 1000
        assert text.startswith(shown.head)
        assert text.endswith(shown.tail)
        assert shown.tail[0] == text[0]  # no mark, joiner or half character at the beginning


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text(st.characters(), max_size=30), max_size=60).map("\n".join)
    | st.text(st.sampled_from("ab\n中é\u0301\ud800\U0001f600"), max_size=900),
    st.integers(400, 900),
)
def test_bounds_hold_for_any_text(text: str, limit: int) -> None:
    shown = bound(text, limit)
    out = shown.text("a123")
    out.encode()  # no lone surrogate is left
    assert len(out.encode()) <= limit
    clean = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert len(shown.head.encode()) + shown.size + len(shown.tail.encode()) == len(clean.encode())
    assert clean.startswith(shown.head)
    assert clean.endswith(shown.tail)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("long line\rshort\n", "shortline\n"),
        ("\x1b[1;31mred\x1b[0m \x1b[38;5;12mblue\x1b[m", "red blue"),
        ("abc\b\bXY", "aXY"),
        ("one\ntwo\n\x1b[2A\x1b[2KONE\n\x1b[2KTWO\n", "ONE\nTWO\n"),
        ("wait...\r\x1b[Kok\n", "ok\n"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never closed\nkept", "\nkept"),
        ("\x1b[?25l\x1b[?2004hshown\x1b[?25h", "shown"),
        ("a\x00b\x07c\x7fd\x9be", "abcd"),
        ("tab\tstays", "tab\tstays"),
        ("\x1b(Bascii\x1b=", "ascii"),
        ("x\x1b[5Cy", "x     y"),
        ("abcdef\x1b[3Dxy", "abcxyf"),
        ("中文进度 1\r中文进度 2\n", "中文进度 2\n"),
        ("\x1b[999999999A\x1b[999999999Ctop", " top"),
        ("cut off \x1b[", "cut off "),
    ],
)
def test_terminals(raw: str, shown: str) -> None:
    assert clean_terminal(raw) == shown


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab\n\r\b\x1b[;0123456789ABCDKJGm]\x07\\中"), max_size=60))
def test_any_bytes_come_out_clean(text: str) -> None:
    clean = clean_terminal(text)
    assert not set(clean) & {"\x1b", "\r", "\b", "\x07"}
    assert clean_terminal(clean) == clean


def test_a_hundred_thousand_progress_lines_are_quick() -> None:
    raw = "".join(f"\r{i}% of it" for i in range(100_000)) + "\x1b[31m\n" * 1000
    started = time.process_time()
    assert clean_terminal(raw).startswith("99999% of it\n")
    assert time.process_time() - started < 5


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "é", "汉", "\U0001f600", ""]), st.integers(0, 3 * ROW)), max_size=4))
def test_rows_are_the_lines_and_long_ones_in_whole_characters(parts: list[tuple[str, int]]) -> None:
    lines = [sign * count for sign, count in parts]
    found = [row.decode() for row in rows(BytesIO("".join(f"{line}\n" for line in lines).encode()))]
    assert all(len(row.encode()) <= ROW for row in found)
    assert "".join(found) == "".join(lines)
    assert len(found) == sum(max(1, len(list(rows(BytesIO(line.encode()))))) for line in lines)
    assert list(rows(BytesIO(b"a\r\n\nb"))) == [b"a", b"", b"b"]


@pytest.mark.parametrize("text", ["x" * 50_000, "汉字" * 9000, "ab\n" * 100 + "y" * 60_000 + "\nend\n" * 300])
def test_the_row_that_is_named_is_where_the_gap_begins(text: str) -> None:
    shown = bound(text, 20_000)
    found = [row.decode() for row in rows(BytesIO(text.encode()))]
    missing = text[len(shown.head) :][:50]
    assert missing.split("\n")[0] in "".join(found[shown.first - 1 : shown.first + 1])
