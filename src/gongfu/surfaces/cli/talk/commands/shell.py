"""`!command`: the person runs a command by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.talk import Talk


async def by_hand(talk: Talk, command: str) -> None:
    """Run it, show what it prints, and tell the model with the next prompt."""
    talk.note(command)
