"""The names of the tools that servers had when they were last seen: told before the servers are there again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from gongfu.config.files import write_private
from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.plugins.mcp.servers import Server

_MOST: Final = 200  # servers


class _Seen(Base, frozen=True):
    digest: str
    tools: tuple[str, ...] = ()


class Remembered:
    """Names by server, in one file. What cannot be read or written is as if nothing were known."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, _Seen] | None = None

    def names(self, server: Server) -> tuple[str, ...]:
        """The names of a server's tools; () when it was never seen as it is configured now."""
        found = self._read().get(server.name)
        return found.tools if found is not None and found.digest == server.digest else ()

    def keep(self, server: Server, names: Sequence[str]) -> None:
        """Note what a server has."""
        seen = _Seen(digest=server.digest, tools=tuple(names))
        known = self._read()
        if known.get(server.name) == seen:
            return
        self._known = None  # another process may have noted something meanwhile
        known = {**self._read(), server.name: seen}
        self._known = dict(list(known.items())[-_MOST:])
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._file, msgspec.json.encode(self._known), durable=False)
        except (OSError, UserError):
            return

    def _read(self) -> dict[str, _Seen]:
        if self._known is None:
            try:
                self._known = msgspec.json.decode(self._file.read_bytes(), type=dict[str, _Seen])
            except (OSError, msgspec.DecodeError):
                self._known = {}
        return self._known
