"""The language servers of a session: started when they are needed, started again when they died, ended when idle."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import anyio

from gongfu.knowledge.lsp.server import LanguageServer, ServerFailed
from gongfu.knowledge.lsp.servers import Found
from gongfu.workspace.sandbox.confinement import Launch

Launcher: TypeAlias = Callable[[Found], Awaitable[Launch]]
IDLE = 600.0
_STARTS = 3  # in a window
_WINDOW = 300.0
_MOST = 6  # at once


class Pool:
    """Servers by their program. Idle ones end after `idle` seconds."""

    def __init__(self, root: Path, *, idle: float = IDLE) -> None:
        self._root = root
        self._idle = idle
        self._running: dict[tuple[str, ...], LanguageServer] = {}
        self._starts: dict[tuple[str, ...], list[float]] = {}
        self._lock = anyio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    async def get(self, found: Found, launcher: Launcher) -> LanguageServer:
        """The running server, started if need be. ServerFailed when it does not start, or dies again and again."""
        async with self._lock:
            known = self._running.get(found.argv)
            if known is not None and known.alive:
                known.used = time.monotonic()
                return known
            await self._drop(found.argv)
            self._count(found)
            await self._make_room()
            launch = await launcher(found)
            try:
                server = LanguageServer(found, self._root, launch)
            except (OSError, ValueError) as error:
                raise ServerFailed(f"it could not be started: {error}") from error
            try:
                await server.start()
            except BaseException:
                server.kill("it did not start")
                with anyio.CancelScope(shield=True):
                    await server.stop()
                raise
            self._running[found.argv] = server
            self._plan()
            return server

    def _count(self, found: Found) -> None:
        now = time.monotonic()
        recent = [moment for moment in self._starts.get(found.argv, []) if now - moment < _WINDOW]
        if len(recent) >= _STARTS:
            raise ServerFailed(f"it ended {_STARTS} times within {_WINDOW / 60:.0f} minutes and is left alone for now")
        self._starts[found.argv] = [*recent, now]

    async def _make_room(self) -> None:
        while len(self._running) >= _MOST:
            running = self._running
            await self._drop(min(running, key=lambda argv: (running[argv].busy, running[argv].used)))

    async def _drop(self, argv: tuple[str, ...]) -> None:
        server = self._running.pop(argv, None)
        if server is not None:
            await server.stop()

    def worked(self, found: Found) -> None:
        """A server has answered: its starts are forgotten."""
        self._starts.pop(found.argv, None)

    # --- idle -----------------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(max(self._idle / 4, 0.02), self._look)

    def _look(self) -> None:
        self._timer = None
        now = time.monotonic()
        for server in self._running.values():
            if server.alive and not server.busy and now - server.used > self._idle:
                server.kill("it was idle and ended")
        if any(server.alive for server in self._running.values()):
            self._plan()

    async def close(self) -> None:
        """End all servers."""
        if self._timer is not None:
            self._timer.cancel()
        async with self._lock:
            for argv in list(self._running):
                await self._drop(argv)
