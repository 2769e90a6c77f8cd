"""Which model to use when none is configured: keys in the environment, local servers, the embedded model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio
import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import EXIT_USAGE, ProviderFault, UserError
from gongfu.models.keys import filed_keys, find_key
from gongfu.models.known import CLOUD, SERVERS, Known, address_in, model_in

if TYPE_CHECKING:
    from gongfu.config.paths import Places

CONNECT_SECONDS = 0.15 if os.name == "nt" else 1.0
"""A server on this machine accepts within a millisecond. A closed port refuses at once, but on Windows after seconds;
elsewhere the time only counts on a machine that is too busy to answer."""
ANSWER_SECONDS = 1.0
_OWN = "gongfu"
_NO_CHAT = ("embed", "bge-", "rerank", "whisper", "tts", "clip", "minilm")
_CODERS = ("coder", "devstral", "codestral", "code")


class Found(Base, frozen=True):
    """A model that can be used: its provider, its name there, and what led to it (a variable, an address, a file)."""

    provider: str
    model: str
    by: str
    base_url: str = ""
    window: int = 0

    @property
    def ref(self) -> str:
        """`provider/model`; "local" for the embedded model."""
        return f"{self.provider}/{self.model}" if self.model else self.provider


class Listing(Base, frozen=True):
    """What a server says it has: models that can chat, the best choice first, and the window it serves, if told."""

    models: tuple[str, ...]
    window: int = 0

    @property
    def only(self) -> str:
        """The model when there is no choice, else ""."""
        return self.models[0] if len(self.models) == 1 else ""


async def detect(env: Mapping[str, str], places: Places, *, servers: tuple[Known, ...] = SERVERS) -> Found:
    """The first model there is. Raises UserError that says in three lines what to do when there is none.

    Order: the cloud providers as `known.CLOUD` lists them, by key (variable or key file) or address variable; local
    servers as `servers` lists them; the embedded model if it was pulled.
    """
    if found := await _by_key(env, places):
        return found
    listings = await survey(env, servers)
    for server in servers:
        listing = listings.get(server.name)
        if listing and listing.models:
            return Found(
                provider=server.name,
                model=model_in(env, server) or listing.models[0],
                by=_place(address_in(env, server) or server.base_url),
                base_url=address_in(env, server) or server.base_url,
                window=listing.window,
            )
    if found := _embedded(places):
        return found
    empty = next((s.name for s in servers if s.name in listings), "")
    if empty:
        raise UserError("router.server_empty", exit_code=EXIT_USAGE, server=empty)
    raise UserError("router.nothing", exit_code=EXIT_USAGE)


def _embedded(places: Places) -> Found | None:
    """The embedded model if its file is there; the small choice when only that was pulled."""
    from gongfu.models.local.download import is_pulled  # most runs never come here
    from gongfu.models.local.models import DEFAULT, KNOWN

    names = [DEFAULT, *(m.name for m in KNOWN if m.name != DEFAULT)]
    pulled = next((n for n in names if is_pulled(places, n)), "")
    if not pulled:
        return None
    return Found(provider="local", model="" if pulled == DEFAULT else pulled, by=str(places.models))


async def _by_key(env: Mapping[str, str], places: Places) -> Found | None:
    filed = filed_keys(places)
    for provider in CLOUD:
        key = find_key(provider.name, None, env, places, keyring=False, filed=filed)
        address = address_in(env, provider)
        if not key and not address:
            continue
        model = model_in(env, provider)
        if address and urlsplit(address).hostname != urlsplit(provider.base_url).hostname:
            model = await _served(provider, address, env, model, key.value if key else "")
        by = key.place if key else next(v for v in provider.addresses if env.get(v, "").strip())
        return Found(provider=provider.name, model=model, by=by, base_url=address)
    return None


async def _served(provider: Known, address: str, env: Mapping[str, str], wanted: str, key: str) -> str:
    """The model to ask another address for: the wanted one if it has it or does not tell, else its first."""
    if env.get(f"{provider.name.upper()}_MODEL", "").strip():
        return wanted
    listing = await ask_models(address, env, key=key, patience=3.0)
    if listing is None or not listing.models or wanted in listing.models:
        return wanted
    return listing.models[0]


async def survey(env: Mapping[str, str], servers: tuple[Known, ...] = SERVERS) -> dict[str, Listing]:
    """Ask all local servers at once; those that answer as a model server does, by name."""
    listings: dict[str, Listing] = {}

    async def ask(server: Known) -> None:
        address = address_in(env, server) or server.base_url
        key = next((env[k] for k in server.keys if env.get(k)), "")
        with anyio.move_on_after(CONNECT_SECONDS + ANSWER_SECONDS):
            listing = await _ASK.get(server.name, ask_models)(address, env, key=key)
            if listing is not None:
                listings[server.name] = listing

    async with anyio.create_task_group() as group:
        for server in servers:
            group.start_soon(ask, server)
    return listings


def _place(base_url: str) -> str:
    return urlsplit(base_url).netloc


# --- asking one server -------------------------------------------------------------------------------------------


async def ask_models(
    base_url: str,
    env: Mapping[str, str],
    *,
    key: str = "",
    patience: float = 0.0,
) -> Listing | None:
    """GET /models of an OpenAI-compatible server; None for what is no model server, or is Gongfu itself.

    `patience` is seconds for a server elsewhere; 0 is for one on this machine.
    """
    value = await _get(base_url, "/models", env, key, patience or CONNECT_SECONDS, patience or ANSWER_SECONDS)
    data = value.get("data") if value else None
    if not isinstance(data, list):
        return None
    items = [cast("dict[str, Any]", i) for i in cast("list[Any]", data) if isinstance(i, dict)]
    items = [i for i in items if isinstance(i.get("id"), str) and i.get("owned_by") != _OWN]
    if data and not items:
        return None
    window = max((_int(i.get("max_model_len")) for i in items), default=0)
    return Listing(models=chat_models([str(i["id"]) for i in items]), window=window)


async def _ask_ollama(base_url: str, env: Mapping[str, str], *, key: str = "") -> Listing | None:
    """Ollama: what is loaded comes before what lies on the disk."""
    root = base_url.removesuffix("/v1")
    value = await _get(root, "/api/tags", env, key, CONNECT_SECONDS, ANSWER_SECONDS)
    names = _names(value, "models", "name")
    if names is None:
        return None
    loaded = _names(await _get(root, "/api/ps", env, key, CONNECT_SECONDS, ANSWER_SECONDS), "models", "name")
    return Listing(models=chat_models(names, tuple(loaded or ())))


async def _ask_lmstudio(base_url: str, env: Mapping[str, str], *, key: str = "") -> Listing | None:
    """LM Studio: its own list tells language models from others, and which are loaded with what window."""
    value = await _get(base_url.removesuffix("/v1"), "/api/v0/models", env, key, CONNECT_SECONDS, ANSWER_SECONDS)
    data = value.get("data") if value else None
    if not isinstance(data, list):
        return await ask_models(base_url, env, key=key)
    items = [cast("dict[str, Any]", i) for i in cast("list[Any]", data) if isinstance(i, dict)]
    able = [i for i in items if i.get("type") in ("llm", "vlm") and isinstance(i.get("id"), str)]
    loaded = [i for i in able if i.get("state") == "loaded"]
    window = _int(loaded[0].get("loaded_context_length")) if loaded else 0
    return Listing(models=chat_models([str(i["id"]) for i in able], tuple(str(i["id"]) for i in loaded)), window=window)


_ASK = {"ollama": _ask_ollama, "lmstudio": _ask_lmstudio}


async def _get(
    base_url: str, path: str, env: Mapping[str, str], key: str, connect_seconds: float, answer_seconds: float
) -> dict[str, Any] | None:
    """The JSON object at an address, or None for every kind of other answer."""
    from gongfu.models.transport import Transport  # a run with a key in the environment comes here never

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    transport = Transport(
        base_url, headers=headers, env=env, connect_seconds=connect_seconds, idle_seconds=answer_seconds
    )
    try:
        with anyio.move_on_after(connect_seconds + 2 * answer_seconds):
            status, _, body = await transport.get(path)
            value: Any = msgspec.json.decode(body) if status == 200 else None
            return cast("dict[str, Any]", value) if isinstance(value, dict) else None
    except (ProviderFault, msgspec.DecodeError, RecursionError):
        return None
    finally:
        await transport.aclose()
    return None


def _names(value: dict[str, Any] | None, key: str, field: str) -> list[str] | None:
    items = value.get(key) if value else None
    if not isinstance(items, list):
        return None
    fields = [cast("dict[str, Any]", i) for i in cast("list[Any]", items) if isinstance(i, dict)]
    return [str(f[field]) for f in fields if isinstance(f.get(field), str)]


def chat_models(names: list[str], loaded: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names that can chat: loaded ones first, then those made for code, else as the server lists them."""
    able = [n for n in names if not any(w in n.lower() for w in _NO_CHAT)]
    return tuple(sorted(able, key=lambda n: (n not in loaded, not any(w in n.lower() for w in _CODERS))))


def _int(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
