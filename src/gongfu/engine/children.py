"""Sub-agents: child sessions that work for the turn of their parent, on its account and under its permissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import anyio
import msgspec
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.brief import Brief
from gongfu.core.errors import UserError
from gongfu.core.events import AgentEvent, AgentFinished, AgentStarted, AnyEvent, MessageAdded, ToolFinished, TurnStatus
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart
from gongfu.core.specs import Usage
from gongfu.core.words import say
from gongfu.engine.state import SessionState
from gongfu.tools.output import bound

if TYPE_CHECKING:
    from gongfu.engine.prompted import Prompted
    from gongfu.engine.session import Session

DEEPEST = 2
"""How deep sub-agents may start sub-agents: 1 are those of the main agent."""
AT_ONCE = 8
"""Sub-agents of one session that may work in the background at the same time."""
_TASK = 200  # characters of a task in a note


class Report(Base, frozen=True):
    """How a sub-agent ended, and for the model its words with one line counted from its calls."""

    finished: AgentFinished
    text: str

    @property
    def done(self) -> bool:
        """Whether it had the last word itself."""
        return self.finished.status == "done"


class _Child:
    """A sub-agent at work."""

    def __init__(self, session: Session, prompted: Prompted, started: AgentStarted) -> None:
        self.session = session
        self.prompted = prompted
        self.started = started
        self.scope = anyio.CancelScope()
        self.gone = anyio.Event()


class Children:
    """The sub-agents of one session. None outlives the turn that started it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._count = 0
        self._background: dict[str, _Child] = {}

    @property
    def depth(self) -> int:
        """How deep this session stands: 0 is the main agent's."""
        brief = self._session.brief
        return 0 if brief is None else brief.depth

    @property
    def running(self) -> tuple[str, ...]:
        """Names of those that work in the background."""
        return tuple(self._background)

    def name(self) -> str:
        """The next name: "agent-1", and below that "agent-1.1"; unique in the tree of a session."""
        self._count = max(self._count, len(self._session.state.agents)) + 1
        brief = self._session.brief
        return f"agent-{self._count}" if brief is None else f"{brief.agent}.{self._count}"

    async def run(self, brief: Brief, task: str) -> Report:
        """Let a sub-agent work and wait for its report; to cancel this cancels it at once.

        UserError when it could not be started.
        """
        return await self._attend(await self._begin(brief, task))

    async def start(self, brief: Brief, task: str) -> AgentStarted:
        """Let a sub-agent work in the background; its report comes to the turn as a note. UserError as for `run`."""
        child = await self._begin(brief, task)
        self._background[brief.agent] = child
        self._session.inbox.expect()
        self._session.kit.tasks.start_soon(self._watch, child)
        return child.started

    async def stop(self) -> None:
        """End those that work in the background, for their turn ends; their notes are in the inbox then."""
        for child in self._background.values():
            child.scope.cancel()
        for child in list(self._background.values()):
            await child.gone.wait()

    async def _begin(self, brief: Brief, task: str) -> _Child:
        parent = self._session
        spawn = parent.kit.spawn
        if spawn is None:
            raise UserError("engine.no_agents")
        session = await spawn(parent, brief)
        session.serve(parent, brief)
        early: list[AnyEvent] = []
        session.stream.tap = early.append
        try:
            prompted = await session.prompt(task)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await session.close()
            raise
        started = AgentStarted(
            agent=brief.agent,
            session=session.id,
            call=brief.call,
            task=task,
            role=brief.role,
            model=session.model,
            background=brief.background,
        )
        parent.stream.emit(started)
        forward = session.stream.tap = self._forwarder(started)
        for event in early:
            forward(event)
        return _Child(session, prompted, started)

    def _forwarder(self, started: AgentStarted) -> Callable[[AnyEvent], None]:
        """Shows the parent's readers what happens in a child; what a child forwards itself goes on as it is."""
        stream = self._session.stream

        def forward(event: AnyEvent) -> None:
            if not stream.heard:
                return
            if not isinstance(event, AgentEvent):
                event = AgentEvent(agent=started.agent, session=started.session, event=msgspec.to_builtins(event))
            stream.emit(event)

        return forward

    async def _attend(self, child: _Child) -> Report:
        try:
            await child.prompted.result()
        except BaseException:
            await self._finish(child)
            raise
        return await self._finish(child)

    async def _finish(self, child: _Child) -> Report:
        """Close a child's session, at once if it still works, and record its end, whatever else is cancelled."""
        with anyio.CancelScope(shield=True):
            await child.session.close()
        child.session.stream.tap = None
        return self._end(child.started, child.session.state, "cancelled")

    async def _watch(self, child: _Child) -> None:
        started = child.started
        try:
            with child.scope:
                await self._attend(child)
        except UserError:  # its log cannot be written: the parent's will say so
            pass
        finally:
            self._background.pop(started.agent, None)
            self._session.inbox.report(self._note(started, child.session.state))
            child.gone.set()

    def _end(self, started: AgentStarted, state: SessionState, otherwise: TurnStatus) -> Report:
        """Record the end of a sub-agent, as its own log tells it."""
        finished = finish_of(started, state, otherwise)
        self._session.stream.emit(finished)
        return Report(finished=finished, text=told(finished, state))

    def _note(self, started: AgentStarted, state: SessionState) -> Message:
        """The report of an agent in the background, as a note of that sender."""
        finished = self._session.state.reports.get(started.agent) or finish_of(started, state, "failed")
        text, _ = self._bounded(told(finished, state))
        task = " ".join(started.task.split())
        task = task if len(task) <= _TASK else f"{task[: _TASK - 1]}…"
        parts = (TextPart(text=f"[Report of {started.agent}, started in the background: {task}]\n\n{text}"),)
        return Message(role="user", parts=parts, id=new_id("m"), agent=started.agent, kind="note")

    def _bounded(self, text: str) -> tuple[str, str]:
        """A report as long as any result may be, and the artifact that holds all of it when it is longer."""
        kit = self._session.kit
        if len(text.encode("utf-8", "replace")) <= kit.agent.max_tool_output:
            return text, ""
        artifact = kit.artifacts.put(self._session.id, text.encode("utf-8", "surrogatepass"))
        return bound(text, kit.agent.max_tool_output).text(artifact), artifact

    def mend(self, calls: Sequence[CallPart]) -> None:
        """After a kill: record the end of those that worked then, and hand on what they had said.

        Of those in the background as notes, of the others as the results of `calls`, which had begun.
        """
        stream = self._session.stream
        for started in self._session.state.open_agents:
            state = self._state_of(started)
            self._end(started, state, "interrupted")
            if started.background:
                stream.emit(MessageAdded(message=self._note(started, state)))
        agents = {a.call: a for a in self._session.state.agents.values() if not a.background}
        for call in calls:
            if call.id in agents:
                stream.emit(ToolFinished(call=call.id, name=call.name, result=self._result(agents[call.id])))

    def _result(self, started: AgentStarted) -> ResultPart:
        """What the call that started an agent comes to when only the agent's own log can tell."""
        state = self._state_of(started)
        finished = finish_of(started, state, "interrupted")
        text, artifact = self._bounded(told(finished, state))
        return ResultPart(
            call_id=started.call, text=text, artifact=artifact, agent=started.agent,
            status="done" if finished.status == "done" else "interrupted",
        )  # fmt: skip

    def _state_of(self, started: AgentStarted) -> SessionState:
        state = SessionState()
        for entry in self._session.kit.journal.read(started.session):
            state.apply(entry.event)
        return state


