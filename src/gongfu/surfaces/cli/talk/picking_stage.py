"""A choice on the screen: it is drawn in the place of the input, and the keys go to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Always, Condition, Filter
from prompt_toolkit.formatted_text import ANSI, to_formatted_text
from prompt_toolkit.key_binding import ConditionalKeyBindings, KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, UIContent, Window
from prompt_toolkit.layout.controls import GetLinePrefixCallable

from gongfu.surfaces.cli.style import harmless
from gongfu.surfaces.cli.talk.pasting import cleaned
from gongfu.surfaces.cli.talk.picking import Choosing, Chosen, Form
from gongfu.surfaces.cli.talk.picking_draw import Drawing, Drawn

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.screen import Screen, Stage

PATIENCE = 0.35
"""Seconds without a key after which a question that came by itself takes keys."""
CALM = 1.2
"""Seconds without a key after which it takes them where somebody was typing."""
_ALWAYS = Always()
_LETTERS = ("n", "N", "/", "?", Keys.Any)  # the first four search where nothing can be edited, unless they are bound


async def held(
    screen: Screen, form: Form, *, patience: float = 0.0, refit: Callable[[int], Form] | None = None
) -> Chosen | None:
    """Let the person choose; None when they turn away. `refit` makes the same form for another number of columns.

    With `patience` keys go to the input as before until it could be seen for so many seconds, and nothing was typed for
    `CALM` ones.
    """
    asked_at = anyio.current_time()
    async with screen.one:
        dialogue = _Dialogue(screen, form, patience, asked_at, refit)
        with screen.staged(dialogue.stage()):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(dialogue.tick)
                await dialogue.done.wait()
                tasks.cancel_scope.cancel()
    return dialogue.chosen


class _Control(BufferControl):
    """Draws itself for the place that it is given."""

    def __init__(self, buffer: Buffer, dialogue: _Dialogue) -> None:
        super().__init__(buffer)
        self._dialogue = dialogue

    def preferred_height(
        self,
        width: int,
        max_available_height: int,  # noqa: ARG002  (the toolkit's argument)
        wrap_lines: bool,  # noqa: ARG002
        get_line_prefix: GetLinePrefixCallable | None,  # noqa: ARG002
    ) -> int | None:
        """See `Drawing.tall`."""
        return self._dialogue.tall(width)

    def create_content(self, width: int, height: int, preview_search: bool = False) -> UIContent:  # noqa: ARG002
        """The lines for a place of this size."""
        drawn = self._dialogue.draw(width, height)
        lines = [
            [*to_formatted_text(ANSI(harmless(line))), ("", " ")] for line in drawn.lines
        ]  # the cursor may stand behind it
        return UIContent(
            get_line=lambda at: lines[at] if at < len(lines) else [],
            line_count=max(1, len(lines)),
            cursor_position=Point(x=drawn.column, y=max(0, min(drawn.row, len(lines) - 1))),
            show_cursor=drawn.typed,
        )


class _Dialogue:
    def __init__(
        self, screen: Screen, form: Form, patience: float, asked_at: float, refit: Callable[[int], Form] | None
    ) -> None:
        self._screen = screen
        self._refit = refit
        self._columns = screen.size[0]
        self._state = Choosing(form)
        self._patience = patience
        self._until = asked_at + form.seconds if form.seconds else None
        self._seen_at: float | None = None  # when it was drawn first
        self._state.ready = not patience
        self._drawing = Drawing(screen.cli, self._state)
        self.done = anyio.Event()
        self.chosen: Chosen | None = None
        self._buffer = Buffer(
            multiline=False,
            read_only=Condition(lambda: not self._state.typing or not self._state.ready),
            on_text_changed=lambda buffer: self._state.type(buffer.text),
        )
        if form.text:
            self._buffer.set_document(Document(form.text), bypass_readonly=True)

    # --- drawing ---

    def tall(self, columns: int) -> int:
        """Rows that it would like to have."""
        if columns != self._columns and self._refit is not None:
            self._state.form = self._refit(columns)
        self._columns = columns
        self._drawing.draft = self._screen.editor.text if self._patience else ""
        return self._drawing.tall(columns, self._screen.size[1])

    def draw(self, columns: int, height: int) -> Drawn:
        """See `Drawing.draw`."""
        if self._seen_at is None:
            self._seen_at = anyio.current_time()
        self._drawing.cursor = self._buffer.cursor_position
        return self._drawing.draw(columns, height)

    def stage(self) -> Stage:
        """What takes the place of the input."""
        from gongfu.surfaces.cli.talk.screen import Stage  # loads this module when something is asked

        window = Window(_Control(self._buffer, self), dont_extend_height=True, always_hide_cursor=False)
        ready = Condition(lambda: self._state.ready)
        keys = merge_key_bindings([
            ConditionalKeyBindings(self._keys(), ready), ConditionalKeyBindings(self._early_keys(), ~ready),
        ])  # fmt: skip
        return Stage(container=window, focus=window, keys=keys)

    async def tick(self) -> None:
        """Count the time down, and start to take keys."""
        state = self._state
        while True:
            now = anyio.current_time()
            if not state.ready and self._quiet(now):
                state.ready = not getattr(self._screen.output, "busy", False)  # a slow line shows it later
                self._screen.wake()
            if self._until is not None:
                before, state.left = state.left, self._until - now
                if before is None or round(before) != round(state.left):
                    self._screen.wake()
            await anyio.sleep(0.05 if not state.ready else 0.2 if self._until is not None else 3600)

    def _quiet(self, now: float) -> bool:
        """Whether no key can be meant for anything but this."""
        seen = self._seen_at is not None and now - self._seen_at >= self._patience
        return seen and now - self._screen.typed_at >= CALM

    # --- keys ---

    def _finish(self, chosen: Chosen | None) -> None:
        if self.done.is_set():  # further keys of the same moment
            return
        self.chosen = chosen
        self.done.set()

    def _early_keys(self) -> KeyBindings:
        """Keys that were meant for the input: text goes there, and nothing else has an effect."""
        keys = KeyBindings()

        def early(act: Callable[[KeyPressEvent], object]) -> Callable[[KeyPressEvent], None]:
            def handler(event: KeyPressEvent) -> None:
                self._screen.typed_at = anyio.current_time()
                act(event)

            return handler

        editor = self._screen.editor.buffer

        def typed(event: KeyPressEvent) -> None:
            if event.data.isprintable():  # no key that has no letter
                editor.insert_text(event.data, fire_event=False)

        for key in _LETTERS:
            keys.add(key)(early(typed))
        keys.add(Keys.BracketedPaste)(early(lambda event: self._screen.editor.paste(event.data)))
        keys.add("backspace")(early(lambda _: editor.delete_before_cursor()))
        for key in ("enter", "escape", "c-c", "c-d", "up", "down", "left", "right", "tab", "c-j"):
            keys.add(key, eager=key == "escape")(early(lambda _: None))
        return keys

    def _keys(self) -> KeyBindings:
        keys, state = KeyBindings(), self._state
        typing = Condition(lambda: state.typing)

        def add(names: str, act: Callable[[], object], when: Filter = _ALWAYS) -> None:
            def handler(event: KeyPressEvent) -> None:
                del event
                act()

            for name in names.split():
                keys.add(name, filter=when)(handler)

        add("up c-p s-tab", lambda: state.move(-1, round_=True))
        add("down c-n tab", lambda: state.move(1, round_=True))
        add("home", lambda: state.move(-len(state.rows)), ~typing)
        add("end", lambda: state.move(len(state.rows)), ~typing)
        add("pageup", lambda: self._page(-1))
        add("pagedown", lambda: self._page(1))
        add("c-u", lambda: self._page(-1), ~typing)
        add("enter c-j", self._take)
        add("c-c", lambda: self._finish(None))
        add("c-l", self._screen.clear)
        keys.add("c-d")(self._ctrl_d)
        keys.add("escape", eager=~typing)(self._escape)  # where it is typed, Esc may begin a longer key
        keys.add("c-z")(self._suspend)
        for key in _LETTERS:
            keys.add(key, filter=~typing)(self._press)
        keys.add(Keys.BracketedPaste)(self._paste)
        return keys

    @staticmethod
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    def _page(self, by: int) -> None:
        state = self._state
        if state.scrolls:
            state.roll(by * max(1, state.page - 1))
        else:
            state.move(by * max(1, self._screen.size[1] // 3))

    def _ctrl_d(self, event: KeyPressEvent) -> None:
        if self._state.typing and self._buffer.text:
            event.current_buffer.delete()
        elif self._state.scrolls and not self._state.typing:
            self._page(1)
        else:
            self._finish(None)

    def _escape(self, event: KeyPressEvent) -> None:
        del event
        marked = self._state.marked
        if marked is None or marked.kind != "free" or not self._state.leave_typing():
            self._finish(None)

    def _take(self) -> None:
        chosen = self._state.take()
        if chosen is not None:
            self._finish(chosen)

    def _press(self, event: KeyPressEvent) -> None:
        if event.data in ("v", "V") and self._state.scrolls:
            self._screen.show("\n".join(("", *self._state.form.head, *self._state.form.body)))
            return
        chosen = self._state.press(event.data)
        if chosen is not None:
            self._finish(chosen)

    def _paste(self, event: KeyPressEvent) -> None:
        if not self._state.typing:
            return
        text = cleaned(event.data).strip()
        self._buffer.insert_text("".join(text.split()) if self._state.form.secret else " ".join(text.split("\n")))
