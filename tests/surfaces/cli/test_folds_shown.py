"""A fold of the context, in a terminal and without one."""

from __future__ import annotations

import pytest

from gongfu.core import events as ev
from gongfu.core.told import FoldReason
from gongfu.surfaces.cli.render.history import History
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style

from .events import answer, entry, turn_end

FOLD = ev.EpochOpened(epoch=1, reason="high", before=81_000, after=48_000, rung=2)
SAID = "· context folded: 81.0k → 48.0k tokens (the context was nearly full)\n"


def lines(language: str = "en", *, color: bool = False) -> Lines:
    return Lines(style=Style(color=color), speech=Speech(language=language))  # type: ignore[arg-type]


def test_it_is_one_line_on_standard_error() -> None:
    written = Plain(lines()).feed(entry(FOLD))
    assert (written.out, written.err) == ("", SAID)
    assert Plain(lines(), quiet=True).feed(entry(FOLD)).err == ""


def test_it_is_one_dim_line_in_a_terminal_and_the_rest_goes_on() -> None:
    terminal = Terminal(lines(color=True))
    assert terminal.feed(entry(FOLD), 80) == f"\x1b[2m{SAID.strip()}\x1b[0m\n"
    assert Terminal(lines(), quiet=True).feed(entry(FOLD), 80) == ""
    terminal.feed(entry(ev.TextDelta(text="Done.")), 80)
    assert "Done." in terminal.feed(entry(answer("Done.")), 80)


def test_it_stands_at_its_place_in_the_history() -> None:
    entries = [entry(answer("Before.")), entry(FOLD), entry(answer("After.")), entry(turn_end("After."))]
    text = "".join(History(lines(), lambda text: text).blocks(entries))
    assert text.index("Before.") < text.index(SAID) < text.index("After.")


@pytest.mark.parametrize("reason", FoldReason.__args__)
def test_every_reason_has_words_in_both_languages(reason: str) -> None:
    for language in ("en", "zh"):
        said = lines(language).note(ev.EpochOpened(epoch=1, reason=reason))  # type: ignore[arg-type]
        assert "xray" not in said
        assert said.isascii() is False


def test_a_reason_of_a_newer_version_is_shown_as_it_is() -> None:
    assert lines().note(ev.EpochOpened(epoch=1, reason="moon")).endswith("0 → 0 tokens (moon)")  # type: ignore[arg-type]
