"""What the tests of MCP share: hubs of servers that run for one test, and calls of their tools."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from gongfu.config.settings import McpServer
from gongfu.plugins.mcp.hub import Hub
from gongfu.plugins.mcp.remembered import Remembered
from gongfu.plugins.mcp.remote import RemoteTool
from gongfu.plugins.mcp.servers import Found, gathered
from gongfu.plugins.mcp.surroundings import Surroundings
from gongfu.tools.protocol import Outcome
from tests.toolkit.kit import Ctx

HERE = Path(__file__).parent
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def bad(kind: str = "plain", file: Path | None = None, **more) -> McpServer:
    """The server that misbehaves."""
    args = (str(HERE / "bad_server.py"), kind, *([str(file)] if file else []))
    return McpServer(command=sys.executable, args=args, **more)


def good(**more) -> McpServer:
    """The server made with the official SDK, as a program."""
    return McpServer(command=sys.executable, args=(str(HERE / "good_server.py"),), **more)


@contextmanager
def serving(*words: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The same behind an address: its origin, and what ends it."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "good_server.py"), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}", process.kill
        finally:
            process.kill()


@asynccontextmanager
async def hub(folder: Path, servers: Mapping[str, McpServer], **more) -> AsyncGenerator[Hub, None]:
    """A hub whose servers are connected, as far as they can be."""
    given = {"connect": 15.0, "pause": 0.01, "tries": 3} | more
    around = Surroundings(
        directory=folder, roots=(folder,), env=given.pop("env", ENV), logins=folder / "logins", **given
    )
    made = Hub(gathered(servers, (), Found()), around, remembered=Remembered(folder / "names.json"))
    async with anyio.create_task_group() as group:
        made.start(group)
        try:
            with anyio.fail_after(25):
                await made.settled(20)
                yield made
        finally:
            await made.close()


def tool_of(hub: Hub, name: str) -> RemoteTool:
    return next(t for c in hub.connections for t in hub.tools(c) if t.spec.name == name)


async def call(hub: Hub, name: str, ctx: Ctx | None = None, /, **args) -> Outcome:
    return await tool_of(hub, name).run(args, ctx or Ctx())


def names(hub: Hub, server: str = "bad") -> list[str]:
    return [t.spec.name for t in hub.tools(server)]
