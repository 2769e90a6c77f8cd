"""Makes one provider: its endpoint with key and headers, what is known of the model, and the adapter it needs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from gongfu.config.settings import ProjectProvider
from gongfu.core.base import Base
from gongfu.core.errors import EXIT_USAGE, Unauthorized, UsageError, UserError
from gongfu.core.specs import ModelInfo
from gongfu.models.endpoint import is_loopback
from gongfu.models.keys import find_key, masked, variables_of
from gongfu.models.known import address_in, api_of, known
from gongfu.models.protocol import Delta, Dialect, Prepared, Request
from gongfu.models.refs import LOCAL, SCRIPTED

if TYPE_CHECKING:
    from typing import Literal

    from gongfu.config.paths import Places
    from gongfu.config.settings import Provider
    from gongfu.models.embeddings import Embedder
    from gongfu.models.local.guided import Files
    from gongfu.models.protocol import ModelProvider
    from gongfu.models.quirks import Quirks
    from gongfu.models.refs import Target
    from gongfu.models.transport import Transport

    Back = Literal["never", "tool_rounds", "always"]

_ONE_SLOT = ("ollama", "lmstudio", "llamacpp")
"""Servers that answer one request at a time unless they are told otherwise; what waits is better ordered here."""


class Endpoint(Base, frozen=True):
    """Where a provider is and how it is spoken to. `bearer`: the key is a token, whatever the dialect's own header.

    Its repr hides the key and the values of headers.
    """

    provider: str
    api: Dialect
    base_url: str
    key: str = ""
    bearer: bool = False
    quirks: str = ""
    headers: dict[str, str] = {}
    ca_file: str = ""
    proxy: str = ""

    def __repr__(self) -> str:
        key = masked(self.key) if self.key else "none"
        return f"Endpoint({self.provider!r}, {self.api!r}, {self.base_url!r}, key={key})"


def endpoint_of(name: str, given: Provider | None, env: Mapping[str, str], places: Places) -> Endpoint:
    """The endpoint of a provider: settings first, then the environment, then what is known of its name.

    Raises UsageError for a provider without an address, UserError when its own address needs a key and there is none.
    """
    builtin = known(name)
    base_url = given.base_url if given else ""
    if builtin and not base_url:
        base_url = address_in(env, builtin) or builtin.base_url
    if not base_url:
        raise UsageError("router.no_address", provider=name)
    host = urlsplit(base_url).hostname or ""
    key = find_key(name, given, env, places, keyring=not is_loopback(host))
    if key is None and builtin and not builtin.port and host == urlsplit(builtin.base_url).hostname:
        if isinstance(given, ProjectProvider):
            raise UserError("router.project_key", exit_code=EXIT_USAGE, provider=name)
        variable = variables_of(name)[0]
        raise UserError("router.no_key", exit_code=EXIT_USAGE, provider=name, variables=variable, file=str(places.keys))
    api = given.api if given else "openai_chat"
    if builtin and (given is None or (builtin.api == "anthropic" and not given.base_url)):
        api = api_of(builtin, base_url)
    return Endpoint(
        provider=name,
        api=api,
        base_url=base_url,
        key=key.value if key else "",
        bearer=api != "anthropic" or (key is not None and key.place.endswith("_TOKEN")),
        quirks=given.quirks if given else "",
        headers=given.headers if given else {},
        ca_file=given.ca_file if given else "",
        proxy=given.proxy if given else "",
    )


def at(endpoint: Endpoint, base_url: str) -> Endpoint:
    """The same at another address."""
    return msgspec.structs.replace(endpoint, base_url=base_url)


def transport_of(endpoint: Endpoint, env: Mapping[str, str]) -> Transport:
    """The connection to an endpoint, with the headers that carry its key."""
    from gongfu.models.transport import Transport  # a scripted run needs none

    headers: dict[str, str] = {}
    if endpoint.api == "anthropic":
        headers["anthropic-version"] = "2023-06-01"  # also for the list of models
    if endpoint.key:
        headers |= {"Authorization": f"Bearer {endpoint.key}"} if endpoint.bearer else {"x-api-key": endpoint.key}
    return Transport(
        endpoint.base_url,
        headers=headers | endpoint.headers,
        ca_file=endpoint.ca_file,
        proxy=endpoint.proxy,
        env=env,
    )


async def list_models(endpoint: Endpoint, env: Mapping[str, str]) -> list[str]:
    """The names of the models that an endpoint says it has. Raises a ProviderFault."""
    from gongfu.models.faults import fault_of
    from gongfu.models.listing import names_of

    transport = transport_of(endpoint, env)
    try:
        status, headers, body = await transport.get("/models")
        if status != 200:
            raise fault_of(status, headers, body, endpoint.provider)
        return names_of(body)
    finally:
        await transport.aclose()


class Keyless:
    """Stands in a chain for a model whose key is missing: refuses, so that the next one is asked, visibly."""

    def __init__(self, info: ModelInfo, problem: str) -> None:
        self.info = info
        self._problem = problem

    async def complete(self, _request: Request, /) -> AsyncGenerator[Delta, None]:
        """Raises Unauthorized; nothing is sent."""
        yield Prepared(body=b"")
        raise Unauthorized(self._problem, model=self.info.ref)

    async def aclose(self) -> None:
        """Nothing is open."""


def scripted(file: Path | None, ref: str) -> ModelProvider:
    """A provider that plays the script in a file, or that of the demonstration. ConfigError for a wrong script."""
    from gongfu.models.scripted import DEMO, Scripted, read_script

    return Scripted(read_script(file or DEMO), info=scripted_info(ref), record=False)


def scripted_info(ref: str) -> ModelInfo:
    """What is said of a scripted model: it is free and has room."""
    from gongfu.models.scripted import SCRIPTED

    return msgspec.structs.replace(SCRIPTED, ref=ref)


def info_of(provider: str, model: str, places: Places) -> ModelInfo:
    """What is known of a model without the settings. UsageError for an embedded one that nobody knows."""
    if provider == LOCAL:
        from gongfu.models.local.models import find_model
        from gongfu.models.local.provider import local_info

        return local_info(find_model(model))
    from gongfu.models.catalog import lookup

    return lookup(provider, model, file=places.catalog)


def remote(endpoint: Endpoint, info: ModelInfo, env: Mapping[str, str], files: Files | None = None) -> ModelProvider:
    """The adapter that speaks the endpoint's dialect; only that one is loaded. Small models are led step by step."""
    adapter = _adapter(endpoint, info, env)
    if not info.small:
        return adapter
    from gongfu.models.local.guided import Guided

    return Guided(adapter, files)


