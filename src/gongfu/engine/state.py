"""What is known of a session, as a projection of its events."""

from __future__ import annotations

from typing import Any, Literal

from gongfu.context.receipt import Lineage
from gongfu.context.state import ContextState
from gongfu.core.base import Base
from gongfu.core.events import (
    AgentFinished,
    AgentStarted,
    AnswerReceived,
    AnyEvent,
    BatchLabelled,
    EpochOpened,
    HistoryRepaired,
    MessageAdded,
    ModeChanged,
    ModelChosen,
    PromptDropped,
    PromptQueued,
    ReasoningSet,
    RequestFailed,
    RequestSent,
    RulesJoined,
    RulesPinned,
    SessionCreated,
    SessionTitled,
    SummaryFailed,
    SummaryMade,
    TodoChanged,
    TodoItem,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    WindowObserved,
)
from gongfu.core.modes import Bounds, WorkMode
from gongfu.core.specs import Usage
from gongfu.engine.transcript import Transcript

MAIN = "main"
MAY_GO_ON = ("interrupted", "cancelled", "budget", "failed")
"""How a turn may have ended that can go on."""
ONLY_READS, READS_NO_MORE = "reading", "reading-over"
"""The ids of the notes which say that only reading is allowed, and that this is over."""
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

    def since(self, before: UsageLine) -> UsageLine:
        """What has come to this line since it was `before`."""
        spent = {name: getattr(self.usage, name) - getattr(before.usage, name) for name in Usage.__struct_fields__}
        cost = None if self.cost is None or before.cost is None else self.cost - before.cost
        return UsageLine(requests=self.requests - before.requests, usage=Usage(**spent), cost=cost)


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
        self.bounds = Bounds()  # of the newest turn
        self.mode: WorkMode | None = None
        self.reasoning = ""
        self.told_reading: Literal["", "now", "before"] = ""  # "before": a fold may have taken that note away
        self.model = ""  # that the person chose, "" for the usual one
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
        self._sizes: dict[str, tuple[str, int]] = {}
        self.context = ContextState()
        self.at = 0.0  # when the event that is applied happened, in seconds since 1970
        self.answered_at = 0.0
        self.lineage = Lineage()
        self.too_big: dict[str, int] = {}  # the smallest request, as estimated, that a model refused for its length
        self.call_rules: dict[str, str] = {}  # the fingerprint of the rules that the request behind a call carried
        self._rules: dict[str, str] = {}
        self._began = (0.0, UsageLine(), UsageLine())  # the turn: when, and the lines of its purposes before it

    def apply(self, event: AnyEvent) -> None:
        """Take in one event."""
        self.transcript.apply(event)
        match event:
            case ToolStarted(call=call):
                self.started_calls.add(call)
            case ToolFinished(call=call):
                self.started_calls.discard(call)
                self.calls = max(self.calls, _number(call))
                if self.transcript.filled < self.context.view.taken:  # a damaged log: it should have been there before
                    self.context.view.mend(self.transcript.messages)
            case AnswerReceived():
                self._answer(event)
            case RequestSent():
                self._sent(event)
            case RequestFailed(fault="overflow", request=request):
                self._overflowed(request)
            case HistoryRepaired():
                self.context.view.mend(self.transcript.messages)
            case TodoChanged(items=items):
                self.todo = items
            case WindowObserved(model=model, served=served):
                self.served[model] = served
            case _:
                self._course(event)

    def let_go(self, *, loading: bool = False) -> None:
        """After a fold: free the messages of turns that moved away, save what is shown of them."""
        context = self.context
        if not loading and context.moved:
            _ = context.pairs.pairs  # they are made, and hold no messages
        shown = {slot.at for slot in context.view.slots}
        self.transcript.messages.let_go(context.settled(), shown)

    def _course(self, event: AnyEvent) -> None:
        match event:
            case MessageAdded(message=message) if message.kind == "note":
                if message.id in (ONLY_READS, READS_NO_MORE):
                    self.told_reading = "now" if message.id == ONLY_READS else ""
            case PromptQueued(prompt=prompt):
                self.queue[prompt] = event
            case PromptDropped(prompt=prompt):
                self.queue.pop(prompt, None)
            case TurnStarted(prompt=prompt):
                self.turn = event
                self._began = (self.at, *self._lines())
                queued = self.queue.pop(prompt, None)
                if queued is not None and not event.blocked:
                    self.schema = queued.schema
                    self.bounds = queued.bounds or Bounds()
                    self.context.turn_started(len(self.transcript.messages))
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
                self._told(event)

    def _told(self, event: AnyEvent) -> None:
        """What decides what the model is told."""
        match event:
            case EpochOpened():
                self.told_reading = "before" if self.told_reading else ""
                self.context.epoch_opened(event, self.transcript.messages)
            case BatchLabelled():
                self.context.batch_labelled(event)
            case SummaryMade():
                self.context.summary_made(event)
            case SummaryFailed():
                self.context.summary_failed(event)
            case RulesPinned():
                self.context.rules_pinned(event)
            case RulesJoined():
                self.context.rules_joined(event)
            case ModeChanged(overlay=overlay):
                self.mode = overlay
                self.context.remoded = self.lineage.newest is not None
            case ModelChosen(model=model):
                self.model = model
            case ReasoningSet(effort=effort):
                self.reasoning = effort
            case _:
                pass

    def _sent(self, event: RequestSent) -> None:
        self.lineage.apply(event)
        if event.purpose != MAIN:
            return
        self.requests += 1
        self._sizes[event.request] = (event.model, event.raw or event.estimate)
        self._rules = {event.request: event.rules}
        self.context.told_rules = event.rules
        self.context.delivered.update(item.id for item in event.included if item.id.startswith("rule:"))

    def _overflowed(self, request: str) -> None:
        """The model's own count was larger than ours: from here on q is 1.15 times what it was."""
        model, size = self._sizes.get(request, ("", 0))
        if size:
            before = max(1.0, *self.ratios.get(model, ()), 1.0)
            self.too_big[model] = min(self.too_big.get(model, size), size)
            self._calibrate(model, min(2.0, before * 1.15))

    @property
    def open_agents(self) -> list[AgentStarted]:
        """Sub-agents whose end is not recorded."""
        return [started for agent, started in self.agents.items() if agent not in self.reports]

    def _answer(self, event: AnswerReceived) -> None:
        self.calls = max(self.calls, *(_number(c.id) for c in event.message.calls), 0)
        if event.purpose == MAIN:
            self._last = event
            self.answered_at = self.at
            pinned = self.context.pinned
            asked = pinned.fingerprint if pinned is not None else ""  # what no request was sent for (a small model's
            if rules := self._rules.get(event.request, asked):  # first look) goes under the rules that hold
                self.call_rules.update((call.id, rules) for call in event.message.calls)
        line = self.usage.get(event.purpose, UsageLine())
        self.usage[event.purpose] = line.plus(event.usage, event.cost)
        _, size = self._sizes.pop(event.request, ("", 0))
        if size > self.too_big.get(event.model, size):  # what was refused for its length was so for another reason
            del self.too_big[event.model]
        if size and event.usage.input:
            self._calibrate(event.model, event.usage.input / size)

    def _calibrate(self, model: str, ratio: float) -> None:
        ratios = self.ratios.setdefault(model, [])
        ratios.append(ratio)
        del ratios[:-5]

    def _lines(self) -> tuple[UsageLine, UsageLine]:
        return self.usage.get(MAIN, UsageLine()), self.usage.get(SUB_AGENT, UsageLine())

    def spent(self) -> tuple[UsageLine, UsageLine, float]:
        """Of the newest turn so far: its own requests that were answered, those of sub-agents, and when it began."""
        (began, *before), now = self._began, self._lines()
        own, below = (line.since(old) for line, old in zip(now, before, strict=True))
        return own, below, began

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
        return self.finished is not None and self.finished.status in MAY_GO_ON
