"""The menu of what may follow: some rows below the input while there is something to choose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, Never
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import FormattedTextControl, Window
from prompt_toolkit.layout.containers import AnyContainer, ConditionalContainer

from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.talk.completing import Completions, Row
from gongfu.surfaces.cli.width import NARROW, clip, pad, width

_ROWS = 8
_SHARE = 3  # of the screen's rows at most one in so many
_LABEL = 0.45  # of the columns, at most, for what is chosen where something is said about it
_ABOUT = 12  # cells; where there are fewer nothing is said about it


def menu(buffer: Buffer | Callable[[], Buffer]) -> AnyContainer:
    """Rows for what the `Completions` of a buffer offer; none when nothing is offered.

    From the first drawing on they come and go with what is typed and taken back. `buffer` may be a function where the
    buffer is not there yet.
    """
    shown = Menu(buffer)
    control = FormattedTextControl(lambda: shown.text(*_size(), get_app().output.encoding()), focusable=False)
    window = Window(control, height=lambda: shown.height(_size()[1]), dont_extend_height=True, wrap_lines=False)
    return ConditionalContainer(window, Condition(shown.open))


def open_menu(buffer: Buffer) -> bool:
    """Offer what may follow the cursor, also where nothing is offered while typing; False when that is nothing."""
    completer = buffer.completer
    if not isinstance(completer, Completions) or not completer.wanted(buffer.document, asked=True):
        return False
    buffer.complete_state = None
    buffer.start_completion()
    return True


class Menu:
    """Asks for rows when something was typed or taken back, the newest text first, and keeps the old rows meanwhile."""

    def __init__(self, buffer: Buffer | Callable[[], Buffer]) -> None:
        self._get = buffer
        self._buffer: Buffer | None = None
        self._completions: Completions | None = None
        self._before = Document()
        self._pending: Document | None = None
        self._asking = False
        self._nothing_for: Document | None = None  # what was typed when there was nothing to offer
        self._held: CompletionState | None = None
        self._top = 0

    # --- when it is asked ---

    def _attach(self) -> None:
        buffer = self._buffer = self._get() if callable(self._get) else self._get
        if isinstance(buffer.completer, Completions):
            self._completions = buffer.completer
            self._before = buffer.document
            loop = asyncio.get_running_loop()

            def news() -> None:
                with suppress(RuntimeError):  # the conversation is over
                    loop.call_soon_threadsafe(self._news)

            self._completions.news = news
            buffer.complete_while_typing = Never()  # it is asked from here
            buffer.on_text_insert += self._typed
            buffer.on_text_changed += self._changed

    def _typed(self, buffer: Buffer) -> None:
        del buffer
        self._ask()

    def _changed(self, buffer: Buffer) -> None:
        """What was typed goes on in `_typed`; here is seen what was taken back. Other texts open no menu."""
        before, now = self._before, buffer.document
        self._before, self._pending = now, None
        at, gone = now.cursor_position, len(before.text) - len(now.text)
        if gone > 0 and now.text and before.text == now.text[:at] + before.text[at : at + gone] + now.text[at:]:
            self._ask()

    def _ask(self) -> None:
        if self._buffer is None or self._completions is None:
            return
        document = self._before = self._buffer.document
        if not self._completions.wanted(document):
            self._pending = None
            return
        rows = self._completions.rows_now(document)
        if rows is not None:
            self._pending = None
            self._offer(document, rows)
            return
        self._pending = document
        if not self._asking:
            self._asking = True
            get_app().create_background_task(self._rows())

    async def _rows(self) -> None:
        try:
            while self._completions is not None and (document := self._pending) is not None:
                rows = await self._completions.rows(document)
                if self._pending is document:
                    self._pending = None
                    self._offer(document, rows)
                    get_app().invalidate()
        finally:
            self._asking = False

    def _offer(self, document: Document, rows: Sequence[Row]) -> None:
        buffer = self._buffer
        if buffer is not None and buffer.document == document:
            buffer.complete_state = CompletionState(document, list(rows)) if rows else None
            self._nothing_for = None if rows else document

    def _news(self) -> None:
        """More can be offered: ask again where nobody has moved the mark yet, or where there was nothing."""
        if self._buffer is None:
            return
        state = self._buffer.complete_state
        unmoved = state is not None and state.complete_index is None
        if unmoved or (state is None and self._nothing_for == self._buffer.document):
            self._ask()
            get_app().invalidate()

    # --- how it looks ---

    def open(self) -> bool:
        """Whether there are rows to draw."""
        if self._buffer is None:
            self._attach()
        state = None if self._buffer is None else self._buffer.complete_state
        if state is not None and state.completions:
            self._held = state
        elif self._pending is None or self._buffer is None or self._buffer.text != self._pending.text:
            self._held = None
        return self._held is not None

    def height(self, rows: int) -> int:
        """How many rows it takes of a screen of so many."""
        if self._held is None:
            return 0
        return min(len(self._held.completions), _most(rows)) + bool(self._note)

    @property
    def _note(self) -> str:
        return "" if self._completions is None else self._completions.note

    def text(self, columns: int, rows: int, encoding: str) -> StyleAndTextTuples:
        """Its rows for a screen of that size."""
        if self._held is None:
            return []
        every, most = self._held.completions, _most(rows)
        marked = self._held.complete_index or 0
        self._top = max(min(self._top, marked, len(every) - most), marked - most + 1, 0)
        inner = max(1, columns - 3)  # the mark, and a column that stays free
        place = f" {marked + 1}/{len(every)}" if len(every) > most else ""
        cells = _label_cells(every, inner)
        lines: list[StyleAndTextTuples] = []
        shown = every[self._top : self._top + most]
        for number, row in enumerate(shown, self._top):
            room = inner - (len(place) if number == self._top + len(shown) - 1 else 0)
            lines.append(_line(row, inner, room, min(cells, room), number == marked, encoding))
        if place:
            used = sum(width(part[1]) for part in lines[-1])
            lines[-1].append(("class:dim", " " * max(0, columns - 1 - used - len(place)) + place))
        if self._note:
            lines.append([("class:dim", "  " + clip(encodable(self._note, encoding), inner))])
        return [part for n, line in enumerate(lines) for part in ([("", "\n")] if n else []) + list(line)]


def _line(row: object, inner: int, room: int, cells: int, marked: bool, encoding: str) -> StyleAndTextTuples:
    if not isinstance(row, Row):
        return []
    style = "class:marked" if marked and row.kind != "hint" else ""
    sign = encodable("›", encoding) if style else " "
    label = encodable(_label(row, inner), encoding)
    label = clip_left(label, cells) if row.kind == "path" else clip(label, cells)
    name, usage = label, ""
    if row.kind == "command":
        name, usage = label[: (label + " ").index(" ")], label[(label + " ").index(" ") :]
    parts: StyleAndTextTuples = [(style, f"{sign} {name}"), ("class:dim", usage)]
    left = room - cells - 2
    if row.about and left >= _ABOUT:
        parts += [("", pad("", cells - width(label) + 2)), ("class:dim", clip(encodable(row.about, encoding), left))]
    return parts


def _label_cells(rows: Sequence[object], room: int) -> int:
    """The column of the labels: as wide as they need, but where something is said about them it has its place, too."""
    known = [row for row in rows if isinstance(row, Row)]
    widest = max((width(_label(row, room)) for row in known), default=0)
    if not any(row.about for row in known) or room - int(room * _LABEL) - 2 < _ABOUT:
        return min(widest, room)
    return min(widest, max(int(room * _LABEL), 1))


def _label(row: Row, inner: int) -> str:
    """How it is called; where there is little room a command without what it takes."""
    return row.label.partition(" ")[0] if row.kind == "command" and inner < NARROW - 3 else row.label


def clip_left(text: str, cells: int) -> str:
    """`text` cut at its beginning to at most `cells`, with an ellipsis there: of a path the end tells most."""
    if width(text) <= cells:
        return text
    at = len(text)
    used = 1
    while at and used + width(text[at - 1]) <= cells:
        at -= 1
        used += width(text[at])
    return "…" + text[at:]


def _most(rows: int) -> int:
    return max(2, min(_ROWS, rows // _SHARE))


def _size() -> tuple[int, int]:
    size = get_app().output.get_size()
    return size.columns, size.rows
