"""Identifiers: short, sortable by time, safe as file names."""

from __future__ import annotations

import os
import time

_RANDOM = 35  # bits
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """A new identifier such as "s_01jd3k9v5w7q2m8x": milliseconds since 1970 and 35 random bits, both in base 32."""
    # the system's own source: `secrets` says the same, and loads hmac and random with a run's start
    chance = int.from_bytes(os.urandom(5), "big") >> (40 - _RANDOM)
    value = (time.time_ns() // 1_000_000) << _RANDOM | chance
    digits: list[str] = []
    for _ in range(16):
        value, digit = divmod(value, 32)
        digits.append(_ALPHABET[digit])
    return f"{prefix}_{''.join(reversed(digits))}"
