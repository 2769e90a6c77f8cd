"""One tool on a page: what it does, what it takes, what it touches, what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from gongfu.context.ledger import tool_tokens
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.width import wrap

if TYPE_CHECKING:
    from gongfu.app.inventory import Entry


def page(cli: Cli, entry: Entry, columns: int = 0) -> Iterator[str]:
    """The lines of the page, none wider than `columns` (0: as the terminal has)."""
    style, say, spec = cli.out_style, cli.say, entry.spec
    family = say(f"tools.family_{entry.family}") if entry.known else entry.family
    yield f"{style.bold(entry.name)}  {style.dim(family)}"
    columns = columns or min(max(cli.size()[0], 40), 100) - 1
    if say.language == "zh" and spec.zh:
        yield from wrap(clean(spec.zh), columns)
    yield from wrap(clean(spec.description), columns)
    yield ""
    known = cast("dict[str, dict[str, Any]]", spec.parameters.get("properties", {}))
    required = cast("list[str]", spec.parameters.get("required", []))
    for name, schema in known.items():
        must = say("tools.required") if name in required else ""
        yield f"  {style.cyan(name)}  {style.dim(' '.join(part for part in (kind_of(schema), must) if part))}"
        if words := schema.get("description"):
            for line in wrap(one_line(clean(str(words))), columns - 6):
                yield f"      {line}"
    if known:
        yield ""
    access = say("permissions.and").join(say(f"tools.access_{a}") for a in spec.access)
    yield from wrap(say("tools.access", access=access), columns)
    yield from wrap(say("tools.carried" if entry.core else "tools.disclosed", tokens=schema_tokens(entry)), columns)
    if entry.lacks:
        yield from map(style.yellow, wrap(say("tools.misses", what=lacking(cli, entry.lacks)), columns))
        if entry.install:
            yield f"    {style.cyan(entry.install)}"


def lacking(cli: Cli, what: str) -> str:
    """What a tool lacks, in the person's language: most of it are names."""
    return what.replace("a display", cli.say("tools.display"))


def kind_of(schema: dict[str, Any]) -> str:
    """The type of a parameter in a word or two."""
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"] if value != "")  # "" is the same as none at all
    kind = schema.get("type", "")
    if isinstance(kind, list):
        return " | ".join(map(str, cast("list[Any]", kind)))
    if kind == "array":
        inner = kind_of(cast("dict[str, Any]", schema.get("items") or {}))
        return f"{inner}[]" if inner else "array"
    return str(kind)


def schema_tokens(entry: Entry) -> int:
    """What the tool costs in a request that carries it, in tokens."""
    return tool_tokens([entry.spec])
