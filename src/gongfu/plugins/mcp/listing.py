"""The tools of a server, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gongfu.plugins.mcp.offers import MOST_TOOLS, Listed

if TYPE_CHECKING:
    from mcp.client.client import Client

PAGES: Final = 50


async def list_tools(client: Client) -> list[Listed]:
    """What the server lists, a few more than are taken at most."""
    found: list[Listed] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            title = tool.title or (tool.annotations.title if tool.annotations else None) or ""
            found.append(
                Listed(name=tool.name, description=tool.description or "", title=title, schema=tool.input_schema)
            )
        cursor = page.next_cursor
        if not cursor or cursor in seen or len(found) > 2 * MOST_TOOLS:
            return found
        seen.add(cursor)
    return found
