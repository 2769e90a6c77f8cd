"""The MCP servers of an app: which there are, and when they are connected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

import anyio

from gongfu.core.events import RequestSent
from gongfu.core.messages import CallPart
from gongfu.tools.families import Family, LiveFamily
from gongfu.tools.registry import NOBODY

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session
    from gongfu.plugins.mcp.hub import Hub
    from gongfu.plugins.mcp.servers import Server
    from gongfu.plugins.mcp.surroundings import Surroundings

FILE: Final = ".mcp.json"
_WAIT: Final = 20.0  # seconds that a search for tools waits for servers that are being connected


def servers_of(app: App) -> tuple[Server, ...]:
    """The servers of the settings, and those that the project's `.mcp.json` names when the folder is trusted."""
    given = app.settings.mcp.servers
    named = app.options.trusted and FILE in app.options.trust.findings.files
    if not given and not named:
        return ()
    from gongfu.plugins.mcp.servers import Found, gathered, read_project  # only where there are servers

    data = _project_file(app) if named else b""
    found = read_project(data, app.options.env) if data else Found()
    return gathered(given, (), found)


def _project_file(app: App) -> bytes:
    """The file as it was trusted; what has changed since does not count."""
    from hashlib import sha256

    try:
        data = (app.workspace.root / FILE).read_bytes()
    except OSError:
        return b""
    return data if sha256(data).hexdigest() == app.options.trust.findings.files[FILE] else b""


def hub_of(app: App) -> Hub | None:
    """The hub of the servers, not started; None when there are none."""
    servers = servers_of(app)
    if not servers:
        return None
    from gongfu.plugins.mcp.hub import Hub
    from gongfu.plugins.mcp.remembered import Remembered

    return Hub(servers, around_of(app), remembered=Remembered(app.places.cache / "mcp-tools.json"))


def around_of(app: App) -> Surroundings:
    """Where the servers of an app run: they get the person's environment without its secrets."""
    from gongfu.plugins.mcp.surroundings import Surroundings
    from gongfu.workspace.environment import child_env

    return Surroundings(
        directory=app.workspace.root,
        roots=(app.workspace.root, *app.workspace.extra),
        env=child_env(app.options.env, keep=app.settings.shell.keep_env, trusted=app.options.trusted),
        logins=app.places.home / "mcp",
    )


def live_families(app: App) -> tuple[Family, ...]:
    """One family for each server; its tools come and go."""
    hub = app.hub
    if hub is None:
        return ()

    until: list[float] = []  # when the wait for all of them together ends, from the first on that is asked for

    async def ready() -> None:
        hub.start(app.group)
        until[:] = until or [anyio.current_time() + _WAIT]
        await hub.settled(max(0.0, until[0] - anyio.current_time()))

    tools = hub.tools
    return tuple(
        LiveFamily(f"mcp:{connection.server.label}", lambda name=name: tools(name), ready)
        for name, connection in hub.connections.items()
        if connection.usable
    )


def standing(app: App) -> Mapping[str, Callable[[CallPart], CallPart]]:
    """How a call of a server's tool through the tool `mcp` is unwrapped."""
    hub = app.hub
    if hub is None:
        return NOBODY
    from gongfu.plugins.mcp.hub import unwrapped

    return {"mcp": lambda call: unwrapped(hub, call)}


def connect_later(app: App, session: Session, closing: list[Callable[[], Awaitable[object]]]) -> None:
    """Connect to the servers as soon as the first request of `session` is on its way, which must not wait for them."""
    hub = app.hub
    if hub is None or hub.started:
        return
    scope = anyio.CancelScope()

    async def follow() -> None:
        with scope:
            async with session.stream.subscribe() as entries:
                async for entry in entries:
                    if isinstance(entry.event, RequestSent):
                        hub.start(app.group)
                        return

    async def leave() -> None:
        scope.cancel()

    app.group.start_soon(follow)
    closing.append(leave)


def opening(app: App) -> str:
    """What the note that opens a session says of the servers; "" when there are none."""
    return app.hub.opening() if app.hub is not None else ""
