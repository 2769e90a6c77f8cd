"""All tools of a turn in one immutable snapshot: those that every request carries, and the shelf with the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from gongfu.core.errors import UserError
from gongfu.core.messages import CallPart
from gongfu.core.specs import ToolSpec
from gongfu.tools.disclosure import FIND, USE, Missing, disclosing, unwrap
from gongfu.tools.families import Family, Shelf
from gongfu.tools.protocol import Tool, Toolset

NOBODY: Final[Mapping[str, Callable[[CallPart], CallPart]]] = MappingProxyType({})


class Registry:
    """Toolsets merged and sorted by name; it never changes. A hot reload builds a new one.

    `families` are the tools that the model finds with `find_tools` and calls with `use_tool`; with any of them there,
    these two are added. Those named in `pin` are carried by every request instead. `missing` says of a tool why it
    cannot work here, "" when it can. `standing` gives, for a tool that calls others, the call that its own stands
    for.

    Two tools of one name are an error (UserError), unless the later one carries `replaces` with that name.
    """

    __slots__ = ("_absent", "_tools", "missing", "shelf", "standing")

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        families: Iterable[Family] = (),
        *,
        pin: Iterable[str] = (),
        missing: Missing = lambda _: "",
        standing: Mapping[str, Callable[[CallPart], CallPart]] = NOBODY,
    ) -> None:
        self._absent = ""
        self.standing = standing
        self.missing = missing
        tools: dict[str, Tool] = {}
        for toolset in toolsets:
            for tool in toolset:
                name = tool.spec.name
                if name in tools and getattr(tool, "replaces", "") != name:
                    raise UserError("tools.clash", name=name)
                tools[name] = tool
        shelf = Shelf(families)
        pinned = {name: tool for name in pin if name not in tools and (tool := shelf.get(name)) is not None}
        self.shelf = shelf.without(pinned)
        if twice := next((name for name in tools if name in self.shelf), ""):
            raise UserError("tools.clash", name=twice)
        if self.shelf.families and FIND not in tools:
            tools |= {tool.spec.name: tool for tool in disclosing(self.shelf, missing, self.unknown)}
        tools |= pinned
        self._tools = {name: tools[name] for name in sorted(tools)}

    def subset(self, names: Iterable[str], absent: str = "") -> Registry:
        """The tools of these names alone, each carried by every request. The shelf stays when `use_tool` is named.

        `absent` tells a model that calls another one why it is not there.
        """
        wanted = set(names)
        own = [t for name, t in self._tools.items() if name in wanted and name not in (FIND, USE)]
        part = Registry(
            [own], self.shelf.families if USE in wanted else (), missing=self.missing, standing=self.standing
        )
        more = {name: tool for name in wanted - set(self._tools) if (tool := self.shelf.get(name)) is not None}
        part.shelf = part.shelf.without(more)
        part._tools = {name: (part._tools | more)[name] for name in sorted(part._tools | more)}
        part._absent = absent
        return part

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that every request carries, in order."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told in every request, in order."""
        return tuple(t.spec for t in self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool of that name, from the shelf too."""
        return self._tools.get(name) or self.shelf.get(name)

    def unwrap(self, call: CallPart) -> CallPart:
        """A call of `use_tool` as the call that it stands for; see `disclosure.unwrap` and `standing`."""
        found = unwrap(call, self._tools, self.shelf)
        stands = self.standing.get(found.name) if found.via else None
        return stands(found) if stands is not None else found

    def unknown(self, name: str) -> str:
        """A sentence for the model that called a tool which does not exist: the nearest name, and all of them."""
        from difflib import get_close_matches  # only for the rare mistake

        near = get_close_matches(name, (*self._tools, *self.shelf.names), n=1, cutoff=0.8 if self._absent else 0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        why = f" {self._absent}" if self._absent else ""
        more = f"; {FIND} names more" if FIND in self._tools else ""
        return f"There is no tool {name!r}.{hint}{why} The tools are: {', '.join(self._tools)}{more}."
