"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, what: str, many: str = "") -> str:
    """`1 file`, `2 files`, `1,234 files`; `many` for a plural that is not made with an s."""
    return f"{number:,} {what if number == 1 else many or f'{what}s'}"
