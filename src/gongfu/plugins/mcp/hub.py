"""All servers of an app: connected in the background, shared by its sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.abc

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import CallPart
from gongfu.core.specs import ToolSpec
from gongfu.plugins.mcp.connection import Auth, Connection
from gongfu.plugins.mcp.content import Answer, of_prompt, of_resource
from gongfu.plugins.mcp.oauth import Store, provider
from gongfu.plugins.mcp.offered import Offered
from gongfu.plugins.mcp.offers import ACCESS, Offer, clean, line
from gongfu.plugins.mcp.remembered import Remembered
from gongfu.plugins.mcp.remote import RemoteTool
from gongfu.plugins.mcp.servers import Server
from gongfu.plugins.mcp.surroundings import Surroundings

if TYPE_CHECKING:
    import httpx2
    from mcp.client.client import Client

_LISTS: Final = 30.0  # seconds
_READ: Final = 60.0
_MOST: Final = 1_000
_FEW: Final = 5  # tools that are named where a session opens
_ENDING: Final = 4.0
_LEAD: Final = 0.1


class Thing(Base, frozen=True):
    """A resource (`id` is its address, with `{…}` in it for a template) or a prompt (`id` is its name).

    `arguments` are those of a prompt; names that may be left out end in "?".
    """

    server: str
    id: str
    title: str = ""
    about: str = ""
    arguments: tuple[str, ...] = ()


class Hub:
    """The servers by name. Nothing is started before `start`."""

    def __init__(
        self, servers: Iterable[Server], around: Surroundings, *, remembered: Remembered | None = None,
        auth: Auth | None = None,
    ) -> None:  # fmt: skip
        self._around = around
        self._remembered = remembered
        self.connections = {
            server.name: Connection(server, around, auth=auth or self._auth, changed=self._changed)
            for server in servers
        }
        self._tools: dict[str, tuple[object, tuple[RemoteTool, ...]]] = {}
        self.offered = Offered(self)
        self._scope = anyio.CancelScope()
        self._running = 0
        self.started = False
        self._ended = anyio.Event()

    # --- life ---

    def start(self, group: anyio.abc.TaskGroup) -> None:
        """Connect to all servers in the background, in tasks of `group`; once."""
        if self.started:
            return
        self.started = True
        self._running = 1
        for connection in self.connections.values():
            connection.begin()
        group.start_soon(self._run)

    async def _run(self) -> None:
        try:
            with self._scope:
                await anyio.sleep(_LEAD)  # whatever set this off goes first: loading the SDK takes the interpreter
                async with anyio.create_task_group() as group:
                    for connection in self.connections.values():
                        group.start_soon(connection.run)
        finally:
            self._running = 0
            self._ended.set()

    async def close(self) -> None:
        """End all connections and the programs behind them."""
        self._scope.cancel()
        if self._running:
            with anyio.move_on_after(_ENDING):
                await self._ended.wait()

    async def settled(self, seconds: float) -> None:
        """Wait until every server is there or was tried once, `seconds` at most."""
        if not self.started:
            return
        with anyio.move_on_after(seconds):
            for connection in self.connections.values():
                if not connection.tried:
                    await connection.settled(seconds)

    def _auth(self, url: str) -> httpx2.Auth | None:
        store = Store(self._around.logins, url)
        return provider(store) if store.read().tokens else None

    def _changed(self, connection: Connection) -> None:
        if self._remembered is not None:
            self._remembered.keep(connection.server, [offer.spec.name for offer in connection.offers.tools])

    # --- tools ---

    def tools(self, name: str) -> tuple[RemoteTool, ...]:
        """The tools of a server as they are now; before it was ever reached those it had when it was last seen."""
        connection = self.connections[name]
        if not connection.usable:
            return ()
        known = self._tools.get(name)
        if known is not None and known[0] is connection.offers:
            return known[1]
        found = connection.offers.tools
        if not found and not connection.starts and self._remembered is not None:
            found = tuple(_awaited(connection.server, tool) for tool in self._remembered.names(connection.server))
            return tuple(RemoteTool(connection, offer) for offer in found)
        made = tuple(RemoteTool(connection, offer) for offer in found)
        self._tools[name] = (connection.offers, made)
        return made

    def connection(self, name: str) -> Connection:
        """The connection of that name (or label). ToolFailure with the names that there are."""
        found = self.connections.get(name) or next(
            (c for c in self.connections.values() if c.server.label == name), None
        )
        if found is None:
            known = ", ".join(self.connections) or "none"
            raise ToolFailure(f"There is no MCP server {name!r}. There are: {known}.")
        return found

    def named(self, server: str, tool: str) -> str:
        """The name under which the model knows a tool of a server; "" when there is no such tool."""
        connection = self.connection(server)
        offers = [t.offer for t in self.tools(connection.server.name)]
        return next((o.spec.name for o in offers if tool in (o.tool, o.spec.name)), "")

    def opening(self) -> str:
        """The servers in a few words, for the note that opens a session; "" when there are none."""
        return "; ".join(f"{line(name, 60)}{self._brief(c)}" for name, c in self.connections.items() if c.usable)

    def _brief(self, connection: Connection) -> str:
        names = [t.spec.name for t in self.tools(connection.server.name)]
        if not names:
            return ""
        return f" ({', '.join(names)})" if len(names) <= _FEW else f" ({len(names)} tools)"

    # --- resources and prompts ---

    async def resources(self, server: str = "") -> tuple[Thing, ...]:
        """The resources and templates of a server (of all that are there when none is named)."""

        async def of(client: Client, name: str) -> list[Thing]:
            capability = client.server_capabilities.resources
            if capability is None:
                return []
            found: list[Thing] = []
            cursor: str | None = None
            while True:
                page = await client.list_resources(cursor=cursor)
                found += [_thing(name, r.uri, r.title or r.name, r.description) for r in page.resources]
                cursor = page.next_cursor
                if not cursor or len(found) >= _MOST:
                    break
            templates = await _or_nothing(client)
            return [*found, *(_thing(name, t.uri_template, t.title or t.name, t.description) for t in templates)]

        return await self._gather(server, "the list of resources", of)

    async def prompts(self, server: str = "") -> tuple[Thing, ...]:
        """The prompts of a server (of all that are there when none is named)."""

        async def of(client: Client, name: str) -> list[Thing]:
            if client.server_capabilities.prompts is None:
                return []
            found: list[Thing] = []
            cursor: str | None = None
            while True:
                page = await client.list_prompts(cursor=cursor)
                for p in page.prompts:
                    arguments = tuple(f"{line(a.name, 60)}{'' if a.required else '?'}" for a in p.arguments or ())
                    found.append(_thing(name, p.name, p.title or "", p.description, arguments))
                cursor = page.next_cursor
                if not cursor or len(found) >= _MOST:
                    return found

        return await self._gather(server, "the list of prompts", of)

    async def read_resource(self, server: str, uri: str) -> Answer:
        """The contents of a resource. ToolFailure when the server does not give it."""
        return of_resource(
            await self.connection(server).ask(
                "the reading of a resource", lambda client: client.read_resource(uri), seconds=_READ
            )
        )

    async def get_prompt(self, server: str, name: str, arguments: dict[str, str] | None = None) -> Answer:
        """The text of a prompt, filled with `arguments`. ToolFailure when the server does not give it."""
        return of_prompt(
            await self.connection(server).ask(
                f"the prompt {line(name)}", lambda client: client.get_prompt(name, arguments), seconds=_READ
            )
        )

    async def _gather(self, server: str, what: str, of: Callable[[Client, str], Any]) -> tuple[Thing, ...]:
        if server:
            one = self.connection(server)
            found: list[Thing] = await one.ask(what, lambda client: of(client, one.server.name), seconds=_LISTS)
            return tuple(found)
        await self.settled(_LISTS)
        every: list[Thing] = []
        for connection in self.connections.values():
            if connection.state == "ready":
                name = connection.server.name
                every += await connection.ask(what, lambda client, name=name: of(client, name), seconds=_LISTS)
        return tuple(every)


async def _or_nothing(client: Client) -> Sequence[Any]:
    from mcp.shared.exceptions import MCPError

    try:
        return (await client.list_resource_templates()).resource_templates[:_MOST]
    except MCPError:  # many servers have resources and know no templates
        return ()


def _thing(server: str, id: str, title: str, about: str | None, arguments: tuple[str, ...] = ()) -> Thing:
    return Thing(server=server, id=clean(id, 1_000), title=line(title), about=line(about or ""), arguments=arguments)


def _awaited(server: Server, name: str) -> Offer:
    """A tool of which only the name is known yet."""
    label = line(server.name, 60)
    spec = ToolSpec(
        name=name, description=f"(MCP server {label}, connecting)", parameters={"type": "object"}, access=ACCESS
    )
    return Offer(spec=spec, tool="")


def unwrapped(hub: Hub, call: CallPart) -> CallPart:
    """A call of the tool `mcp` with action `call` as the call of the server's tool; any other call as it is."""
    import msgspec

    try:
        given = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return call
    server, tool, arguments = given.get("server"), given.get("name"), given.get("arguments")
    if given.get("action") != "call" or not isinstance(server, str) or not isinstance(tool, str):
        return call
    if not isinstance(arguments, dict | None):
        return call
    try:
        name = hub.named(server, tool)
    except ToolFailure:
        return call
    if not name:
        return call
    return msgspec.structs.replace(call, name=name, arguments=msgspec.json.encode(arguments or {}).decode())
