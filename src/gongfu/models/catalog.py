"""What is known of models: a snapshot that ships with the package, and over it what providers say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from gongfu.core.base import Base
from gongfu.core.specs import ModelInfo, Price
from gongfu.models.known import known

SNAPSHOT_TIME = 1_795_996_800.0
"""When the snapshot's facts were gathered: seconds since 1970 (30 November 2026)."""

_DASHES = str.maketrans(".:_@ ", "-----")

FREE = Price(input=0.0, cached=0.0, cache_write=0.0, output=0.0)


class Facts(Base, frozen=True):
    """What is known of one model, or of all whose names begin with one of `match`. None and 0 are unknown."""

    match: tuple[str, ...] = ()
    window: int = 0
    max_output: int = 0
    price: Price = Price()
    images: bool | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    reasoning_back: Literal["never", "tool_rounds", "always"] = "never"
    small: bool = False


class Told(Base, frozen=True):
    """What one provider told of its models at a `time` (seconds since 1970)."""

    time: float
    models: dict[str, Facts] = {}


class Refreshed(Base, frozen=True):
    """The refreshed catalog as it lies in the user's folder, by provider."""

    version: int = 1
    providers: dict[str, Told] = {}


def lookup(provider: str, name: str, *, file: Path | None = None) -> ModelInfo:
    """What is known of `provider/name`; `file` is the refreshed catalog.

    What the provider told wins over the snapshot unless it is older. A model that nobody knows has a window of 0, which
    says so, and an empty `source`. Servers at home cost nothing.
    """
    facts, source = _snapshot_facts(name), "catalog"
    told = _told(provider, name, file)
    if told is not None:
        time, said = told
        facts, source = _merge(facts, said, newer=time >= SNAPSHOT_TIME), "provider"
    if facts is None:
        facts, source = Facts(), ""
    home = known(provider)
    return ModelInfo(
        ref=f"{provider}/{name}",
        provider=provider,
        name=name,
        window=facts.window,
        max_output=facts.max_output,
        price=FREE if (home and home.port) or name.endswith(":free") else facts.price,
        images=bool(facts.images),
        tools=facts.tools is not False,
        reasoning=bool(facts.reasoning),
        reasoning_back=facts.reasoning_back,
        small=facts.small,
        source=source,
    )


def read_refreshed(file: Path) -> Refreshed:
    """The refreshed catalog; empty when there is none or it is damaged, for it can be fetched again."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Refreshed)
    except (OSError, msgspec.DecodeError):
        return Refreshed()


def _told(provider: str, name: str, file: Path | None) -> tuple[float, Facts] | None:
    if file is None:
        return None
    told = read_refreshed(file).providers.get(provider)
    if told is None:
        return None
    wanted = name.lower()
    said = told.models.get(name) or next((f for n, f in told.models.items() if n.lower() == wanted), None)
    return (told.time, said) if said else None


def _merge(known_facts: Facts | None, said: Facts, *, newer: bool) -> Facts:
    if known_facts is None:
        return said
    first, second = (said, known_facts) if newer else (known_facts, said)
    priced = first.price if first.price.input is not None else second.price
    return Facts(
        window=first.window or second.window,
        max_output=first.max_output or second.max_output,
        price=priced,
        images=second.images if first.images is None else first.images,
        tools=second.tools if first.tools is None else first.tools,
        reasoning=second.reasoning if first.reasoning is None else first.reasoning,
        reasoning_back=known_facts.reasoning_back,
        small=known_facts.small,
    )


@cache
def _snapshot() -> dict[str, Facts]:
    """The snapshot by beginnings of names; read when the first model is looked up (under 1 ms)."""
    entries = msgspec.json.decode(Path(__file__).with_name("catalog.json").read_bytes(), type=list[Facts])
    return {name: entry for entry in entries for name in entry.match}


def _snapshot_facts(name: str) -> Facts | None:
    table = _snapshot()
    return next((table[start] for start in _beginnings(name) if start in table), None)


def _beginnings(name: str) -> Iterator[str]:
    """The beginnings of a model's name, longest first, whole words only; then without a vendor's words before it.

    "us.anthropic.claude-sonnet-4-5-v1:0" gives "us-anthropic-claude-…" down to "us", then "anthropic-claude-…", then
    "claude-sonnet-4-5-v1-0" and so on. Dots, colons and underscores count as dashes, folders are left out.
    """
    words = name.lower().rpartition("/")[2].translate(_DASHES).split("-")
    for skipped in range(min(3, len(words))):
        for end in range(len(words), skipped, -1):
            yield "-".join(words[skipped:end])
