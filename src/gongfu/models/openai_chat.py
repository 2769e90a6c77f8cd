"""Chat Completions, as OpenAI and everyone else speaks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from gongfu.models.assemble import Assembler
from gongfu.models.chat_body import BodyWriter
from gongfu.models.chat_stream import ChatReader
from gongfu.models.wire import exchange

if TYPE_CHECKING:
    from gongfu.core.specs import ModelInfo
    from gongfu.models.protocol import Delta, Request
    from gongfu.models.quirks import Quirks
    from gongfu.models.transport import Transport


class OpenAIChat:
    """One model behind a Chat Completions endpoint. `quirks` are those of the model (`quirks.quirks_for`)."""

    def __init__(self, info: ModelInfo, transport: Transport, quirks: Quirks) -> None:
        self.info = info
        self._transport = transport
        self._quirks = quirks
        self._writer = BodyWriter(info, quirks)

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """See `ModelProvider`. Closing the generator closes the connection at once."""
        body = self._writer.write(request)
        style = "markers" if self.info.tools else "fenced"
        assembler = Assembler(request.tools, model=self.info.ref, limit=body.limit, style=style)
        reader = ChatReader(assembler, self._quirks, self.info.ref)
        deltas = exchange(self._transport, self._quirks.path, body.data, {}, reader, self.info.ref)
        async with aclosing(deltas):
            async for delta in deltas:
                yield delta

    async def aclose(self) -> None:
        """Close the kept connections."""
        await self._transport.aclose()
