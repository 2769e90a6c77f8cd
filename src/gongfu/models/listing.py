"""What providers say of their own models at `/models`, in the many shapes they say it in."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from gongfu.core.errors import BadRequest
from gongfu.core.specs import Price
from gongfu.models.catalog import Facts, Refreshed, Told, read_refreshed
from gongfu.models.faults import fault_of
from gongfu.models.transport import Transport

_WINDOW = (
    "context_length", "context_window", "max_model_len", "max_context_length", "loaded_context_length", "context_size",
    "n_ctx", "inputTokenLimit", "max_input_tokens", "context_len", "max_seq_len",
)  # fmt: skip
_OUTPUT = ("max_completion_tokens", "max_output_tokens", "max_output_length", "outputTokenLimit", "max_tokens")
_INSIDE = ("top_provider", "meta", "metadata", "limits", "capabilities", "architecture", "model_spec")


async def refresh(provider: str, transport: Transport, file: Path, *, now: float | None = None) -> int:
    """Ask a provider for its models and keep what it tells in `file`; the number of models that something is known of.

    What other providers told stays. The file is replaced whole or not at all, and not when nothing was told. Raises a
    ProviderFault.
    """
    status, headers, body = await transport.get("/models")
    if status != 200:
        raise fault_of(status, headers, body, provider)
    models = facts_of(body)
    if models:
        told = Told(time=time.time() if now is None else now, models=models)
        merged = Refreshed(providers={**read_refreshed(file).providers, provider: told})
        _replace(file, msgspec.json.encode(merged))
    return len(models)


def _replace(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        fresh.write_bytes(data)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def names_of(body: bytes) -> list[str]:
    """The names of the models in an answer of `/models`. Raises BadRequest for what is no such answer."""
    return [name for name, _ in _models(body)]


def facts_of(body: bytes) -> dict[str, Facts]:
    """What an answer of `/models` tells of each model; those of which it only gives the name are left out.

    Shapes: OpenRouter, Mistral, Moonshot, Groq, Together, Fireworks, DeepInfra, Gemini, Anthropic, vLLM, llama.cpp,
    LM Studio. Prices become US dollars for a million tokens. Raises BadRequest for what is no such answer.
    """
    found = {name: _facts(fields) for name, fields in _models(body)}
    return {name: facts for name, facts in found.items() if facts != Facts()}


def _models(body: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise BadRequest("the list of models is no JSON") from None
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        value = fields.get("data") or fields.get("models") or []
    if not isinstance(value, list):
        raise BadRequest("the list of models has a shape that is not known")
    for item in cast("list[Any]", value):
        if isinstance(item, dict):
            fields = cast("dict[str, Any]", item)
            name = fields.get("id") or fields.get("name") or fields.get("model")
            if isinstance(name, str):
                yield name.removeprefix("models/"), fields


def _facts(fields: dict[str, Any]) -> Facts:
    places = [fields, *(_dict(fields.get(name)) for name in _INSIDE)]
    window = next((n for place in places for key in _WINDOW if (n := _count(place.get(key)))), 0)
    output = next((n for place in places for key in _OUTPUT if (n := _count(place.get(key)))), 0)
    return Facts(
        window=window,
        max_output=output if not window or output < window else 0,
        price=_price(places),
        images=_images(fields, places),
        tools=_ability(places, "tools", ("function_calling", "supports_tools", "supports_function_calling")),
        reasoning=_ability(places, "reasoning", ("reasoning", "supports_reasoning")),
    )


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9 else 0


def _ability(places: list[dict[str, Any]], parameter: str, flags: tuple[str, ...]) -> bool | None:
    listed = places[0].get("supported_parameters") or places[0].get("supported_features")
    if isinstance(listed, list):
        return parameter in listed
    return next((v for place in places for flag in flags if isinstance(v := place.get(flag), bool)), None)


def _images(fields: dict[str, Any], places: list[dict[str, Any]]) -> bool | None:
    kinds = _dict(fields.get("architecture")).get("input_modalities") or fields.get("input_modalities")
    if isinstance(kinds, list):
        return "image" in kinds
    flags = ("vision", "supports_image_in", "supports_image_input", "supports_vision")
    return next((v for place in places for flag in flags if isinstance(v := place.get(flag), bool)), None)


def _price(places: list[dict[str, Any]]) -> Price:
    pricing = next((p for place in places if (p := _dict(place.get("pricing")))), places[0])
    if "prompt" in pricing:  # OpenRouter: US dollars a token, as text
        return _priced(pricing, ("prompt", "input_cache_read", "input_cache_write", "completion"), 1_000_000)
    if "input_tokens" in pricing:  # DeepInfra: US dollars a million
        return _priced(pricing, ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"), 1)
    return _priced(pricing, ("input", "cached_input", "cache_write", "output"), 1)  # Together: the same


def _priced(pricing: dict[str, Any], names: tuple[str, str, str, str], factor: float) -> Price:
    values: list[float | None] = []
    for name in names:
        try:
            value = round(float(pricing[name]) * factor, 6)
        except (KeyError, TypeError, ValueError):
            value = -1.0
        values.append(value if 0 <= value < 1e6 else None)  # a negative price means "it depends"
    if values[0] is None or values[3] is None:
        return Price()
    return Price(input=values[0], cached=values[1], cache_write=values[2], output=values[3])
