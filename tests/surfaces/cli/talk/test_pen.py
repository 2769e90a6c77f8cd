"""What a terminal of another encoding is given: the same cells, and signs that can be told apart."""

from __future__ import annotations

import io
from pathlib import Path
from unicodedata import category

import pytest

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.talk.pen import encoded
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
