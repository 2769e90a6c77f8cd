"""A loopback server that answers with bytes of the test's own: slow, cut, broken or right."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any


class Exchange:
    """One request as it arrived, and the socket to answer on. `number` counts the connections from 1."""

    def __init__(self, head: bytes, body: bytes, writer: asyncio.StreamWriter, number: int) -> None:
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ", 2)
        self.headers = {k.strip().lower(): v.strip() for k, _, v in (x.partition(":") for x in lines[1:] if x)}
        self.body = body
        self.number = number
        self._writer = writer

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()

    async def answer(self, body: bytes, *, status: int = 200, kind: str = "application/json", more: str = "") -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        await self.send(head.encode() + body)

    async def stream(self, *pieces: bytes, end: bool = True, kind: str = "text/event-stream") -> None:
        """Each piece in a chunk of its own."""
        await self.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for piece in pieces:
            await self.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        if end:
            await self.send(b"0\r\n\r\n")

    def drop(self) -> None:
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()


Handler = Callable[[Exchange], Awaitable[None]]


class RawServer:
    """What the server saw. `gone` is set when a client closed its connection."""

    def __init__(self) -> None:
        self.requests: list[Exchange] = []
        self.connections = 0
        self.gone = asyncio.Event()
        self.url = ""
        self.port = 0


class _Reader(asyncio.StreamReader):
    """Tells when the client has closed, also while nobody reads."""

    on_end: Callable[[], object] | None = None

    def feed_eof(self) -> None:
        super().feed_eof()
        if self.on_end:
            self.on_end()

    def set_exception(self, exc: BaseException) -> None:
        super().set_exception(exc)
        if self.on_end:
            self.on_end()


@asynccontextmanager
async def raw_server(handler: Handler, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[RawServer, None]:
    """Serve `handler` on a free port of 127.0.0.1."""
    seen = RawServer()
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: _Reader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        number = seen.connections
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next((int(x[15:]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length:")), 0)
                exchange = Exchange(head, await reader.readexactly(size), writer, number)
                seen.requests.append(exchange)
                answering = asyncio.ensure_future(handler(exchange))
                reader.on_end = answering.cancel
                await answering
                reader.on_end = None
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            seen.gone.set()
            writer.close()

    def connect() -> asyncio.StreamReaderProtocol:
        reader = _Reader()

        def start(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(_quietly(talk(reader, writer)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        return asyncio.StreamReaderProtocol(reader, start)

    server = await asyncio.get_running_loop().create_server(connect, "127.0.0.1", 0, ssl=tls)
    seen.port = server.sockets[0].getsockname()[1]
    seen.url = f"{'https' if tls else 'http'}://127.0.0.1:{seen.port}"
    try:
        yield seen
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _quietly(work: Awaitable[None]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        return
