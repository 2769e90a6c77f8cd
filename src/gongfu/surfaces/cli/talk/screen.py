"""The face on a terminal that can be drawn on: finished lines above, then what is alive, the input, and the status."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import run_in_terminal
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import (
    DynamicKeyBindings,
    KeyBindings,
    KeyBindingsBase,
    KeyPressEvent,
    merge_key_bindings,
)
from prompt_toolkit.layout import DynamicContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.containers import AnyContainer, ConditionalContainer
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.styles import Style as Looks

from gongfu.core.base import Base
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.style import harmless
from gongfu.surfaces.cli.talk.editor import Editor
from gongfu.surfaces.cli.talk.face import Pick, Picked
from gongfu.surfaces.cli.talk.more_keys import more_keys
from gongfu.surfaces.cli.talk.pen import Pen, takes_escapes

if TYPE_CHECKING:
    from gongfu.core.events import QuestionAsked

T = TypeVar("T")

LATE = 0.5  # seconds after a dialogue in which an Enter still belongs to it
FRAME = 0.05  # seconds between two frames of what is alive
PULSE = 0.1  # further seconds where nothing but the time has changed
_SETTLE = 0.08  # seconds without a further change of size after which the screen is drawn anew
_ROOMY = 30  # rows of a screen on which what is alive need not give way to a dialogue
_KEPT = 400  # finished lines that are drawn again after a change of size


class Stage(Base, frozen=True):
    """Something that takes the place of the input: what is drawn, where the keys go, and what they do."""

    container: Any
    focus: Any
    keys: KeyBindingsBase


class Shown(Base, frozen=True):
    """What is alive: painted lines for `columns` and `rows` as they are at `now` (seconds since 1970).

    `living` stands above the input and is cut to a third of the screen, `status` below it. `moving` says whether either
    changes by itself.
    """

    living: Callable[[float, int, int], Sequence[str]]
    status: Callable[[float, int], Sequence[str]]
    moving: Callable[[], bool]


class _App(Application[None]):
    """A change of size is told to the screen: lines above are drawn anew, too."""

    resized: Callable[[], None] | None = None

    def _on_resize(self) -> None:
        if self.resized is not None:
            self.resized()


class Screen:
    """A face that is drawn. `keys` are those of the conversation; the editor has its own."""

    drawn = True

    def __init__(self, cli: Cli, shown: Shown, editor: Editor, keys: KeyBindingsBase) -> None:
        self.cli = cli
        self.editor = editor
        self._shown = shown
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._finished: list[str] = []
        self._stage: Stage | None = None
        self._one = anyio.Lock()  # one dialogue at a time
        self._news = anyio.Event()
        self._dirty = True
        self._resized_at = 0.0
        self._alive: tuple[str, ...] = ()
        self._status: tuple[str, ...] = ()
        self.output = self._make_output()
        editing = Condition(lambda: self._stage is None)
        self.app = _App(
            layout=Layout(self._layout(editing), focused_element=editor.window),
            key_bindings=merge_key_bindings(
                [
                    DynamicKeyBindings(self._stage_keys),
                    _when(keys, editing),
                    _when(self._late_enter(), editing),
                ]
            ),
            output=self.output,
            input=more_keys(create_input(cli.stdin)),
            full_screen=False,
            mouse_support=False,
            style=LOOKS if cli.out_style.color else None,
            color_depth=None if cli.out_style.color else ColorDepth.DEPTH_1_BIT,
            terminal_size_polling_interval=None,
            before_render=self._before_render,
            erase_when_done=True,
        )
        self.app.ttimeoutlen = 0.05  # an Esc by itself is one after so many seconds
        self.app.timeoutlen = 0.2
        self.app.resized = self._on_resize
        self.typed_at = self._left_at = -math.inf  # when a key went to the input, and when a dialogue was left
        self._was_late = False
        self.app.key_processor.after_key_press += self._key_pressed

    # --- what is drawn ---

    def _make_output(self) -> Output:
        term = self.cli.env.get("TERM", "")
        if takes_escapes():
            stream = sys.__stdout__ or sys.stdout
            return Pen(stream, self.cli.size(), term=term)
        return create_output(sys.__stdout__)

    def _layout(self, editing: Condition) -> HSplit:
        living = FormattedTextControl(lambda: ANSI("\n".join(self._alive)), focusable=False)
        status = FormattedTextControl(lambda: ANSI("\n".join(self._status)), focusable=False)
        rule = FormattedTextControl(lambda: [("class:rule", "─" * self.size[0])])
        return HSplit([
            Window(living, height=lambda: len(self._alive), dont_extend_height=True),
            ConditionalContainer(Window(rule, height=1), editing),
            DynamicContainer(self._middle),
            Window(status, height=lambda: len(self._status), dont_extend_height=True),
            Window(),  # takes what is left after something above has become shorter
        ])  # fmt: skip

    def _middle(self) -> AnyContainer:
        return self.editor.container if self._stage is None else self._stage.container

    def _stage_keys(self) -> KeyBindingsBase | None:
        return None if self._stage is None else self._stage.keys

    def _before_render(self, _: Any) -> None:
        columns, rows = self.size
        now = time.time()
        most = max(1, rows // 3 if self._stage is None or rows >= _ROOMY else 2)
        self._alive = tuple(map(harmless, self._shown.living(now, columns, rows)))[-most:]
        self._status = tuple(map(harmless, self._shown.status(now, columns)))

    # --- Face ---

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows that are drawn for."""
        size = self.output.get_size()
        return size.columns, size.rows

    def show(self, text: str) -> None:
        """Finished lines; they are written with the next frame."""
        if text:
            self._finished.append(harmless(text.rstrip("\n")))
            self.wake()

    def wake(self) -> None:
        """Draw a frame soon."""
        self._dirty = True
        self._news.set()

    async def pick(self, pick: Pick) -> Picked | None:
        """A list that is chosen from with arrows, keys or words."""
        from gongfu.surfaces.cli.talk.dialogs import picking  # loads when something is asked

        return await picking(self, pick)

    async def ask(self, label: str, *, secret: bool = False, default: str = "") -> str | None:
        """A line of its own in the place of the input."""
        from gongfu.surfaces.cli.talk.dialogs import asking

        return await asking(self, label, secret=secret, default=default)

    async def answer(self, question: QuestionAsked) -> str:
        """The dialogue of a permission or a question."""
        from gongfu.surfaces.cli.talk.questions import answering

        return await answering(self, question)

    async def read(self, title: str, lines: Sequence[str]) -> None:
        """Shown above; the terminal scrolls."""
        self.show("\n".join(([title] if title else []) + list(lines)))

    async def outside(self, work: Callable[[], T]) -> T:
        """See `Face.outside`."""
        self.flush()
        self._drain()
        return await run_in_terminal(work, in_executor=True)

    def put(self, text: str) -> None:
        """Lay text into the input."""
        self.editor.put(text)
        self.wake()

    def clear(self) -> None:
        """An empty screen; what was above can still be scrolled to."""
        self._lines.clear()
        self._repaint()

    def bell(self) -> None:
        """Ring."""
        self.output.bell()

    def leave(self) -> None:
        """End `run`."""
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    # --- dialogues ---

    @contextmanager
    def staged(self, stage: Stage) -> Generator[None]:
        """Show `stage` in the place of the input while this block runs."""
        before, focus = self._stage, self.app.layout.current_window
        self._stage = stage
        self.app.layout.focus(stage.focus)
        self.app.invalidate()
        try:
            yield
        finally:
            self._stage = before
            self.app.layout.focus(focus if before is not None else self.editor.window)
            self._left_at = anyio.current_time()
            self._refit()

    def _late_enter(self) -> KeyBindings:
        """An Enter right behind a dialogue was meant for that, or is held down: it does not send what is typed."""
        keys = KeyBindings()

        def late() -> bool:
            return self.typed_at < self._left_at and anyio.current_time() - self._left_at < LATE

        @keys.add("enter", eager=True, filter=Condition(late))
        def _(event: KeyPressEvent) -> None:
            del event
            self._left_at, self._was_late = anyio.current_time(), True

        return keys

    def _key_pressed(self, _: object) -> None:
        """Notice when something was typed into the input."""
        if self._stage is None and not self._was_late:
            self.typed_at = anyio.current_time()
        self._was_late = False

    @property
    def one(self) -> anyio.Lock:
        """Held by the dialogue that is shown."""
        return self._one

    # --- life ---

    async def run(self) -> None:
        """Draw and take keys until `leave`, or until the terminal has gone."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._frames)
            try:
                await self.app.run_async(handle_sigint=False, set_exception_handler=False)
            except EOFError:  # the terminal has gone
                pass
            finally:
                tasks.cancel_scope.cancel()
                self._drain()

    async def _frames(self) -> None:
        while True:
            if not (self._dirty or self._resized_at):  # nothing is drawn, and nobody woken, while nothing happens
                self._news = anyio.Event()
                with anyio.move_on_after(PULSE if self._shown.moving() else None):
                    await self._news.wait()
            await anyio.sleep(FRAME)
            if self._resized_at:
                if anyio.current_time() - self._resized_at >= _SETTLE:
                    self._resized_at = 0.0
                    self._repaint()
                continue
            if not self._dirty and not self._shown.moving():
                continue
            if isinstance(self.output, Pen) and self.output.busy:
                continue
            self.flush()

    def flush(self) -> None:
        """Write what is finished, and what is alive below it, in one piece."""
        if not self.app.is_running or self._resized_at or self.app.renderer.waiting_for_cpr:
            return
        same, self._dirty = not self._dirty, False
        finished, self._finished = self._finished, []
        if not finished:
            before = (self._alive, self._status)
            self._before_render(None)
            if not same or before != (self._alive, self._status):
                self.app.invalidate()
            return
        text = "\n".join(finished)
        self._lines.extend(text.split("\n"))
        with self._together():
            self.app.renderer.erase()
            self.output.write_raw(text.replace("\n", "\r\n") + "\r\n")
            self._render()

    def _refit(self) -> None:
        """Draw from the top of what is alive: it has become shorter."""
        if self.app.is_running and not self._resized_at:
            with self._together():
                self.app.renderer.erase()
                self._render()

    def _render(self) -> None:
        self._before_render(None)
        self.app.render_counter += 1  # what was laid out for the frame before is not used again
        self.app.renderer.render(self.app, self.app.layout)

    def _on_resize(self) -> None:
        self._resized_at = anyio.current_time()
        self._news.set()

    def _repaint(self) -> None:
        """The visible screen anew for its size: the last finished lines, and what is alive below them."""
        if isinstance(self.output, Pen):
            self.output.columns, self.output.rows = self.cli.size()
        if not self.app.is_running:
            return
        columns, rows = self.size
        finished, self._finished = self._finished, []
        for text in finished:
            self._lines.extend(text.split("\n"))
        with self._together():
            self.app.renderer.reset()
            self.output.reset_attributes()
            self.output.enable_autowrap()
            self.output.erase_screen()
            self.output.cursor_goto(1, 1)
            shown = _tail(self._lines, columns, rows)
            if shown:
                self.output.write_raw("\r\n".join(shown) + "\r\n")
            self._render()

    @contextmanager
    def _together(self) -> Generator[None]:
        if isinstance(self.output, Pen):
            with self.output.together():
                yield
        else:
            yield

    def _drain(self) -> None:
        if isinstance(self.output, Pen):
            self.output.drain()


LOOKS = Looks.from_dict({
    "rule": "ansibrightblack",
    "prompt": "ansicyan bold",
    "placeholder": "ansibrightblack",
    "dim": "ansibrightblack",
    "marked": "ansicyan bold",
})  # fmt: skip


def _when(keys: KeyBindingsBase, condition: Condition) -> KeyBindingsBase:
    from prompt_toolkit.key_binding import ConditionalKeyBindings

    return ConditionalKeyBindings(keys, condition)


def _tail(lines: Sequence[str], columns: int, rows: int) -> list[str]:
    """The last lines that fill `rows` when each is wrapped at `columns`."""
    from gongfu.surfaces.cli.render.painted import cells  # only after a change of size

    left, shown = rows, list[str]()
    for line in reversed(lines):
        left -= max(1, -(-cells(line) // max(1, columns)))
        if left < 0:
            break
        shown.append(line)
    return shown[::-1]
