"""The connection to one server: made in the background, watched, and made anew when the server falls."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import anyio

from gongfu.core.errors import ToolFailure, root_of
from gongfu.plugins.mcp.listing import list_tools
from gongfu.plugins.mcp.names import Names
from gongfu.plugins.mcp.offers import Offers, clean, line, offers
from gongfu.plugins.mcp.sdk import loaded
from gongfu.plugins.mcp.servers import Kind, Server
from gongfu.plugins.mcp.surroundings import Surroundings
from gongfu.plugins.mcp.transport import Line, NoProgramError, Transport

if TYPE_CHECKING:
    import httpx2
    from mcp.client.client import Client

State: TypeAlias = Literal["off", "wrong", "idle", "connecting", "ready", "waiting", "failed", "login"]
Auth: TypeAlias = "Callable[[str], httpx2.Auth | None]"
T = TypeVar("T")

_LONGEST_PAUSE: Final = 60.0
_QUIET: Final = 0.2  # seconds in which changes of a list are taken together
_CLOSED: Final = ("Connection closed", "SSE stream")  # the SDK's words; servers have other errors of the same code
_TERMINATED: Final = "Session terminated"
_HTTP: Final = "Server returned an error response"
_STEADY: Final = 10.0  # seconds after which a connection counts as one that works


class Connection:
    """One server. `state` says how it stands, `error` what went wrong last; `offers` are its tools as last listed.

    `run` keeps the connection until it is cancelled. `changed` is called when there are other tools than before.
    """

    def __init__(
        self,
        server: Server,
        around: Surroundings,
        *,
        auth: Auth,
        changed: Callable[[Connection], None] = lambda _: None,
    ) -> None:
        self.server = server
        self.state: State = "off" if server.entry.disabled else "wrong" if server.problem else "idle"
        self.error = server.problem
        self.offers = Offers()
        self.protocol = ""
        self.title = ""
        self.instructions = ""
        self.logged = ""
        self.starts = 0
        self.tried = False
        self._around = around
        self._auth = auth
        self._changed = changed
        self._names = Names(server.label)
        self._client: Client | None = None
        self._line: Line | None = None
        self._settled = anyio.Event()
        self._wanted = anyio.Event()
        self._news = anyio.Event()
        self._stopped = False
        self._listed = False
        self._kind: Kind | None = None
        self._falls = 0
        self.calls: list[Any] = []  # those that run now, the newest last: who is asked what the server wants to know

    # --- what others may do ---

    @property
    def usable(self) -> bool:
        """Whether it can be used at all, as far as the settings go."""
        return self.state not in ("off", "wrong")

    @property
    def said(self) -> str:
        """The last of what it wrote to its standard error, for people."""
        return clean(self._line.said, 4_000) if self._line else ""

    def begin(self) -> None:
        """`run` is about to be called."""
        if self.usable:
            self.state = "connecting"

    def stop(self) -> None:
        """Let go of it until `want` is called. A request that comes at once waits for a connection of its own."""
        self._stopped = True
        if self._client is not None:
            self._client, self.state, self.error = None, "idle", ""
            self._settled = anyio.Event()
        self._news.set()

    def want(self) -> None:
        """It is needed: a pause before the next try ends, one that was stopped starts again."""
        self._stopped = False
        if self.state in ("idle", "waiting", "failed", "login") and self._settled.is_set():
            self._settled = anyio.Event()
        self._wanted.set()

    async def settled(self, seconds: float) -> None:
        """Wait until the try that is going on has led somewhere, `seconds` at most."""
        if self.usable:
            with anyio.move_on_after(seconds):
                await self._settled.wait()

    async def client(self) -> Client:
        """The connection, for a request. ToolFailure with the reason and what would help when there is none."""
        if not self.usable:
            raise ToolFailure(self.why_not())
        if self.state != "ready":
            self.want()
            await self.settled(self._around.connect + 1)
        if self._client is None or self.state != "ready":
            raise ToolFailure(self.why_not())
        return self._client

    def why_not(self) -> str:
        """Why it cannot be used now, for the model."""
        name = line(self.server.name, 60)
        match self.state:
            case "off":
                return f"The MCP server {name} is switched off in the settings; nothing was done."
            case "wrong":
                return f"The MCP server {name} cannot be used: {self.error}. The user must put its settings right."
            case "login":
                return f"The MCP server {name} needs a login. Ask the user to run: gongfu mcp login {name}"
            case _:
                return f"The MCP server {name} is not connected ({self.error or 'no answer yet'}); nothing was done."

    async def ask(self, what: str, request: Callable[[Client], Awaitable[T]], *, seconds: float) -> T:
        """Make one request, bounded in time. ToolFailure says what went wrong; `what` names the request."""
        client = await self.client()
        with anyio.CancelScope(deadline=anyio.current_time() + seconds) as scope:
            return await self.told(what, request(client))
        if scope.cancelled_caught:
            raise ToolFailure(f"{self.server.name} did not answer {what} within {seconds:g} seconds.")
        raise AssertionError

    async def told(self, what: str, request: Awaitable[T], *, effect: str = "") -> T:
        """The answer to a request, or a ToolFailure with the reason; `effect` is added where it may have done much."""
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        name = line(self.server.name, 60)
        way = self._line
        try:
            return await request
        except MCPError as error:
            closed = error.code == CONNECTION_CLOSED and error.message.startswith(_CLOSED)
            if closed or (way is not None and way.why):
                why = way.why if way is not None and way.why else "the connection was closed"
                raise ToolFailure(f"The MCP server {name} fell silent during {what}: {why}.{effect}") from error
            raise ToolFailure(self._refused(error.message, way)) from error
        except ValidationError as error:
            said = f"{name} answered {what} with something that the protocol does not know.{effect}"
            raise ToolFailure(said) from error
        except RuntimeError as error:  # the SDK's way to say that an answer does not keep to its own schema
            raise ToolFailure(f"{name}, {what}: {clean(str(error), 500)}{effect}") from error

    def _refused(self, message: str, way: Line | None) -> str:
        """What the server answered, for the model. One that knows the session no more is connected to anew."""
        name = line(self.server.name, 60)
        if message == _TERMINATED:
            self._drop("its session had ended")
            return (
                f"The MCP server {name} has forgotten the session; nothing was done. It is connected anew: try again."
            )
        if message == _HTTP and way is not None and way.status:
            if way.status == 401:
                return f"The MCP server {name} needs a login. Ask the user to run: gongfu mcp login {name}"
            return f"The MCP server {name} answered with HTTP status {way.status}."
        return f"{name}: {clean(message, 2_000)}"

    def _drop(self, why: str) -> None:
        """The connection is of no use any more: whoever calls waits for the next one."""
        if self._client is not None:
            self._client, self.state, self.error = None, "waiting", why
            self._settled = anyio.Event()
        self._news.set()

    # --- the life of it ---

    async def run(self) -> None:
        """Keep the connection until cancelled: made at once, and anew with longer and longer pauses after falls."""
        while self.usable:
            began = anyio.current_time()
            try:
                await self._connected()
                self.error = self.error if self._line is None or not self._line.why else self._line.why
            except Exception as error:  # noqa: BLE001 - the edge to a foreign program: whatever it does, the agent goes on
                self._fell(root_of(error))
            finally:
                self._client = None
            if anyio.current_time() - began > _STEADY:
                self._falls = 0
            await self._rest()

    async def _rest(self) -> None:
        """Wait until it is time for another try, or somebody wants one."""
        if self._stopped:
            self.state, self.error = "idle", ""
        elif self.state != "login":
            self._falls += 1
            given_up = self._falls >= self._around.tries or self.error.startswith("there is no program")
            self.state = "failed" if given_up else "waiting"
        self.tried = True
        if not self._wanted.is_set():
            self._settled.set()
        pause = min(self._around.pause * 2 ** (self._falls - 1), _LONGEST_PAUSE) if self.state == "waiting" else None
        with anyio.move_on_after(None if pause is None else pause * random.uniform(0.7, 1.3)):  # noqa: S311 - jitter
            await self._wanted.wait()
        self._wanted = anyio.Event()

    def _fell(self, error: BaseException) -> None:
        from mcp.client.auth import OAuthFlowError

        from gongfu.plugins.mcp.login import LoginError
        from gongfu.plugins.mcp.oauth import NeedsLoginError

        if isinstance(error, OAuthFlowError | LoginError):
            self.state, self.error = "login", f"the login did not work: {line(str(error), 300)}"
            return
        line_ = self._line
        status = line_.status if line_ else 0
        if isinstance(error, NeedsLoginError) or status == 401:
            self.state, self.error = "login", "it needs a login"
            return
        if isinstance(error, NoProgramError):
            self.error = str(error)
        elif line_ is not None and line_.why:
            self.error = line_.why
        elif status:
            self.error = f"it answered with HTTP status {status}"
        else:
            self.error = line(str(error), 300) or type(error).__name__

    async def _connected(self) -> None:
        """One connection from its beginning to its end, in each way that may fit until one does."""
        self.state = "connecting"
        self._stopped = False
        if self._settled.is_set():
            self._settled = anyio.Event()
        kinds = (self._kind,) if self._kind else self.server.kinds
        for at, kind in enumerate(kinds, 1):
            try:
                await self._one(kind)
            except Exception:
                status = self._line.status if self._line else 0
                if at < len(kinds) and status in (400, 404, 405, 406, 415):
                    continue
                raise
            return

    async def _one(self, kind: Kind) -> None:
        transport = Transport(self.server, self._around, kind, auth=self._auth, news=self._wake)
        self._line = transport.line
        self.starts += 1
        try:
            transport.start()
            await loaded()
            await self._spoken(kind, transport)
        finally:
            await transport.end()

    async def _spoken(self, kind: Kind, transport: Transport) -> None:
        with anyio.CancelScope(deadline=anyio.current_time() + self._around.connect) as scope:
            async with self._open(transport) as client:
                self._kind = kind
                await self._relist(client)
                scope.deadline = float("inf")
                self._client, self.state, self.error, self.tried = client, "ready", "", True
                self._settled.set()
                await self._serve(client)
        if scope.cancelled_caught:
            raise TimeoutError(f"it did not answer within {self._around.connect:g} seconds")

    @asynccontextmanager
    async def _open(self, transport: Transport) -> AsyncGenerator[Client, None]:
        from mcp.client.client import Client
        from mcp_types import Implementation

        from gongfu.core.version import __version__
        from gongfu.plugins.mcp.callbacks import Callbacks

        callbacks = Callbacks(self, self._around.roots)
        client = Client(
            transport,
            cache=None,
            client_info=Implementation(name="gongfu", version=__version__),
            list_roots_callback=callbacks.roots,
            elicitation_callback=callbacks.elicit,
            logging_callback=callbacks.log,
            message_handler=callbacks.message,
        )
        async with client:
            self.protocol = client.protocol_version
            info = client.server_info
            self.title = line(f"{info.title or info.name} {info.version}", 100) if info else ""
            self.instructions = clean(client.instructions or "")
            yield client

    def _wake(self, *, listed: bool = False) -> None:
        """Something happened: the server fell, or (`listed`) says that a list of its has changed."""
        if self._line is not None and self._line.why:
            self._drop(self._line.why)
        self._listed = self._listed or listed
        self._news.set()

    def list_changed(self) -> None:
        """The server says that its tools have changed."""
        self._wake(listed=True)

    async def _serve(self, client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen, client)
            while not self._stopped and self._client is client:
                await self._news.wait()
                self._news = anyio.Event()
                if self._listed and not self._stopped and self._client is client:
                    await anyio.sleep(_QUIET)
                    self._listed = False
                    with anyio.move_on_after(self._around.connect):
                        await self._relist(client)
            group.cancel_scope.cancel()

    async def _listen(self, client: Client) -> None:
        """Hear of changed tools from servers that tell only who asks to be told."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
        from mcp.shared.exceptions import MCPError

        capability = client.server_capabilities.tools
        if capability is None or not capability.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as news:
                async for _ in news:
                    self.list_changed()
        except (ListenNotSupportedError, SubscriptionLost, MCPError):
            return

    async def _relist(self, client: Client) -> None:
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        if client.server_capabilities.tools is None:
            found = Offers()
        else:
            try:
                found = offers(self.server, self._names, await list_tools(client))
            except (MCPError, ValidationError) as error:
                if self._client is None:
                    raise
                self.error = f"its new list of tools cannot be read: {line(str(error), 200)}"
                return
        if found != self.offers:
            self.offers = found
            self._changed(self)
