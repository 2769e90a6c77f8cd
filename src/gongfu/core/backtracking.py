"""How long an expression may take in Python, whose engine tries every way to match."""

from __future__ import annotations

import re

_PIECE = r"(?s)\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P?[<=!:]*|\{\d*,?\d*\}|."  # a text: compiled when it is first needed
_LONGEST = {1: 5_000, 2: 1_000, 3: 300}
_MOST = 20


def loops(pattern: str) -> int:
    """How many repeats without a small limit the expression has; 4 also for one that may take for ever.

    That is a repeat of something that repeats or has alternatives, such as `(a+)+` or `(a|aa)*`.
    """
    open_groups: list[tuple[int, bool]] = []
    count, either = 0, False
    group: tuple[int, bool] = (0, False)
    for piece in re.findall(_PIECE, pattern):
        last, group = group, (0, False)
        if piece.startswith("("):
            open_groups.append((count, either))
            count, either = 0, False
        elif piece == ")" and open_groups:
            group = (count, either)
            before, either = open_groups.pop()
            count += before
        elif piece == "|":
            either = True
        elif _repeats(piece):
            if last[0] or last[1]:
                return 4
            count += 1
        elif re.fullmatch(r"\\[1-9]", piece):
            count += 1
    return min(count + sum(before for before, _ in open_groups), 4)


def longest_line(pattern: str) -> int:
    """Up to how many characters a line may have to be searched within a blink; 0 when no line is short enough."""
    count = loops(pattern)
    return 1 << 60 if count == 0 else _LONGEST.get(count, 0)


def _repeats(piece: str) -> bool:
    if piece in ("*", "+"):
        return True
    limits = re.fullmatch(r"\{(\d*)(,?)(\d*)\}", piece)
    if limits is None or piece in ("{}", "{,}"):
        return False
    least, comma, most = limits.groups()
    return int(most or 0) > _MOST if most else (bool(comma) or int(least or 0) > _MOST)
