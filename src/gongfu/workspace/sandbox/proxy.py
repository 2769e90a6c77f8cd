"""A proxy that lets confined commands through to the hosts of a list; it listens on a socket in a folder."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from gongfu.workspace.sandbox.hosts import listed, may_be_reached, split_port

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]

PORT = 3128  # inside, where nothing else listens
_HEAD = 32 * 1024  # bytes of a request up to its blank line
_CHUNK = 64 * 1024
_SECONDS = 30.0  # for a head to come, and for a connection to be made
_MOST = 256  # connections at a time
_HOP = (b"proxy-connection", b"proxy-authorization", b"connection", b"keep-alive")


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as this machine finds them. OSError for none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def through(path: str, argv: Sequence[str], env: dict[str, str], hosts: Sequence[str]) -> list[str]:
    """The command `argv` behind a forwarder from a port inside to the socket `path`; `env` is told of the port.

    What a command serves itself it reaches directly, unless this machine is among the `hosts`.
    """
    address = f"http://127.0.0.1:{PORT}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        env[name] = env[name.lower()] = address
    named = {split_port(entry)[0].strip("[]").lower() for entry in hosts}
    env["NO_PROXY"] = env["no_proxy"] = ",".join(n for n in ("localhost", "127.0.0.1", "::1") if n not in named)
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("forward.py")), path, str(PORT), *argv]


class Proxy:
    """Understands CONNECT and requests with a whole address, for the `hosts` of the list only.

    It resolves names itself, so that a name cannot lead one way when it is judged and another when it is used. One
    request a connection.
    """

    def __init__(self, hosts: Sequence[str], path: Path, resolve: Resolve = resolve) -> None:
        self._hosts = tuple(hosts)
        self._path = path
        self._resolve = resolve
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Listen. OSError when the socket cannot be made."""
        with suppress(FileNotFoundError):
            self._path.unlink()
        self._server = await asyncio.start_unix_server(self._serve, str(self._path), limit=_HEAD)
        os.chmod(self._path, 0o666)  # noqa: PTH101, S103 - the folder lets nobody else in

    async def close(self) -> None:
        """Stop listening and drop all connections."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(OSError):
            self._path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            if len(self._tasks) > _MOST:
                await _say(writer, 503, "too many connections")
            else:
                await self._request(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # the command sees its connection closed
        except asyncio.CancelledError:  # the app closes
            pass
        finally:
            if task is not None:
                self._tasks.discard(task)
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        words = line.decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return await _say(writer, 400, "not a request for a proxy")
        method, target, version = words
        tunnel = method == "CONNECT"
        host, port, path = _target(target, tunnel=tunnel)
        entry = listed(host, port, self._hosts) if host else ""
        if not entry:
            return await _say(writer, 403, f"{host or target}:{port} is not in the list sandbox.hosts")
        try:
            far = await self._connect(host, port, entry)
        except (OSError, TimeoutError, UnicodeError) as error:
            return await _say(writer, 502, f"{host}:{port}: {error}")
        if far is None:
            return await _say(writer, 403, f"{host} leads to an address of this machine or the local network")
        far_reader, far_writer = far
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(f"{method} {path} {version}\r\n".encode("latin-1") + _passed_on(fields, host, port))
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.close()
        return None

    async def _connect(
        self, host: str, port: int, entry: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection to the first address that answers; None when the name leads to none that may be reached."""
        async with asyncio.timeout(_SECONDS):
            allowed = [a for a in await self._resolve(host.strip("[]"), port) if may_be_reached(a, entry)]
            problem: OSError | None = None
            for address in allowed:
                try:
                    return await asyncio.open_connection(address, port, limit=_CHUNK)
                except OSError as error:
                    problem = error
        if problem is not None:
            raise problem
        return None


def _target(target: str, *, tunnel: bool) -> tuple[str, int, str]:
    if tunnel:
        return (*split_port(target), "")
    scheme, _, rest = target.partition("://")
    if scheme.lower() != "http":
        return "", 0, ""
    place, slash, path = rest.partition("/")
    if "@" in place or "?" in place or "#" in place:
        return "", 0, ""
    return (*split_port(place, 80), slash + path or "/")


def _passed_on(fields: bytes, host: str, port: int) -> bytes:
    """The header without what is meant for the proxy; the host is the one that was judged, one request is sent."""
    lines = [f for f in fields.split(b"\r\n") if f and f.partition(b":")[0].strip().lower() not in (*_HOP, b"host")]
    name = f"[{host}]" if ":" in host else host
    own = [f"Host: {name}{'' if port == 80 else f':{port}'}".encode("latin-1"), b"Connection: close"]
    return b"\r\n".join([*own, *lines]) + b"\r\n\r\n"


async def _say(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    reason = {400: "Bad Request", 403: "Forbidden by the sandbox", 502: "Bad Gateway", 503: "Busy"}[status]
    body = f"Gongfu sandbox: {text}\n".encode("utf-8", "replace")
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close"
    writer.write(f"{head}\r\n\r\n".encode("latin-1") + body)
    await writer.drain()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on as fast as they are taken, then the end."""
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()
