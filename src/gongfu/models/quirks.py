"""Providers' oddities as data: one file each in `quirks/`, read when it is needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from gongfu.core.errors import UsageError

_FOLDER = Path(__file__).with_name("quirks")


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What differs for models whose names match one of the `models` patterns (as in file names, in any case)."""

    models: tuple[str, ...]
    set: dict[str, Any]


class Quirks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One provider's table. What a field leaves out is how OpenAI's published Chat Completions behaves.

    Who it is: `aliases` are further names; `keys` environment variables; `hosts` patterns of host names or
    `host:port`; `models` patterns of model names, by which a server at an unknown address is recognised; `fixture`
    the recorded stream that proves it.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    api: Literal["openai_chat", "openai_responses", "anthropic"] = "openai_chat"
    base_url: str = ""
    keys: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    fixture: str = ""
    notes: str = ""

    # The body. `limit` names the field of the output limit; `limit_always` sends one even if none is known.
    path: str = "/chat/completions"
    stream: bool = True
    leave_out: tuple[str, ...] = ()  # fields that are not sent, whatever asks for them
    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    limit_always: int = 0
    system_role: Literal["system", "developer", "user"] = "system"
    stream_usage: bool = True
    parallel_calls: bool = False  # parallel_tool_calls must be asked for
    tool_choice: bool = False  # "auto" must be said
    strict: Literal["", "false"] = ""  # "strict": false must be said for schemas that are not strict
    sampling: bool = True  # temperature and top_p may be sent
    temperature_max: float = 2.0
    stop_words: int = 4  # how many may be sent
    structured: Literal["json_schema", "json_object", ""] = "json_schema"
    structured_with_tools: bool = True
    extra: dict[str, Any] = {}
    efforts: dict[str, dict[str, Any]] = {}  # fields for a reasoning setting: "off", "low", "medium", "high", "auto"

    # Schemas of tools: `inline_refs` writes definitions out; `schema_drop` are words left out of them; `plain_types`
    # writes boolean schemas, lists of types, `const` and `nullable` in older words: with `anyOf`, or as OpenAPI does.
    inline_refs: bool = False
    schema_drop: tuple[str, ...] = ()
    plain_types: Literal["", "any_of", "nullable"] = ""
    empty_properties: bool = True  # a tool without parameters may have an empty `properties`

    # The history.
    ids: Literal["any", "plain", "nine"] = "any"
    id_size: int = 0
    alternate: bool = False
    result_then_assistant: bool = False
    result_name: bool = False
    result_images: bool = False
    image_urls: bool = True  # takes addresses of images, not only data
    empty_content: Literal["omit", "null", "empty"] = "null"  # of an assistant message that only calls
    text_lists: bool = True  # content may be a list of parts
    cache_marks: bool = False  # the end of the prompt and of the history must be marked for a cache
    object_arguments: bool = False  # arguments of calls go back as an object, not as text
    reasoning_back: Literal["", "never", "tool_rounds", "always"] = ""  # "": as the catalog says
    reasoning_demanded: bool = False
    reasoning_field: Literal["reasoning_content", "reasoning", "reasoning_details", "think"] = "reasoning_content"
    call_signatures: bool = False  # extra_content.google.thought_signature of a call goes back with it
    missing_signature: str = ""  # what stands for one that is not there

    # The answer.
    think_tags: bool = True  # thinking may stand in the content between tags
    cached_outside: bool = False  # prompt_tokens does not hold the cached ones
    output_from_total: bool = False  # completion_tokens leaves thinking out
    growing: bool = False  # a piece of text may repeat all that came before it

    variants: tuple[Variant, ...] = ()


@cache
def load_quirks(name: str) -> Quirks:
    """The table of a name or alias. UsageError when there is none of that name."""
    file = _FOLDER / f"{name}.json"
    if not name.isidentifier() or not file.is_file():
        entry = next((e for e in _entries() if name in e.aliases), None)
        if entry is None:
            raise UsageError("quirks.unknown", name=name, known=", ".join(quirk_names()))
        return load_quirks(entry.name)
    return msgspec.json.decode(file.read_bytes(), type=Quirks)


def quirk_names() -> tuple[str, ...]:
    """The names of all tables, sorted."""
    return tuple(sorted(f.stem for f in _FOLDER.glob("*.json")))


class _Entry(msgspec.Struct, frozen=True):
    """Of a table what is needed to recognise it."""

    name: str
    aliases: tuple[str, ...] = ()
    api: str = "openai_chat"
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@cache
def _entries() -> tuple[_Entry, ...]:
    """Of every table what is needed to recognise it: sixteen small files, 1 ms."""
    read = msgspec.json.Decoder(_Entry).decode
    return tuple(read((_FOLDER / f"{name}.json").read_bytes()) for name in quirk_names())


def quirks_for(base_url: str, model: str, *, name: str = "", api: str = "openai_chat") -> Quirks:
    """The table for `model` at `base_url`, its variant for that model applied.

    `name` (of a table, or of a provider that has one) decides when given; then the address; then, for an address that
    nobody knows, the model's name; else it is "default".
    """
    api = "anthropic" if api == "anthropic" else "openai_chat"  # tables hold for Responses too
    found = name or _by_address(base_url, api) or _by_model(model, api) or "default"
    return for_model(load_quirks(found), model)


def for_model(quirks: Quirks, model: str) -> Quirks:
    """The table with every variant that matches `model` applied, in order."""
    name = model.lower()
    short = name.rpartition("/")[2]
    for variant in quirks.variants:
        if any(fits(name, p) or fits(short, p) for p in variant.models):
            quirks = msgspec.convert({**msgspec.structs.asdict(quirks), **variant.set}, Quirks)
    return replace(quirks, variants=())


def fits(text: str, pattern: str) -> bool:
    """Whether a text is what a pattern of a table says; `*` stands for anything, every other character for itself.

    A run asks this sixty times, each pattern once: too seldom for regular expressions to pay.
    """
    first, *inner = pattern.split("*")
    if not inner:
        return text == first
    last = inner.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in inner:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _by_address(base_url: str, api: str) -> str:
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return ""  # no address: the first request says so
    place = f"{host}:{port}" if port else host
    for entry in _entries():
        if entry.api == api and any(fits(host, p) or fits(place, p) for p in entry.hosts):
            return entry.name
    return ""


def _by_model(model: str, api: str) -> str:
    name = model.lower()
    short = name.rpartition("/")[2]
    for entry in _entries():
        if entry.api == api and any(fits(short, p) or fits(name, p) for p in entry.models):
            return entry.name
    return ""
