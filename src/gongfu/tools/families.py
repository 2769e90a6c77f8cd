"""Families of tools whose code is loaded when one of them is first asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator

from gongfu.core.errors import UserError
from gongfu.tools.protocol import Tool, Toolset


class Family:
    """Tools that belong together. `make` gives them (at least those of `names`) when one is first needed."""

    __slots__ = ("_made", "_make", "_names", "name")

    def __init__(self, name: str, names: Iterable[str], make: Callable[[], Toolset]) -> None:
        self.name = name
        self._names = tuple(names)
        self._make = make
        self._made: dict[str, Tool] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tools, known without loading them."""
        return self._names

    def get(self, name: str) -> Tool | None:
        """One of its tools; loads the family. None when it has no such tool."""
        if name not in self.names:
            return None
        if self._made is None:
            self._made = {tool.spec.name: tool for tool in self._make()}
        return self._made.get(name)

    def __iter__(self) -> Iterator[Tool]:
        for name in self.names:
            tool = self.get(name)
            if tool is not None:
                yield tool


async def _at_once() -> None:
    """Nothing to wait for."""


class LiveFamily(Family):
    """A family whose tools come and go: `make` is asked each time. `ready` waits, for a bounded time, until it knows
    them."""

    __slots__ = ("ready",)

    def __init__(self, name: str, make: Callable[[], Toolset], ready: Callable[[], Awaitable[None]] = _at_once) -> None:
        super().__init__(name, (), make)
        self.ready = ready

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that it has now."""
        return tuple(tool.spec.name for tool in self._make())

    def get(self, name: str) -> Tool | None:
        """The tool of that name, as it is now."""
        return next((tool for tool in self._make() if tool.spec.name == name), None)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._make())


class Part(Family):
    """Some tools of another family."""

    __slots__ = ("_whole",)

    def __init__(self, whole: Family, names: Iterable[str]) -> None:
        wanted = set(names)
        super().__init__(whole.name, (n for n in whole.names if n in wanted), lambda: whole)
        self._whole = whole

    def get(self, name: str) -> Tool | None:
        """The other family's tool, when it is one of the part."""
        return self._whole.get(name) if name in self._names else None


class Shelf:
    """All tools that are disclosed on demand, in families. UserError for two tools of one name."""

    __slots__ = ("families",)

    def __init__(self, families: Iterable[Family] = ()) -> None:
        self.families = tuple(families)
        seen: set[str] = set()
        for family in self.families:
            for name in () if isinstance(family, LiveFamily) else family.names:
                if name in seen:
                    raise UserError("tools.clash", name=name)
                seen.add(name)

    def __contains__(self, name: object) -> bool:
        return any(name in family.names for family in self.families)

    def __iter__(self) -> Iterator[Tool]:
        for family in self.families:
            yield from family

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its tools, family by family."""
        return tuple(name for family in self.families for name in family.names)

    def get(self, name: str) -> Tool | None:
        """The tool of that name; loads its family."""
        return next((tool for family in self.families if (tool := family.get(name)) is not None), None)

    async def ready(self) -> None:
        """Wait until families whose tools come and go know what they have."""
        for family in self.families:
            if isinstance(family, LiveFamily):
                await family.ready()

    def without(self, names: Iterable[str]) -> Shelf:
        """The same shelf without some tools."""
        gone = set(names)
        if not gone:
            return self
        return Shelf(
            Part(family, (n for n in family.names if n not in gone)) if gone & set(family.names) else family
            for family in self.families
        )
