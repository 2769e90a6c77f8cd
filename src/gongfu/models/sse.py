"""Server-sent events out of bytes that may be split anywhere (WHATWG HTML, section 9.2.6), in linear time."""

from __future__ import annotations

import re

from gongfu.core.base import Base
from gongfu.core.errors import StreamCut

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class ServerEvent(Base, frozen=True):
    """One event. `event` is its name (may be empty), `data` its lines joined by newlines, `id` its own id line."""

    event: str = ""
    data: str = ""
    id: str = ""


class SSEDecoder:
    """Feed it bytes, get whole events. Broken UTF-8 becomes U+FFFD.

    Two liberties beside the standard: a bare line of JSON ("{…}") counts as an event of its own, since some servers
    write their errors so, and `flush` gives an event that the end of the stream left without its blank line.
    An event beyond `limit` bytes raises `StreamCut`.
    """

    def __init__(self, limit: int = 32 << 20) -> None:
        self._limit = limit
        self._rest: list[bytes] = []  # pieces of the line that is not whole yet
        self._size = 0  # bytes of the event so far
        self._after_cr = False
        self._first = True
        self._event = ""
        self._id = ""
        self._data: list[str] = []
        self.count = 0  # lines of data so far

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that `data` completes."""
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if not data:
            return []
        self._after_cr = data.endswith(b"\r")
        *whole, rest = _LINE_END.split(data)
        events: list[ServerEvent] = []
        if whole and self._rest:
            head = b"".join(self._rest)
            self._size -= len(head)  # counted with its line
            whole[0] = head + whole[0]
            self._rest = []
        for line in whole:
            self._count(len(line))
            self._line(line, events)
        if rest:
            self._count(len(rest))
            self._rest.append(rest)
        return events

    def flush(self) -> list[ServerEvent]:
        """The event that was under way when the stream ended, if there is one."""
        events: list[ServerEvent] = []
        if self._rest:
            line, self._rest = b"".join(self._rest), []
            self._line(line, events)
        self._dispatch(events)
        return events

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            raise StreamCut(f"one event of the answer is larger than {self._limit} bytes")

    def _line(self, line: bytes, events: list[ServerEvent]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(events)
            return
        if line.startswith(b"{"):
            events.append(ServerEvent(data=line.decode("utf-8", "replace")))
            self._size = 0
            self.count += 1
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value.decode("utf-8", "replace"))
            self.count += 1
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id":
            self._id = value.decode("utf-8", "replace")

    def _dispatch(self, events: list[ServerEvent]) -> None:
        if self._data:
            events.append(ServerEvent(event=self._event, data="\n".join(self._data), id=self._id))
        self._event, self._id, self._data, self._size = "", "", [], 0
