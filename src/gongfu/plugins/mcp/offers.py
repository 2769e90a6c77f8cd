"""What a server offers, made safe to be told: bounded, without control characters, refused by name where too large."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.specs import Access, ToolSpec
from gongfu.plugins.mcp.names import Names
from gongfu.plugins.mcp.servers import Server

MOST_TOOLS: Final = 400
LARGEST_SCHEMA: Final = 64 * 1024  # bytes of JSON
LONGEST_TEXT: Final = 2_000  # characters of a description
DEEPEST: Final = 60
_CONTROL: Final = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)

ACCESS: Final[tuple[Access, ...]] = ("execute", "network")
"""What a tool of a server is taken to do: what it really does nobody here can see."""


class Offer(Base, frozen=True):
    """One tool: its `spec` as the model knows it, and what the server calls it. `only_reads`: the person said so."""

    spec: ToolSpec
    tool: str
    only_reads: bool = False


class Offers(Base, frozen=True):
    """The tools of a server by the names that the model knows, in the server's order; `refused` tells what was not
    taken, and why, by the server's name."""

    tools: tuple[Offer, ...] = ()
    refused: dict[str, str] = {}


class Listed(Base, frozen=True):
    """A tool as the server listed it."""

    name: str
    description: str = ""
    title: str = ""
    schema: Any = None


def clean(text: str, most: int = LONGEST_TEXT) -> str:
    """Text of a server without control and invisible characters, cut to `most` characters."""
    plain = re.sub(_CONTROL, "", text.replace("\r\n", "\n").replace("\r", "\n"))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def line(text: str, most: int = 200) -> str:
    """The same on one line."""
    return clean(" ".join(text.split()), most)


def offers(server: Server, names: Names, listed: Iterable[Listed]) -> Offers:
    """The tools of a server that are taken."""
    tools: dict[str, Offer] = {}
    refused: dict[str, str] = {}
    seen: set[str] = set()
    for one in listed:
        if not server.takes(one.name):
            continue
        if why := _why_not(one, seen, len(tools)):
            refused[line(one.name, 100)] = why
            continue
        seen.add(one.name)
        reads = server.only_reads(one.name)
        name = names.of(one.name)
        tools[name] = Offer(spec=_spec(server, name, one, reads=reads), tool=one.name, only_reads=reads)
    return Offers(tools=tuple(tools.values()), refused=refused)


def _why_not(one: Listed, seen: set[str], count: int) -> str:
    if not one.name or len(one.name) > 500:
        return "its name cannot be used"
    if one.name in seen:
        return "the server has two tools of this name; the first one counts"
    if count >= MOST_TOOLS:
        return f"the server has more than {MOST_TOOLS} tools"
    if not _shallow(one.schema, DEEPEST):
        return f"its schema is nested more than {DEEPEST} deep"
    try:
        size = len(msgspec.json.encode(one.schema))
    except (TypeError, ValueError, UnicodeEncodeError):
        return "its schema cannot be written as JSON"
    if size > LARGEST_SCHEMA:
        return f"its schema has {size:,} bytes, more than {LARGEST_SCHEMA:,}"
    return ""


def _shallow(value: Any, left: int) -> bool:
    if not left:
        return False
    if isinstance(value, dict):
        return all(_shallow(v, left - 1) for v in cast("dict[str, Any]", value).values())
    return all(_shallow(v, left - 1) for v in cast("list[Any]", value)) if isinstance(value, list) else True


def _spec(server: Server, name: str, one: Listed, *, reads: bool) -> ToolSpec:
    said = clean(one.description).strip() or line(one.title) or one.name
    tidy = _tidy(one.schema)
    schema = _unreferred(cast("dict[str, Any]", tidy)) if isinstance(tidy, dict) else {}
    return ToolSpec(
        name=name,
        description=f"(MCP server {line(server.name, 60)}) {said}",
        parameters={"type": "object", **schema},
        access=("read",) if reads else ACCESS,
        words=f"mcp {one.name} {line(one.title)}",
    )


def _unreferred(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that is but a reference into itself, as what it refers to: arguments are looked for at the top."""
    found: Any = schema
    pointer = schema.get("$ref")
    if not isinstance(pointer, str) or not pointer.startswith("#/"):
        return schema
    for step in pointer[2:].split("/"):
        if not isinstance(found, dict):
            return schema
        found = cast("dict[str, Any]", found).get(step.replace("~1", "/").replace("~0", "~"))
    if not isinstance(found, dict) or "$ref" in found:
        return schema
    return {**{k: v for k, v in schema.items() if k != "$ref"}, **cast("dict[str, Any]", found)}


def _tidy(value: Any) -> Any:
    """A schema whose words for people are bounded and clean; nothing else is changed."""
    if isinstance(value, list):
        return [_tidy(v) for v in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    held = cast("dict[str, Any]", value)
    return {
        key: clean(item) if key in ("description", "title", "$comment") and isinstance(item, str) else _tidy(item)
        for key, item in held.items()
    }
