"""Keys of the conversation that are no editing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.utils import suspend_to_background_supported

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.screen import Screen
    from gongfu.surfaces.cli.talk.talk import Talk

_TWICE = 1.5  # seconds in which a second press counts as one of two


class Keys:
    """Binds them. `screen` is set once it is there."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.screen: Screen
        self._pressed: dict[str, float] = {}
        self.bindings = KeyBindings()
        add = self.bindings.add
        add("c-c")(self._ctrl_c)
        add("c-d")(self._ctrl_d)
        add("escape", eager=False)(self._escape)
        add("s-tab")(self._permission)
        add("c-l")(self._clear)
        add("c-z", filter=Condition(suspend_to_background_supported))(self._suspend)
        add("c-o")(self._compact)
        add("c-t")(self._todo)
        for mark in "?？":
            add(mark, filter=Condition(lambda: not self.screen.editor.text))(self._help)

    def meet(self, screen: Screen) -> None:
        """The screen is there. The input's own keys go first, so that one of these is laid over them."""
        self.screen = screen
        waits = Condition(lambda: not screen.editor.text and self.talk.ready.is_set() and bool(self.talk.session.queue))
        screen.editor.keys.add("up", filter=waits)(self._take_back)

    def _take_back(self, event: KeyPressEvent) -> None:
        del event

        async def take() -> None:
            from gongfu.surfaces.cli.talk.commands.course import take_back

            text = await take_back(self.talk)
            if text:
                self.screen.put(text)

        self.talk.start(take)

    def _twice(self, key: str) -> bool:
        now = time.monotonic()
        before, self._pressed[key] = self._pressed.get(key, 0.0), now
        return now - before < _TWICE

    def _ctrl_c(self, event: KeyPressEvent) -> None:
        del event
        if self.talk.running:
            self.talk.start(self.talk.interrupt)
        elif self.screen.editor.text:
            self.screen.editor.clear()
        elif self._twice("c-c"):
            self.screen.leave()
        else:
            self.talk.note(self.talk.cli.say("talk.ctrl_c_again"))

    def _ctrl_d(self, event: KeyPressEvent) -> None:
        if not self.screen.editor.text:
            self.screen.leave()
        else:
            event.current_buffer.delete()

    def _escape(self, event: KeyPressEvent) -> None:
        del event
        twice = self._twice("escape")
        if self.talk.running:
            self.talk.start(self.talk.interrupt)
        elif self.screen.editor.text:
            if twice:
                self.screen.editor.clear()
        elif twice:
            self._command("rewind")

    def _command(self, name: str, args: str = "") -> None:
        """Run a command of the conversation, as if it had been typed."""
        from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, run_of  # only for such keys

        self.talk.start(lambda: run_of(name, SLASHES[name])(self.talk, args))

    def _permission(self, event: KeyPressEvent) -> None:
        del event
        if not self.talk.ready.is_set():
            return
        from gongfu.surfaces.cli.talk.commands.choices import cycle  # when the key is first pressed

        cycle(self.talk)

    def _clear(self, event: KeyPressEvent) -> None:
        del event
        self.screen.clear()

    def _suspend(self, event: KeyPressEvent) -> None:
        self.screen.flush()
        event.app.suspend_to_background()

    def _compact(self, event: KeyPressEvent) -> None:
        del event
        if self.talk.ready.is_set():
            self._command("view", "full" if self.talk.view.compact else "compact")

    def _todo(self, event: KeyPressEvent) -> None:
        del event
        if self.talk.ready.is_set():
            self.talk.view.todo_shown = not self.talk.view.todo_shown
            self.screen.wake()

    def _help(self, event: KeyPressEvent) -> None:
        del event
        self._command("keys")
