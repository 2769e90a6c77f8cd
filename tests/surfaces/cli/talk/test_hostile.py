"""What models, servers, folders and bad luck may try: nothing steers the terminal, and no key answers by accident."""

from __future__ import annotations

import re
from typing import Any

import anyio
import pytest

from gongfu.core import events as ev
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, harmless, laid_open
from gongfu.surfaces.cli.talk.face import Option, Pick
from gongfu.surfaces.cli.talk.screen import Shown

from .kit import DOWN, ENTER, HOME, drawn, pasted
from .test_dialogs import Asking, permission

pytestmark = pytest.mark.anyio

EVIL = "a\x1b]0;T\x07\x1b[2J\x9b2J\x9d52;c;aa\x9c\x1bPq\x1b\\\x01\x1b[9A\x02\u202ee\u2066\r\b\x7f\u2028\x1b[?2026hz"
_STEERS = re.compile("\x1b(?!\\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]")


async def test_nothing_but_colours_reaches_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with drawn(color=True) as on:
        bad = Shown(
            living=lambda *_: [f"\x1b[31m{EVIL}\x1b[0m"], status=lambda *_: [f"status {EVIL}"], moving=lambda: False
        )
        monkeypatch.setattr(on.screen, "_shown", bad)  # what is alive is as bad
        on.screen.show(f"\x1b[32mgood\x1b[0m {EVIL}\nnext\tline")
        await on.until(lambda: "next" in on.paper.raw)
        assert not _STEERS.search(on.paper.raw.replace("\r\n", "\n")), ascii(on.paper.raw)
        assert "\x1b[32mgood\x1b[0m" in on.paper.raw
        pick = Pick(title=EVIL, lines=(EVIL,), options=(Option(value="x", label=EVIL, detail=EVIL),), free=EVIL)
        one = Asking(on)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.run, lambda: on.screen.pick(pick))
            await on.until(" · ")
            assert not _STEERS.search(on.text), ascii(on.text)
            screen = on.screen.app.renderer.last_rendered_screen
            assert screen is not None
            assert not any(map(bool, screen.zero_width_escapes.values()))
            one.scope.cancel()


@pytest.mark.parametrize(
    "event",
    [
        ev.WindowObserved(model=EVIL, sent=2, served=1),
        ev.ModeChanged(mode=EVIL, by="model"),
        ev.JobChanged(job=EVIL, state="ended", command=EVIL, code=1),
        ev.RequestFailed(request="r", purpose="main", fault=EVIL, detail=EVIL, next_model=EVIL),
        ev.RequestSent(request="r", purpose="main", model=EVIL),
    ],
    ids=lambda event: type(event).__name__,
)
def test_names_of_models_modes_and_jobs_are_cleaned(event: Any) -> None:
    text = Lines(style=Style(), speech=Speech("en"), verbose=True).note(event)
    assert text
    assert not _STEERS.search(text), ascii(text)


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\ufeff", "\u3164", "\u115f", "\xad", "\U000e0041", "\u2028"])
def test_what_cannot_be_seen_is_seen_where_somebody_consents(hidden: str) -> None:
    assert laid_open(f"ls{hidden}x é") == f"ls{ascii(hidden)[1:-1]}x é"


def test_joiners_stay_where_scripts_and_emoji_need_them() -> None:
    for text in ("👨\u200d👩\u200d👧", "❤\ufe0f!", "می\u200cخواهم", "echo 👩\u200d💻 x"):
        assert laid_open(text) == text
    assert laid_open("r\u200dm -rf \u200d/") == "r\\u200dm -rf \\u200d/"
    assert harmless("\x1b[1m你好\x1b[0m ❤\ufe0f") == "\x1b[1m你好\x1b[0m ❤\ufe0f"


# --- keys that are meant for something else ---


async def test_who_pauses_while_typing_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.surfaces.cli.talk.questions.PATIENCE", 0.01)
    monkeypatch.setattr("gongfu.surfaces.cli.talk.picking_stage.CALM", 2.0)
    async with drawn() as on, anyio.create_task_group() as tasks:
        on.press("sa")
        await on.until("› sa")
        one = Asking(on)
        tasks.start_soon(one.run, lambda: on.screen.answer(permission()))
        await on.until("Yes, once")
        seen = anyio.current_time()
        await on.until(lambda: anyio.current_time() - seen > 0.1)  # longer than it takes where nobody types
        await one.press("y", "\x1b[Z", HOME, "\x1bOP", pasted("line\n" * 60))
        assert one.got == []
        assert on.screen.editor.text == "say[pasted #1, 60 lines]"
        await on.until("Enter take")
        await one.press("n")
        assert await one.answer() == "deny"


@pytest.mark.parametrize("withdrawn", [False, True])
async def test_an_enter_behind_a_dialogue_does_not_send_the_draft(withdrawn: bool) -> None:
    async with drawn() as on, anyio.create_task_group() as tasks:
        on.screen.editor.put("half a thou")
        one = Asking(on)
        tasks.start_soon(one.run, lambda: on.screen.pick(Pick(title="Which?", options=(Option(value="x", label="X"),))))
        await on.until("Enter take")
        if withdrawn:
            one.scope.cancel()
        else:
            on.press(ENTER)
        await on.until("› half a thou")
        await one.press(ENTER, ENTER)
        assert on.sent == []
        on.press("ght", ENTER)
        await on.until(lambda: bool(on.sent))
        assert on.sent[0].text == "half a thought"
        on.press(DOWN)
