"""The way back of a login: one page on a loopback port that the browser is sent to."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import ByteStream, SocketAttribute, TaskGroup

if TYPE_CHECKING:
    from mcp.shared.auth import AuthorizationCodeResult

_HEAD: Final = 16 * 1024
_SECONDS: Final = 10.0
_PAGE: Final = (
    "<!doctype html><meta charset=utf-8><title>Gongfu</title>"
    "<body style='font-family:sans-serif;margin:4em'><p>{said}</p></body>"
)


class LoginError(Exception):
    """The person was sent back without a code."""


class Callback:
    """A small server on 127.0.0.1 that waits for the browser. Use it as an async context manager."""

    def __init__(self, said: str) -> None:
        self._said = said
        self._query: dict[str, str] = {}
        self._came = anyio.Event()

    async def __aenter__(self) -> Self:
        self._listener = (await anyio.create_tcp_listener(local_host="127.0.0.1")).listeners[0]
        self._group: TaskGroup = await anyio.create_task_group().__aenter__()
        self._group.start_soon(self._listener.serve, self._answer)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._group.cancel_scope.cancel()
        try:
            return await self._group.__aexit__(kind, error, trace)
        finally:
            await self._listener.aclose()

    @property
    def url(self) -> str:
        """The address that the browser is sent back to."""
        port = self._listener.extra(SocketAttribute.local_port)  # noqa: S610 - a port, not a query
        return f"http://127.0.0.1:{port}/callback"

    async def code(self) -> AuthorizationCodeResult:
        """Wait for the browser; what it brought. LoginError when that is no code."""
        from mcp.shared.auth import AuthorizationCodeResult

        await self._came.wait()
        if not self._query.get("code"):
            raise LoginError(self._query.get("error_description") or self._query.get("error") or "no code came back")
        return AuthorizationCodeResult(
            code=self._query["code"], state=self._query.get("state"), iss=self._query.get("iss")
        )

    async def _answer(self, stream: ByteStream) -> None:
        """One request of the browser; other paths (an icon) are not found, and what is no HTTP is dropped."""
        head = b""
        with anyio.move_on_after(_SECONDS):
            async with stream:
                try:
                    while b"\r\n\r\n" not in head and len(head) < _HEAD:
                        head += await stream.receive()
                    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
                    parts = urlsplit(words[1]) if len(words) > 1 and words[0] == "GET" else urlsplit("")
                    wanted = parts.path == "/callback"
                    page = _PAGE.format(said=self._said) if wanted else ""
                    await stream.send(_response(200 if wanted else 404, page.encode()))
                except (anyio.EndOfStream, anyio.BrokenResourceError, ValueError):
                    return
                if wanted and not self._came.is_set():
                    self._query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                    self._came.set()


def _response(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} {'OK' if status == 200 else 'Not Found'}\r\ncontent-type: text/html; charset=utf-8\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
