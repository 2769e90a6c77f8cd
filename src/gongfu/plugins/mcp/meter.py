"""How much a server may say unasked: what floods is dropped, and told of when it does not end."""

from __future__ import annotations

import time
from typing import Final

RATE: Final = 200.0  # messages a second, in the long run
BURST: Final = 1_000
FLOOD: Final = 20_000  # messages dropped without a pause in between
GARBAGE: Final = 1_000  # lines, one after the other, that are no messages
GARBAGE_BYTES: Final = 4 * 1024 * 1024


class Meter:
    """Counts what comes from one server. `why` says what is wrong with it once it is too much; "" until then."""

    def __init__(self) -> None:
        self.why = ""
        self.dropped = 0
        self.strange = 0
        self._left = float(BURST)
        self._at = time.monotonic()
        self._run = 0
        self._lines = 0
        self._bytes = 0

    def lets_through(self) -> bool:
        """Whether one more message that nobody asked for may pass."""
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._at) * RATE)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            if self._left > BURST / 2:
                self._run = 0
            return True
        self.dropped += 1
        self._run += 1
        if self._run >= FLOOD and not self.why:
            self.why = f"it sent more than {FLOOD:,} messages that nobody asked for"
        return False

    def garbage(self, size: int) -> None:
        """A line came that is no message."""
        self.strange += 1
        self._lines += 1
        self._bytes += size
        if (self._lines > GARBAGE or self._bytes > GARBAGE_BYTES) and not self.why:
            self.why = "it writes something else than messages to its standard output"

    def message(self) -> None:
        """A message came."""
        self._lines = self._bytes = 0
