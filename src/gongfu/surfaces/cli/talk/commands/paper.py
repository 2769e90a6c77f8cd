"""How commands that show something lay it out, and how they read without holding up the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread

from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.width import pad, width, wrap

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.surfaces.cli.talk.talk import Talk

T = TypeVar("T")

WIDEST = 100
_LEAST = 20
_SCREENS = 3  # so many screens of lines are shown; more are for reading


def columns_of(talk: Talk) -> int:
    """The cells that a line may take."""
    return max(_LEAST, min(talk.face.size[0], WIDEST))


async def give(talk: Talk, lines: Sequence[str], title: str = "") -> None:
    """Show painted lines below an empty one; very many of them are given to be read."""
    rows = max(talk.face.size[1], 24)
    head = [talk.cli.out_style.bold(title)] if title else []
    if len(lines) > rows * _SCREENS:
        await talk.face.read(title, lines)
    elif head or lines:
        talk.face.show("\n".join(["", *head, *lines]))


def facts(talk: Talk, pairs: Sequence[tuple[str, str]], columns: int = 0) -> list[str]:
    """Names and values that line up; long values are broken below themselves. An empty value is left out."""
    cells = (columns or columns_of(talk)) - 1
    pairs = [(name, value) for name, value in pairs if value]
    longest = max((width(name) for name, _ in pairs), default=0)
    lines: list[str] = []
    for name, value in pairs:
        first, *more = wrap(clean(value), max(8, cells - longest - 2))
        lines.append(f"{talk.cli.out_style.dim(pad(name, longest))}  {first}")
        lines += [f"{' ' * longest}  {row.strip()}" for row in more]
    return lines


def wrapped(
    talk: Talk, text: str, paint: Callable[[str], str] = str, *, indent: int = 0, more: int | None = None
) -> list[str]:
    """A text in lines that fit, behind `indent` spaces (`more`: those of all but the first line)."""
    further = indent if more is None else more
    rows = wrap(text, columns_of(talk) - max(indent, further) - 1)
    return [f"{' ' * (further if at else indent)}{paint(row.strip())}" for at, row in enumerate(rows)]


async def apart(talk: Talk, work: Callable[[App], T]) -> T:
    """What `work` reads, in a thread with a store of its own: reading a long session would hold up the keys.

    It gets an app like that of the conversation, not opened; it may not change a session.
    """

    def run() -> T:
        from gongfu.app import App

        app = App(talk.app.options)
        app.places.ensure()
        try:
            return work(app)
        finally:
            app.database.close()

    return await to_thread.run_sync(run)
