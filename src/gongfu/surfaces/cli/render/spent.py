"""What was asked beside a turn, by purpose."""

from __future__ import annotations

from collections.abc import Mapping

from gongfu.core import events as ev
from gongfu.engine.state import UsageLine

MAIN = "main"


class Spent:
    """Adds up the answers that are not the turn's own."""

    def __init__(self) -> None:
        self._lines: dict[str, UsageLine] = {}

    def follow(self, event: ev.AnyEvent) -> None:
        """Take in an event."""
        if isinstance(event, ev.AnswerReceived) and event.purpose != MAIN:
            line = self._lines.get(event.purpose, UsageLine())
            self._lines[event.purpose] = line.plus(event.usage, event.cost)

    def take(self) -> Mapping[str, UsageLine]:
        """What there was since the last time."""
        taken, self._lines = self._lines, {}
        return taken
