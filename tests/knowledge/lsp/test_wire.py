"""Frames and positions: whatever pieces they come in, whatever characters there are."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.knowledge.lsp.wire import BadFrame, Framer, frame, from_units, from_uri, to_units, to_uri

UNITS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(
    st.lists(st.dictionaries(st.text(), st.text()), max_size=5), st.lists(st.integers(1, 50), min_size=1, max_size=20)
)
def test_messages_come_whole_in_any_pieces(messages, sizes):
    data = b"".join(map(frame, messages))
    framer, found, at, turn = Framer(), [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        found += framer.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert found == messages


def test_printed_lines_and_bodies_that_are_no_objects_are_passed_over():
    framer = Framer()
    data = b"hello\nworld\n" + frame({"a": 1}) + b"Content-Length: 3\r\n\r\n{x}" + b"Content-Length: 2\r\n\r\n[]"
    data += b"Content-Type: x\r\ncontent-length:10\r\nX: y\r\n\r\n" + msgspec.json.encode({"b": "cd"})
    assert list(framer.feed(data)) == [{"a": 1}, {"b": "cd"}]


@pytest.mark.parametrize(
    "data",
    [b"Content-Length: 99999999999\r\n\r\n", b"x" * 400_000, b"Content-Length: 5\r\n" + b"A: b\r\n" * 2000],
)
def test_what_is_no_server_is_given_up(data):
    framer = Framer()
    pieces = (message for at in range(0, len(data), 5000) for message in framer.feed(data[at : at + 5000]))
    with pytest.raises(BadFrame):
        list(pieces)


@given(st.text(st.characters(exclude_characters="\r\n")), st.data(), UNITS)
def test_columns_go_there_and_back(line, data, unit):
    column = data.draw(st.integers(0, len(line)))
    assert from_units(line, to_units(line, column, unit), unit) == column


def test_columns_by_hand():
    line = 'x = "😀你"; f()'
    assert to_units(line, line.index("f"), "utf-16") == 11
    assert to_units(line, line.index("f"), "utf-8") == 15
    assert from_units(line, 11, "utf-16") == 10
    assert from_units(line, 6, "utf-16") == 5  # in the middle of the emoji: its begin
    assert from_units(line, 10**9, "utf-16") == len(line)


@pytest.mark.parametrize("name", ["a b.py", "中文/文件.rs", "100%#?.c", "a+b&c.go"])
def test_names_of_files_go_there_and_back(name):
    path = Path("/work") / name
    assert from_uri(to_uri(path)) == path
    assert " " not in to_uri(path)


def test_other_addresses_name_no_file():
    assert [from_uri(u) for u in ("http://x/y", "jdt://contents/a", "file:///a%00b", "file://[", "", "untitled:1")] == [
        None
    ] * 6
