"""HTTP for model endpoints: one pool of kept connections an endpoint, streamed answers, typed faults.

Built on h11 and anyio, since a whole HTTP client costs a one-shot run a fifth of its start-up time.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import h11

from gongfu.core.errors import BadRequest, ProviderFault, StreamCut, Unreachable
from gongfu.core.version import __version__
from gongfu.models.connection import Broken, Connection, Headers, basic, open_connection, proxy_headers
from gongfu.models.endpoint import Address, find_proxy, parse_address, tls_context

if TYPE_CHECKING:
    from ssl import SSLContext

_KEEP_SECONDS = 60.0
_KEEP_MOST = 8
_DRAIN_SECONDS = 0.1
_DRAIN_BYTES = 65536
_HIDDEN = "[secret key]"
_KEY = 6  # characters from which on a header's value may be a key
_PLAIN = ("anthropic-version",)  # headers that prove nothing


class Reply:
    """An answer whose head has arrived. `headers` have lower-case names; repeated ones are joined with ", ".

    `idle_seconds` is how long nothing may come before it counts as broken.
    """

    def __init__(
        self, connection: Connection, head: h11.Response, idle_seconds: float, hide: Callable[[bytes], bytes] = bytes
    ) -> None:
        self.status = head.status_code
        self.headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        self._connection = connection
        self.idle_seconds = idle_seconds
        self._hide = hide

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives, unpacked. Raises `StreamCut` when it breaks off or stands still too long."""
        unpack = _unpacker(self.headers.get("content-encoding", ""))
        try:
            while (data := await self._connection.data(self.idle_seconds)) is not None:
                if data := unpack(data):
                    yield data
        except Broken as broken:
            raise StreamCut(broken.detail, status=self.status) from None

    async def read(self, limit: int) -> bytes:
        """The body, at most its first `limit` bytes. A broken error answer (400 and up) gives what had arrived, and
        does not hold what was sent to prove who asks.
        """
        parts: list[bytes] = []
        size = 0
        chunks = self.chunks()
        try:
            async for chunk in chunks:
                parts.append(chunk)
                size += len(chunk)
                if size >= limit:
                    break
        except StreamCut:
            if self.status < 400:
                raise
        finally:
            await chunks.aclose()
        data = b"".join(parts)[:limit]
        return self._hide(data) if self.status >= 400 else data


