"""A choice as it stands: what can be chosen, what is marked, picked and typed. It knows neither keys nor screens."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.talk.face import Option, Pick
from gongfu.surfaces.cli.talk.picking_search import folded, narrowed

Kind: TypeAlias = Literal["part", "option", "free"]


class Form(Base, frozen=True):
    """What is to be chosen or typed.

    `head` (plain) stays in sight, `body` (painted) scrolls below it, broken for `columns` already (0: not yet). Of
    `parts` (painted lines each) any may be picked; options whose value is in `partial` are about the picked ones.
    `aliases` are further keys of options; where they are not `numbered`, a digit chooses none. `free` is the label of
    an own answer, `empty` what stands in its place until something is typed; a `secret` is not shown. `out` names the
    hint that says what Esc does. `seconds` is how long an answer is waited for.
    """

    head: tuple[str, ...] = ()
    mark: str = ""
    body: tuple[str, ...] = ()
    columns: int = 0
    parts: tuple[tuple[str, ...], ...] = ()
    partial: frozenset[str] = frozenset()
    options: tuple[Option, ...] = ()
    start: int = 0
    numbered: bool = True
    search: bool = False
    free: str = ""
    free_key: str = ""
    empty: str = ""
    out: str = "hint_leave"
    aliases: dict[str, str] = {}
    secret: bool = False
    text: str = ""
    seconds: float | None = None


def form_of(pick: Pick, speech: Speech) -> Form:
    """The form of a plain choice."""
    return Form(
        head=(pick.title,) if pick.title else (), body=pick.lines, options=pick.options, start=pick.start,
        search=pick.search, free=pick.free, seconds=pick.seconds, empty=speech("talk_ask.own_empty"),
    )  # fmt: skip


class Row(Base, frozen=True):
    """A row that can be marked: a part, an option, or the own answer, with its index."""

    kind: Kind
    index: int = 0


class Chosen(Base, frozen=True):
    """What was chosen: an option's value, or the own answer `text`. `parts` are the numbers of some, (): all."""

    value: str
    text: str = ""
    parts: tuple[int, ...] = ()


class Choosing:
    """The state of one choice. `text` is what is typed, kept up to date by who draws it."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.picked = set(range(len(form.parts)))
        self.scroll = 0
        self.page = 1  # lines of the body that are in sight
        self.lines = 0  # lines of the body
        self.ready = True
        self.left: float | None = None  # seconds
        self.text = form.text
        self.rows = self._rows()
        start = len(form.parts) + max(0, min(form.start, len(form.options) - 1))
        self.at = min(start, max(0, len(self.rows) - 1))

    def _rows(self) -> list[Row]:
        form = self.form
        found = narrowed(form.options, self.text if form.search else "")
        rows = [Row(kind="part", index=index) for index in range(len(form.parts))]
        rows += [Row(kind="option", index=index) for index in found]
        if form.free and (not form.search or self.text.strip()):
            rows.append(Row(kind="free"))
        return rows

    @property
    def marked(self) -> Row | None:
        """The row that is marked; None when nothing fits what is searched for."""
        return self.rows[self.at] if self.rows else None

    @property
    def typing(self) -> bool:
        """Whether letters are taken as text."""
        return self.form.search or (self.marked is not None and self.marked.kind == "free")

    @property
    def scrolls(self) -> bool:
        """Whether there is more of the body than is in sight."""
        return self.lines > self.page

    def type(self, text: str) -> None:
        """What is typed is now `text`."""
        if text == self.text:
            return
        self.text = text
        if self.form.search:
            self.rows, self.at = self._rows(), 0

    def move(self, by: int, *, round_: bool = False) -> None:
        """Mark another row, `by` rows below; beyond an end it stays there, or goes on at the other one."""
        last = len(self.rows) - 1
        if last < 0:
            return
        at = self.at + by
        self.at = at % (last + 1) if round_ else max(0, min(at, last))

    def roll(self, by: int) -> None:
        """Scroll the body."""
        self.scroll = max(0, min(self.scroll + by, self.lines - self.page))

    def leave_typing(self) -> bool:
        """Back from the own answer to the options; whether there are any."""
        if self.form.search or not self.form.options:
            return False
        self.at = len(self.form.parts) + max(0, min(self.form.start, len(self.form.options) - 1))
        return True

    def toggle(self, part: int) -> None:
        """Pick a part, or not any more."""
        if 0 <= part < len(self.form.parts):
            self.picked ^= {part}

    def takes(self, option: Option) -> bool:
        """Whether an option can be chosen as things are: one about picked parts needs some."""
        return option.value not in self.form.partial or not self.form.parts or bool(self.picked)

    def numbers(self, option: Option) -> tuple[int, ...]:
        """The parts that an option is about, when it is not about all."""
        if option.value not in self.form.partial or len(self.picked) == len(self.form.parts):
            return ()
        return tuple(sorted(part + 1 for part in self.picked))

    def take(self) -> Chosen | None:
        """Choose what is marked; None when that chooses nothing (a part is picked or not instead)."""
        row = self.marked
        if row is None:
            return None
        if row.kind == "part":
            self.toggle(row.index)
            return None
        if row.kind == "free":
            return Chosen(value="", text=self.text.strip())
        option = self.form.options[row.index]
        return Chosen(value=option.value, parts=self.numbers(option)) if self.takes(option) else None

    def press(self, key: str) -> Chosen | None:
        """A letter or digit while nothing is typed: what it chooses; it may mark or pick something instead."""
        key, form = folded(key), self.form
        value = form.aliases.get(key, "")
        for index, option in enumerate(form.options):
            if (option.key and folded(option.key) == key) or (value and option.value == value):
                self.at = len(form.parts) + index
                return self.take()
        if form.free_key and key == form.free_key:
            self.at = len(self.rows) - 1
            return None
        if key.isdecimal() and len(key) == 1:
            return self._number(int(key))
        if key == " ":
            return self.take() if self.marked is not None and self.marked.kind == "part" else None
        if key in ("j", "k"):
            self.move(1 if key == "j" else -1, round_=True)
        return None

    def _number(self, number: int) -> Chosen | None:
        if self.form.parts:
            self.toggle(number - 1)
            return None
        if not self.form.numbered or not 0 < number <= min(9, len(self.rows)):
            return None
        self.at = number - 1
        return None if self.typing else self.take()
