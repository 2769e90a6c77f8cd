"""The transcript: what the model has been told and has said, as a projection of the events."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from gongfu.context.pairing import pair
from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    HistoryRepaired,
    MessageAdded,
    PromptQueued,
    SessionCreated,
    ToolFinished,
    TurnStarted,
)
from gongfu.core.messages import CallPart, Message, ResultPart
from gongfu.engine.history import History


class _Group:
    """A tool message that fills up: `at` is its index, `calls` what it must answer, in order."""

    def __init__(self, at: int, calls: tuple[CallPart, ...]) -> None:
        self.at = at
        self.calls = calls
        self.results: dict[str, ResultPart] = {}


class Transcript:
    """Built by applying events in order; messages already there never change, save the one tool message that is open.

    Whatever the order of the log, calls and results come out paired by id: a result joins its group, second results
    and results of no call are ignored (`strays` counts them), words that came while calls ran stand behind the group.
    """

    def __init__(self) -> None:
        self._messages = History()
        self._groups: dict[str, _Group] = {}  # of calls that wait for their result, or whose group does
        self.filled = -1  # the place of the tool message that got a result last
        self._own = ""  # a sub-agent's name; in its own session it is the main agent
        self.strays: list[str] = []

    def apply(self, event: AnyEvent) -> None:
        """Take in one event; those that say nothing to the model are passed over."""
        match event:
            case MessageAdded(message=message):
                self._messages.append(message)
            case AnswerReceived(purpose="main", message=message):
                own = message.agent and message.agent == self._own
                self._answer(replace(message, agent="") if own else message)
            case SessionCreated(brief=brief) if brief is not None:
                self._own = brief.agent
            case ToolFinished(result=result):
                self._result(result)
            case HistoryRepaired(added=added, dropped=dropped):
                for result in added:
                    self._result(result)
                self.strays = [s for s in self.strays if s not in dropped]
            case _:
                pass

    def _answer(self, message: Message) -> None:
        if not message.text and not message.calls:
            return  # an answer of thinking alone is kept in the log; no provider takes it back
        self._messages.append(message)
        if message.calls:
            group = _Group(len(self._messages), message.calls)
            self._groups.update((call.id, group) for call in message.calls)
            self._messages.append(Message(role="tool"))

    def _result(self, result: ResultPart) -> None:
        group = self._groups.get(result.call_id)
        if group is None or result.call_id in group.results:
            self.strays.append(result.call_id)
            return
        group.results[result.call_id] = result
        parts = tuple(group.results[c.id] for c in group.calls if c.id in group.results)
        self._messages.put(group.at, Message(role="tool", parts=parts))
        self.filled = group.at
        if len(parts) == len(group.calls):  # a result that comes now is a stray
            for call in group.calls:
                if self._groups.get(call.id) is group:
                    del self._groups[call.id]

    @property
    def messages(self) -> History:
        """The history in order. Do not change it; with an open call it must not be sent."""
        return self._messages

    @property
    def open_calls(self) -> tuple[CallPart, ...]:
        """Calls without a result, oldest first."""
        groups = {id(g): g for g in self._groups.values()}.values()
        return tuple(c for g in groups for c in g.calls if c.id not in g.results)

    @property
    def newest_calls(self) -> set[str]:
        """Ids of the calls of the newest tool group."""
        newest = next((m for m in reversed(self._messages) if m.calls), None)
        return {c.id for c in newest.calls} if newest else set()

    def mend(self) -> HistoryRepaired | None:
        """What must be recorded so that every call before the newest group has its result; None when all is well.

        Calls of the newest group may still be waiting to run; older ones without a result were lost from the log.
        """
        waiting = self.newest_calls
        if not self.strays and all(c.id in waiting for c in self.open_calls):
            return None
        _, repair = pair(self._messages)
        added = tuple(r for r in repair.added if r.call_id not in waiting)
        dropped = tuple(self.strays)
        return HistoryRepaired(added=added, dropped=dropped) if added or dropped else None


def transcript_of(events: Iterable[AnyEvent]) -> Transcript:
    """The transcript alone, from all events of a session."""
    transcript = Transcript()
    queued: dict[str, Message] = {}
    for event in events:
        transcript.apply(event)
        match event:
            case PromptQueued(prompt=prompt, message=message):
                queued[prompt] = message
            case TurnStarted(prompt=prompt, blocked=False) if prompt in queued:
                transcript.apply(MessageAdded(message=queued.pop(prompt)))
            case _:
                pass
    return transcript


def without_calls(message: Message) -> Message:
    """A partial answer as it may be kept: its text and thinking, no half calls."""
    return replace(message, parts=tuple(p for p in message.parts if not isinstance(p, CallPart)))
