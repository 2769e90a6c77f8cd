"""Events out of bytes, whatever the line ends and wherever the bytes are split."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.errors import StreamCut
from gongfu.models.sse import ServerEvent, SSEDecoder


def decode(*pieces: bytes) -> list[ServerEvent]:
    decoder = SSEDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.flush()


MIXED = (
    "\ufeffevent: start\r\ndata: héllo 中文 🀄\r\ndata:second\r\n\r\n: a comment\n\ndata:  two spaces\n\n"
    "id: 7\rdata: y\rretry: 10\r\revent: nothing\n\ndata\n\ndata: [DONE]"
).encode()
EVENTS = [
    ServerEvent(event="start", data="héllo 中文 🀄\nsecond"),
    ServerEvent(data=" two spaces"),
    ServerEvent(data="y", id="7"),
    ServerEvent(data=""),
    ServerEvent(data="[DONE]"),
]


def test_one_stream_of_everything() -> None:
    assert decode(MIXED) == EVENTS


def test_split_at_every_two_positions() -> None:
    for i in range(len(MIXED) + 1):
        for j in range(i, len(MIXED) + 1, 7):
            assert decode(MIXED[:i], MIXED[i:j], MIXED[j:]) == EVENTS, (i, j)
    assert decode(*[MIXED[n : n + 1] for n in range(len(MIXED))]) == EVENTS


def test_a_line_is_not_held_back_for_a_newline_that_may_follow() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: x\r\r") == [ServerEvent(data="x")]
    assert decoder.feed(b"\ndata: y\n\n") == [ServerEvent(data="y")]


def test_bare_json_is_an_event() -> None:
    assert decode(b'data: a\n\n{"error": 1}\ndata: b\n\n') == [
        ServerEvent(data="a"),
        ServerEvent(data='{"error": 1}'),
        ServerEvent(data="b"),
    ]


def test_broken_utf8_does_not_stop_the_stream() -> None:
    assert decode(b"data: a\xff\xe4b\n\n") == [ServerEvent(data="a\ufffd\ufffdb")]


@pytest.mark.parametrize("size", [1, 4096, 10_000])
def test_an_endless_event_is_a_fault(size: int) -> None:
    with pytest.raises(StreamCut, match="10000"):
        feed_all(b"x" * size, 20_000 // size + 1)
    with pytest.raises(StreamCut):
        feed_all(b"data: " + b"y" * 1_000 + b"\n", 20)
    feed_all(b"data: " + b"z" * 5_000 + b"\n\n", 100)


def feed_all(piece: bytes, times: int) -> None:
    decoder = SSEDecoder(limit=10_000)
    for _ in range(times):
        decoder.feed(piece)


def test_the_time_is_linear_in_the_bytes() -> None:
    def seconds(size: int) -> float:
        decoder, piece = SSEDecoder(), b"x" * 16
        started = time.process_time()
        decoder.feed(b"data: ")
        for _ in range(size // 16):
            decoder.feed(piece)
        assert len(decoder.flush()[0].data) == size
        return time.process_time() - started

    small = min(seconds(1 << 18) for _ in range(3))
    assert min(seconds(1 << 21) for _ in range(3)) < 8 * small * 3 + 0.05


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=20), max_size=8), st.data())
def test_what_is_written_is_read(lines: list[str], data: st.DataObject) -> None:
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert [event.data for event in decode(*pieces)] == lines
