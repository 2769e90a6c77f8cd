"""One call, from the question whether it may run to its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from gongfu.core.base import Base
from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.events import QuestionAsked, ToolOutput, ToolStarted
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart
from gongfu.engine.guard import Guard, Hooks, Said
from gongfu.engine.pending import Pending
from gongfu.engine.permit import Denial, Permit
from gongfu.engine.ruling import Ruling
from gongfu.engine.stream import EventStream
from gongfu.tools.protocol import Facts, Leave, Outcome, Tool
from gongfu.tools.validate import validate


class Refused(Base, frozen=True):
    """The call may not run: `text` for the model, `display` for the person."""

    text: str
    display: Display = {}


class Context:
    """What a running call sees of the engine (`tools.protocol.CallContext`)."""

    def __init__(self, call: CallPart, stream: EventStream, pending: Pending, room: int, leave: Leave) -> None:
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
        self, text: str, /, *, options: tuple[str, ...] = (), default: str = "", seconds: float | None = None
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
        )
        return await self._pending.ask(question)


class Attempt:
    """Judges and runs calls one by one: rules, hooks, permission, the copy of the files, the tool, hooks again."""

    def __init__(
        self,
        *,
        permit: Permit,
        pending: Pending,
        stream: EventStream,
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

    async def run(
        self, call: CallPart, tool: Tool, args: dict[str, Any], *, room: int, started: Callable[[], None]
    ) -> Outcome | Refused:
        """Judge and run one call with validated arguments; `started` is called when the tool itself begins."""
        said = Said()
        if self._hooks is not None and self._hooks.wants("before_tool", call.name):
            data = {"tool": call.name, "arguments": args}
            said = await self._hooks.fire("before_tool", data, tool=call.name, call=call.id)
            if said.decision in ("deny", "block"):
                return Refused(text=f"Refused by a hook of the user: {said.reason or 'no reason given'}")
            args = _changed(tool, args, said)
        facts: Facts = await tool.facts(args)
        if self.ruling is not None and (wait := self.ruling.why_wait(facts)):
            return Refused(text=wait)
        leave = await self._permit.leave(call, facts, said)
        if isinstance(leave, Denial):
            return Refused(text=leave.text, display=leave.display)
        if self._guard is not None and leave.write and _may_change(facts):
            await self._guard.before_change(self._turn, facts.writes)
        self._stream.emit(ToolStarted(call=call.id, name=call.name, arguments=args, title=facts.title))
        started()
        outcome = await tool.run(args, Context(call, self._stream, self._pending, room, leave))
        return await self._after(call, args, outcome, said)

    async def _after(self, call: CallPart, args: dict[str, Any], outcome: Outcome, before: Said) -> Outcome:
        notes = before.notes
        if self._hooks is not None and self._hooks.wants("after_tool", call.name):
            result = {"status": outcome.status, "text": outcome.text}
            data = {"tool": call.name, "arguments": args, "result": result}
            after = await self._hooks.fire("after_tool", data, tool=call.name, call=call.id)
            told = (f"A hook of the user objects: {after.reason}",) if after.decision in ("deny", "block") else ()
            notes = (*notes, *told, *after.notes)
        if not notes:
            return outcome
        added = "".join(f"\n[{note}]" for note in notes)
        return msgspec.structs.replace(outcome, text=outcome.text + added)


def _changed(tool: Tool, args: dict[str, Any], said: Said) -> dict[str, Any]:
    """The arguments as a hook wants them. ToolFailure when they do not fit the tool."""
    if said.arguments is None:
        return args
    checked = validate(tool.spec.parameters, said.arguments)
    if checked.problem:
        raise ToolFailure(f"A hook of the user changed the arguments, and they do not fit: {checked.problem}")
    return checked.args


def _may_change(facts: Facts) -> bool:
    return bool(facts.writes) or "execute" in facts.access or "write" in facts.access
