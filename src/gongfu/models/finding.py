"""What a check of an endpoint finds, who asks, and what the first answer or fault already shows."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import Any, Literal, TypeAlias

import anyio

from gongfu.core.base import Base
from gongfu.core.errors import ProviderFault, Refused, StreamCut, Unauthorized, Unreachable
from gongfu.core.messages import ImagePart, Message, user
from gongfu.core.specs import ToolSpec, Usage
from gongfu.core.words import Language, say
from gongfu.models.protocol import Answer, ModelProvider, Reasoning, Request, Text
from gongfu.models.retry import Failed, RetryPolicy, attempts

Level: TypeAlias = Literal["ok", "warn", "fail"]
PATIENCE = RetryPolicy(budget_seconds=20, max_attempts=3)
"""For servers that throttle or are just starting."""
_SECONDS = 180.0


class Finding(Base, frozen=True):
    """The outcome of one check.

    `name` is one of reachable, key, model, streaming, usage, tools, structured, images, window, vectors, spent.
    `detail` and `advice` speak to the person; advice is empty when nothing is to be done.
    """

    name: str
    level: Level
    key: str
    values: dict[str, Any] = {}
    todo: str = ""

    def label(self, language: Language = "en") -> str:
        """What was checked."""
        return say(f"probe.{self.name}", language)

    def detail(self, language: Language = "en") -> str:
        """What was seen."""
        return say(f"probe.{self.key}", language, **self.values)

    def advice(self, language: Language = "en") -> str:
        """What to do about it."""
        return say(f"probe.{self.todo}", language, **self.values) if self.todo else ""


class Heard(Base, frozen=True):
    """One answered request: the answer, the number of its pieces, and seconds to the first of them."""

    answer: Answer
    pieces: int
    first: float


class Probe:
    """Asks one provider and adds up what it costs."""

    def __init__(self, provider: ModelProvider, patience: RetryPolicy = PATIENCE) -> None:
        self.provider = provider
        self._patience = patience
        self.info = provider.info
        self.usage = Usage()
        self.requests = 0

    async def ask(
        self,
        text: str,
        *more: Message,
        tools: tuple[ToolSpec, ...] = (),
        schema: dict[str, Any] | None = None,
        images: tuple[ImagePart, ...] = (),
    ) -> Heard:
        """Send one request, with a little patience for throttling. Raises ProviderFault."""
        request = Request(
            model=self.info.name,
            system="You are being tested. Answer exactly as asked, as shortly as possible.",
            messages=(user(text, images=images), *more),
            tools=tools,
            schema=schema,
            max_output=2048,
            purpose="probe",
        )
        with anyio.move_on_after(_SECONDS):
            return await self._hear(request)
        raise Unreachable(f"no whole answer within {_SECONDS:g} s", model=self.info.ref)

    async def _hear(self, request: Request) -> Heard:
        started, first, pieces = time.monotonic(), 0.0, 0
        self.requests += 1
        async with aclosing(attempts(self.provider, request, self._patience)) as deltas:
            async for delta in deltas:
                now = time.monotonic()
                match delta:
                    case Text() | Reasoning():
                        first, pieces = first or now, pieces + 1
                    case Answer():
                        self.usage += delta.usage
                        return Heard(answer=delta, pieces=pieces, first=(first or now) - started)
                    case Failed():
                        started, first, pieces = now + (delta.retry_in or 0.0), 0.0, 0
                    case _:
                        pass
        raise StreamCut("the stream ended without an answer", model=self.info.ref)


def findings_of(fault: ProviderFault) -> list[Finding]:
    """What a fault of the first request says."""
    values = {"detail": fault.detail or str(fault)}
    reached = Finding(name="reachable", level="ok", key="reached")
    match fault:
        case Unreachable():
            return [Finding(name="reachable", level="fail", key="said", values=values, todo="do_reach")]
        case Unauthorized():
            return [reached, Finding(name="key", level="fail", key="said", values=values, todo="do_key")]
        case Refused():
            return [reached, Finding(name="model", level="fail", key="said", values=values, todo="do_model")]
        case _:
            todo = "do_wait" if fault.retryable else "do_request"
            return [reached, Finding(name="model", level="fail", key="said", values=values, todo=todo)]


def basics(heard: Heard) -> list[Finding]:
    """What one plain answer shows: a connection, a key that is taken, a stream, and usage."""
    usage = heard.answer.usage
    values = {"pieces": heard.pieces, "first": f"{heard.first:.2f}", "input": usage.input, "output": usage.output}
    streamed = heard.pieces >= 3
    counted = usage.input > 0 and usage.output > 0
    return [
        Finding(name="reachable", level="ok", key="answered", values=values),
        Finding(name="key", level="ok", key="accepted"),
        Finding(
            name="streaming",
            level="ok" if streamed else "warn",
            key="streamed",
            values=values,
            todo="" if streamed else "do_stream",
        ),
        Finding(
            name="usage",
            level="ok" if counted else "warn",
            key="counted" if counted else "uncounted",
            values=values,
            todo="" if counted else "do_usage",
        ),
    ]


def spent(asked: Probe) -> Finding:
    """What the checks have cost."""
    cost = asked.info.price.cost(asked.usage)
    values = {
        "requests": asked.requests,
        "input": asked.usage.input,
        "output": asked.usage.output,
        "cost": "?" if cost is None else f"{cost:.4f}",
    }
    return Finding(name="spent", level="ok", key="spent_much", values=values)


def failed(name: str, fault: ProviderFault, todo: str) -> Finding:
    """A check that ended in a fault."""
    return Finding(name=name, level="fail", key="said", values={"detail": fault.detail or str(fault)}, todo=todo)
