"""One HTTP/1.1 connection: h11 keeps the protocol, anyio moves the bytes. Errors are told as faults."""

from __future__ import annotations

import select
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias, cast

import anyio
import h11
from anyio.abc import ByteStream, SocketAttribute

from gongfu.core.errors import Unreachable
from gongfu.models.endpoint import Address, Misdirected

if TYPE_CHECKING:
    from socket import socket
    from ssl import SSLContext

_READ = 65536
_MAX_HEAD = 100 * 1024

Headers: TypeAlias = list[tuple[str, str]]


class Broken(Exception):
    """The connection ended, stood still or spoke no HTTP. Never leaves the transport.

    `stale` means that not one byte came back and the other side closed: safe to repeat on a kept connection.
    """

    def __init__(self, detail: str, *, stale: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.stale = stale


class Connection:
    """A connection that carries one exchange at a time. `used` says whether it has carried one before."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
        self._socket: socket | None = None
        self._received = False
        self.used = False

    async def send(self, method: str, target: str, headers: Headers, body: bytes, seconds: float) -> None:
        """Write one request. A peer that stops reading is no error yet: it may already have answered."""
        self._received = False
        head = h11.Request(method=method, target=target.encode("ascii"), headers=[(k, v) for k, v in headers])
        data = self._h11.send(head) or b""
        if body:
            data += self._h11.send(h11.Data(data=body)) or b""
        data += self._h11.send(h11.EndOfMessage()) or b""
        try:
            with anyio.fail_after(seconds):
                await self._stream.send(data)
        except TimeoutError:
            raise Broken(f"the server did not take the request within {seconds:g} s") from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return

    async def head(self, seconds: float) -> h11.Response:
        """The answer's status and headers; 1xx answers are passed over. Raises `Broken`."""
        while True:
            event = await self._event(seconds)
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise Broken("the server closed the connection without an answer", stale=not self._received)

    async def data(self, seconds: float) -> bytes | None:
        """The next piece of the body, None at its end. Raises `Broken`."""
        event = await self._event(seconds)
        return bytes(event.data) if isinstance(event, h11.Data) else None

    async def _event(self, seconds: float) -> h11.Event | type[h11.PAUSED]:
        begun = self._h11.their_state is h11.SEND_BODY
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                if self._received:
                    raise Broken(_broken(error, begun=begun)) from None
                raise Broken("the server closed the connection without an answer", stale=True) from None
            if event is not h11.NEED_DATA:
                return event  # pyright: ignore[reportReturnType]  # NEED_DATA is excluded one line above
            self._h11.receive_data(await self._receive(seconds))

    async def _receive(self, seconds: float) -> bytes:
        try:
            with anyio.fail_after(seconds):
                data = await self._stream.receive(_READ)
        except TimeoutError:
            raise Broken(f"nothing came for {seconds:g} s") from None
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            reason = _reason(error.__cause__ or error)
            raise Broken(f"the connection was lost ({reason})", stale=not self._received) from None
        self._received = True
        return data

    def recycle(self) -> bool:
        """Make ready for the next exchange; False when the connection cannot carry one."""
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        self._h11.start_next_cycle()
        self.used = True
        return True

    @property
    def finished(self) -> bool:
        """Whether the answer has been read to its end."""
        return self._h11.their_state is not h11.SEND_BODY

    def is_stale(self) -> bool:
        """Whether an idle connection has something to read, which can only be its end."""
        try:
            if self._socket is None:
                self._socket = self._stream.extra(SocketAttribute.raw_socket)  # noqa: S610  # anyio's, not Django's
            descriptor = self._socket.fileno()
            return descriptor < 0 or _is_readable(descriptor)
        except (anyio.TypedAttributeLookupError, OSError, ValueError):
            return True

    async def aclose(self) -> None:
        """Close the socket at once, also while being cancelled."""
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()


def _broken(error: h11.RemoteProtocolError, *, begun: bool) -> str:
    reason = str(error).partition(":")[0]
    if begun and "closed" in reason:
        return "the server closed the connection before the end of its answer"
    return f"the server broke off or does not speak HTTP ({reason})"


def _is_readable(descriptor: int) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


async def open_connection(
    address: Address, proxy: Address | None, tls: Callable[[], SSLContext], seconds: float, *, at: Sequence[str] = ()
) -> Connection:
    """Connect, through `proxy` if there is one, and encrypt where the address asks for it, within `seconds`.

    `at` are IP addresses that are tried in their order instead of looking up the name (a proxy is looked up all the
    same); the certificate must still be that of the name. Raises `Unreachable` with words a person can act on.
    """
    try:
        with anyio.fail_after(seconds):
            stream = await (_connect(proxy, "the proxy ") if proxy else connect(address, at, seconds))
            try:
                return Connection(await _prepare(stream, address, proxy, tls, seconds))
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await stream.aclose()
                raise
    except TimeoutError:
        through = f" through the proxy {proxy.origin}" if proxy else ""
        raise Unreachable(f"no connection to {address.origin}{through} within {seconds:g} s") from None


async def connect(address: Address, at: Sequence[str], seconds: float) -> ByteStream:
    """A connection to the first of the IP addresses `at` that takes one, within `seconds`; without any to the name.

    Nothing is encrypted. Raises `Unreachable`.
    """
    for place in at[:-1]:
        with suppress(Unreachable), anyio.move_on_after(seconds / len(at)):
            return await _connect(address, "", place)
    return await _connect(address, "", at[-1] if at else "")


async def _connect(address: Address, what: str, at: str = "") -> ByteStream:
    try:
        return await anyio.connect_tcp(at or address.host, address.port)
    except OSError as error:
        cause = _first(error)
        where = f"{what}{address.origin}"
        if type(cause).__name__ == "gaierror":
            raise Unreachable(f"the name of {where} cannot be found ({_reason(cause)})") from None
        if isinstance(cause, ConnectionRefusedError):
            raise Unreachable(f"{where} refuses connections: nothing listens there") from None
        raise Unreachable(f"no connection to {where} ({_reason(cause)})") from None


def _first(error: BaseException) -> BaseException:
    cause = error.__cause__
    if isinstance(cause, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", cause).exceptions[0]
    return error if cause is None else cause


async def _prepare(
    stream: ByteStream, address: Address, proxy: Address | None, tls: Callable[[], SSLContext], seconds: float
) -> ByteStream:
    if proxy and proxy.tls:
        stream = await _encrypt(stream, proxy, tls)
    if proxy and address.tls:
        await _tunnel(stream, address, proxy, seconds)
    return await _encrypt(stream, address, tls) if address.tls else stream


async def _encrypt(stream: ByteStream, address: Address, tls: Callable[[], SSLContext]) -> ByteStream:
    import ssl  # only for https://

    from anyio.streams.tls import TLSStream

    try:
        return await TLSStream.wrap(
            stream, server_side=False, hostname=address.host, ssl_context=tls(), standard_compatible=False
        )
    except ssl.SSLCertVerificationError as error:
        raise Misdirected(
            f"the certificate of {address.origin} is not trusted ({error.verify_message}): if it is right, name its "
            "authority in `ca_file` or SSL_CERT_FILE"
        ) from None
    except ssl.SSLError as error:
        if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
            raise Misdirected(f"{address.origin} does not speak TLS: is it an http:// address?") from None
        raise Unreachable(f"TLS with {address.origin} failed ({error.reason or error})") from None
    except (anyio.BrokenResourceError, anyio.EndOfStream, OSError):
        raise Unreachable(f"{address.origin} closed the connection during the TLS handshake") from None


async def _tunnel(stream: ByteStream, address: Address, proxy: Address, seconds: float) -> None:
    connection = Connection(stream)
    headers: Headers = [("Host", address.origin), *proxy_headers(proxy)]
    try:
        await connection.send("CONNECT", address.origin, headers, b"", seconds)
        answer = await connection.head(seconds)
    except Broken as broken:
        raise Unreachable(f"the proxy {proxy.origin} did not open a way to {address.origin}: {broken.detail}") from None
    if not 200 <= answer.status_code < 300:
        reason = answer.reason.decode("ascii", "replace")
        fault = Misdirected if answer.status_code in (401, 403, 405, 407) else Unreachable
        raise fault(f"the proxy {proxy.origin} refused to connect to {address.origin}: {answer.status_code} {reason}")


def proxy_headers(proxy: Address) -> Headers:
    """What a proxy must be told besides the request: who asks."""
    return [("Proxy-Authorization", basic(proxy.user))] if proxy.user else []


def basic(user: str) -> str:
    """The value of a Basic authorization header for "name:password"."""
    return "Basic " + b64encode(user.encode()).decode("ascii")


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip()
