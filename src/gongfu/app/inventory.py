"""The tools of a session as a list for people: which there are, what they need, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.app.tool_run import registry_of
from gongfu.core.base import Base
from gongfu.core.specs import Requirement, ToolSpec
from gongfu.toolkit.catalog import CORE, SHELF
from gongfu.tools.needs import lacking, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gongfu.app.app import App


class Entry(Base, frozen=True):
    """One tool. `core`: every request carries it. `lacks` names what it misses here ("" for nothing), `install` is the
    command that brings it. `known` families have a name in the catalogue of messages, others that of their server."""

    name: str
    family: str
    spec: ToolSpec
    core: bool = False
    lacks: str = ""
    install: str = ""
    known: bool = True


async def inventory(app: App) -> list[Entry]:
    """All tools of a session of `app`, family by family in the order of the catalogue."""
    registry = await registry_of(app)
    specs = {spec.name: spec for spec in registry.specs}
    carried = frozenset(specs)
    families = {name: family for table in (CORE, SHELF) for family, names in table.items() for name in names}
    for family in registry.shelf.families:
        for tool in family:
            specs[tool.spec.name] = tool.spec
            families.setdefault(tool.spec.name, family.name)
    order = list(dict.fromkeys((*CORE, *SHELF)))
    entries = [_entry(app, spec, families.get(name, ""), name in carried) for name, spec in specs.items()]
    return sorted(
        entries,
        key=lambda e: (order.index(e.family) if e.family in order else len(order), e.family, not e.core, e.name),
    )


def _entry(app: App, spec: ToolSpec, family: str, core: bool) -> Entry:
    need: Requirement | None = lacking(spec.needs, app.options.env)
    return Entry(
        name=spec.name,
        family=family,
        spec=spec,
        core=core,
        lacks="" if need is None else named(need),
        install="" if need is None else need.install,
        known=family in CORE or family in SHELF,
    )


def best(entries: Sequence[Entry], query: str, limit: int = 10) -> list[Entry]:
    """Those that serve a need, best first: as `find_tools` ranks them, over all tools."""
    from gongfu.tools.finding import ranked

    by_name = {entry.name: entry for entry in entries}
    names = ranked({entry.name: (entry.family, entry.spec) for entry in entries}, query, limit)
    return [by_name[name] for name in names]
