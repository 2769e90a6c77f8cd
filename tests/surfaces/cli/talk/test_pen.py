"""What a terminal of another encoding is given: the same cells, and signs that can be told apart."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from unicodedata import category

import pytest

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.talk.pen import Line, encoded, speed_of
from gongfu.surfaces.cli.width import width

GOLDENS = Path(__file__).parent / "goldens"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gb18030", "cp437", "utf-8"])
def test_cells_stay_what_they_were(encoding: str) -> None:
    for text in ("─── › ● 完成 → … ✓", "é 中文", "e\u0301", "🙂│", "plain"):
        given = encoded(text, encoding).decode(encoding)
        assert width(given) == width(text), (text, given)
        assert all(char in given for char in text if char < "\x7f")


def test_every_sign_that_is_drawn_has_a_plain_one() -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in GOLDENS.iterdir())
    signs = {c for c in shown if c > "\x7f" and width(c) == 1 and category(c)[0] in "SP" and not "⠀" <= c <= "⣿"}
    assert {"─", "›", "·"} <= signs
    assert [sign for sign in sorted(signs) if encoded(sign, "ascii") == b"?"] == []


@pytest.mark.parametrize(("encoding", "language"), [("ascii", "en"), ("latin-1", "en"), ("gbk", "zh"), ("utf-8", "zh")])
def test_chinese_is_spoken_where_it_can_be_shown(encoding: str, language: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    cli = Cli(["--lang", "zh"], {"LANG": "zh_CN"}, stdin=None, stdout=out, stderr=None)
    assert cli.say.language == language
    cli.speak("zh")
    assert cli.say.language == language


@pytest.mark.parametrize(("rate", "slow"), [(240, True), (960, True), (10_000, True), (1_000_000, False)])
def test_a_slow_line_is_not_given_more_than_it_takes(rate: float, slow: bool) -> None:
    """A device with a buffer: frames of 150 bytes, twenty a second, whenever the line is not held to be full."""
    line, now, held, most = Line(), 0.0, 0.0, 0.0
    frames = 0
    while now < 120:
        if line.full(now):
            now += 0.05
            held = max(0.0, held - 0.05 * rate)
            continue
        wait = max(0.0, (held + 600 - 4096) / rate)
        line.wrote(600, now, now + wait)
        held = max(0.0, held - wait * rate) + 600
        now += wait + 0.05
        held = max(0.0, held - 0.05 * rate)
        frames += 1
        most = max(most, held) if now > 60 else most
    assert frames > (20 if slow else 1_000)
    assert most <= (2_000 if slow and rate < 5_000 else 4_096)  # what a key waits behind


def test_a_stopped_terminal_is_not_taken_for_a_slow_one() -> None:
    line = Line()
    line.wrote(300, 10.0, 95.0)  # Ctrl-S, Ctrl-Q
    assert not line.full(95.0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_a_serial_line_says_how_fast_it_is() -> None:
    import os
    import termios

    main, device = os.openpty()
    with os.fdopen(main, "rb"), os.fdopen(device, "w", encoding="utf-8") as stream:
        assert speed_of(stream) == 0.0
        told = termios.tcgetattr(device)
        told[4] = told[5] = termios.B2400
        termios.tcsetattr(device, termios.TCSANOW, told)
        assert speed_of(stream) == 240.0
    assert speed_of(io.StringIO()) == 0.0
    line = Line(240.0)
    line.wrote(480, 0.0, 0.0)
    assert line.full(2.0)
    assert not line.full(3.0)
