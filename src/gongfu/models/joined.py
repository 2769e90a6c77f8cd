"""The bytes of a growing history: what two requests begin with in common is written once."""

from __future__ import annotations

from collections.abc import Callable

from gongfu.core.messages import Message
from gongfu.core.prefix import shared_start

Piece = tuple[bytes, int, int]
"""The bytes of one message with what parts them from those before; bytes and tokens of its images."""


class Joined:
    """The pieces of the last history, one behind the other.

    `write` gives the piece of a message, which may depend on nothing but the message and the one before it (None where
    nothing was written yet). Messages are frozen; one is known by its identity.
    """

    def __init__(self, write: Callable[[Message, Message | None], Piece]) -> None:
        self._write = write
        self._history: tuple[Message, ...] = ()
        self._pieces: list[bytes] = []
        self._sums: list[tuple[int, int, int]] = []

    def update(self, history: tuple[Message, ...]) -> None:
        """From now on this holds `history`."""
        known = shared_start(self._history, history)
        self._history = history[:known]
        del self._pieces[known:], self._sums[known:]
        size, image_bytes, image_tokens = self._sums[-1] if self._sums else (0, 0, 0)
        for number in range(known, len(history)):
            data, more_bytes, more_tokens = self._write(history[number], history[number - 1] if size else None)
            size += len(data)
            image_bytes += more_bytes
            image_tokens += more_tokens
            self._pieces.append(data)
            self._sums.append((size, image_bytes, image_tokens))
        self._history = history

    @property
    def size(self) -> int:
        """Bytes of all pieces."""
        return self._sums[-1][0] if self._sums else 0

    @property
    def images(self) -> tuple[int, int]:
        """Bytes and tokens of all images."""
        return self._sums[-1][1:] if self._sums else (0, 0)

    def pieces(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """Those of the messages from number `start` to before number `end`; to be joined as they are."""
        return self._pieces[start:end]
