"""One call, from the question whether it may run to its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from gongfu.core.base import Base
from gongfu.core.display import Display, refusal_display
from gongfu.core.events import AnyEvent, QuestionAsked, ToolOutput, ToolStarted
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart, Message
from gongfu.engine.guard import Guard, Hooks, Said
from gongfu.engine.pending import Pending
from gongfu.engine.permit import Denial, Permit
from gongfu.engine.ruling import Ruling
from gongfu.tools.protocol import Facts, Leave, Outcome, Tool


class Refused(Base, frozen=True):
    """The call may not run: `text` for the model, `display` for the person."""

    text: str
    display: Display = {}


class Shown(Protocol):
    """Takes what happens to a call."""

    def emit(self, *events: AnyEvent) -> None:
        """Record or show `events`."""
        ...


class Context:
    """What a running call sees of the engine (`tools.protocol.CallContext`)."""

    def __init__(self, call: CallPart, stream: Shown, pending: Pending, room: int, leave: Leave) -> None:
        self.call_id = call.id
        self.room = room
        self.leave = leave
        self._name = call.name
        self._stream = stream
        self._pending = pending

    def output(self, text: str, /) -> None:
        if text:
            self._stream.emit(ToolOutput(call=self.call_id, text=text))

    async def ask(
        self,
        text: str,
        /,
        *,
        options: tuple[str, ...] = (),
        default: str = "",
        seconds: float | None = None,
        preview: Display | None = None,
    ) -> tuple[str, Literal["person", "policy", "timeout", "cancel"]]:
        question = QuestionAsked(
            question=new_id("q"),
            about="question",
            text=text,
            options=options,
            default=default,
            call=self.call_id,
            tool=self._name,
            seconds=seconds,
            preview=preview or {},
        )
        return await self._pending.ask(question)


class Attempt:
    """Judges and runs calls one by one: rules, hooks, permission, the copy of the files, the tool, hooks again."""

    def __init__(
        self,
        *,
        permit: Permit,
        pending: Pending,
        stream: Shown,
        turn: str = "",
        guard: Guard | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self._permit = permit
        self._pending = pending
        self._stream = stream
        self._turn = turn
        self._guard = guard
        self._hooks = hooks
        self.ruling: Ruling | None = None
        self.note: Callable[[Message], None] = lambda _: None  # takes notes of hooks for the next request

    def may_change(self, tool: str) -> bool:
        """Whether a hook may give a call of `tool` other arguments."""
        return self._hooks is not None and self._hooks.wants("before_tool", tool)

    async def run(
        self, call: CallPart, tool: Tool, args: dict[str, Any], *, room: int, started: Callable[[], None]
    ) -> Outcome | Refused:
        """Judge and run one call with validated arguments; `started` is called when the tool itself begins."""
        said = Said()
        if self._hooks is not None and self.may_change(call.name):
            from gongfu.engine.hooked_calls import ask_before  # only where there are hooks

            args, said = await ask_before(self._hooks, call, tool, args, self.note)
            if said.decision in ("deny", "block"):
                text = f"Refused by a hook of the user: {said.reason or 'no reason given'}"
                return Refused(text=text, display=refusal_display("hooks.call_refused", about=said.reason, by="hook"))
        facts: Facts = await tool.facts(args)
        if self.ruling is not None and (wait := self.ruling.why_wait(facts)):
            return Refused(text=wait)
        leave = await self._permit.leave(call, facts, said)
        if isinstance(leave, Denial):
            return Refused(text=leave.text, display=leave.display)
        if self._guard is not None and leave.write and leave.changes and _may_change(facts):
            await self._guard.before_change(self._turn, (*facts.writes, *facts.below))
        self._stream.emit(ToolStarted(call=call.id, name=call.name, arguments=args, title=facts.title))
        started()
        context = Context(call, self._stream, self._pending, room, leave)
        if self._hooks is None or not self._hooks.wants("after_tool", call.name):
            return await tool.run(args, context)
        from gongfu.engine.hooked_calls import run_and_tell  # only where there are hooks

        return await run_and_tell(self._hooks, call, tool, args, context, self.note)


def _may_change(facts: Facts) -> bool:
    return bool(facts.writes) or "execute" in facts.access or "write" in facts.access
