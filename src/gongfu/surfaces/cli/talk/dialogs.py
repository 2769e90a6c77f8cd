"""Dialogues in the place of the input: a choice, and a line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from gongfu.surfaces.cli.talk.face import Pick, Picked
from gongfu.surfaces.cli.talk.picking import Form, form_of
from gongfu.surfaces.cli.talk.picking_stage import held

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.screen import Screen


async def picking(screen: Screen, pick: Pick) -> Picked | None:
    """Let the person choose; None when they turn away or the time is over."""
    chosen = None
    with anyio.move_on_after(pick.seconds):
        chosen = await held(screen, form_of(pick, screen.cli.say))
    return None if chosen is None else Picked(value=chosen.value, text=chosen.text)


async def asking(screen: Screen, label: str, *, secret: bool = False, default: str = "") -> str | None:
    """A line that the person types; None when they turn away. A `secret` is not shown."""
    form = Form(free=label.rstrip(" :：>"), text=default, secret=secret, empty="")
    chosen = await held(screen, form)
    return None if chosen is None else chosen.text
