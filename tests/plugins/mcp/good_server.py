"""A server made with the official SDK: `good_server.py [stdio|http|sse] [legacy]`. It prints its port on HTTP."""

from __future__ import annotations

import asyncio
import base64
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, ListRoots, MCPServer, Resolve
from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ListRootsResult,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LEGACY = "legacy" in sys.argv
server = MCPServer("good", title="A good server", version="1.2", instructions="Be\x07 kind to it.")


class Sum(BaseModel):
    total: int


class Name(BaseModel):
    name: str = Field(description="how you are called")
    times: int = 1


@server.tool()
async def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b)


@server.tool()
async def echo(text: str) -> str:
    """Say the same again."""
    return text


@server.tool()
async def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


@server.tool()
async def mixed() -> CallToolResult:
    """Text, picture, sound and a resource."""
    return CallToolResult(
        content=[
            TextContent(text="words"),
            ImageContent(data=PIXEL, mime_type="image/png"),
            ImageContent(data="!!!", mime_type="image/png"),
            AudioContent(data=base64.b64encode(b"x" * 30).decode(), mime_type="audio/wav"),
            EmbeddedResource(resource=TextResourceContents(uri="memo://1", text="inside")),
        ]
    )


@server.tool()
async def slow(seconds: float, steps: int, ctx: Context) -> str:
    """Take some time, telling of it."""
    for step in range(steps):
        await asyncio.sleep(seconds / steps)
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    return "slept"


async def who() -> Elicit[Name]:
    return Elicit("Who are you?", Name)


async def folders() -> ListRoots:
    return ListRoots()


@server.tool()
async def greet(result: Annotated[ElicitationResult[Name], Resolve(who)]) -> str:
    """Greet whoever is there."""
    if result.action != "accept":
        return f"nobody ({result.action})"
    return f"Hello {result.data.name * result.data.times}"


@server.tool()
async def where(found: Annotated[ListRootsResult, Resolve(folders)]) -> str:
    """The folders of the client."""
    return " ".join(str(root.uri) for root in found.roots)


@server.tool()
async def think(ctx: Context) -> str:
    """Ask the client's model."""
    from mcp_types import SamplingMessage

    try:
        await ctx.session.create_message([SamplingMessage(role="user", content=TextContent(text="hi"))], max_tokens=5)
    except Exception as error:
        return f"refused: {error}"
    return "answered"


@server.tool()
async def grow(ctx: Context, name: str) -> str:
    """Have another tool from now on."""

    async def more(x: Annotated[str, Field(description="any")] = "") -> str:
        """One more."""
        return f"{name} {x}"

    server.add_tool(more, name=name)
    if LEGACY:
        await ctx.session.send_tool_list_changed()
    else:
        await ctx.notify_tools_changed()
    return "grown"


@server.resource("memo://hello")
def hello() -> str:
    """A greeting."""
    return "hello from a resource"


@server.resource("memo://{name}/text")
def text_of(name: str) -> str:
    """Text by name."""
    return f"text of {name}"


@server.prompt()
def review(code: str, style: str = "short") -> str:
    """Review some code."""
    return f"Please review ({style}): {code}"


def main(kind: str) -> None:
    if LEGACY:  # as servers were before 2026
        server._lowlevel_server._request_handlers.pop("server/discover")
    if kind == "stdio":
        server.run("stdio")
        return
    import socket

    import uvicorn

    app = server.streamable_http_app() if kind == "http" else server.sse_app()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "stdio")
