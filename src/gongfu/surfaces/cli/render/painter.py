"""Writes finished text once and redraws a few living lines below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gongfu.surfaces.cli.output import Output
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.width import clip, width

Size = tuple[int, int]


class Painter:
    """A terminal whose lower end is alive. `size` gives columns and rows as they are now.

    Living lines carry no escape sequences of their own: `style` (a wrapper such as `Style.dim`) is put around each.
    """

    def __init__(self, out: Output, size: Callable[[], Size], style: Callable[[str], str]) -> None:
        self._out = out
        self._size = size
        self._style = style
        self._drawn: list[str] = []
        self._wanted: list[str] = []
        self._held: list[str] | None = None

    def commit(self, text: str, living: Sequence[str] | None = None) -> None:
        """Write whole lines above the living ones, for good, and show `living` (None: the same as before) below."""
        if living is not None:
            self._wanted = list(living)
        if self._held is not None:
            self._held.append(text)
            return
        self._out.write(self._erasing() + text + ("" if text.endswith("\n") else "\n"), flush=False)
        self._drawn = []
        self._draw()

    def live(self, lines: Sequence[str]) -> None:
        """Replace the living lines; nothing is written when they are the same."""
        self._wanted = list(lines)
        if self._held is None and self._fitted() != self._drawn:
            self._draw()

    def pause(self) -> None:
        """Take the living lines away and hold back everything, while somebody answers a question."""
        self._out.write(self._erasing())
        self._drawn = []
        self._held = []

    def resume(self) -> None:
        """Show what was held back and go on."""
        held, self._held = self._held or [], None
        for text in held:
            self.commit(text)
        self._draw()

    def _draw(self) -> None:
        lines = self._fitted()
        self._out.write(self._erasing() + "\n".join(map(self._style, lines)))
        self._drawn = lines

    def _fitted(self) -> list[str]:
        columns, rows = self._size()
        most = max(1, rows // 3)
        return [clip(clean(line), columns - 1) for line in self._wanted[-most:]]

    def _erasing(self) -> str:
        """Back to the first living line (which a narrower window may have wrapped) and clear what follows."""
        if not self._drawn:
            return ""
        columns = max(1, self._size()[0])
        rows = sum(max(1, -(-width(line) // columns)) for line in self._drawn)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\x1b[J"
