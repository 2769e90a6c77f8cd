"""All tools of a turn in one immutable snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gongfu.core.errors import UserError
from gongfu.core.specs import ToolSpec
from gongfu.tools.protocol import Tool, Toolset


class Registry:
    """Toolsets merged and sorted by name; it never changes. A hot reload builds a new one.

    Two tools of one name are an error (UserError), unless the later one carries `replaces` with that name.
    """

    __slots__ = ("_absent", "_tools")

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        self._absent = ""
        tools: dict[str, Tool] = {}
        for toolset in toolsets:
            for tool in toolset:
                name = tool.spec.name
                if name in tools and getattr(tool, "replaces", "") != name:
                    raise UserError("tools.clash", name=name)
                tools[name] = tool
        self._tools = {name: tools[name] for name in sorted(tools)}

    def subset(self, names: Iterable[str], absent: str = "") -> Registry:
        """The tools of these names alone. `absent` tells a model that calls another one why it is not there."""
        wanted = set(names)
        part = Registry([[t for name, t in self._tools.items() if name in wanted]])
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
        """All names in order."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told, in order."""
        return tuple(t.spec for t in self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._tools.get(name)

    def unknown(self, name: str) -> str:
        """A sentence for the model that called a tool which does not exist: the nearest name, and all of them."""
        from difflib import get_close_matches  # only for the rare mistake

        near = get_close_matches(name, self._tools, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        why = f" {self._absent}" if self._absent else ""
        return f"There is no tool {name!r}.{hint} The tools are: {', '.join(self._tools)}.{why}"
