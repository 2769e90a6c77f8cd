"""Calls from their start to their end."""

from __future__ import annotations

from typing import Any

import msgspec

from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.core.messages import CallPart
from gongfu.surfaces.cli.render.lines import Lines


class Running(Base, frozen=True):
    """A call that runs: since when (`time` of its entry) and the end of what it has printed."""

    started: ev.ToolStarted
    since: float
    tail: str = ""


class Calls:
    """Pairs the events of each call. What a person has agreed to was seen then, and is not shown in full again, unless
    what asked is `gone` with the answer.
    """

    def __init__(self, lines: Lines, *, gone: bool = False) -> None:
        self.lines = lines
        self._gone = gone
        self._asked: dict[str, str] = {}
        self._seen: set[str] = set()
        self._said: dict[str, CallPart] = {}
        self.running: dict[str, Running] = {}

    def follow(self, entry: ev.Entry) -> list[str]:
        """Take in an entry; the lines of a call that has ended, else nothing."""
        event = entry.event
        match event:
            case ev.AnswerReceived(purpose="main"):
                self._said = {call.id: call for call in event.message.calls}
            case ev.QuestionAsked() if not event.agent:
                self._asked[event.question] = event.call
            case ev.QuestionAnswered() if event.by == "person":
                self._seen.add(self._asked.pop(event.question, ""))
            case ev.ToolStarted():
                self.running[event.call] = Running(started=event, since=entry.time)
            case ev.ToolOutput() if event.call in self.running:
                run = self.running[event.call]
                tail = (run.tail + event.text)[-4000:]
                self.running[event.call] = Running(started=run.started, since=run.since, tail=tail)
            case ev.ToolFinished():
                return self._end(event, entry.time)
            case ev.TurnStarted():
                self.forget()
            case _:
                pass
        return []

    def forget(self) -> None:
        """A turn begins: nothing of earlier ones is needed any more."""
        self._asked.clear()
        self._seen.clear()
        self._said.clear()
        self.running.clear()

    def _end(self, event: ev.ToolFinished, time: float) -> list[str]:
        run = self.running.pop(event.call, None)
        if run is None:  # it was turned down before it began: what it was about stands in the answer alone
            return self.lines.tool(_unstarted(self._said.get(event.call)), event)
        ran = min(event.seconds, time - run.since) if event.seconds else 0.0  # without the wait for a permission
        body = self._gone or event.call not in self._seen or self.lines.verbose
        return self.lines.tool(run.started, event, seconds=ran, body=body)


def _unstarted(call: CallPart | None) -> ev.ToolStarted | None:
    if call is None:
        return None
    try:
        arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        arguments = {}
    return ev.ToolStarted(call=call.id, name=call.name, arguments=arguments)
