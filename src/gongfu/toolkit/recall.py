"""The tool recall: text of the session that was folded out of the context, or cut, comes back as a new result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import Message
from gongfu.toolkit.past import FORMS, Past, Place
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Facts, Outcome, Toolset

_LINES = 2000
_HITS = 8
_HEAD = 512  # bytes kept for the line that says where the text is from


class Page(Base, frozen=True):
    """Lines `first` to `last` (from 1) of `total`."""

    lines: tuple[str, ...]
    first: int
    last: int
    total: int


class Recall:
    """Recall for one session. `messages` is its raw history, `shown` what requests hold of it now.

    `files` are its spilled outputs by id, `turns` the messages at which turns begin (None: those of the person),
    `labels` short names of calls by call id.
    """

    def __init__(
        self,
        *,
        messages: Callable[[], Sequence[Message]],
        files: Callable[[], Mapping[str, Path]],
        turns: Callable[[], Sequence[int]] | None = None,
        labels: Callable[[], Mapping[str, str]] = dict,
        shown: Callable[[], Sequence[Message]] = tuple,
    ) -> None:
        self._messages = messages
        self._files = files
        self._turns = turns
        self._labels = labels
        self._shown = shown

    def _past(self) -> Past:
        turns = None if self._turns is None else self._turns()
        return Past(self._messages(), self._files(), self._labels(), turns)

    async def _facts(self, args: dict[str, Any]) -> Facts:
        title = args.get("id") or f'"{args.get("query", "")}"'
        return Facts(access=("read",), title=" ".join(title.split())[:80])

    @tool(access="read", facts=_facts)
    async def recall(
        self,
        ctx: CallContext,
        id: str | None = None,
        query: str | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> Outcome:
        wanted, words = (id or "").strip(), (query or "").strip()
        if bool(wanted) == bool(words):
            raise ToolFailure(f"give either id or query, not {'both' if wanted else 'neither'}; {FORMS}")
        if limit is not None and limit < 1:
            raise ToolFailure(f"limit must be at least 1; arrived: {limit}")
        past = self._past()
        if words:
            from gongfu.toolkit.recollect import search  # ranks: only when something is looked for

            shown = tuple(self._shown())
            start = max(1, offset or 1)
            return await anyio.to_thread.run_sync(search, past, shown, words, start, limit or _HITS, ctx.room)
        return await anyio.to_thread.run_sync(_paged, past, wanted, offset or 1, limit or _LINES, ctx.room)

    def read(self, id: str, offset: int, limit: int, room: int) -> Outcome:
        """The same text for another tool that names the output."""
        return _paged(self._past(), id, offset, limit, room)


def recall_tools(recall: Recall) -> Toolset:
    """The tool of one session."""
    return (recall.recall,)


def _paged(past: Past, id: str, offset: int, limit: int, room: int) -> Outcome:
    place = past.find(id)
    if offset < 0:
        offset = max(1, 1 + offset + sum(1 for _ in place.open()))
    page = page_of(place, offset, limit, room - _HEAD)
    if page.total and offset > page.total:
        lines = "1 line" if page.total == 1 else f"{page.total:,} lines"
        raise ToolFailure(f"there is no line {offset:,}: {place.id} has {lines}")
    more = f"; offset={page.last + 1} goes on" if page.last < page.total else ""
    if page.total == 0:
        span = "empty"
    elif page.first == 1 and page.last == page.total:
        span = "all of it" if page.total > 1 else "its one line"
    else:
        span = f"lines {page.first}-{page.last} of {page.total:,}"
    head = f"[recalled, as it was then: {place.about}; {span}{more}]"
    count = len(page.lines)
    summary = "1 line" if count == 1 else f"{count} lines"
    return Outcome(text="\n".join((head, *page.lines)), display=text_display("", summary))


def page_of(place: Place, first: int, limit: int, room: int) -> Page:
    """At most `limit` rows from number `first` on in `room` bytes, but at least one; all are counted."""
    shown: list[str] = []
    total, full = 0, False
    for row in place.open():
        total += 1
        if total < first or full:
            continue
        line = place.decode(row)
        room -= len(line.encode("utf-8", "replace")) + 1
        full = (room < 0 and bool(shown)) or len(shown) >= limit
        if not full:
            shown.append(line)
    return Page(lines=tuple(shown), first=first, last=first + len(shown) - 1, total=total)
