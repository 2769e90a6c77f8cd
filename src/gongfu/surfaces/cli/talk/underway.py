"""Something that a command waits for: a living line while it lasts, which leaves nothing behind."""

from __future__ import annotations

import time

from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.numbers import elapsed
from gongfu.surfaces.cli.render.painted import clipped
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style

_FRAMES, _PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"


class Underway:
    """`text` says what is waited for; with `stops` Esc ends it."""

    def __init__(self, text: str, style: Style, speech: Speech, encoding: str, *, stops: bool) -> None:
        self._text = text
        self._style = style
        self._stops = speech("talk_view.stops") if stops else ""
        self._frames = _FRAMES if encodable(_FRAMES, encoding) == _FRAMES else _PLAIN_FRAMES
        self._began = time.time()

    def living(self, now: float, columns: int) -> list[str]:
        """The line, painted, at most `columns` cells wide."""
        frame = self._frames[int(now * 10) % len(self._frames)]
        facts = " · ".join(filter(None, (self._text, elapsed(now - self._began), self._stops)))
        return [clipped(f"{self._style.cyan(frame)} {self._style.dim(facts)}", columns)]
