"""The input by itself, typed at through a pipe."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from prompt_toolkit.application import Application, create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout import Layout, walk
from prompt_toolkit.output import DummyOutput

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.talk.editor import Editor
from gongfu.surfaces.cli.talk.face import Typed
from gongfu.surfaces.cli.talk.more_keys import more_keys

PASTE = "\x1b[200~{}\x1b[201~"


def a_cli(language: str = "en", **env: str) -> Cli:
    """A command line that shows nothing."""
    cli = Cli([], {"TERM": "xterm", **env}, stdin=None, stdout=io.StringIO(), stderr=io.StringIO())
    cli.speak("zh" if language == "zh" else "en")
    return cli


class _Output(DummyOutput):
    columns, rows = 80, 24

    def get_size(self) -> Size:
        return Size(rows=self.rows, columns=self.columns)


class Typist:
    """Types at an editor. `sent` holds what was sent."""

    def __init__(self, app: Application[None], editor: Editor, keys: Any, sent: list[Typed]) -> None:
        self.app, self.editor, self._keys, self.sent = app, editor, keys, sent

    async def type(self, *keys: str) -> None:
        """Press keys and wait until they were taken in; each string by itself."""
        for one in keys:
            self._keys.send_text(one)
            await self.settle()

    async def paste(self, text: str) -> None:
        await self.type(PASTE.format(text))

    async def settle(self) -> None:
        """Until the keys are taken in and nothing is under way any more."""
        with anyio.fail_after(10):
            for _ in range(3):
                await anyio.sleep(0)
            while self.app.key_processor.input_queue or self.app._background_tasks or self.app.key_processor.key_buffer:
                await anyio.sleep(0.001)
            await anyio.sleep(0)

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(10):
            while not true():
                await anyio.sleep(0.002)

    @property
    def text(self) -> str:
        return self.editor.text

    @property
    def screen(self) -> str:
        """What is drawn."""
        drawn = self.app.renderer._last_screen
        assert drawn is not None
        rows = [drawn.data_buffer[y] for y in range(drawn.height)]
        return "\n".join("".join(row[x].char for x in range(_Output.columns)).rstrip() for row in rows)

    @property
    def hint(self) -> str:
        return self.editor._hint_words()


@asynccontextmanager
async def typing(cli: Cli | None = None, **options: Any) -> AsyncGenerator[Typist]:
    """An editor in an application of its own."""
    sent: list[Typed] = []
    editor = Editor(cli or a_cli(), sent.append, **options)
    with create_pipe_input() as keys, create_app_session(input=keys, output=_Output()):
        app: Application[None] = Application(
            layout=Layout(editor.container, focused_element=editor.window), input=more_keys(keys), output=_Output(),
            terminal_size_polling_interval=None,
        )  # fmt: skip
        app.ttimeoutlen = app.timeoutlen = 0.01
        assert editor.window in set(walk(app.layout.container))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(app.run_async)
            typist = Typist(app, editor, keys, sent)
            await typist.until(lambda: app.is_running)
            try:
                yield typist
            finally:
                app.exit()
