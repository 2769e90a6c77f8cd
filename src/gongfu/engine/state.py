"""What is known of a session, as a projection of its events."""

from __future__ import annotations

from typing import Any

from gongfu.core.base import Base
from gongfu.core.events import (
    AgentFinished,
    AgentStarted,
    AnswerReceived,
    AnyEvent,
    MessageAdded,
    PromptDropped,
    PromptQueued,
    RequestSent,
    SessionCreated,
    SessionTitled,
    TodoChanged,
    TodoItem,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    WindowObserved,
)
from gongfu.core.specs import Usage
from gongfu.engine.transcript import Transcript

SUB_AGENT = "sub-agent"
"""The purpose under which the requests of sub-agents are counted; each has its receipt in its own session."""


class UsageLine(Base, frozen=True):
    """What one purpose has cost so far. `cost` is US dollars, None once a request had no known price."""

    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0

    def plus(self, usage: Usage, cost: float | None, *, requests: int = 1) -> UsageLine:
        """This line with one more request, or several."""
        total = None if cost is None or self.cost is None else self.cost + cost
        return UsageLine(requests=self.requests + requests, usage=self.usage + usage, cost=total)


def _number(call: str) -> int:
    """The number in an id such as "c12"; 0 for other ids."""
    return int(call[1:]) if call[:1] == "c" and call[1:].isdecimal() else 0


class SessionState:
    """Everything that survives a restart. Changed only by `apply`."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.created: SessionCreated | None = None
        self.title = ""
        self.todo: tuple[TodoItem, ...] = ()
        self.queue: dict[str, PromptQueued] = {}
        self.schema: dict[str, Any] | None = None
        self.turn: TurnStarted | None = None
        self.finished: TurnFinished | None = None
        self.started_calls: set[str] = set()
        self.usage: dict[str, UsageLine] = {}
        self.agents: dict[str, AgentStarted] = {}
        self.reports: dict[str, AgentFinished] = {}
        self.served: dict[str, int] = {}
        self.ratios: dict[str, list[float]] = {}
        self.calls = 0  # the highest number of a call so far: ids stay unique also after a loss
        self.requests = 0
        self._last: AnswerReceived | None = None
        self._estimates: dict[str, int] = {}

    def apply(self, event: AnyEvent) -> None:
        """Take in one event."""
        self.transcript.apply(event)
        match event:
            case ToolStarted(call=call):
                self.started_calls.add(call)
            case ToolFinished(call=call):
                self.started_calls.discard(call)
                self.calls = max(self.calls, _number(call))
            case AnswerReceived():
                self._answer(event)
            case RequestSent(purpose="main", request=request, estimate=estimate):
                self.requests += 1
                self._estimates[request] = estimate
            case TodoChanged(items=items):
                self.todo = items
            case WindowObserved(model=model, served=served):
                self.served[model] = served
            case _:
                self._course(event)

    def _course(self, event: AnyEvent) -> None:
        match event:
            case PromptQueued(prompt=prompt):
                self.queue[prompt] = event
            case PromptDropped(prompt=prompt):
                self.queue.pop(prompt, None)
            case TurnStarted(prompt=prompt):
                self.turn = event
                queued = self.queue.pop(prompt, None)
                if queued is not None:
                    self.schema = queued.schema
                    self.transcript.apply(MessageAdded(message=queued.message))
            case TurnFinished():
                self.turn = None
                self.finished = event
            case SessionCreated():
                self.created = event
            case SessionTitled(title=title):
                self.title = title
            case AgentStarted(agent=agent):
                self.agents[agent] = event
            case AgentFinished(agent=agent):
                self.reports[agent] = event
                line = self.usage.get(SUB_AGENT, UsageLine())
                self.usage[SUB_AGENT] = line.plus(event.usage, event.cost, requests=event.requests)
            case _:
                pass

    @property
    def open_agents(self) -> list[AgentStarted]:
        """Sub-agents whose end is not recorded."""
        return [started for agent, started in self.agents.items() if agent not in self.reports]

    def _answer(self, event: AnswerReceived) -> None:
        self.calls = max(self.calls, *(_number(c.id) for c in event.message.calls), 0)
        if event.purpose == "main":
            self._last = event
        line = self.usage.get(event.purpose, UsageLine())
        self.usage[event.purpose] = line.plus(event.usage, event.cost)
        estimate = self._estimates.pop(event.request, 0)
        if estimate and event.usage.input:
            ratios = self.ratios.setdefault(event.model, [])
            ratios.append(event.usage.input / estimate)
            del ratios[:-5]

    def last_words(self) -> str:
        """The text of a whole answer without calls that nothing has followed; "" when there is none."""
        messages, last = self.transcript.messages, self._last
        if last is None or last.cut or last.finish != "stop" or last.message.calls:
            return ""
        return last.message.text if messages and messages[-1] is last.message else ""

    def interrupted(self) -> bool:
        """Whether a turn began and never ended (the program was killed), or ended so that it may go on."""
        if self.turn is not None:
            return True
        return self.finished is not None and self.finished.status in ("interrupted", "cancelled", "budget", "failed")