def finish_of(started: AgentStarted, state: SessionState, otherwise: TurnStatus) -> AgentFinished:
    """How a sub-agent ended, from its own log; `otherwise` when that has no end."""
    finished = AgentFinished(
        agent=started.agent, session=started.session, call=started.call, status=otherwise,
        calls=sum(_calls(state).values()),
    )  # fmt: skip
    turn = state.finished
    if turn is None:
        lines = state.usage.values()
        known = [line.cost for line in lines if line.cost is not None]
        return replace(
            finished,
            usage=sum((line.usage for line in lines), Usage()),
            cost=sum(known) if len(known) == len(lines) else None,
            requests=sum(line.requests for line in lines),
            text=_last_words(state),
        )
    return replace(
        finished,
        status=turn.status,
        reason=turn.reason,
        values=turn.values,
        text=turn.text,
        usage=turn.usage,
        cost=turn.cost,
        requests=turn.requests,
        seconds=turn.seconds,
    )


def told(finished: AgentFinished, state: SessionState) -> str:
    """A report as the model reads it: the agent's words, why it stopped if it did, one line counted from its calls."""
    counted = _counted(finished, _calls(state))
    if finished.status == "done":
        return f"{finished.text.rstrip()}\n\n{counted}"
    reason = say(finished.reason, "en", **finished.values) if finished.reason else ""
    lines = [f"{finished.agent} did not finish ({finished.status}). {reason}".rstrip()]
    if finished.text.strip():
        lines.append(f"What it had said last:\n{finished.text.rstrip()}")
    return "\n\n".join([*lines, counted])


def _calls(state: SessionState) -> Counter[str]:
    return Counter(call.name for message in state.transcript.messages for call in message.calls)


def _last_words(state: SessionState) -> str:
    spoken = (m.text for m in reversed(state.transcript.messages) if m.role == "assistant" and m.text.strip())
    return next(spoken, "")


def _counted(finished: AgentFinished, calls: Counter[str]) -> str:
    names = ", ".join(f"{count} {name}" for name, count in calls.most_common())
    total = sum(calls.values())
    made = f"{total} call{'s' if total != 1 else ''}: {names}" if total else "no calls"
    asked = f"{finished.requests} request{'s' if finished.requests != 1 else ''}"
    return f"[{made}; {asked}, {finished.usage.input + finished.usage.output:,} tokens]"
