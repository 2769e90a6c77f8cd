"""How an answer travels: in which pieces, how fast, and where it breaks."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from gongfu.core.base import Base
from gongfu.core.specs import Usage
from gongfu.models.scripted.http import chunk, head_bytes, split_at
from gongfu.models.scripted.reply import Reply, ReplyCall, reply_of
from gongfu.models.scripted.script import Fault, Raw, Step
from gongfu.models.scripted.wire import Dialect

_GARBAGE = (
    b": a comment\n\n",
    b"event: ping\ndata: {}\n\n",
    b"\n\n",
    b"data: keep-alive\n\n",
    b"id: 7\nretry: 1000\n\n",
)


class Plan(Base, frozen=True):
    """A response. `end`: how it ends after the pieces.

    done      properly
    break     the connection closes before the body is complete
    hang      nothing more is sent for `hold` seconds (0: until the client leaves)
    `pause` is seconds before each piece. Without a `status` nothing is sent before the end; with `verbatim` the
    pieces hold the head too.
    """

    status: int = 200
    headers: dict[str, str] = {}
    pieces: tuple[bytes, ...] = ()
    end: str = "done"
    pause: float = 0.0
    hold: float = 0.0
    verbatim: bool = False


def plan_of(step: Step, dialect: Dialect, body: dict[str, Any], size: int, uid: str) -> Plan:
    """What a step sends in answer to a request of `size` bytes."""
    match step:
        case Raw():
            pieces = tuple(split_at(step.data, step.split))
            headers = {"content-type": step.content_type} | step.headers
            return Plan(status=step.status, headers=headers, pieces=pieces, verbatim=step.verbatim)
        case Fault():
            return _faulty(step, dialect, body, size, uid)
        case _:
            frames, kind = frames_of(reply_of(step), dialect, body, size, uid)
            return Plan(headers={"content-type": kind}, pieces=tuple(frames))


def frames_of(reply: Reply, dialect: Dialect, body: dict[str, Any], size: int, uid: str) -> tuple[list[bytes], str]:
    """The body of an answer in its natural pieces, and its content type."""
    named = tuple(
        ReplyCall(name=c.name, arguments=c.arguments, id=c.id or f"call_{uid}_{n}") for n, c in enumerate(reply.calls)
    )
    reply = msgspec.structs.replace(reply, calls=named)
    written = len(reply.text) + len(reply.reasoning) + sum(len(c.arguments) for c in reply.calls)
    usage = reply.usage or Usage(input=size // 4, output=written // 4 + 1, reasoning=len(reply.reasoning) // 4)
    if body.get("stream"):
        return [f.encode() for f in dialect.stream(reply, usage, body, uid)], "text/event-stream"
    return [msgspec.json.encode(dialect.whole(reply, usage, body, uid))], "application/json"


def _faulty(step: Fault, dialect: Dialect, body: dict[str, Any], size: int, uid: str) -> Plan:
    if step.kind in ("status", "overflow"):
        return _error(step, dialect)
    if step.kind == "refuse":
        return Plan(status=0, end="break")
    frames, kind = frames_of(reply_of(step.answer), dialect, body, size, uid)
    changes: dict[str, Any] = {}
    match step.kind:
        case "hang":
            changes = {"status": 200 if step.after >= 0 else 0, "end": "hang", "hold": step.seconds}
            frames = frames[: max(step.after, 0)]
        case "drop":
            changes = {"end": "break"}
            frames = _cut(frames, step)
        case "stop_short":
            frames = _cut(frames, step)
        case "slow":
            changes = {"pause": step.seconds}
        case "bytewise":
            frames = [bytes((b,)) for b in b"".join(frames)]
        case "garbage":
            frames = [p for n, f in enumerate(frames) for p in (_GARBAGE[n % len(_GARBAGE)], f)]
        case "error_event":
            frames = [*frames[: step.after], dialect.error_event(step.status, step.message).encode()]
        case "content_type":
            kind = step.content_type
    plan = Plan(headers={"content-type": kind} | step.headers, pieces=tuple(frames))
    return msgspec.structs.replace(plan, **changes)


def _cut(frames: list[bytes], step: Fault) -> list[bytes]:
    if step.after_bytes >= 0:
        return [b"".join(frames)[: step.after_bytes]]
    return frames[: step.after] if len(frames) > 1 else [frames[0][: len(frames[0]) // 2]]


def _error(step: Fault, dialect: Dialect) -> Plan:
    status, body = step.status, step.body
    if step.kind == "overflow":
        status, body = 400, body or _overflow(dialect)
    if body is None:
        body = dialect.error(status, step.message, "")
    data = body.encode() if isinstance(body, str) else msgspec.json.encode(body)
    headers = {"content-type": "text/html" if isinstance(body, str) else "application/json"} | step.headers
    if step.retry_after is not None:
        headers["retry-after"] = f"{step.retry_after:g}"
    return Plan(status=status, headers=headers, pieces=(data,))


def _overflow(dialect: Dialect) -> dict[str, Any]:
    if dialect.name == "messages":
        return dialect.error(400, "prompt is too long: 250000 tokens > 200000 maximum", "")
    words = "This model's maximum context length is 200000 tokens. However, your messages resulted in 250000 tokens."
    return dialect.error(400, words, "context_length_exceeded")


class Deliverer:
    """Writes responses to one connection. ConnectionError when the client has left."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> bool:
        """Write bytes; always True: the connection may stay open."""
        self._writer.write(data)
        await self._writer.drain()
        return True

    async def json(self, status: int, value: dict[str, Any]) -> bool:
        """A JSON body of known length."""
        body = msgspec.json.encode(value)
        return await self.send(
            head_bytes(status, {"content-type": "application/json", "content-length": str(len(body))}) + body
        )

    async def deliver(self, plan: Plan) -> bool:
        """Send a planned response; whether the connection stays open."""
        if plan.status and not plan.verbatim:
            await self.send(head_bytes(plan.status, plan.headers | {"transfer-encoding": "chunked"}))
        for piece in plan.pieces:
            if plan.pause:
                await self._wait(plan.pause)
            await self.send(piece if plan.verbatim else chunk(piece))
        if plan.end == "hang":
            await self._wait(plan.hold)
        if plan.end != "done" or plan.verbatim:
            return False
        return await self.send(chunk(b""))

    async def _wait(self, seconds: float) -> None:
        """Wait, but notice at once when the client leaves."""
        try:
            data = await asyncio.wait_for(self._reader.read(1), seconds or None)
        except TimeoutError:
            return
        if not data:
            raise ConnectionResetError
