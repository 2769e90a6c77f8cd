"""Runs the calls of one answer: judged, asked for, side by side where they do not conflict; one result each."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec

from gongfu.context.pairing import CANCELLED
from gongfu.core.base import Base
from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure, UserError, root_of
from gongfu.core.events import (
    TodoChanged,
    TodoItem,
    ToolFinished,
    WarningRaised,
)
from gongfu.core.messages import CallPart, ResultPart, Status
from gongfu.engine.attempt import Attempt, Refused
from gongfu.engine.circles import IN_VAIN, TOLD, Circles
from gongfu.engine.stream import EventStream
from gongfu.tools.output import bound
from gongfu.tools.protocol import Claim, Outcome, Tool
from gongfu.tools.registry import Registry
from gongfu.tools.validate import validate

AT_ONCE = 8
_LEAST = 400  # bytes of a result that are always shown


class _Job(Base, frozen=True):
    """One call made ready: its tool and arguments, or the result that it has already."""

    call: CallPart
    tool: Any = None
    args: dict[str, Any] = {}
    claims: tuple[Claim, ...] = ()
    result: ResultPart | None = None


class _Watch:
    """How long a call ran; what a person took to consent does not count."""

    def __init__(self) -> None:
        self._started = 0.0

    def start(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self._started, 3) if self._started else 0.0


class Dispatcher:
    """Runs batches of calls for one session. Each call ends in exactly one `ToolFinished`, whatever happens to it."""

    def __init__(
        self,
        *,
        tools: Callable[[], Registry],
        attempt: Attempt,
        stream: EventStream,
        circles: Circles,
        output_limit: int,
        room: Callable[[], int],
        spill: Callable[[str], str],
        report: Callable[[str], object],
    ) -> None:
        self._registry = tools
        self._attempts = attempt
        self._stream = stream
        self._circles = circles
        self._output_limit = output_limit
        self._room = room
        self._limit = output_limit
        self._spill = spill
        self._report = report
        self.todo_changed: Callable[[Sequence[TodoItem]], object] | None = None
        self.batch_done: Callable[[Mapping[str, Display]], None] | None = None
        self._displays: dict[str, Display] = {}

    @property
    def _tools(self) -> Registry:
        return self._registry()  # another one once the work mode has changed

    async def run(self, calls: Sequence[CallPart], *, cut: bool = False) -> None:
        """Run `calls`; those of an answer that was `cut` off only get their failed results.

        `batch_done` is told what they showed. UserError when the model goes in circles after having been told,
        or nothing succeeds any more.
        """
        self._displays = {}
        if self._attempts.ruling is not None:
            self._attempts.ruling.check_origin(calls)
        verdicts = ["run"] * len(calls) if cut else self._circles.judge(calls)
        # together they take at most half of the room there is: one answer of many calls must not end the session
        self._limit = min(self._output_limit, max(_LEAST, self._room() // (2 * len(calls) + 2)))
        jobs: list[_Job] = []
        for call, verdict in zip(calls, verdicts, strict=True):
            jobs.append(self._prepare(call) if verdict == "run" else _done(call, TOLD, "refused"))
            result = jobs[-1].result
            if verdict == "run" and result is not None and not cut:
                self._circles.note(call, result)
        if len(jobs) == 1:
            await self._one(jobs[0])
        else:
            await self._side_by_side(jobs)
        if self._attempts.ruling is not None:
            self._attempts.ruling.settle()
        if self.batch_done is not None:
            self.batch_done(self._displays)
        if "stop" in verdicts:
            raise UserError("engine.circles", tool=calls[verdicts.index("stop")].name)
        if self._circles.in_vain >= IN_VAIN:
            raise UserError("engine.in_vain", count=self._circles.in_vain)

    async def _side_by_side(self, jobs: Sequence[_Job]) -> None:
        """A call waits for every earlier one that it conflicts with; at most `AT_ONCE` run at a time."""
        done = [anyio.Event() for _ in jobs]
        room = anyio.CapacityLimiter(AT_ONCE)

        async def one(at: int) -> None:
            try:
                for earlier in range(at):
                    if conflict(jobs[earlier].claims, jobs[at].claims):
                        await done[earlier].wait()
                async with room:
                    await self._one(jobs[at])
            finally:
                done[at].set()

        try:
            async with anyio.create_task_group() as group:
                for at in range(len(jobs)):
                    group.start_soon(one, at)
        except ExceptionGroup as group:
            raise root_of(group) from group

    def _prepare(self, call: CallPart) -> _Job:
        if call.problem:
            return _done(call, call.problem, "failed")
        tool = self._tools.get(call.name)
        if tool is None:
            return _done(call, self._tools.unknown(call.name), "failed")
        if tool.spec.needs and (missing := self._tools.missing(tool.spec)):
            return _done(call, missing, "failed")
        try:
            checked = validate(tool.spec.parameters, msgspec.json.decode(call.arguments, type=dict[str, Any]))
            if checked.problem:
                return _done(call, f"Wrong arguments for {call.name}: {checked.problem}", "failed")
            return _Job(call=call, tool=tool, args=checked.args, claims=self._claims(tool, checked.args))
        except (ToolFailure, msgspec.DecodeError) as failure:
            return _done(call, str(failure), "failed")
        except RecursionError:
            return _done(call, "The arguments are nested too deeply and were not used.", "failed")

    def _claims(self, tool: Tool, args: dict[str, Any]) -> tuple[Claim, ...]:
        """What a call uses. Where a hook may change its arguments that is known too late: then it may be anything."""
        claims = tool.claims(args)
        if not claims or not self._attempts.may_change(tool.spec.name):
            return claims
        return (Claim(resource="*", write=not set(tool.spec.access) <= {"read"}),)

    async def _one(self, job: _Job) -> None:
        watch = _Watch()
        outcome = Outcome(text="")
        result = job.result
        try:
            if result is None:
                result, outcome = await self._attempt(job, watch)
                self._circles.note(job.call, result)
        except anyio.get_cancelled_exc_class():
            self._finish(job, ResultPart(call_id=job.call.id, text=CANCELLED, status="cancelled"), outcome, watch)
            raise
        self._finish(job, result, outcome, watch)

    def _finish(self, job: _Job, result: ResultPart, outcome: Outcome, watch: _Watch) -> None:
        finished = ToolFinished(
            call=job.call.id,
            name=job.call.name,
            result=result,
            display=outcome.display,
            seconds=watch.seconds,
        )
        self._displays[job.call.id] = outcome.display
        if outcome.todo is None:
            self._stream.emit(finished)
        else:
            self._stream.emit(finished, TodoChanged(items=outcome.todo))
            if self.todo_changed is not None:
                self.todo_changed(outcome.todo)

    async def _attempt(self, job: _Job, watch: _Watch) -> tuple[ResultPart, Outcome]:
        """Judge and run one call; the classes of errors decide who is told."""
        call, tool = job.call, job.tool
        try:
            done = await self._attempts.run(call, tool, job.args, room=self._limit, started=watch.start)
            if isinstance(done, Refused):
                result = ResultPart(call_id=call.id, text=done.text, status="refused")
                return result, Outcome(text="", display=done.display)
            return self._bounded(call, done), done
        except Exception as error:  # noqa: BLE001 - the process edge of a tool: a bug in one must not end the session
            failure = root_of(error)
            if isinstance(failure, ToolFailure | UserError):
                return self._bounded(call, Outcome(text=str(failure), status="failed")), Outcome(text="")
            return self._internal_error(call), Outcome(text="")

    def _internal_error(self, call: CallPart) -> ResultPart:
        self._report(f"tool {call.name}\n{traceback.format_exc()}")
        self._stream.emit(WarningRaised(key="engine.tool_bug", values={"tool": call.name}))
        text = "internal error: the tool failed through a fault of its own; its effect is unknown. Try another way."
        return ResultPart(call_id=call.id, text=text, status="failed")

    def _bounded(self, call: CallPart, outcome: Outcome) -> ResultPart:
        text, artifact, limit = outcome.text, Path(outcome.spill).name, self._limit
        if len(text) > limit // 4 and len(text.encode("utf-8", "replace")) > limit:
            artifact = artifact or self._spill(text)
            text = bound(text, limit).text(artifact)
        return ResultPart(
            call_id=call.id, text=text, status=outcome.status, artifact=artifact, images=outcome.images,
            agent=outcome.agent,
        )  # fmt: skip


def _done(call: CallPart, text: str, status: Status) -> _Job:
    return _Job(call=call, result=ResultPart(call_id=call.id, text=text, status=status))


def conflict(one: Sequence[Claim], other: Sequence[Claim]) -> bool:
    """Whether two calls must run in order: they touch the same resource, or one below the other, and one writes."""
    return any((a.write or b.write) and _overlap(a.resource, b.resource) for a in one for b in other)


def _overlap(one: str, other: str) -> bool:
    if "*" in (one, other) or one == other:
        return True
    shorter, longer = sorted((one.rstrip("/\\"), other.rstrip("/\\")), key=len)
    return longer.startswith((f"{shorter}/", f"{shorter}\\"))
