"""The prompts and resources of all servers as they were last listed: what a menu shows must be there at once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import anyio

from gongfu.core.errors import ToolFailure

if TYPE_CHECKING:
    from gongfu.plugins.mcp.hub import Hub, Thing

_AGE: Final = 60.0  # seconds after which a server is asked again
_SECONDS: Final = 5.0  # for both lists of one server


class Offered:
    """Remembers the lists of a hub. A server that was connected anew is asked again, and each from time to time."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._prompts: dict[str, tuple[Thing, ...]] = {}
        self._resources: dict[str, tuple[Thing, ...]] = {}
        self._asked: dict[str, tuple[int, float]] = {}  # how often it had been started, and when
        self._asking = False

    @property
    def prompts(self) -> tuple[Thing, ...]:
        """The prompts that were listed so far, server by server."""
        return tuple(thing for name in self._hub.connections for thing in self._prompts.get(name, ()))

    @property
    def resources(self) -> tuple[Thing, ...]:
        """The resources likewise, without templates."""
        every = (thing for name in self._hub.connections for thing in self._resources.get(name, ()))
        return tuple(thing for thing in every if "{" not in thing.id)

    @property
    def stale(self) -> bool:
        """Whether `refresh` would ask."""
        return not self._asking and bool(self._due())

    async def refresh(self) -> None:
        """Ask the servers that are connected and were not asked lately. One that does not answer has nothing."""
        if self._asking:
            return
        self._asking = True
        try:
            async with anyio.create_task_group() as tasks:
                for name in self._due():
                    tasks.start_soon(self._ask, name)
        finally:
            self._asking = False

    def _due(self) -> list[str]:
        now = anyio.current_time()
        due: list[str] = []
        for name, one in self._hub.connections.items():
            starts, at = self._asked.get(name, (-1, 0.0))
            if one.state == "ready" and (one.starts != starts or now - at > _AGE):
                due.append(name)
        return due

    async def _ask(self, name: str) -> None:
        self._asked[name] = self._hub.connections[name].starts, anyio.current_time()
        with anyio.move_on_after(_SECONDS), suppress(ToolFailure):  # the next time is soon enough
            self._prompts[name] = self._resources[name] = ()
            self._prompts[name] = await self._hub.prompts(name)
            self._resources[name] = await self._hub.resources(name)
