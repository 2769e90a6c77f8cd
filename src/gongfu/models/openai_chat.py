"""Chat Completions, as OpenAI and everyone else speaks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from gongfu.core.errors import ProviderFault
from gongfu.models.assemble import Assembler
from gongfu.models.chat_body import BodyWriter
from gongfu.models.chat_stream import ChatReader
from gongfu.models.learned import Learned
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
        self._learned = Learned(info, quirks, BodyWriter)

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """See `ModelProvider`. Closing the generator closes the connection at once."""
        writer, quirks = self._learned.writer, self._learned.quirks
        body = writer.write(request)
        style = "markers" if self._learned.info.tools else "fenced"
        assembler = Assembler(request.tools, model=self.info.ref, limit=body.limit, style=style)
        reader = ChatReader(assembler, quirks, self.info.ref)
        try:
            async with aclosing(exchange(self._transport, quirks.path, body.data, {}, reader, self.info.ref)) as deltas:
                async for delta in deltas:
                    yield delta
        except ProviderFault as fault:
            self._learned.heed(fault, body.data, writer)
            raise

    async def aclose(self) -> None:
        """Close the kept connections."""
        await self._transport.aclose()
