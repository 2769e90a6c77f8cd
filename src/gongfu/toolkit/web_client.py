"""Fetches from the web: only from addresses that were checked, within bounds of time, size and redirects."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin

import anyio

from gongfu.core.base import Base
from gongfu.core.errors import ProviderFault, ToolFailure
from gongfu.core.version import __version__
from gongfu.models.connection import Broken, Connection, Headers, open_connection, proxy_headers
from gongfu.models.endpoint import Address, find_proxy, tls_context
from gongfu.toolkit.web_guard import Link, Reach, link_of, shown

if TYPE_CHECKING:
    from ssl import SSLContext

AGENT = f"Mozilla/5.0 (compatible; Gongfu/{__version__})"
REDIRECTS = 5
_MOVED = (301, 302, 303, 307, 308)
_COOKIES = 50
_PIECE = 65536

Follow: TypeAlias = Callable[[Link, Link], bool]


class Limits(Base, frozen=True):
    """Bounds of one fetch: seconds to connect, without a byte, and in all; bytes of the body after unpacking."""

    connect: float = 10.0
    idle: float = 20.0
    total: float = 60.0
    bytes: int = 10_000_000


USUAL = Limits()


class Answer(Base, frozen=True):
    """What a server answered. `headers` have lower-case names; `cut` says that the body was longer than the limit;
    `hops` are the addresses before `link`, `onward` is where the server points to when that was not followed."""

    link: Link
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: bool = False
    hops: tuple[str, ...] = ()
    onward: str = ""

    @property
    def media_type(self) -> str:
        """The type without its parameters, in lower case; "" when none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The charset that the header names, or ""."""
        found = re.search(r"(?i)charset\s*=\s*[\"']?\s*([\w.:\-]+)", self.headers.get("content-type", ""))
        return found[1].lower() if found else ""


def same_site(one: Link, other: Link) -> bool:
    """Whether a redirect stays with the host that was asked for: the same name, with `www.` or without, and not from
    https back to http."""
    ports = one.port == other.port or (one.scheme, other.scheme, other.port) == ("http", "https", 443)
    return one.name == other.name and ports and not (one.scheme == "https" and other.scheme == "http")


class Client:
    """Fetches for the tools. `env` names proxies and certificates, `reach` says what may be reached.

    The connection goes to the very addresses that were checked. Through a proxy it is the proxy that looks a name up;
    what the name leads to here is checked all the same.
    """

    def __init__(self, reach: Reach, env: Mapping[str, str], limits: Limits = USUAL) -> None:
        self.reach = reach
        self._env = env
        self.limits = limits

    @cached_property
    def _tls(self) -> SSLContext:
        return tls_context("", self._env)

    async def fetch(
        self, link: Link, *, headers: Mapping[str, str] = {}, method: str = "GET", body: bytes = b"",
        follow: Follow = same_site,
    ) -> Answer:  # fmt: skip
        """Ask for `link`, and follow redirects that `follow` lets through, at most 5.

        ToolFailure for what may not be reached, cannot be, or takes too long; an error status is an answer.
        """
        try:
            with anyio.fail_after(self.limits.total):
                return await self._follow(link, dict(headers), method, body, follow)
        except TimeoutError:
            raise ToolFailure(f"{link.place} did not answer whole within {self.limits.total:g} s") from None
        except ProviderFault as fault:
            raise ToolFailure(fault.detail) from None

    async def _follow(self, link: Link, headers: dict[str, str], method: str, body: bytes, follow: Follow) -> Answer:
        hops: list[str] = []
        cookies: dict[str, dict[str, str]] = {}
        while True:
            jar = cookies.setdefault(link.host, {})
            answer = await self._once(link, headers, method, body, jar)
            where = answer.headers.get("location", "")
            if answer.status not in _MOVED or not where:
                return _told(answer, hops)
            onward = link_of(urljoin(link.url, where))
            if not follow(link, onward):
                await self.reach.open(onward)
                return _told(answer, hops, onward.url)
            hops.append(link.url)
            if len(hops) > REDIRECTS:
                chain = " -> ".join(map(shown, hops))
                raise ToolFailure(f"more than {REDIRECTS} redirects, given up: {chain} -> {shown(onward.url)}")
            if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                method, body = "GET", b""
            link = onward

    async def _once(self, link: Link, headers: dict[str, str], method: str, body: bytes, jar: dict[str, str]) -> Answer:
        addresses = await self.reach.open(link)
        address = Address(scheme=link.scheme, host=link.host, port=link.port)
        proxy = find_proxy(address, "", self._env)
        if not addresses and proxy is None:
            raise ToolFailure(f"the name {link.host} cannot be found (no such host, or no network); nothing was sent")
        connection = await open_connection(
            address, proxy, lambda: self._tls, self.limits.connect, at=() if proxy else addresses
        )
        try:
            sent, target = self._request(link, address, proxy, headers, body, jar)
            await connection.send(method, target, sent, body, self.limits.idle)
            return await self._read(link, connection, jar)
        except Broken as broken:
            raise ToolFailure(f"{link.place}: {broken.detail}") from None
        finally:
            await connection.aclose()

    def _request(
        self, link: Link, address: Address, proxy: Address | None, headers: dict[str, str], body: bytes,
        jar: dict[str, str],
    ) -> tuple[Headers, str]:  # fmt: skip
        sent: dict[str, str] = {"Host": address.authority, "User-Agent": AGENT, "Accept": "*/*"}
        sent |= {"Accept-Encoding": "gzip, deflate", "Connection": "close"} | headers
        if jar:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if body:
            sent["Content-Length"] = str(len(body))
        pairs: Headers = list(sent.items())
        if proxy is None or address.tls:
            return pairs, link.target
        return [*pairs, *proxy_headers(proxy)], f"http://{address.authority}{link.target}"

    async def _read(self, link: Link, connection: Connection, jar: dict[str, str]) -> Answer:
        head = await connection.head(self.limits.idle)
        headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            if name == "set-cookie":
                _keep(jar, value)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        unpack = _Unpacker(headers.get("content-encoding", ""), self.limits.bytes + 1)
        while unpack.room > 0 and (data := await connection.data(self.limits.idle)) is not None:
            unpack.feed(data)
        body = bytes(unpack.body)
        cut = len(body) > self.limits.bytes
        return Answer(
            link=link, status=head.status_code, headers=headers, body=body[: self.limits.bytes], cut=cut
        )  # fmt: skip


def _told(answer: Answer, hops: list[str], onward: str = "") -> Answer:
    return Answer(
        link=answer.link, status=answer.status, headers=answer.headers, body=answer.body, cut=answer.cut,
        hops=tuple(hops), onward=onward,
    )  # fmt: skip


def _keep(jar: dict[str, str], cookie: str) -> None:
    """Keep a cookie for the redirects of this one fetch."""
    name, equals, value = cookie.partition(";")[0].strip().partition("=")
    if equals and name and len(jar) < _COOKIES and len(value) < 4096 and re.fullmatch(r"[\x21-\x7e]*", name + value):
        jar[name] = value


class _Unpacker:
    """Takes a body as it came and keeps at most `most` bytes of what it holds, however much that would be."""

    def __init__(self, encoding: str, most: int) -> None:
        self.body = bytearray()
        self._most = most
        self._kinds = [kind for kind in re.split(r"[\s,]+", encoding.lower()) if kind not in ("", "identity")]
        if len(self._kinds) > 1 or not set(self._kinds) <= {"gzip", "x-gzip", "deflate"}:
            raise ToolFailure(f"the server packed its answer as {encoding!r}, which was not asked for")
        self._inflate = zlib.decompressobj(47) if self._kinds else None
        self._begun = False

    @property
    def room(self) -> int:
        return self._most - len(self.body)

    def feed(self, data: bytes) -> None:
        if self._inflate is None:
            self.body += data[: self.room]
            return
        while data and self.room > 0:
            data = self._piece(data)

    def _piece(self, data: bytes) -> bytes:
        assert self._inflate is not None
        try:
            self.body += self._inflate.decompress(data, min(_PIECE, self.room))
        except zlib.error as error:
            if self._begun or self._kinds != ["deflate"]:
                raise ToolFailure(f"the server's packed answer is broken ({error})") from None
            self._begun, self._inflate = True, zlib.decompressobj(-15)  # deflate without a header, as some send it
            return data
        self._begun = True
        if self._inflate.eof:
            rest = self._inflate.unused_data
            self._inflate = zlib.decompressobj(47)
            return rest if rest.startswith(b"\x1f\x8b") else b""
        return self._inflate.unconsumed_tail


def failed(answer: Answer, what: str, text: str = "") -> ToolFailure:
    """What an answer with an error status means to who asked; `text` is what it says itself."""
    from http import HTTPStatus  # only for answers that are errors

    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "an unknown status"
    said = f"{what} answered {answer.status} {phrase}"
    wait = answer.headers.get("retry-after", "").strip()
    if answer.status in (429, 503) and wait:
        seconds = f"{wait} s" if wait.isdigit() else wait
        said += f"; it asks to wait ({seconds[:60]}) before the next try"
    elif answer.status == 429:
        said += "; it asks for fewer requests: wait before the next try"
    elif answer.status in (401, 407):
        said += "; it wants a login, and none is sent"
    return ToolFailure(f"{said}. It says: {text}" if text else said)
