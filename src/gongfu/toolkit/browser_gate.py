"""The proxy that all requests of the browser go through: it connects to checked addresses only, and to nothing inside
that nobody agreed to. It sees redirects, frames, pictures, scripts and sockets alike, which pages cannot get around."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

import anyio
from anyio.abc import ByteStream, Listener, SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from gongfu.core.errors import ProviderFault, ToolFailure
from gongfu.models.connection import connect, proxy_headers
from gongfu.models.endpoint import Address, find_proxy, tls_context
from gongfu.toolkit.web_guard import NEAR, Link, Reach, link_of, refusal

_HEAD = 65536
_SECONDS = 10
_IDLE = 300
_KEPT = 100
MARK = "x-gongfu-gate"  # a header of answers that are the gate's own
_MOST = 512 * 1024 * 1024  # bytes of one answer
_DROPPED = ("proxy-connection", "proxy-authorization", "connection", "keep-alive")
_GONE = (
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.IncompleteRead,
    anyio.DelimiterNotFound,
    OSError,
)  # fmt: skip - either side has gone, says nothing, or speaks no HTTP
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Gate:
    """A proxy on a port of loopback for one kind of pages. Public hosts pass; what is inside passes only when it was
    agreed to (`agree`) or `reach` lists it. `refused` tells what did not pass, `problems` the last failure by place."""

    def __init__(self, reach: Reach, env: Mapping[str, str]) -> None:
        self._reach = reach
        self._env = env
        self._agreed: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self.refused: deque[str] = deque(maxlen=50)
        self.problems: dict[str, str] = {}
        self.url = ""

    async def start(self) -> None:
        """Listen. `url` is where, then."""
        if self._task is not None:
            return
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - anyio's, not Django's
        self.url = f"http://127.0.0.1:{port}"
        self._task = asyncio.ensure_future(self._listen(listener))

    async def _listen(self, listener: Listener[SocketStream]) -> None:
        async with listener:
            await listener.serve(self._talk)

    async def close(self) -> None:
        """Stop listening, and end all connections."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def agree(self, link: Link) -> None:
        """Let requests through to a place inside, under all the names of this machine if it is there."""
        names = _LOOPBACK if link.host in _LOOPBACK or link.host.startswith("127.") else ()
        self._agreed |= {(f"{name}:{link.port}") for name in (link.host, *names)}

    # --- one connection -----------------------------------------------------------------------------------------------

    async def _talk(self, client: SocketStream) -> None:
        async with client:
            try:
                await self._serve(client)
            except _GONE:
                return

    async def _serve(self, client: SocketStream) -> None:
        reader = BufferedByteReceiveStream(client)
        with anyio.fail_after(_IDLE):
            head = await reader.receive_until(b"\r\n\r\n", _HEAD)
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        target = rest.partition(" ")[0]
        tunnel = method == "CONNECT"
        try:
            link, path = _taken_apart(target, tunnel=tunnel)
            server = await self._dial(link, tunnel=tunnel)
        except (ToolFailure, ProviderFault) as failure:
            why = failure.detail if isinstance(failure, ProviderFault) else str(failure)
            self._remember(target, why)
            await client.send(_answer(why))
            return
        async with server:
            if tunnel:
                await client.send(b"HTTP/1.1 200 OK\r\n\r\n")
                await _both_ways(reader, client, server)
            else:
                await self._pass_on(f"{method} {path}", link, lines, reader, client, server)

    def _remember(self, target: str, why: str) -> None:
        if len(self.problems) >= _KEPT:
            self.problems.clear()
        self.problems[target] = why

    async def _dial(self, link: Link, *, tunnel: bool) -> ByteStream:
        """A connection to the place, or to the proxy that leads there. ToolFailure for what may not be reached."""
        addresses = await self._reach.addresses(link.host, link.port)
        if not addresses and find_proxy(Address(scheme="https", host=link.host, port=link.port), "", self._env) is None:
            raise ToolFailure(f"the name {link.host} cannot be found (no such host, or no network)")
        kind = self._reach.judge(link.host, link.port, addresses)
        if kind and not (kind in NEAR and f"{link.host}:{link.port}" in self._agreed):
            self.refused.append(f"{link.place} ({kind})")
            raise ToolFailure(refusal(link.place, kind, addresses))
        address = Address(scheme="https" if tunnel else "http", host=link.host, port=link.port)
        proxy = find_proxy(address, "", self._env)
        try:
            with anyio.fail_after(_SECONDS):
                if proxy is None:
                    return await connect(address, tuple(addresses), _SECONDS)
                return await self._through(proxy, link, tunnel=tunnel)
        except OSError as error:  # a TimeoutError is one
            raise ToolFailure(f"no connection to {link.place} ({error or f'none within {_SECONDS} s'})") from None

    async def _through(self, proxy: Address, link: Link, *, tunnel: bool) -> ByteStream:
        context = tls_context("", self._env) if proxy.tls else None
        stream = await anyio.connect_tcp(proxy.host, proxy.port, tls=proxy.tls, ssl_context=context)
        if not tunnel:
            return stream
        extra = "".join(f"{name}: {value}\r\n" for name, value in proxy_headers(proxy))
        await stream.send(f"CONNECT {link.place} HTTP/1.1\r\nHost: {link.place}\r\n{extra}\r\n".encode("latin-1"))
        answer = await BufferedByteReceiveStream(stream).receive_until(b"\r\n\r\n", _HEAD)
        if answer.split(b" ", 2)[1:2] != [b"200"]:
            await stream.aclose()
            raise ToolFailure(f"the proxy {proxy.origin} did not open a way to {link.place}")
        return stream

    async def _pass_on(
        self, wanted: str, link: Link, lines: list[str], reader: BufferedByteReceiveStream, client: SocketStream,
        server: ByteStream,
    ) -> None:  # fmt: skip
        """One request and its answer; the connection ends with it, so that none carries requests for two hosts."""
        proxy = find_proxy(Address(scheme="http", host=link.host, port=link.port), "", self._env)
        headers = [line for line in lines if line and line.partition(":")[0].strip().lower() not in _DROPPED]
        size = next((v for k, _, v in (h.partition(":") for h in headers) if k.lower() == "content-length"), "0")
        method, _, target = wanted.partition(" ")
        if proxy is not None:
            target = f"http://{link.place}{target}"
            headers += [f"{name}: {value}" for name, value in proxy_headers(proxy)]
        head = "\r\n".join([f"{method} {target} HTTP/1.1", *headers, "Connection: close", "", ""])
        await server.send(head.encode("latin-1"))
        async with anyio.create_task_group() as tasks:

            async def upward() -> None:
                left = int(size) if size.strip().isdecimal() else 0
                while left > 0:
                    data = await reader.receive(min(left, 65536))
                    left -= len(data)
                    await server.send(data)
                while True:  # whatever else comes is not passed on; this ends when the browser has gone
                    await reader.receive()

            async def downward() -> None:
                answers = BufferedByteReceiveStream(server)
                while True:
                    head = await answers.receive_until(b"\r\n\r\n", _HEAD)
                    if not re.match(rb"HTTP/1\.[01] 1\d\d ", head):
                        break
                kept = [
                    line for line in head.split(b"\r\n")
                    if line.partition(b":")[0].strip().lower().decode("latin-1") not in _DROPPED
                ]  # fmt: skip
                await client.send(b"\r\n".join([*kept, b"Connection: close", b"", b""]))
                await _copy(answers, client)

            tasks.start_soon(_ended, upward, tasks.cancel_scope)
            tasks.start_soon(_ended, downward, tasks.cancel_scope)


