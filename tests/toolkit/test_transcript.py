"""Output of commands as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.toolkit.transcript import HELD, LiveText, Transcript, decode_output, live_text
from gongfu.tools.output import clean_terminal
from tests.toolkit.kit import Store


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("héllo 你好\n".encode(), "héllo 你好\n"),
        ("你好，世界\n".encode("gbk"), "你好，世界\n"),
        ("caf\xe9 na\xefve\n".encode("latin-1"), "café naïve\n"),
        ("plain\n".encode("utf-16"), "plain\n"),
        ("long enough\r\n".encode("utf-16-le"), "long enough\r\n"),
        ("ok 好\n".encode() + "坏的行\n".encode("gbk"), "ok 好\n坏的行\n"),
        (b"a\n\x00\x01\x02\xff\n\x00\nb\n", "a\n[7 bytes that are no text]\nb\n"),
        ("你好".encode()[:-1], "你\ufffd"),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    assert decode_output(data) == text


@given(st.binary(max_size=300))
def test_anything_decodes(data: bytes) -> None:
    decode_output(data).encode()


@given(st.text(max_size=200).filter(lambda t: "\0" not in t))
def test_utf8_is_kept(text: str) -> None:
    assert decode_output(text.encode("utf-8", "ignore")) == text.encode("utf-8", "ignore").decode()


def test_a_short_output_needs_no_artifact(tmp_path: Path) -> None:
    store = Store(tmp_path)
    transcript = Transcript(store.writer)
    transcript.add(b"one\n")
    transcript.add(b"two\n")
    shown = transcript.show(1000)
    assert (shown.text, shown.lines, shown.artifact, shown.path) == ("one\ntwo\n", 2, "", "")
    assert not (tmp_path / "artifacts").exists()


@pytest.mark.parametrize("size", [3_000, HELD - 10, HELD + 10, 3 * HELD])
@pytest.mark.parametrize("step", [997, 65_536])
def test_a_long_output_is_whole_in_its_artifact(tmp_path: Path, size: int, step: int) -> None:
    data = b"".join(b"line %d\n" % n for n in range(size // 8))
    transcript = Transcript(Store(tmp_path).writer)
    for at in range(0, len(data), step):
        transcript.add(data[at : at + step])
        assert len(transcript._held) <= HELD
    shown = transcript.show(2000)
    assert Path(shown.path).read_bytes() == data
    assert len(shown.text.encode()) <= 2100
    assert shown.text.startswith("line 0\nline 1\n")
    assert shown.text.endswith(data.decode()[-100:])
    assert f"recall id={shown.artifact} " in shown.text


def test_a_progress_bar_of_many_megabytes_hides_nothing(tmp_path: Path) -> None:
    transcript = Transcript(Store(tmp_path).writer)
    transcript.add(b"before\n")
    for n in range(3000):
        transcript.add(b"".join(b"\r%7d%% %s" % (n, b"#" * 900) for _ in range(2)))
    transcript.add(b"\nafter\n")
    assert transcript.total > 5_000_000
    shown = transcript.show(4000)
    assert shown.text == f"before\n   2999% {'#' * 900}\nafter\n"
    assert shown.path


def test_one_line_without_end(tmp_path: Path) -> None:
    transcript = Transcript(Store(tmp_path).writer)
    for _ in range(40):
        transcript.add(b"x" * 65_536)
    shown = transcript.show(3000)
    assert len(shown.text) <= 3100
    assert shown.text.startswith("xxx")
    assert shown.text.endswith("xxx")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m\n", "red\n"),
        ("\x1b]52;c;ZXZpbA==\x07safe", "safe"),
        ("\x1b]0;title\x1b\\safe", "safe"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("1%\r2%\r3%", "\r3%"),
        ("1%\r2%\r3%\nok", "\r3%\nok"),
        ("bell\x07 null\x00 tab\t", "bell null tab\t"),
        ("\x9b31mx", "31mx"),
    ],
)
def test_what_the_person_sees_carries_no_commands_for_the_terminal(text: str, shown: str) -> None:
    assert live_text(text) == shown


@given(st.text(max_size=200))
def test_no_escape_gets_through(text: str) -> None:
    assert not set(live_text(text)) & {chr(n) for n in (*range(9), 11, 12, *range(14, 32), *range(127, 160))}


def test_a_flood_is_shown_from_its_first_line_to_its_last() -> None:
    pieces: list[str] = []
    live = LiveText(pieces.append)
    live.add(b"first\n" + b"x" * 99 + b"\n" + b"filler\n" * 20_000)
    live.add(b"filler\n" * 20_000 + b"last\n")
    live.flush(last=True)
    assert pieces[0].startswith("first\nxxx")
    assert pieces[-1].endswith("filler\nlast\n")
    assert max(map(len, pieces)) <= LiveText.STRETCH
    assert len(pieces) <= 3


@pytest.mark.parametrize("at", range(1, 40))
def test_signs_cut_in_two_are_understood(at: int) -> None:
    data = b"a\x1b[1;31mred\x1b[0m\r\n\x1b]0;title\x07\x1b(B 9%\r10%\r\nend"
    pieces: list[str] = []
    live = LiveText(pieces.append, rate=1e9)
    for piece in (data[:at], data[at:]):
        live.add(piece)
    live.flush(last=True)
    assert clean_terminal("".join(pieces)) == "ared\n10%\nend"
    assert set("".join(pieces)) <= set("ared\n\r 9%10end")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=60), st.integers(1, 7))
def test_a_character_cut_in_two_is_shown_whole(text: str, step: int) -> None:
    pieces: list[str] = []
    live = LiveText(pieces.append, rate=1e9)
    data = text.encode()
    for at in range(0, len(data), step):
        live.add(data[at : at + step])
    live.flush(last=True)
    assert "".join(pieces) == text
