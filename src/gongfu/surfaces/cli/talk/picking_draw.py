"""A choice drawn as painted lines, for any width and height."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.painted import clipped
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, clean, one_line
from gongfu.surfaces.cli.talk.picking import Choosing, Row
from gongfu.surfaces.cli.talk.picking_text import fitted, typed_rows
from gongfu.surfaces.cli.width import clip, width, wrap

if TYPE_CHECKING:
    from gongfu.surfaces.cli.cli import Cli

_MOST_HEAD = 3
_LONG_ENOUGH = 5  # rows of a list that go before empty ones
_TYPED = 5  # rows of what is typed that are shown at most


class Symbols(Base, frozen=True):
    """Signs of a dialogue; those that the terminal can show."""

    mark: str = "›"
    dot: str = "•"
    on: str = "[x]"
    off: str = "[ ]"
    dots: str = "…"
    arrows: str = "↑↓"
    up: str = "↑"
    down: str = "↓"
    rule: str = "─"


def symbols_of(encoding: str) -> Symbols:
    """The signs for an encoding."""
    if encodable("›•…↑↓─", encoding) == "›•…↑↓─":
        return Symbols()
    return Symbols(mark=">", dot="*", dots="...", arrows="up/down", up="^", down="v", rule="-")


class Drawn(Base, frozen=True):
    """Painted lines, and where the cursor stands: its row and the character in it. `typed` says whether it is seen."""

    lines: list[str]
    row: int = 0
    column: int = 0
    typed: bool = False


class Drawing:
    """Draws the choice `state` in the colours and the language of the command line."""

    def __init__(self, cli: Cli, state: Choosing) -> None:
        self._style: Style = cli.out_style
        self._speech: Speech = cli.say
        self._signs = symbols_of(cli.out.encoding)
        self._state = state
        self._body: tuple[tuple[str, ...], int, list[str]] = ((), 0, [])
        self._aligned: tuple[Sequence[object], int, int] = ((), 0, 0)  # of which options, for which room, the column
        self.draft = ""

    def _say(self, name: str, **values: object) -> str:
        return self._speech(f"talk_ask.{name}", **values)

    # --- sizes ---

    def tall(self, columns: int, rows: int) -> int:
        """Rows that it would take on a screen of `rows`: the list at most a third, what stands above at most half."""
        form = self._state.form
        marked = self._state.marked
        blocks = sum(len(self._block(row, columns, marked=row == marked).lines) for row in self._all())
        body = min(len(self.body(columns)), max(3, rows // 2))
        listed = min(blocks, max(5, rows // 3)) + form.search
        parted = bool(form.parts) * self._gap(rows)
        return 1 + len(self._head(columns)) + body + listed + parted + self._gap(rows) * 2 + 1 + bool(self.draft)

    def _all(self) -> list[Row]:
        form = self._state.form
        options = [Row(kind="option", index=index) for index in range(len(form.options))]
        rows = [Row(kind="part", index=index) for index in range(len(form.parts))] + options
        return [*rows, Row(kind="free")] if form.free else rows

    @staticmethod
    def _gap(rows: int) -> int:
        return int(rows >= 16)

    def body(self, columns: int) -> Sequence[str]:
        """The scrolled lines, all of them, for a width."""
        lines = self._state.form.body
        if self._state.form.columns == columns:
            return lines
        if self._body[0] is not lines or self._body[1] != columns:
            self._body = (lines, columns, fitted(lines, max(10, columns - 1)))
        return self._body[2]

    # --- all of it ---

    def draw(self, columns: int, height: int) -> Drawn:
        """At most `height` lines of at most `columns` cells. What must be seen goes before what explains it."""
        state, form = self._state, self._state.form
        head, body, foot = self._head(columns), self.body(columns), self._foot(columns)
        blocks = [self._block(row, columns, marked=at == state.at) for at, row in enumerate(state.rows)]
        if form.search and not blocks:
            blocks = [Drawn(lines=[self._style.dim(f"  {clip(self._say('nothing_fits'), columns - 3)}")])]
        asked = sum(len(block.lines) for block in blocks) + form.search
        if height < 6 or len(head) + asked + 1 > height:
            head, foot = head[:1], foot[:1] if height > 3 else []
        free = height - len(head) - len(foot)
        shown = min(len(body), max(0, free - min(asked, max(free // 2, 3, free - len(body)))))
        if shown < len(body) and height >= 14:
            shown -= 3
        spare = free - shown - asked  # for lines that keep things apart
        spare = 3 if spare < 3 and free - shown >= _LONG_ENOUGH + 3 else spare
        apart, above = int(spare >= 2), bool(head or body)
        if form.parts and spare >= 4:
            blocks[len(form.parts)] = _lowered(blocks[len(form.parts)])
        lines = [self._style.sgr("90", self._signs.rule * columns)] if spare == 1 or spare >= 3 - (not above) else []
        lines += [*head, *self._scrolled(body, shown, columns), *[""] * (apart if above else 0)]
        first = len(lines)
        search = self._search(columns, first) if form.search else None
        lines += search.lines if search else []
        listed = self._listed(blocks, max(1, height - len(lines) - len(foot) - (0 if search else apart)))
        lines += listed.lines
        gap = height - len(lines) - len(foot) if search else apart  # a list that is searched keeps its height
        seen = search or Drawn(lines=[], row=first + listed.row, column=listed.column, typed=listed.typed)
        return Drawn(lines=[*lines, *[""] * gap, *foot][:height], row=seen.row, column=seen.column, typed=seen.typed)

    def _head(self, columns: int) -> list[str]:
        form, style = self._state.form, self._style
        mark = f"{form.mark} " if form.mark else ""
        rows = [row for text in form.head for row in wrap(clean(text).replace("\n", " "), columns - len(mark) - 1)]
        if len(rows) > _MOST_HEAD:
            rows = [*rows[: _MOST_HEAD - 1], clip(rows[_MOST_HEAD - 1] + "  ", columns - 4) + self._signs.dots]
        first = style.yellow(mark.rstrip()) + " " if mark else ""
        return [(" " * len(mark) if at else first) + style.bold(row) for at, row in enumerate(rows)]

    def _scrolled(self, body: Sequence[str], shown: int, columns: int) -> list[str]:
        """`shown` lines of the body from where it is scrolled to; a line below says how much is beyond."""
        state = self._state
        state.lines, state.page = len(body), shown
        if shown >= len(body) or shown <= 0:
            return list(body[:shown])
        state.page = shown - 1 if shown > 2 else shown
        state.scroll = max(0, min(state.scroll, len(body) - state.page))
        above, end = state.scroll, state.scroll + state.page
        if shown <= 2:
            return list(body[above:end])
        beyond = [self._say("above", count=above)] if above else []
        beyond += [self._say("below", count=len(body) - end)] if end < len(body) else []
        edge = clip(f"{self._signs.dots} {' · '.join(beyond)}", columns - 3)
        return [*body[above:end], self._style.dim(f"  {edge}")]

    def _listed(self, blocks: list[Drawn], room: int) -> Drawn:
        """The blocks around the marked one that fit into `room` lines."""
        at = min(self._state.at, len(blocks) - 1)
        if at < 0:
            return Drawn(lines=[])
        first, last = _around([len(block.lines) for block in blocks], at, room)
        before = sum(len(block.lines) for block in blocks[first:at])
        lines = [line for block in blocks[first:last] for line in block.lines]
        if first > 0 and lines[0].startswith(" "):
            lines[0] = self._style.dim(self._signs.up) + lines[0][1:]
        if last < len(blocks) and lines[-1].startswith(" "):
            lines[-1] = self._style.dim(self._signs.down) + lines[-1][1:]
        marked = blocks[at]
        return Drawn(
            lines=lines[:room], row=min(before + marked.row, room - 1), column=marked.column, typed=marked.typed
        )

    # --- rows ---

    def _block(self, row: Row, columns: int, *, marked: bool) -> Drawn:
        if row.kind == "part":
            return Drawn(lines=self._part(row.index, columns, marked=marked))
        if row.kind == "free":
            return self._free(columns, marked=marked)
        return Drawn(lines=self._option(row.index, columns, marked=marked))

    def _sign(self, *, marked: bool) -> str:
        return self._style.cyan(self._signs.mark) if marked and self._state.ready else " "

    def _part(self, index: int, columns: int, *, marked: bool) -> list[str]:
        box = self._signs.on if index in self._state.picked else self._signs.off
        first, *more = self._state.form.parts[index]
        margin = " " * (len(box) + 2)
        rows = [f"{self._sign(marked=marked)} {self._style.cyan(box)}{first[1:] if first[:1] == ' ' else first}"]
        return [clipped(row, columns - 1) for row in (*rows, *(margin + row[1:] for row in more))]

    def _option(self, index: int, columns: int, *, marked: bool) -> list[str]:
        state, style = self._state, self._style
        option = state.form.options[index]
        lead = self._lead(option.key, index)
        label, detail = clean(option.label).replace("\n", " "), one_line(option.detail)
        numbers = ", ".join(map(str, state.numbers(option)))
        if numbers:
            one = numbers.isdecimal()
            detail = self._say("only_part" if one else "only_parts", parts=numbers)
        if not state.takes(option):
            detail = self._say("no_part")
        room = max(10, columns - 3 - len(lead))
        first, *more = wrap(label, room)
        paint = style.dim if not state.takes(option) else style.cyan if marked and state.ready else str
        gap = max(2, self._column(room) - width(first) + 2)
        left = room - width(first) - gap
        shown = f"{' ' * gap}{style.dim(clip(detail, left))}" if detail and not more and left > 3 else ""
        rows = [f"{self._sign(marked=marked)} {style.dim(lead)}{paint(first)}{shown}"]
        return [*rows, *(" " * (len(lead) + 2) + paint(row) for row in more)]

    def _column(self, room: int) -> int:
        """Cells of the longest label with a detail, so that the details stand in a column; at most a third of the room,
        or half of it where every detail fits behind that.
        """
        options = self._state.form.options
        if self._aligned[0] is not options or self._aligned[1] != room:
            told = [(width(one_line(one.label)), width(one_line(one.detail))) for one in options if one.detail]
            most = room // 2 if told and max(detail for _, detail in told) <= room - room // 2 - 2 else room // 3
            self._aligned = (options, room, max((label for label, _ in told if label <= most), default=0))
        return self._aligned[2]

    def _lead(self, key: str, index: int) -> str:
        """The key or the number that stands before an option."""
        form = self._state.form
        if any(option.key for option in form.options) or form.free_key:
            number = str(index + 1) if form.numbered and index < 9 else " "
            return f"{key or number}  "
        digits = len(str(len(form.options) + bool(form.free)))
        return "" if form.search else f"{index + 1:>{digits}}. "

    def _free(self, columns: int, *, marked: bool) -> Drawn:
        state, style, form = self._state, self._style, self._state.form
        lead = self._lead(form.free_key, len(form.options)) if form.options or form.free_key else ""
        label, sign = clean(form.free), self._sign(marked=marked)
        named = self._say("typed", label=label)
        if form.search:
            return Drawn(lines=[clipped(f"{sign} {style.dim(named)}{state.text.strip()}", columns - 1)])
        if not marked:
            text = self._veiled(state.text)
            return Drawn(lines=[clipped(f"  {style.dim(lead)}{named + text if text else label}", columns - 1)])
        used = width(lead + named)
        if used > columns // 2:
            return self._below(lead, label, columns)
        rows, row, at = self._typed(columns - 3 - used)
        lines = [f"{sign} {style.dim(lead)}{style.cyan(named)}{rows[0]}"]
        lines += (" " * (used + 2) + more for more in rows[1:])
        return Drawn(lines=lines, row=row, column=at + 2 + (used if row else len(lead + named)), typed=True)

    def _below(self, lead: str, label: str, columns: int) -> Drawn:
        """The marked own answer with what is typed below its label."""
        style, margin = self._style, " " * (len(lead) + 2)
        first, *more = wrap(label, columns - 3 - len(lead))
        lines = [f"{self._sign(marked=True)} {style.dim(lead)}{style.cyan(first)}"]
        lines += (margin + style.cyan(row) for row in more)
        rows, row, at = self._typed(columns - 5)
        return Drawn(lines=[*lines, *(f"    {one}" for one in rows)], row=row + len(lines), column=at + 4, typed=True)

    def _search(self, columns: int, above: int) -> Drawn:
        rows, row, at = self._typed(columns - 5)
        line = f"{self._style.cyan(self._signs.mark)} {rows[row]}"
        return Drawn(lines=[line], row=above, column=at + 2, typed=True)

    def _typed(self, cells: int) -> tuple[list[str], int, int]:
        """What is typed, the last rows of it, and the cursor in them."""
        state = self._state
        if not state.text:
            empty = self._say("search") if state.form.search else state.form.empty
            return [self._style.dim(clip(empty, max(1, cells)))], 0, 0
        rows, row, at = typed_rows(self._veiled(state.text), self.cursor, max(4, cells))
        first = max(0, min(row, len(rows) - _TYPED))
        return rows[first : first + _TYPED], row - first, at

    cursor = 0

    def _veiled(self, text: str) -> str:
        return self._signs.dot * len(text) if self._state.form.secret else clean(text).replace("\n", " ")

    # --- the foot ---

    def _foot(self, columns: int) -> list[str]:
        """The keys that can be pressed, as many as there is room for, and what else is to be known."""
        style, shown = self._style, ""
        if not self._state.ready:
            return [style.dim(f"  {self._signs.dots}"), *self._drafted(columns)]
        for hint in self._hints():
            longer = f"{shown} · {hint}" if shown else hint
            if width(longer) > columns - 3:
                continue
            shown = longer
        return [style.dim(f"  {shown}"), *self._drafted(columns)]

    def _drafted(self, columns: int) -> list[str]:
        if not self.draft:
            return []
        return [self._style.dim(f"  {clip(self._say('draft', text=one_line(self.draft, 200)), columns - 3)}")]

    def _hints(self) -> list[str]:
        state, form, say = self._state, self._state.form, self._say
        row = state.marked
        own = row is not None and row.kind == "free"
        hints = [say("seconds", seconds=max(0, round(state.left)))] if state.left is not None else []
        hints.append(say("hint_toggle" if row and row.kind == "part" else "hint_send" if own else "hint_enter"))
        hints.append(say("hint_back" if own and form.options and not form.search else form.out))
        if form.parts and not state.typing:
            hints.append(say("hint_part", last=min(9, len(form.parts))))
        if state.scrolls:
            hints += [say("hint_scroll")] + ([] if state.typing else [say("hint_all")])
        if len(state.rows) > 1:
            hints.append(say("hint_choose").replace("↑↓", self._signs.arrows))
        if len(form.options) > 9:
            hints.append(f"{min(state.at + 1, len(state.rows))}/{len(state.rows)}")
        return hints


def _lowered(block: Drawn) -> Drawn:
    """A block with an empty line above it."""
    return Drawn(lines=["", *block.lines], row=block.row + 1, column=block.column, typed=block.typed)


def _around(sizes: list[int], at: int, room: int) -> tuple[int, int]:
    """The longest stretch of blocks (its first, and the one behind its last) around `at` that fits into `room`."""
    first, last, left = at, at + 1, room - sizes[at]
    while True:
        up = first > 0 and sizes[first - 1] <= left
        down = last < len(sizes) and sizes[last] <= left
        if not (up or down):
            return first, last
        if up and (not down or at - first <= last - 1 - at):
            first -= 1
            left -= sizes[first]
        else:
            left -= sizes[last]
            last += 1
