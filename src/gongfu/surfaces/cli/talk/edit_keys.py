"""The keys of the place where a person types. What is not here is as prompt_toolkit has it: the keys of Emacs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyPressEvent
from prompt_toolkit.keys import Keys

from gongfu.core.graphemes import after, before

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.editor import Editor


def bind(editor: Editor) -> None:
    """Give `editor` its keys."""
    _bind_sending(editor)
    _bind_moving(editor)
    _bind_characters(editor)
    add = editor.keys.add

    @add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        editor.paste(event.data)

    for keys in (("c-v",), ("escape", "v")):
        add(*keys)(does(lambda: editor.later(editor.paste_clipboard())))
    for keys in (("c-g",), ("c-x", "c-e")):
        add(*keys)(does(lambda: editor.later(editor.edit())))
    add("c-r")(does(editor.find))
    add("escape", "#")(does(lambda: None))  # would comment out and send


def does(act: Callable[[], object]) -> Callable[[KeyPressEvent], None]:
    """What a key does that needs to know nothing of how it was pressed."""

    def handle(event: KeyPressEvent) -> None:
        del event
        act()

    return handle


def _bind_sending(editor: Editor) -> None:
    add, buffer, menu_open = editor.keys.add, editor.buffer, editor.menu_open

    @add("enter")
    def _(event: KeyPressEvent) -> None:
        del event
        if menu_open():
            editor.accept(send=True)
            return
        typed = buffer.document.text_before_cursor
        if (len(typed) - len(typed.rstrip("\\"))) % 2:
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            editor.send("steer")

    for keys in (("escape", "enter"), ("c-j",)):
        add(*keys)(does(lambda: buffer.newline(copy_margin=False)))

    @add("tab")
    def _(event: KeyPressEvent) -> None:
        del event
        if menu_open():
            editor.accept(send=False)
        elif editor.running():
            editor.send("queue")
        elif buffer.text:
            from gongfu.surfaces.cli.talk.menu import open_menu  # with what it offers: loads when it is asked for

            if not open_menu(buffer):
                buffer.start_completion(insert_common_part=True)

    add("s-tab", filter=menu_open)(does(lambda: editor.mark(-1)))

    @add("escape", filter=menu_open, eager=True)
    def _(event: KeyPressEvent) -> None:
        del event
        buffer.complete_state = None


def _bind_moving(editor: Editor) -> None:
    add = editor.keys.add

    @add("up")
    @add("c-p")
    def _(event: KeyPressEvent) -> None:
        del event
        if editor.menu_open():
            editor.mark(-1)
        elif editor.walking or not editor.rows.move(-1):
            editor.older()

    @add("down")
    @add("c-n")
    def _(event: KeyPressEvent) -> None:
        del event
        if editor.menu_open():
            editor.mark(1)
        elif editor.walking or not editor.rows.move(1):
            editor.newer()

    for key in ("c-up", "pageup"):
        add(key)(does(editor.older))
    for key in ("c-down", "pagedown"):
        add(key)(does(editor.newer))


def _bind_characters(editor: Editor) -> None:
    """What people see as one character moves and goes as one."""
    add, buffer = editor.keys.add, editor.buffer
    typed = Condition(lambda: bool(buffer.text))

    @add("left")
    @add("c-b")
    def _(event: KeyPressEvent) -> None:
        for _ in range(event.arg):
            buffer.cursor_position = before(buffer.text, buffer.cursor_position)

    @add("right")
    @add("c-f")
    def _(event: KeyPressEvent) -> None:
        for _ in range(event.arg):
            buffer.cursor_position = after(buffer.text, buffer.cursor_position)

    def first(event: KeyPressEvent) -> bool:
        return not event.is_repeat

    @add("backspace", save_before=first)
    def _(event: KeyPressEvent) -> None:
        if buffer.selection_state:
            event.app.clipboard.set_data(buffer.cut_selection())
            return
        at = buffer.cursor_position
        buffer.delete_before_cursor(at - before(buffer.text, at))

    @add("delete", save_before=first)
    @add("c-d", filter=typed, save_before=first)
    def _(event: KeyPressEvent) -> None:
        if buffer.selection_state:
            event.app.clipboard.set_data(buffer.cut_selection())
            return
        at = buffer.cursor_position
        buffer.delete(after(buffer.text, at) - at)
