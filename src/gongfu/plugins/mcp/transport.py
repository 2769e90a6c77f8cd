"""One way to a server, as the SDK wants it: a context manager that gives two streams."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from gongfu.plugins.mcp.network import Network
from gongfu.plugins.mcp.pipes import Launch, Pipes, argv_of
from gongfu.plugins.mcp.servers import Kind, Server
from gongfu.plugins.mcp.surroundings import Surroundings

if TYPE_CHECKING:
    import httpx2


class NoProgramError(Exception):
    """The program of a server cannot be started."""


class News(Protocol):
    """Called when something happened."""

    def __call__(self, *, listed: bool = False) -> None: ...


class Line:
    """What is known of the way while and after it is used: `why` it ended, `said` on standard error, the last HTTP
    `status` that was a refusal."""

    def __init__(self) -> None:
        self.pipes: Pipes | None = None
        self.network: Network | None = None
        self.over = False

    @property
    def why(self) -> str:
        return self.pipes.why if self.over and self.pipes else ""

    @property
    def said(self) -> str:
        return self.pipes.said if self.pipes else ""

    @property
    def status(self) -> int:
        return self.network.status if self.network else 0


class Transport:
    """The way to `server` of one kind; made anew for each connection, and started before it is entered."""

    def __init__(
        self,
        server: Server,
        around: Surroundings,
        kind: Kind,
        *,
        auth: Callable[[str], httpx2.Auth | None],
        news: News,
    ) -> None:
        self.line = Line()
        self._server = server
        self._around = around
        self._kind: Kind = kind
        self._auth = auth
        self._news = news
        self._opened: AbstractAsyncContextManager[tuple[Any, Any]] | None = None

    def start(self) -> None:
        """Start the program, where there is one: it gets ready while the SDK is loaded. NoProgramError."""
        if self._kind != "stdio":
            return
        self.line.pipes = Pipes(self._launch(), changed=lambda: self._news(listed=True), over=self._ended)
        try:
            self.line.pipes.start()
        except (OSError, ValueError) as error:
            raise NoProgramError(f"it cannot be started: {error}") from error

    async def end(self) -> None:
        """End a program that was started and never spoken to."""
        if self.line.pipes is not None:
            await self.line.pipes.end()

    async def __aenter__(self) -> tuple[Any, Any]:
        if self.line.pipes is not None:
            self._opened = self.line.pipes.streams()
            return await self._opened.__aenter__()
        entry = self._server.entry
        named = {name.lower() for name in entry.headers}
        auth = None if "authorization" in named else self._auth(entry.url)
        self.line.network = Network(entry.url, entry.headers, auth)
        self._opened = self.line.network.streams("sse" if self._kind == "sse" else "http")
        return await self._opened.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._opened.__aexit__(kind, error, trace) if self._opened else None

    def _ended(self) -> None:
        self.line.over = True
        self._news()

    def _launch(self) -> Launch:
        entry = self._server.entry
        env = {**self._around.env, **entry.env}
        cwd = self._around.directory / Path(entry.cwd).expanduser() if entry.cwd else self._around.directory
        if not cwd.is_dir():
            raise NoProgramError(f"there is no folder {cwd}")
        argv = argv_of(entry.command, entry.args, env.get("PATH", ""))
        if argv is None and ("/" in entry.command or "\\" in entry.command):
            argv = argv_of(str(cwd / entry.command), entry.args, "")
        if argv is None:
            raise NoProgramError(f"there is no program {entry.command}")
        return Launch(argv=argv, cwd=cwd, env=env)
