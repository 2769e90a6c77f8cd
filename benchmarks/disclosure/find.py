#!/usr/bin/env python3
"""How often `find_tools` has the right tool among its first three, for sixty needs in two languages, and sixty fresh ones.

    python benchmarks/disclosure/find.py [--misses]

Beside it a floor: the same needs by how many of their words stand in a tool's name and description.
Target: 90% among the first three, in each language.
"""

from __future__ import annotations

import sys
import tempfile
import time

import anyio

import gongfu
from gongfu.app.tool_run import registry_of
from gongfu.context.ledger import tool_tokens
from gongfu.core.lexical.terms import terms
from gongfu.core.specs import ToolSpec
from gongfu.tools.finding import best
from gongfu.tools.registry import Registry

try:
    from benchmarks.disclosure.needs import FRESH, NEEDS
except ImportError:
    from needs import FRESH, NEEDS


async def _registry() -> Registry:
    with tempfile.TemporaryDirectory() as folder:
        async with gongfu.open(folder, home=f"{folder}/home", env={}, root=folder) as app:
            return await registry_of(app)


def by_overlap(specs: list[ToolSpec], query: str) -> list[str]:
    words = set(terms(query))
    scores = {s.name: len(words & set(terms(f"{s.name.replace('_', ' ')} {s.description} {s.zh}"))) for s in specs}
    return sorted(scores, key=lambda name: -scores[name])[:5]


def main() -> int:
    registry = anyio.run(_registry)
    specs = [tool.spec for tool in registry.shelf]
    names = {spec.name for spec in specs}
    unknown = {tool for _, wanted in (*NEEDS, *FRESH) for tool in wanted} - names
    if unknown:
        print(f"not on the shelf: {', '.join(sorted(unknown))}")
    sent, all_of_them = tool_tokens(registry.specs), tool_tokens([*registry.specs, *specs])
    print(
        f"{len(registry)} tools in every request: {sent:,} tokens of schema (limit 2,100); "
        f"all {len(registry) + len(specs)} would be {all_of_them:,}"
    )
    failed = sent > 2100
    for title, needs in (
        ("English", NEEDS[:30]),
        ("Chinese", NEEDS[30:]),
        ("fresh English", FRESH[:30]),
        ("fresh Chinese", FRESH[30:]),
    ):
        started = time.perf_counter()
        found = [[spec.name for spec in best(registry.shelf, need, 5)] for need, _ in needs]
        spent = (time.perf_counter() - started) / len(needs) * 1000
        floor = [by_overlap(specs, need) for need, _ in needs]
        for name, rows in (("find_tools", found), ("words in common", floor)):
            first = sum(bool(set(row[:1]) & set(w)) for row, (_, w) in zip(rows, needs, strict=True))
            third = sum(bool(set(row[:3]) & set(w)) for row, (_, w) in zip(rows, needs, strict=True))
            print(
                f"{title}, {name:16} first {first}/{len(needs)}, among three {third}/{len(needs)}"
                + (f", {spent:.1f} ms a search" if rows is found else "")
            )
            failed |= rows is found and third < 0.9 * len(needs)
        if "--misses" in sys.argv:
            for row, (need, wanted) in zip(found, needs, strict=True):
                if not set(row[:3]) & set(wanted):
                    print(f"    {need!r}: {row}, wanted {wanted}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
