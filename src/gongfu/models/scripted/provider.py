"""A model provider that plays a script in process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Any, cast

import anyio
import msgspec

from gongfu.core.errors import (
    BadRequest,
    Overflow,
    Overloaded,
    ProviderFault,
    Refused,
    StreamCut,
    Throttled,
    Unauthorized,
    Unreachable,
)
from gongfu.core.events import Finish
from gongfu.core.messages import CallPart, Message, Part, ReasoningPart, TextPart
from gongfu.core.specs import ModelInfo, Price, Usage
from gongfu.models.protocol import Answer, CallProgress, Delta, Prepared, Reasoning, Request, Text
from gongfu.models.scripted.player import Player, ScriptError, UnexpectedCall, seen_of
from gongfu.models.scripted.reply import Reply, pieces, reply_of
from gongfu.models.scripted.script import Fault, Planned, Raw, Step

SCRIPTED = ModelInfo(
    ref="scripted/scripted",
    provider="scripted",
    name="scripted",
    window=200_000,
    max_output=32_000,
    price=Price(input=0.0, cached=0.0, cache_write=0.0, output=0.0),
    images=True,
    reasoning=True,
    source="script",
)
_FINISH: dict[str, Finish] = {"stop": "stop", "calls": "calls", "length": "length", "filter": "filter"}
_CUT = "The answer was cut off by the output limit before this call was complete. Nothing ran; write less at a time."


class Scripted:
    """Plays `steps`. `requests` and `bodies` keep what was sent, in order; `finish()` tells whether all fitted.

    Without `record` nothing is kept of what was sent: a long conversation would only grow by it.
    """

    def __init__(self, steps: Iterable[Planned] = (), *, info: ModelInfo = SCRIPTED, record: bool = True) -> None:
        self.info = info
        self._record = record
        self.requests: list[Request] = []
        self.bodies: list[bytes] = []
        self._player = Player(steps)

    @property
    def errors(self) -> list[UnexpectedCall]:
        """Every request that did not fit, in order."""
        return self._player.errors

    def finish(self) -> None:
        """Raise the first UnexpectedCall there was, or UnusedSteps when steps are left."""
        self._player.finish()

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """Play the next step; the faults of the script are raised as the typed faults of a real endpoint."""
        body = body_of(request)
        yield Prepared(body=body)
        if self._record:
            self.requests.append(request)
            self.bodies.append(body)
        step = self._player.next(seen_of(request), request)
        pause = step.seconds if isinstance(step, Fault) and step.kind == "slow" else 0.0
        for delta in self._deltas(step, len(body)):
            if isinstance(delta, ProviderFault):
                raise delta
            if delta is None:
                await self._hang(step)
                continue
            await anyio.sleep(pause)
            yield delta

    async def aclose(self) -> None:
        """Nothing is open."""

    async def _hang(self, step: Step) -> None:
        seconds = step.seconds if isinstance(step, Fault) else 0.0
        await (anyio.sleep(seconds) if seconds else anyio.sleep_forever())
        raise Unreachable("no answer in time", model=self.info.ref)

    def _deltas(self, step: Step, size: int) -> list[Delta | ProviderFault | None]:
        """What is yielded (deltas), raised (faults) and waited for (None), in order."""
        if isinstance(step, Raw):
            raise ScriptError("scripted.raw_in_process")
        if not isinstance(step, Fault):
            return list(deltas_of(reply_of(step), self.info, size))
        if step.kind in ("status", "overflow", "refuse", "content_type"):
            return [fault_of(step, self.info.ref)]
        whole = list(deltas_of(reply_of(step.answer), self.info, size))
        match step.kind:
            case "hang":
                return [*whole[: max(step.after, 0)], None]
            case "drop" | "stop_short":
                shown = whole[:-1][: step.after]
                cut = StreamCut("the stream broke off", partial=partial_of(shown, self.info), model=self.info.ref)
                return [*shown, cut]
            case "error_event":
                shown = whole[:-1][: step.after]
                fault = fault_of(step, self.info.ref)
                if fault.retryable and shown:  # passing trouble in the middle of an answer is a cut of it
                    fault = StreamCut(str(fault), partial=partial_of(shown, self.info), model=self.info.ref)
                return [*shown, fault]
            case _:
                return [*whole]


def body_of(request: Request) -> bytes:
    """A request as JSON: model, system, tools, messages, then the rest, so that the parts that stay come first."""
    fields = cast("dict[str, Any]", msgspec.to_builtins(request))
    first = ("model", "system", "tools", "messages")
    ordered = {k: fields[k] for k in first if k in fields}
    return msgspec.json.encode(ordered | {k: v for k, v in fields.items() if k not in first})


def deltas_of(reply: Reply, info: ModelInfo, size: int) -> list[Delta]:
    """The stream of one answer; `size` is the bytes of the request, for the estimate of its usage."""
    deltas: list[Delta] = [Reasoning(text=p) for p in pieces(reply.reasoning)]
    deltas += [Text(text=p) for p in pieces(reply.text)]
    deltas += [CallProgress(name=c.name, size=len(c.arguments)) for c in reply.calls]
    return [*deltas, answer_of(reply, info, size)]


def answer_of(reply: Reply, info: ModelInfo, size: int) -> Answer:
    """The answer as an adapter would judge it: calls win over "stop"; after "length" none of them may run."""
    parts: list[Part] = []
    if reply.reasoning:
        parts.append(ReasoningPart(text=reply.reasoning, signature=reply.signature, model=info.ref))
    if reply.text:
        parts.append(TextPart(text=reply.text))
    parts += [_call(c.name, c.arguments, c.id, cut=reply.finish == "length") for c in reply.calls]
    finish = _FINISH.get(reply.finish, "unknown")
    if reply.calls and finish != "length":
        finish = "calls"
    written = len(reply.text) + len(reply.reasoning) + sum(len(c.arguments) for c in reply.calls)
    return Answer(
        message=Message(role="assistant", parts=tuple(parts), model=info.ref),
        finish=finish,
        usage=reply.usage or Usage(input=size // 4, output=written // 4 + 1, reasoning=len(reply.reasoning) // 4),
        raw_finish=reply.finish,
        model=info.name,
    )


def _call(name: str, arguments: str, id: str, *, cut: bool) -> CallPart:
    try:
        value: Any = msgspec.json.decode(arguments)
    except msgspec.DecodeError as error:
        problem = f"The arguments are not valid JSON ({error}). What arrived: {arguments[:200]}"
        return CallPart(id="", name=name, wire_id=id, raw=arguments, problem=_CUT if cut else problem)
    if not isinstance(value, dict):
        problem = f"The arguments must be a JSON object. What arrived: {arguments[:200]}"
        return CallPart(id="", name=name, wire_id=id, raw=arguments, problem=_CUT if cut else problem)
    return CallPart(id="", name=name, arguments=arguments, wire_id=id, problem=_CUT if cut else "")


def partial_of(deltas: list[Delta], info: ModelInfo) -> Answer:
    """What had arrived when a stream broke off: texts, and no call."""
    thought = "".join(d.text for d in deltas if isinstance(d, Reasoning))
    said = "".join(d.text for d in deltas if isinstance(d, Text))
    parts: list[Part] = [ReasoningPart(text=thought, model=info.ref)] if thought else []
    if said:
        parts.append(TextPart(text=said))
    return Answer(message=Message(role="assistant", parts=tuple(parts), model=info.ref), finish="unknown")


def fault_of(step: Fault, model: str) -> ProviderFault:
    """The typed fault of a scripted one."""
    detail, status = step.message, step.status
    match step.kind:
        case "overflow":
            return Overflow(detail, status=400, model=model)
        case "refuse":
            return Unreachable(detail, model=model)
        case "content_type":
            return BadRequest(f"an answer of type {step.content_type}", status=200, model=model)
        case _:
            pass
    if status == 429:
        return Throttled(detail, status=status, retry_after=step.retry_after, model=model)
    if status >= 500:
        return Overloaded(detail, status=status, retry_after=step.retry_after, model=model)
    kinds: dict[int, type[ProviderFault]] = {401: Unauthorized, 403: Unauthorized, 402: Refused, 404: Refused}
    return kinds.get(status, BadRequest)(detail, status=status, model=model)
