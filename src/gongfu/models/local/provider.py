"""The embedded model as a provider: server, chat dialect and guidance tied together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

from gongfu.core.specs import ModelInfo, Price
from gongfu.models.local.models import WINDOW, LocalModel, find_model

if TYPE_CHECKING:
    from gongfu.config.paths import Places
    from gongfu.models.local.guided import Files
    from gongfu.models.local.record import Record
    from gongfu.models.local.server import LocalServer
    from gongfu.models.openai_chat import OpenAIChat
    from gongfu.models.protocol import Delta, ModelProvider, Request

PROVIDER = "local"
_OUTPUT = 1024
_QUIRKS = "llamacpp"


def local_info(model: LocalModel) -> ModelInfo:
    """What is known of an embedded model: free, small, one request at a time."""
    return ModelInfo(
        ref=f"{PROVIDER}/{model.name}",
        provider=PROVIDER,
        name=model.name,
        window=WINDOW,
        max_output=_OUTPUT,
        price=Price(input=0.0, cached=0.0, cache_write=0.0, output=0.0),
        small=True,
        slots=1,
        source="embedded",
    )


def local_provider(name: str, places: Places, env: Mapping[str, str], files: Files | None = None) -> ModelProvider:
    """The embedded model `name` ("" is the default), guided; see `guided.Guided` for `files`.

    Nothing is started before the first request. Raises UsageError for a name that is not known; a request raises
    UserError when the model was not fetched or cannot be served.
    """
    from gongfu.models.local.guided import Guided
    from gongfu.models.local.server import LocalServer

    model = find_model(name)
    return Guided(LocalProvider(model, LocalServer(model, places, env), env), files)


class LocalProvider:
    """The model behind its server, not guided: one request, one plain answer."""

    def __init__(self, model: LocalModel, server: LocalServer, env: Mapping[str, str]) -> None:
        self.info = local_info(model)
        self._server = server
        self._env = env
        self._chat: tuple[str, OpenAIChat] | None = None

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """See `ModelProvider`; starts the server when it is not running. Raises UserError when that is not possible."""
        record = await self._server.ready()
        chat = await self._endpoint(record)
        async with aclosing(chat.complete(request)) as deltas:
            async for delta in deltas:
                yield delta
        self._server.beat()

    async def aclose(self) -> None:
        """Close the connection. The server stays for others until it is idle."""
        chat, self._chat = self._chat, None
        if chat is not None:
            await chat[1].aclose()

    async def _endpoint(self, record: Record) -> OpenAIChat:
        where = f"{record.base_url} {record.key}"
        if self._chat is not None and self._chat[0] == where:
            return self._chat[1]
        await self.aclose()
        from gongfu.models.openai_chat import OpenAIChat
        from gongfu.models.quirks import quirks_for
        from gongfu.models.transport import Transport

        transport = Transport(record.base_url, headers={"Authorization": f"Bearer {record.key}"}, env=self._env)
        chat = OpenAIChat(self.info, transport, quirks_for(record.base_url, self.info.name, name=_QUIRKS))
        self._chat = (where, chat)
        return chat
