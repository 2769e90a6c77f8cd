"""Finds the tools for a need, by the one ranker, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gongfu.core.specs import ToolSpec
from gongfu.retrieval.rank import Doc, Ranker
from gongfu.tools.disclosure import described
from gongfu.tools.families import Family, Shelf
from gongfu.tools.protocol import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

_LEAST = 0.02  # below this a hit shares only common words with the need
_NAME_WEIGHT = 2  # a word in the name tells more than one in the text


def document(family: str, spec: ToolSpec) -> Doc:
    """What a tool is found by: its name, family, words in both languages, description and parameters."""
    name = spec.name.replace("_", " ")
    parameters = " ".join(spec.parameters.get("properties", {})).replace("_", " ")
    text = [*[name] * _NAME_WEIGHT, family, spec.words, spec.zh, spec.description, parameters]
    return Doc(id=spec.name, text="\n".join(text))


def ranked(tools: Mapping[str, tuple[str, ToolSpec]], query: str, limit: int) -> list[str]:
    """The names of the tools for a need, best first. `tools` gives family and spec by name.

    One that is named in the query comes first of all; a name that is a plain word counts only when it stands alone.
    """
    ranker = Ranker()
    ranker.add([document(family, spec) for family, spec in tools.values()])
    said = query.lower().replace("-", "_").split()
    hits = [hit.id for hit in ranker.find(query, limit=limit) if hit.score >= _LEAST]
    named = [name for name in tools if name in said and ("_" in name or len(said) == 1)]
    return list(dict.fromkeys((*named, *hits)))[:limit]


def best(shelf: Shelf, query: str, limit: int) -> list[ToolSpec]:
    """The tools of a shelf for a need, best first."""
    tools = {tool.spec.name: (family.name, tool.spec) for family in shelf.families for tool in family}
    return [tools[name][1] for name in ranked(tools, query, limit)]


def find(shelf: Shelf, query: str, *, limit: int, missing: Callable[[ToolSpec], str]) -> Outcome:
    """The result of a search: the tools with their arguments, or what there is when nothing fits."""
    found = best(shelf, query, limit)
    if not found:
        return Outcome(text=f"No tool fits {query!r}. These there are:\n{listing(shelf)}")
    names = [spec.name for spec in found]
    return Outcome(
        text="\n\n".join(described(spec, missing(spec)) for spec in found),
        display={"kind": "list", "items": names, "total": len(names), "summary": ", ".join(names)},
    )


def listing(shelf: Shelf) -> str:
    """All names on the shelf, a line for each family."""
    return "\n".join(_line(family) for family in shelf.families if family.names)


def _line(family: Family) -> str:
    names: Iterable[str] = family.names
    return f"{family.name}: {', '.join(names)}"
