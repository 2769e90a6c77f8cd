"""The real screen on a terminal that only remembers: what is drawn can be read, and keys can be pressed."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import DummyOutput, Output

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.painted import bare
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.talk import screen as module
from gongfu.surfaces.cli.talk.editor import Editor
from gongfu.surfaces.cli.talk.face import Typed
from gongfu.surfaces.cli.talk.screen import Screen, Shown

UP, DOWN, LEFT, RIGHT, HOME, END = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F"
PAGE_UP, PAGE_DOWN, ENTER, ESC, BACK = "\x1b[5~", "\x1b[6~", "\r", "\x1b", "\x7f"


def pasted(text: str) -> str:
    """Keys as a terminal sends them for what is pasted."""
    return f"\x1b[200~{text}\x1b[201~"


class Paper(DummyOutput):
    """An output of a size that keeps the finished lines."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.raw = ""
        self.rung = 0

    def get_size(self) -> Size:
        return Size(rows=self.rows, columns=self.columns)

    def get_rows_below_cursor_position(self) -> int:
        return 0

    def write_raw(self, data: str) -> None:
        self.raw += data

    def bell(self) -> None:
        self.rung += 1


class Drawn:
    """A screen under test, with what was sent from its editor."""

    def __init__(self, screen: Screen, paper: Paper, keys: PipeInput, sent: list[Typed]) -> None:
        self.screen = screen
        self.paper = paper
        self.sent = sent
        self._keys = keys
        self._seen: tuple[Any, list[str]] = (None, [])

    def press(self, *keys: str) -> None:
        """Send keys, or text, as a terminal does."""
        self._keys.send_text("".join(keys))

    @property
    def alive(self) -> list[str]:
        """The lines that are alive: a dialogue or the input, and what stands around it."""
        drawn = self.screen.app.renderer.last_rendered_screen
        if drawn is self._seen[0]:
            return self._seen[1]
        self._seen = (drawn, self._rows(drawn) if drawn else [])
        return self._seen[1]

    def _rows(self, drawn: Any) -> list[str]:
        rows = ["".join(drawn.data_buffer[y][x].char for x in range(self.paper.columns)) for y in range(drawn.height)]
        rows = [row.rstrip() for row in rows]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor among the lines that are alive."""
        drawn = self.screen.app.renderer.last_rendered_screen
        assert drawn is not None
        at = drawn.get_cursor_position(self.screen.app.layout.current_window)
        return at.x, at.y

    @property
    def text(self) -> str:
        """The lines that are alive, as one text."""
        return "\n".join(self.alive)

    @property
    def finished(self) -> str:
        """What was written above for good, without colours."""
        return bare(self.paper.raw).replace("\r\n", "\n")

    async def until(self, true: str | Callable[[], bool]) -> None:
        """Wait until words are alive on the screen, or something is so."""
        with anyio.move_on_after(5):
            while not (true in self.text if isinstance(true, str) else true()):
                await anyio.sleep(0.004)
            return
        raise AssertionError(f"{true!r} did not come; the screen:\n{self.text}")


@asynccontextmanager
async def drawn(
    *, columns: int = 80, rows: int = 24, language: str = "en", color: bool = False
) -> AsyncGenerator[Drawn]:
    """A `Screen` that runs, with an empty conversation around it."""
    cli = Cli([], {"TERM": "xterm"}, stdin=None, stdout=io.StringIO(), stderr=io.StringIO())
    cli.out_style = Style(color=color)
    cli.speak("zh" if language == "zh" else "en")
    paper, sent = Paper(columns, rows), list[Typed]()

    class Made(Screen):
        def _make_output(self) -> Output:
            return paper

    with create_pipe_input() as keys:
        made, module.create_input = module.create_input, lambda *_: keys
        try:
            still = Shown(living=lambda *_: (), status=lambda *_: ("status",), moving=lambda: False)
            screen = Made(cli, still, Editor(cli, sent.append), KeyBindings())
        finally:
            module.create_input = made
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(screen.run)
            found = Drawn(screen, paper, keys, sent)
            await found.until("status")
            try:
                yield found
            finally:
                screen.leave()
