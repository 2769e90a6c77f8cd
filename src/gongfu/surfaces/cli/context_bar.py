"""Bars and small charts of `gongfu context`, with and without colour, with and without symbols."""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.core.base import Base
from gongfu.surfaces.cli.style import Style

_LOOKS = {
    "system": ("S", "90"), "tools": ("T", "94"), "rules": ("R", "91"), "memory": ("M", "35"), "summary": ("Z", "95"),
    "pairs": ("P", "34"), "notes": ("N", "37"), "user": ("U", "92"), "key": ("K", "93"), "assistant": ("A", "36"),
    "regular": ("#", "33"), "input": ("I", "92"), "tail": ("t", "96"), "unlisted": ("?", "37"), "free": (".", "2"),
    "reserve": ("=", "2"), "margin": ("-", "2"),
}  # fmt: skip
_EMPTY = {"free": "·", "reserve": "═", "margin": "─"}
_STEPS = "▁▂▃▄▅▆▇█"


class Chart(Base, frozen=True):
    """Draws with blocks in colours, or with a letter for each part where there is no colour or no such symbol."""

    style: Style
    symbols: bool = True

    def mark(self, part: str) -> str:
        """What stands for a part in the bar."""
        letter, code = _LOOKS.get(part, ("?", "37"))
        if self.symbols and part in _EMPTY:
            return self.style.sgr(code, _EMPTY[part])
        return self.style.sgr(code, "█" if self.symbols and self.style.color else letter)

    def bar(self, parts: Sequence[tuple[str, int]], cells: int) -> str:
        """One row of `cells` for (part, tokens) in order; what is not nothing gets a cell of its own."""
        widths = shares([tokens for _, tokens in parts], cells)
        return "".join(self._run(part, count) for (part, _), count in zip(parts, widths, strict=True))

    def _run(self, part: str, count: int) -> str:
        letter, code = _LOOKS.get(part, ("?", "37"))
        if self.symbols and part in _EMPTY:
            return self.style.sgr(code, _EMPTY[part] * count)
        return self.style.sgr(code, ("█" if self.symbols and self.style.color else letter) * count)

    def spark(self, values: Sequence[float | None], cells: int) -> str:
        """One character a value from 0 to 1 ("?" for None); of more values than `cells` the lowest of neighbours."""
        return "".join(self._step(value) for value in _thinned(values, max(1, cells)))

    def _step(self, value: float | None) -> str:
        if value is None:
            return self.style.dim("?")
        value = min(1.0, max(0.0, value))
        char = _STEPS[min(7, int(value * 8))] if self.symbols else str(min(9, int(value * 10)))
        return (
            self.style.green(char)
            if value >= 0.9
            else self.style.yellow(char)
            if value >= 0.5
            else self.style.red(char)
        )


def shares(amounts: Sequence[int], cells: int) -> list[int]:
    """`cells` divided in proportion to `amounts` by largest remainder; where there is room all above 0 get one."""
    total = sum(amounts)
    if total <= 0 or cells <= 0:
        return [0 for _ in amounts]
    given = [amount * cells // total for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda n: (-(amounts[n] * cells % total), n))
    for n in order[: cells - sum(given)]:
        given[n] += 1
    for n, amount in enumerate(amounts):
        widest = max(range(len(given)), key=given.__getitem__)
        if amount > 0 and not given[n] and given[widest] > 1:
            given[widest] -= 1
            given[n] = 1
    return given


def _thinned(values: Sequence[float | None], cells: int) -> list[float | None]:
    if len(values) <= cells:
        return list(values)
    found: list[float | None] = []
    for cell in range(cells):
        known = [v for v in values[cell * len(values) // cells : (cell + 1) * len(values) // cells] if v is not None]
        found.append(min(known) if known else None)
    return found
