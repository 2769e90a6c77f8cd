"""Words, lines and widths of what `gongfu context` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gongfu.core.base import Base
from gongfu.surfaces.cli.context_bar import Chart
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, one_line
from gongfu.surfaces.cli.width import width, wrap

_WIDEST = 100


class Page(Base, frozen=True):
    """Draws in `columns` (0: a pipe, whose lines may be long). `symbols`: more than ASCII can be shown."""

    style: Style
    speech: Speech
    columns: int = 0
    symbols: bool = True
    verbose: bool = False

    @property
    def _chart(self) -> Chart:
        return Chart(style=self.style, symbols=self.symbols)

    @property
    def _cells(self) -> int:
        """Cells that a line may take."""
        return max(24, min(self.columns or 80, _WIDEST))

    def _tell(self, key: str, **values: object) -> str:
        return self.speech(f"xray.{key}", **values)

    def _word(self, key: str, otherwise: str, **values: object) -> str:
        """A word of the catalogue; what it does not know stays as it came."""
        try:
            return self.speech(key, **values)
        except KeyError:
            return one_line(otherwise)

    def _title(self, key: str) -> str:
        return self.style.bold(self._tell(key))

    def _wrapped(self, text: str, indent: int = 0) -> list[str]:
        return wrap(text, self._cells - indent) if self.columns else [text]

    def _indented(self, text: str) -> list[str]:
        return [f"  {line}" for line in self._wrapped(text, 2)]

    def _dim(self, text: str) -> list[str]:
        return [self.style.dim(line) for line in self._wrapped(text)]

    def _packed(self, parts: Sequence[str], paint: Callable[[str], str] = str) -> list[str]:
        """Parts with dots between them, in as few lines as they fit in."""
        return [paint(line) for packed in _pack(parts, self.columns) for line in self._wrapped(packed)]


def _pack(parts: Iterable[str], columns: int) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and (not columns or width(lines[-1]) + width(part) + 3 <= columns):
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return lines


def percent(part: int, whole: int) -> str:
    """A share in percent: "0%", "<1%", "42%", "100%" only when it is all."""
    if not part or not whole:
        return "0%"
    value = 100 * part / whole
    if value < 1:
        return "<1%"
    return f"{min(99, round(value)) if part < whole else 100}%"
