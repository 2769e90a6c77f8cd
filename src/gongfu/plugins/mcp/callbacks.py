"""What a server may ask of its client: the folders, the person (while a call runs), to be heard. Models it may not."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from gongfu.plugins.mcp.asking import Asker, elicit
from gongfu.plugins.mcp.offers import line

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, IncomingMessage
    from mcp_types import (
        ElicitRequestParams,
        ElicitResult,
        ErrorData,
        ListRootsResult,
        LoggingMessageNotificationParams,
    )

    from gongfu.plugins.mcp.connection import Connection

QUESTIONS: Final = 5  # that one call may put to the person
_LOG: Final = 2_000

asker: ContextVar[Asker | None] = ContextVar("mcp_asker", default=None)
"""The call for which a request is made: whoever answers for it is asked what the server wants to know."""


class Callbacks:
    """The answers of one connection."""

    def __init__(self, connection: Connection, roots: Sequence[Path]) -> None:
        self._connection = connection
        self._roots = tuple(roots)
        self._one = anyio.Lock()
        self._asked: dict[int, int] = {}

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:
        """The folders of the workspace."""
        from mcp_types import ListRootsResult, Root
        from pydantic import FileUrl

        del context
        return ListRootsResult(roots=[Root(uri=FileUrl(folder.as_uri()), name=folder.name) for folder in self._roots])

    async def elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Ask the person, through the call that runs; declined when none does, or it has asked enough."""
        from mcp_types import ElicitResult

        del context
        calls = self._connection.calls
        who: Asker | None = asker.get() or (calls[-1] if calls else None)
        if who is None:
            return ElicitResult(action="decline")
        async with self._one:
            self._asked = {id(call): self._asked.get(id(call), 0) for call in calls}
            self._asked[id(who)] = self._asked.get(id(who), 0) + 1
            if self._asked[id(who)] > QUESTIONS:
                return ElicitResult(action="decline")
            return await elicit(who, self._connection.server.name, params)

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """Keep the last of what it logs, for `status`."""
        said = line(str(params.data), 300)
        self._connection.logged = f"{self._connection.logged}\n{params.level}: {said}"[-_LOG:].lstrip("\n")

    async def message(self, message: IncomingMessage) -> None:
        """Hear that tools have changed."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._connection.list_changed()
