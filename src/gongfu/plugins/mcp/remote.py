"""A tool of a server as a tool of ours."""

from __future__ import annotations

from typing import Any, Final

import anyio
import msgspec

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.specs import Access, ToolSpec
from gongfu.plugins.mcp.callbacks import asker
from gongfu.plugins.mcp.connection import Connection
from gongfu.plugins.mcp.content import Answer, of_call
from gongfu.plugins.mcp.offers import Offer, line
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.tools.validate import validate

UNKNOWN: Final = " Its effect is unknown: look before you try again."
_AT_MOST: Final = 30  # times its limit that a call may take while it tells of progress
_PREVIEW: Final = 4_000
_NEWS: Final = 0.2  # seconds between two lines of progress


class RemoteTool:
    """One tool of a server; it stays the same while the server comes and goes."""

    __slots__ = ("_connection", "offer")

    def __init__(self, connection: Connection, offer: Offer) -> None:
        self._connection = connection
        self.offer = offer

    @property
    def spec(self) -> ToolSpec:
        return self.offer.spec

    def claims(self, args: dict[str, Any], /) -> tuple[Claim, ...]:
        """Nothing for a tool that only reads; else everything: nobody here can see what it touches."""
        del args
        return () if self.offer.only_reads else (Claim(resource="*", write=True),)

    async def facts(self, args: dict[str, Any], /) -> Facts:
        """What it is and what it gets. A server that cannot be used is told of before anything is asked."""
        connection = self._connection
        if connection.state != "ready":
            await connection.client()
        self._checked(args)
        access: tuple[Access, ...] = ("read",) if self.offer.only_reads else self.spec.access
        shown = msgspec.json.format(msgspec.json.encode(args), indent=1).decode("utf-8", "replace")
        title = f"{line(connection.server.name, 60)}: {line(self.offer.tool, 80)}"
        return Facts(
            access=access,
            hosts=host_of(connection.server.entry.url),
            title=title,
            preview=text_display(f"{title}\n{shown[:_PREVIEW]}"),
        )

    def _checked(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments; where only the name was known when they were checked, they are checked now."""
        if self.offer.tool:
            return args
        found = next((o for o in self._connection.offers.tools if o.spec.name == self.spec.name), None)
        if found is None:
            name = line(self._connection.server.name, 60)
            raise ToolFailure(
                f"The MCP server {name} has no tool {self.spec.name} any more. find_tools tells which it has."
            )
        checked = validate(found.spec.parameters, args)
        if checked.problem:
            raise ToolFailure(f"Wrong arguments for {self.spec.name}: {checked.problem}")
        self.offer = found
        return checked.args

    async def run(self, args: dict[str, Any], ctx: CallContext, /) -> Outcome:
        """Call it; an answer that is an error fails."""
        answer = await self._call(args, ctx)
        first = line(answer.text, 100)
        return Outcome(
            text=answer.text,
            images=answer.images,
            status="failed" if answer.failed else "done",
            display=text_display(answer.text[:_PREVIEW], first),
        )

    async def _call(self, args: dict[str, Any], ctx: CallContext) -> Answer:
        connection = self._connection
        client = await connection.client()
        limit = connection.server.entry.timeout
        began = anyio.current_time()
        told = 0.0
        with anyio.CancelScope(deadline=began + limit) as scope:

            async def tell(progress: float, total: float | None, message: str | None) -> None:
                nonlocal told
                now = anyio.current_time()
                scope.deadline = min(now + limit, began + limit * _AT_MOST)
                if now - told >= _NEWS:
                    told = now
                    ctx.output(_progress(progress, total, message))

            token = asker.set(ctx)
            connection.calls.append(ctx)
            try:
                result = await connection.told(
                    f"the call of {self.offer.tool}",
                    client.call_tool(self.offer.tool, args, progress_callback=tell),
                    effect=UNKNOWN,
                )
            finally:
                connection.calls.remove(ctx)
                asker.reset(token)
            return of_call(result)
        name = line(connection.server.name, 60)
        raise ToolFailure(f"{name} did not answer within {limit:g} seconds and was told to stop.{UNKNOWN}")


def _progress(done: float, total: float | None, message: str | None) -> str:
    words = line(message, 200) if message else ""
    share = f"{done:g}/{total:g}" if total else f"{done:g}"
    return f"{share} {words}".rstrip() + "\n"


def host_of(url: str) -> tuple[str, ...]:
    """The host of an address with its port, for rules; nothing for a program here."""
    if not url:
        return ()
    from urllib.parse import urlsplit  # only where a server has an address

    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return (url,)
    return (f"{parts.hostname}:{port}",)
