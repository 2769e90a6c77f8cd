"""What a person allowed for longer than once: exactly what they were shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, Protocol, TypeAlias

from gongfu.permissions.policy import Need

Scope: TypeAlias = Literal["session", "project"]


class Book(Protocol):
    """Remembers grants for projects."""

    def keys(self, root: str, /) -> Iterable[tuple[str, str]]:
        """Tool and key of everything that was granted there."""
        ...

    def add(self, root: str, tool: str, needs: Iterable[Need], /) -> None:
        """Remember `needs` for calls of `tool` in the project at `root`."""
        ...


def apart_from_grave(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Those of `needs` that can be allowed without allowing a grave one: parts that hang together share one key."""
    given = tuple(needs)
    grave = {need.key for need in given if need.grave}
    return tuple(need for need in given if need.key not in grave)


class Grants:
    """The grants of one session, and of its project where there is a `book`. A grant covers just the needs it names."""

    def __init__(self, book: Callable[[], Book] | None = None, root: str = "") -> None:
        self._seen: set[tuple[str, str]] = set()
        self._open = book
        self._root = root
        self._read = False

    def add(self, tool: str, needs: Iterable[Need], scope: Scope = "session") -> tuple[Need, ...]:
        """Allow `needs` for calls of `tool` from now on; those that were taken. What is grave is never taken for a
        project, only for the session.
        """
        taken = tuple(needs)
        self._seen |= {(tool, need.key) for need in taken}
        lasting = apart_from_grave(taken)
        if scope == "project" and self._open is not None and lasting:
            self._open().add(self._root, tool, lasting)
        return taken

    def renew(self) -> None:
        """Some were taken back: what the session knew of grants is forgotten, the book is read again."""
        self._seen.clear()
        self._read = False

    def cover(self, tool: str, needs: Iterable[Need]) -> bool:
        """Whether every one of `needs` was granted before."""
        wanted = {(tool, need.key) for need in needs}
        if not wanted:
            return False
        if wanted <= self._seen:
            return True
        if self._open is not None and not self._read:
            self._read = True
            self._seen |= set(self._open().keys(self._root))
        return wanted <= self._seen
