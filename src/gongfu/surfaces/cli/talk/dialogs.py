"""Dialogues in the place of the input: a choice, and a line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Window

from gongfu.surfaces.cli.talk.face import Pick, Picked

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.screen import Screen


async def picking(screen: Screen, pick: Pick) -> Picked | None:
    """Let the person choose; None when they turn away or the time is over."""
    from gongfu.surfaces.cli.talk.screen import Stage

    done, at, chosen = anyio.Event(), pick.start, list[Picked]()
    keys = KeyBindings()

    def text() -> StyleAndTextTuples:
        rows: StyleAndTextTuples = [("class:title", pick.title + "\n")]
        for number, option in enumerate(pick.options):
            rows.append(("class:marked" if number == at else "", f"{number + 1}. {option.label}  {option.detail}\n"))
        return rows

    @keys.add("up")
    @keys.add("down")
    def _(event: KeyPressEvent) -> None:
        nonlocal at
        at = (at + (1 if event.key_sequence[0].key == "down" else -1)) % len(pick.options)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        del event
        chosen.append(Picked(value=pick.options[at].value))
        done.set()

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        del event
        done.set()

    window = Window(FormattedTextControl(text, focusable=True), dont_extend_height=True)
    async with screen.one:
        with screen.staged(Stage(container=window, focus=window, keys=keys)), anyio.move_on_after(pick.seconds):
            await done.wait()
    return chosen[0] if chosen else None


async def asking(screen: Screen, label: str, *, secret: bool = False, default: str = "") -> str | None:
    """A line that the person types; None when they turn away."""
    from gongfu.surfaces.cli.talk.screen import Stage

    del secret
    done, said = anyio.Event(), list[str]()
    buffer, keys = Buffer(multiline=False), KeyBindings()
    buffer.text = default

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        del event
        said.append(buffer.text)
        done.set()

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        del event
        done.set()

    line = Window(BufferControl(buffer), height=1)
    container = HSplit([Window(FormattedTextControl(label), height=1), line])
    async with screen.one:
        with screen.staged(Stage(container=container, focus=line, keys=keys)):
            await done.wait()
    return said[0] if said else None
