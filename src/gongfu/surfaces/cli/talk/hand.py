"""A command that the person runs by hand, while it runs: its last lines, and all that is kept of it."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections import deque

from gongfu.surfaces.cli.render.numbers import elapsed
from gongfu.surfaces.cli.style import Style, clean
from gongfu.surfaces.cli.width import clip

LIVING = 5  # lines of one that runs
SHOWN = 400  # lines of one that has ended: the first and the last of them
_LONGEST = 4000  # characters of a line


class ByHand:
    """Takes output in and keeps its first and last lines. `fresh` are those that came since `take`."""

    def __init__(self, command: str, style: Style, now: float) -> None:
        self.command = command
        self._style = style
        self._began = now
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._open = ""
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=SHOWN // 2)
        self.lines = 0
        self._fresh: deque[str] = deque(maxlen=SHOWN)
        self.stopping = False

    def add(self, data: bytes, *, final: bool = False) -> None:
        """More of the output; `final`: there is no more."""
        text = self._decoder.decode(data, final)
        *whole, self._open = (self._open + text).replace("\r\n", "\n").split("\n")
        if len(self._open) > 2 * _LONGEST:
            self._open = self._open[-_LONGEST:]
        if final and self._open:
            whole, self._open = [*whole, self._open], ""
        room = SHOWN // 2 - len(self._head)
        first = [_end(line) for line in whole[:room]]
        last = [_end(line) for line in whole[room:][-SHOWN // 2 :]]  # a flood costs no more than that
        self.lines += len(whole)
        self._head += first
        self._tail.extend(last)
        self._fresh.extend((*first, *last))

    def take(self) -> list[str]:
        """The whole lines since the last call, the last of them where they are very many."""
        fresh = [_settled(line) for line in self._fresh]
        self._fresh.clear()
        return fresh

    def kept(self) -> tuple[list[str], int, list[str]]:
        """The first lines, how many are left out behind them, and the last lines."""
        left_out = self.lines - len(self._head) - len(self._tail)
        return [_settled(line) for line in self._head], left_out, [_settled(line) for line in self._tail]

    def living(self, now: float, columns: int) -> list[str]:
        """What is alive of it, painted."""
        recent = [*(self._tail or self._head)][-LIVING:]
        if self._open:
            recent = [*recent, _end(self._open)][-LIVING:]
        style = self._style
        time = elapsed(now - self._began)
        head = clip(f"! {clean(self.command)}".replace("\n", " "), max(8, columns - 12))
        return [
            f"{style.cyan(head[:1])}{head[1:]}  {style.dim(time)}",
            *(style.dim(clip(f"  {_settled(line)}", columns - 1)) for line in recent),
        ]


def _end(line: str) -> str:
    """What is left of a line that carriage returns went over; bounded."""
    return line.rstrip("\r").rpartition("\r")[2][:_LONGEST]


def _settled(line: str) -> str:
    """A line as a terminal shows it in the end: no control characters. Only what is shown is worth the work."""
    return clean(line).expandtabs(8).replace("\n", " ")
