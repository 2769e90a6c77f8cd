"""The streams of a server that is a program here: it is started by the workspace, and what it says is bounded."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import msgspec

from gongfu.core.base import Base
from gongfu.plugins.mcp.meter import Meter
from gongfu.workspace.served import Served

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

LONGEST: Final = 32 * 1024 * 1024  # bytes of one message
GRACE: Final = 0.5  # seconds that a server gets to end by itself once its input is closed


class Launch(Base, frozen=True):
    """How the program is started."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]


class _Peek(Base, frozen=True):
    """What must be known of a message before it is read."""

    id: Any = None
    method: str | None = None


class Pipes:
    """A running server and what is known of it. `changed` is called when it says that a list of its has changed,
    `over` when it has ended or said too much; `why` tells then what happened.
    """

    def __init__(self, launch: Launch, *, changed: Callable[[], None], over: Callable[[], None]) -> None:
        self._launch = launch
        self._changed = changed
        self._over = over
        self.meter = Meter()
        self.served: Served | None = None
        self._waiting: set[str] = set()
        self._inbox: MemoryObjectSendStream[SessionMessage | Exception] | None = None

    @property
    def said(self) -> str:
        """The last of its standard error."""
        return self.served.said if self.served else ""

    @property
    def why(self) -> str:
        """Why there is no more to come."""
        if self.served is None:
            return "it was not started"
        if self.meter.why:
            return self.meter.why
        if self.served.too_long:
            return f"it sent a message of more than {LONGEST:,} bytes"
        code = self.served.code
        if code is None:
            return "it closed its output"
        return f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"

    def start(self) -> Served:
        """Start it. OSError or ValueError when that cannot be done."""
        self.served = Served(
            self._launch.argv,
            cwd=self._launch.cwd,
            env=self._launch.env,
            longest=LONGEST,
            on_line=self._line,
            on_over=self._ended,
        )
        return self.served

    async def end(self) -> None:
        """End it, where it was started and never spoken to."""
        if self.served is not None and self._inbox is None:
            await self.served.end(grace=0)

    @asynccontextmanager
    async def streams(
        self,
    ) -> AsyncGenerator[
        tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]], None
    ]:
        """The streams that the SDK speaks through; it is started if it was not. Afterwards nothing of it runs."""
        from mcp.shared.message import SessionMessage  # heavy, and loaded by whoever connects

        inbox, theirs = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)  # bounded by the meter
        mine, outbox = anyio.create_memory_object_stream[SessionMessage](0)
        self._inbox = inbox
        served = self.served or self.start()
        if served.code is not None:
            inbox.close()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._write, outbox)
                try:
                    yield theirs, mine
                finally:
                    group.cancel_scope.cancel()
        finally:
            await served.end(grace=GRACE)
            for stream in (inbox, theirs, mine, outbox):
                stream.close()

    async def _write(self, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
        served = self.served
        if served is None:
            return
        try:
            async for item in outbox:
                message = item.message
                if getattr(message, "method", None) and (asked := getattr(message, "id", None)) is not None:
                    self._waiting.add(str(asked))
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                await served.send(text.encode("utf-8", "replace") + b"\n")
        except OSError:  # it reads no more, so it will not answer either
            self._ended()

    def _ended(self) -> None:
        if self._inbox is not None:
            self._inbox.close()
        self._over()

    def _line(self, data: bytes) -> None:
        """Take one line: what nobody asked for passes only as far as the meter lets it."""
        if not data.strip():
            return
        try:
            peek = msgspec.json.decode(data, type=_Peek)
        except (msgspec.DecodeError, RecursionError):
            self._strange(data)
            return
        self.meter.message()
        if self._inbox is None:
            return  # nobody has spoken to it yet
        if peek.method is not None and peek.method.endswith("/list_changed"):
            self._changed()
        wanted = peek.method is None and self._is_answer(peek.id)
        if wanted or self.meter.lets_through():
            self._take(data, peek.id if wanted else None)
        elif self.meter.why:
            self._ended()

    def _is_answer(self, id: Any) -> bool:
        if str(id) not in self._waiting:
            return False
        self._waiting.discard(str(id))
        return True

    def _strange(self, data: bytes) -> None:
        """A line that strict JSON cannot be: mended where only its text is broken, else counted."""
        try:
            given: Any = json.loads(data.decode("utf-8", "replace"))
            mended = json.dumps(given).encode()
        except (ValueError, RecursionError):
            given, mended = None, b""
        if isinstance(given, dict) and "jsonrpc" in given and mended != data:
            clean = _without_surrogates(mended)
            if msgspec_reads(clean):
                self._line(clean)
                return
        self.meter.garbage(len(data))
        if self.meter.why:
            self._ended()

    def _take(self, data: bytes, answers: Any) -> None:
        from mcp.shared.message import SessionMessage
        from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

        try:
            message = jsonrpc_message_adapter.validate_json(data, by_name=False)
        except ValueError:
            self.meter.garbage(len(data))
            if answers is None:
                return
            told = ErrorData(code=INTERNAL_ERROR, message="the server's answer is no message that can be read")
            message = JSONRPCError(jsonrpc="2.0", id=answers, error=told)
        if self._inbox is not None:
            try:
                self._inbox.send_nowait(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


def _without_surrogates(data: bytes) -> bytes:
    import re  # only for a broken message

    return re.sub(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}", rb"\\ufffd", data)


def msgspec_reads(data: bytes) -> bool:
    """Whether a line is JSON for strict readers."""
    try:
        msgspec.json.decode(data, type=_Peek)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def argv_of(command: str, args: Sequence[str], path: str) -> tuple[str, ...] | None:
    """The words that start a program found on `path`; None when there is no such program."""
    from shutil import which  # only when a server is started

    found = which(command, path=path)
    return None if found is None else (found, *args)
