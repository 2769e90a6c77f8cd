"""The streams of a server behind an address: streamable HTTP, or the older event stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from gongfu.core.version import __version__

if TYPE_CHECKING:
    import httpx2

    from gongfu.plugins.mcp.servers import Kind

LONGEST: Final = 32 * 1024 * 1024  # bytes of one answer or event
_CONNECT: Final = 30.0
_SILENCE: Final = 300.0  # seconds without an event, after which a stream is opened anew


class Network:
    """How to reach one server. `status` is the last refusal (an HTTP status), 0 for none."""

    def __init__(self, url: str, headers: Mapping[str, str], auth: httpx2.Auth | None = None) -> None:
        self.url = url
        self.status = 0
        self._headers = {"user-agent": f"gongfu/{__version__}", **headers}
        self._auth = auth

    def client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """A client whose answers are bounded."""
        import httpx2  # heavy; loaded with the SDK

        async def seen(response: httpx2.Response) -> None:
            self.status = response.status_code if response.status_code >= 400 else 0
            response.stream = _bounded(response.stream)

        return httpx2.AsyncClient(
            headers={**self._headers, **(headers or {})},
            timeout=timeout or httpx2.Timeout(_CONNECT, read=_SILENCE),
            auth=auth or self._auth,
            event_hooks={"response": [seen]},
        )

    @asynccontextmanager
    async def streams(self, kind: Kind) -> AsyncGenerator[tuple[Any, Any], None]:
        """The streams that the SDK speaks through."""
        if kind == "sse":
            from mcp.client.sse import sse_client

            opened: AbstractAsyncContextManager[tuple[Any, Any]] = sse_client(
                self.url, timeout=_CONNECT, sse_read_timeout=_SILENCE, httpx_client_factory=self.client, auth=self._auth
            )
            async with opened as both:
                yield both
            return
        from mcp.client.streamable_http import streamable_http_client

        async with (
            self.client() as client,
            streamable_http_client(self.url, http_client=client, max_sse_event_size=LONGEST) as both,
        ):
            yield both


class TooLongError(Exception):
    """An answer was longer than anything that is taken."""


def _bounded(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            count = 0
            async for chunk in stream:
                count += len(chunk)
                if count > LONGEST:
                    raise TooLongError(f"its answer has more than {LONGEST:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
