"""What a conversation is shown on and typed at: a terminal that can be drawn on, or one that only takes lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

from gongfu.core.base import Base

if TYPE_CHECKING:
    from gongfu.core.events import QuestionAsked
    from gongfu.core.messages import ImagePart

T = TypeVar("T")

How: TypeAlias = Literal["steer", "queue"]


class Typed(Base, frozen=True):
    """What a person sent: the text as the model is to have it (pasted pieces put back in), and pictures.

    `shown` is how it looked while it was typed; `how` says what becomes of it while a turn runs.
    """

    text: str
    images: tuple[ImagePart, ...] = ()
    shown: str = ""
    how: How = "steer"


class Option(Base, frozen=True):
    """One of several things to choose: its value, how it is called, more about it, and a key that picks it."""

    value: str
    label: str
    detail: str = ""
    key: str = ""


class Pick(Base, frozen=True):
    """A choice of one. `lines` (painted) stand above the options, `start` is the option that is marked first.

    `search` lets words be typed that narrow the options. `free` is the label of an own answer ("": there is none).
    After `seconds` without an answer it counts as none.
    """

    title: str
    options: tuple[Option, ...]
    lines: tuple[str, ...] = ()
    start: int = 0
    search: bool = False
    free: str = ""
    seconds: float | None = None


class Picked(Base, frozen=True):
    """What was chosen: the value of an option, or `text` with the value "" for an own answer."""

    value: str
    text: str = ""


class Face(Protocol):
    """Where a conversation takes place. Everything that waits for a person gives None when they turn away (Esc)."""

    drawn: bool
    """Whether it can be drawn on: there are dialogues, a menu and living lines."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows as they are now."""
        ...

    def show(self, text: str) -> None:
        """Finished lines, painted, for good; above what is alive."""
        ...

    def wake(self) -> None:
        """What is alive has changed: draw it soon."""
        ...

    async def pick(self, pick: Pick) -> Picked | None:
        """Let the person choose."""
        ...

    async def ask(self, label: str, *, secret: bool = False, default: str = "") -> str | None:
        """One line that the person types; a `secret` one is not shown."""
        ...

    async def answer(self, question: QuestionAsked) -> str:
        """The answer to a question of the engine, in the words that `Session.answer` takes."""
        ...

    async def read(self, title: str, lines: Sequence[str]) -> None:
        """Let the person read painted lines that may be more than a screen: a pager where it is drawn."""
        ...

    async def outside(self, work: Callable[[], T]) -> T:
        """Give the terminal away while `work` runs in a thread (an editor, a pager), and take it back."""
        ...

    def put(self, text: str) -> None:
        """Lay `text` ready in the place where the person types, for them to change or send."""
        ...

    def clear(self) -> None:
        """An empty screen, with what is alive at its top."""
        ...

    def bell(self) -> None:
        """A short sign to somebody who looks elsewhere."""
        ...

    def leave(self) -> None:
        """End the conversation: `run` of this face returns."""
        ...
