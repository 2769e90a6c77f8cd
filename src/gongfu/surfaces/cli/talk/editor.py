"""The place where a person types: many lines, history, pasted pieces and pictures."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, Dimension, Window
from prompt_toolkit.layout.containers import AnyContainer

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.talk.face import Typed


class Editor:
    """Takes what is typed and hands it to `submit`. `completer` offers what may follow."""

    def __init__(self, cli: Cli, submit: Callable[[Typed], None], completer: Completer | None = None) -> None:
        self._cli = cli
        self._submit = submit
        self.buffer = Buffer(multiline=True, completer=completer, complete_while_typing=completer is not None)
        self.keys = KeyBindings()
        self.window = Window(
            BufferControl(self.buffer, key_bindings=self.keys),
            height=Dimension(min=1, max=10),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=lambda line, wrapped: [("class:prompt", "  " if line or wrapped else "› ")],
        )
        self.container: AnyContainer = self.window
        self.keys.add("enter")(self._enter)

    @property
    def text(self) -> str:
        """What is typed so far."""
        return self.buffer.text

    def put(self, text: str) -> None:
        """Replace what is typed; the cursor is behind it."""
        self.buffer.text = text
        self.buffer.cursor_position = len(text)

    def clear(self) -> None:
        """Nothing is typed any more."""
        self.buffer.reset()

    def _enter(self, event: KeyPressEvent) -> None:
        del event
        text = self.buffer.text
        if text.strip():
            self.buffer.append_to_history()
            self.clear()
            self._submit(Typed(text=text, shown=text))
