"""Bytes from an address or a file, from any position on: what the downloader knows of HTTP."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio

from gongfu.core.errors import GongfuError, Unreachable
from gongfu.models.endpoint import find_proxy, parse_address, tls_context
from gongfu.models.local.index import without_credentials

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 4.0
READ_SECONDS = 30.0
PAGE_BYTES = 16 << 20
_CHUNK = 1 << 18


class Problem(GongfuError):
    """A source did not give what was asked; `again`: trying again may help. Its text has no credentials."""

    def __init__(self, detail: str, *, again: bool = True) -> None:
        super().__init__(detail)
        self.detail = detail
        self.again = again


class Body:
    """A body that begins at byte `start` of a file of `total` bytes (None: not told); `ranged`: as it was asked for."""

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        *,
        start: int = 0,
        total: int | None = None,
        ranged: bool = False,
        kind: str = "",
        url: str = "",
    ) -> None:
        self.chunks = chunks
        self.ranged = ranged
        self.start = start
        self.total = total
        self.kind = kind
        self.url = url


class Web:
    """Reads addresses (http, https, file). `proxy`, `cert` and `trusted` as pip's options of these names.

    Nothing is opened before the first request. Each client serves the hosts that are reached in the same way.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        cert: str = "",
        proxy: str = "",
        trusted: tuple[str, ...] = (),
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._env = env
        self._cert = cert
        self._proxy = proxy
        self._trusted = trusted
        self._seconds = (connect_seconds, read_seconds)
        self._clients: dict[tuple[str, bool], httpx2.AsyncClient] = {}

    async def page(self, url: str, accept: str = "*/*") -> tuple[str, str, bytes]:
        """A whole small document: its final address, content type and bytes. Raises `Problem`."""
        async with self.open(url, headers={"Accept": accept}) as body:
            parts: list[bytes] = []
            async for chunk in body.chunks:
                parts.append(chunk)
                if sum(map(len, parts)) > PAGE_BYTES:
                    raise Problem(f"{without_credentials(url)} is no page of an index", again=False)
            return body.url, body.kind, b"".join(parts)

    @asynccontextmanager
    async def open(
        self, url: str, first: int = 0, last: int | None = None, headers: Mapping[str, str] = {}
    ) -> AsyncGenerator[Body, None]:
        """The bytes `first` to `last` (inclusive; None: to the end). Look at `start`: not every server knows ranges.

        Raises `Problem`, also while the chunks are read.
        """
        if url.startswith("file:"):
            yield _local(url, first, last)
            return
        import httpx2  # 80 ms: only a download pays for it

        asked = dict(headers) | {"Accept-Encoding": "identity"}
        if first or last is not None:
            asked["Range"] = f"bytes={first}-{'' if last is None else last}"
        try:
            client = self._client(url)
            async with client.stream("GET", url, headers=asked, auth=_netrc(url, self._env)) as response:
                yield _checked(response, first)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise Problem(f"{without_credentials(url)}: {_reason(error)}") from None
        except Unreachable as error:
            raise Problem(f"{without_credentials(url)}: {error.detail}", again=False) from None

    async def aclose(self) -> None:
        """Close all connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    def _client(self, url: str) -> httpx2.AsyncClient:
        import httpx2

        address = parse_address(url)
        proxy = find_proxy(address, self._proxy, self._env)
        trusted = address.host in self._trusted or address.origin in self._trusted
        way = (f"{proxy.scheme}://{proxy.user}@{proxy.authority}" if proxy else "", trusted)
        if way not in self._clients:
            context = tls_context(self._cert, self._env)
            if trusted:
                import ssl

                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE  # asked for with trusted-host; the checksum decides all the same
            name, _, password = proxy.user.partition(":") if proxy else ("", "", "")
            auth = (name, password) if name else None
            self._clients[way] = httpx2.AsyncClient(
                verify=context,
                trust_env=False,
                follow_redirects=True,
                max_redirects=8,
                timeout=httpx2.Timeout(self._seconds[1], connect=self._seconds[0]),
                proxy=httpx2.Proxy(f"{proxy.scheme}://{proxy.authority}", auth=auth) if proxy else None,
            )
        return self._clients[way]


def _checked(response: httpx2.Response, first: int) -> Body:
    where = without_credentials(str(response.url))
    if response.status_code not in (200, 206):
        gone = response.status_code < 500 and response.status_code not in (408, 425, 429)
        raise Problem(f"{where} answered {response.status_code}", again=not gone)
    length = response.headers.get("content-length", "")
    total = int(length) if length.isdigit() else None
    start = 0
    if response.status_code == 206:
        span, _, size = response.headers.get("content-range", "").removeprefix("bytes").strip().partition("/")
        total = int(size) if size.isdigit() else None
        begin = span.partition("-")[0].strip()
        start = int(begin) if begin.isdigit() else first
    kind = response.headers.get("content-type", "")
    ranged = response.status_code == 206
    return Body(response.aiter_raw(), start=start, total=total, ranged=ranged, kind=kind, url=str(response.url))


def _local(url: str, first: int, last: int | None) -> Body:
    path = local_path(url)
    if path.is_dir():
        page = path / "index.html"
        if not page.is_file():
            links = "".join(f'<a href="{name.as_uri()}">{name.name}</a>' for name in sorted(path.glob("*.whl")))
            return Body(_once(links.encode()), kind="text/html", url=url)
        path, url = page, url.rstrip("/") + "/index.html"
    try:
        size = path.stat().st_size
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}", again=False) from None
    kind = "text/html" if path.suffix == ".html" else ""
    chunks = _read(path, first, size - 1 if last is None else last)
    return Body(chunks, start=first, total=size, ranged=True, kind=kind, url=url)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _read(path: Path, first: int, last: int) -> AsyncIterator[bytes]:
    async with await anyio.open_file(path, "rb") as file:
        await file.seek(first)
        left = last - first + 1
        while left > 0 and (data := await file.read(min(left, _CHUNK))):
            left -= len(data)
            yield data


def local_path(url: str) -> Path:
    """The path that a `file:` address names."""
    parts = urlsplit(url)
    return Path(url2pathname(parts.path))


def _netrc(url: str, env: Mapping[str, str]) -> tuple[str, str] | None:
    parts = urlsplit(url)
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    path = Path(env.get("NETRC") or os.path.join(home, ".netrc"))  # noqa: PTH118
    if parts.username is not None or not path.is_file():
        return None
    import netrc  # only for those who have such a file

    try:
        found = netrc.netrc(str(path)).authenticators(parts.hostname or "")
    except (netrc.NetrcParseError, OSError):
        return None
    return (found[0], found[2] or "") if found else None


def _reason(error: Exception) -> str:
    name = type(error).__name__
    if "Timeout" in name:
        return "no answer in time"
    if "TooManyRedirects" in name:
        return "it redirects without end"
    return without_credentials(str(error)) if "@" in str(error) else str(error) or name