def embedding_endpoint(target: Target, given: Provider | None, env: Mapping[str, str], places: Places) -> Endpoint:
    """Where a model turns text into vectors. Raises UserError for what makes none, and where a key is missing."""
    if not target.model or known(target.written) or target.written == target.provider:
        raise UsageError("router.unnamed_embedding", provider=target.provider)  # its default model is for words
    api = given.api if given else target.provider
    if api in (LOCAL, SCRIPTED):
        raise UsageError("router.no_vectors", ref=target.written)
    endpoint = endpoint_of(target.provider, given, env, places)
    if endpoint.api == "anthropic":
        raise UsageError("router.no_vectors", ref=target.written)
    return endpoint


def embedder(endpoint: Endpoint, info: ModelInfo, env: Mapping[str, str]) -> Embedder:
    """What turns text into vectors at an endpoint."""
    from gongfu.models.embeddings import Embedder

    return Embedder(info, transport_of(endpoint, env))


def _adapter(endpoint: Endpoint, info: ModelInfo, env: Mapping[str, str]) -> ModelProvider:
    from gongfu.models.quirks import quirks_for

    builtin = known(endpoint.provider)
    name = endpoint.quirks or (builtin.name if builtin and builtin.port else "")
    quirks = quirks_for(endpoint.base_url, info.name, name=name, api=endpoint.api)
    if quirks.name in _ONE_SLOT and not info.slots:
        info = msgspec.structs.replace(info, slots=1)
    info = msgspec.structs.replace(info, reasoning_sent=_sent(endpoint, info, quirks))
    transport = transport_of(endpoint, env)
    match endpoint.api:
        case "anthropic":
            from gongfu.models.anthropic import Anthropic

            return Anthropic(info, transport, quirks)
        case "openai_responses":
            from gongfu.models.openai_responses import OpenAIResponses

            return OpenAIResponses(info, transport, quirks)
        case _:
            from gongfu.models.openai_chat import OpenAIChat

            return OpenAIChat(info, transport, quirks)


def _sent(endpoint: Endpoint, info: ModelInfo, quirks: Quirks) -> Back:
    """Which thinking the requests of a model carry."""
    if endpoint.api == "openai_chat":
        from gongfu.models.chat_body import thinking_sent

        return thinking_sent(info, quirks)
    if endpoint.api == "openai_responses":
        return "never" if quirks.reasoning_back == "never" else "always"
    return quirks.reasoning_back or "always"


def local(name: str, places: Places, env: Mapping[str, str], files: Files | None = None) -> ModelProvider:
    """The embedded model; its server starts with the first request. `files` gives the small files of the workspace."""
    from gongfu.models.local import local_provider

    return local_provider(name, places, env, files)