def _taken_apart(target: str, *, tunnel: bool) -> tuple[Link, str]:
    """The place that is asked for, and the path as it came."""
    if tunnel:
        return link_of(f"https://{target}/"), ""
    found = re.match(r"(?i)http://([^/?#]*)(.*)", target)
    if found is None:
        raise ToolFailure("this proxy takes whole http:// addresses only")
    path = found[2] if found[2].startswith("/") else f"/{found[2]}"
    return link_of(f"http://{found[1]}/"), path


async def _ended(way: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    """Run one direction; when it ends both do."""
    try:
        await way()
    except _GONE:
        pass
    finally:
        scope.cancel()


async def _copy(source: BufferedByteReceiveStream | ByteStream, sink: ByteStream) -> None:
    left = _MOST
    while left > 0:
        with anyio.fail_after(_IDLE):
            data = await source.receive(65536)
        left -= len(data)
        await sink.send(data)


async def _both_ways(reader: BufferedByteReceiveStream, client: SocketStream, server: ByteStream) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_ended, lambda: _copy(reader, server), tasks.cancel_scope)
        tasks.start_soon(_ended, lambda: _copy(server, client), tasks.cancel_scope)


def _answer(why: str) -> bytes:
    body = why.encode("utf-8", "replace")
    head = f"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\n{MARK}: yes\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