class Transport:
    """An endpoint. `base_url` goes up to and including the version; paths are given below it.

    `proxy` and `env` (HTTP_PROXY and the like) say how to get there, `ca_file`, SSL_CERT_FILE and the system whom to
    trust. `connect_seconds` is for name, connection, proxy and TLS together, `idle_seconds` between two bytes.
    Nothing is opened before the first request. A wrong address or proxy is told by that request.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] = {},
        ca_file: str = "",
        proxy: str = "",
        env: Mapping[str, str],
        connect_seconds: float = 10,
        idle_seconds: float = 300,
    ) -> None:
        self.base_url = base_url
        self._headers = dict(headers)
        self._ca_file = ca_file
        self._proxy_setting = proxy
        self._env = env
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._idle: list[tuple[float, Connection]] = []
        self._way: tuple[Address, Address | None] | None = None
        self._context: SSLContext | None = None
        self._closed = False

    def stream(self, path: str, body: bytes, headers: Mapping[str, str] = {}) -> AbstractAsyncContextManager[Reply]:
        """POST `body` (JSON) to `path`; the reply is given once its head is there and closed on leaving.

        Raises `Unreachable` before, and its chunks raise `StreamCut` after. Leaving early or being cancelled closes
        the socket at once.
        """
        return self._exchange("POST", path, body, headers)

    async def get(self, path: str, headers: Mapping[str, str] = {}) -> tuple[int, dict[str, str], bytes]:
        """GET `path`: status, headers and at most 16 MB of body. Raises as `stream` does."""
        async with self._exchange("GET", path, b"", headers) as reply:
            return reply.status, reply.headers, await reply.read(16 << 20)

    def hide(self, text: str) -> str:
        """A text of the server without the keys that it was sent, which it may repeat in an error."""
        for key in self._keys():
            text = text.replace(key, _HIDDEN)
        return text

    def _hide(self, data: bytes) -> bytes:
        for key in self._keys():
            data = data.replace(key.encode(), _HIDDEN.encode())
        return data

    def _keys(self) -> list[str]:
        values = [value.split()[-1] for name, value in self._headers.items() if name not in _PLAIN and value.strip()]
        return sorted((value for value in values if len(value) >= _KEY), key=len, reverse=True)

    async def aclose(self) -> None:
        """Close the kept connections; one in use closes when its reply does. May be called more than once."""
        self._closed = True
        idle, self._idle = self._idle, []
        for _, connection in idle:
            await connection.aclose()

    @asynccontextmanager
    async def _exchange(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> AsyncGenerator[Reply, None]:
        connection, head = await self._ask(method, path, body, headers)
        try:
            yield Reply(connection, head, self._idle_seconds, self._hide)
        except BaseException as error:
            if isinstance(error, ProviderFault) and connection.finished:
                await self._release(connection)  # an error answer that was read to its end
            else:
                await connection.aclose()
            raise
        await self._release(connection)

    async def _ask(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[Connection, h11.Response]:
        address, proxy = self._way = self._way or self._find_way()
        target = address.target(path)
        sent = self._compose(address.authority, address.user, body, method, headers)
        if proxy and not address.tls:
            target = f"http://{address.authority}{target}"
            sent += proxy_headers(proxy)
        connection = await self._take_kept()
        while True:
            if connection is None:
                connection = await open_connection(address, proxy, self._tls, self._connect_seconds)
            try:
                await connection.send(method, target, sent, body, self._idle_seconds)
                return connection, await connection.head(self._idle_seconds)
            except Broken as broken:
                await connection.aclose()
                if not (broken.stale and connection.used):
                    raise Unreachable(f"{address.origin}: {broken.detail}") from None
                connection = None  # closed by the server while it was idle: the request cannot have run
            except h11.LocalProtocolError as error:
                await connection.aclose()
                raise BadRequest(f"the request's headers cannot be sent ({_no_value(error)}); check the key") from None
            except BaseException:
                await connection.aclose()
                raise

    def _find_way(self) -> tuple[Address, Address | None]:
        address = parse_address(self.base_url)
        return address, find_proxy(address, self._proxy_setting, self._env)

    def _compose(self, host: str, user: str, body: bytes, method: str, headers: Mapping[str, str]) -> Headers:
        fields = {
            "host": ("Host", host),
            "user-agent": ("User-Agent", f"gongfu/{__version__}"),
            "accept": ("Accept", "*/*"),
            "accept-encoding": ("Accept-Encoding", "identity"),
        }
        if user:
            fields["authorization"] = ("Authorization", basic(user))
        if method == "POST":
            fields["content-type"] = ("Content-Type", "application/json")
        for name, value in [*self._headers.items(), *headers.items()]:
            fields[name.lower()] = (name, value.strip())
        if method == "POST":
            fields["content-length"] = ("Content-Length", str(len(body)))
        for name, value in fields.values():
            if not (name + value).isascii():
                raise BadRequest(f"the header {name!r} holds characters that cannot be sent; check the key")
        return list(fields.values())

    async def _take_kept(self) -> Connection | None:
        while self._idle:
            since, connection = self._idle.pop()
            if time.monotonic() - since < _KEEP_SECONDS and not connection.is_stale():
                return connection
            await connection.aclose()
        return None

    async def _release(self, connection: Connection) -> None:
        try:
            await _drain(connection)
        except BaseException:
            await connection.aclose()
            raise
        if self._closed or len(self._idle) >= _KEEP_MOST or not connection.recycle():
            await connection.aclose()
        else:
            self._idle.append((time.monotonic(), connection))

    def _tls(self) -> SSLContext:
        if self._context is None:
            self._context = tls_context(self._ca_file, self._env)
        return self._context


async def _drain(connection: Connection) -> None:
    """Read the little that usually follows the last event, so that the connection can be kept."""
    left = _DRAIN_BYTES
    with anyio.move_on_after(_DRAIN_SECONDS):
        try:
            while not connection.finished and left > 0:
                left -= len(await connection.data(_DRAIN_SECONDS) or b"")
        except Broken:
            return  # the answer was whole for its reader; the connection is simply not kept


def _no_value(error: Exception) -> str:
    """What is wrong, without the value, which may be a key."""
    return str(error).partition(" b'")[0].partition(":")[0].lower()


def _unpacker(encoding: str) -> Callable[[bytes], bytes]:
    """A function that unpacks a body piece by piece. Raises BadRequest for an encoding that was not asked for."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return _same
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise BadRequest(f"the server answered in the encoding {encoding!r}, which was not asked for")
    import zlib  # only for servers that pack what they were asked not to

    # 32: gzip and zlib headers are both recognised
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def unpack(data: bytes) -> bytes:
        nonlocal unpacker
        try:
            return unpacker.decompress(data)
        except zlib.error as error:
            if encoding == "deflate" and not unpacker.unused_data:
                unpacker = zlib.decompressobj(wbits=-zlib.MAX_WBITS)  # some servers leave the zlib header out
                try:
                    return unpacker.decompress(data)
                except zlib.error:
                    pass
            raise Broken(f"the packed answer is damaged ({error})") from None

    return unpack


def _same(data: bytes) -> bytes:
    return data
