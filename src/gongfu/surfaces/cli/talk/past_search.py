"""Ctrl-R: words that are looked for in what was typed before, in a line of their own below the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Window
from prompt_toolkit.layout.containers import ConditionalContainer

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.talk.edit_keys import does
from gongfu.surfaces.cli.talk.past_lines import PastLine, PastLines
from gongfu.surfaces.cli.talk.pasting import cleaned


class Search:
    """Shows what is found through `show`, and gives the draft back with `restore` when the person turns away.

    `leave` puts the keys back where they were.
    """

    def __init__(
        self,
        cli: Cli,
        past: PastLines,
        *,
        show: Callable[[PastLine], None],
        restore: Callable[[Document], None],
        leave: Callable[[], None],
    ) -> None:
        self._cli = cli
        self._past = past
        self._show, self._restore, self._leave = show, restore, leave
        self._draft = Document()
        self._found: Sequence[PastLine] = ()
        self._at = 0
        self.buffer = Buffer(multiline=False, on_text_changed=lambda _: self._changed())
        self.keys = KeyBindings()
        self.window = Window(
            BufferControl(self.buffer, key_bindings=self.keys),
            height=1,
            get_line_prefix=self._prefix,
        )
        self.active = has_focus(self.window)
        self.container = ConditionalContainer(self.window, self.active)
        self._bind()

    def _bind(self) -> None:
        add = self.keys.add
        for key in ("c-r", "up"):
            add(key)(does(lambda: self._step(1)))
        for key in ("c-s", "down"):
            add(key)(does(lambda: self._step(-1)))
        for key in ("enter", "tab"):
            add(key)(does(self._leave))
        add("escape", eager=True)(does(self._back))
        for key in ("c-c", "c-g"):
            add(key)(does(self._back))
        add("c-d")(does(self.buffer.delete))  # it would leave the conversation
        add("?")(does(lambda: self.buffer.insert_text("?")))  # it would show the keys

        @add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            self.buffer.insert_text(" ".join(cleaned(event.data).split()))

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        del line, wrapped
        return [("class:placeholder", self._cli.say("talk_edit.search"))]

    @property
    def state(self) -> str:
        """Which of how many is shown, in words."""
        if not self.buffer.text.strip():
            return self._cli.say("talk_edit.search_keys")
        if not self._found:
            return self._cli.say("talk_edit.search_none")
        return f"{self._at + 1}/{len(self._found)} · {self._cli.say('talk_edit.search_keys')}"

    def begin(self, draft: Document) -> None:
        """Take the keys; `draft` is what is given back."""
        self._draft, self._found, self._at = draft, (), 0
        self.buffer.reset()
        get_app().layout.focus(self.window)

    def refresh(self) -> None:
        """Look again: more has been read."""
        if self.active() and self.buffer.text.strip():
            self._changed()

    def _changed(self) -> None:
        self._at = 0
        words = self.buffer.text
        self._found = self._past.matching(words) if words.strip() else ()
        if self._found:
            self._show(self._found[0])
        else:
            self._restore(self._draft)

    def _step(self, by: int) -> None:
        if self._found:
            self._at = min(max(0, self._at + by), len(self._found) - 1)
            self._show(self._found[self._at])

    def _back(self) -> None:
        self._restore(self._draft)
        self._leave()
