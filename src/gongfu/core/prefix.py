"""How much two sequences have in common at their beginning, found at the speed of C."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_


def shared_start(one: Sequence[object], other: Sequence[object]) -> int:
    """How many objects at the beginning of both are the very same."""
    if all(map(is_, one, other)):
        return min(len(one), len(other))
    return list(map(is_, one, other)).index(False)
