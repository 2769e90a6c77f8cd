"""Letters that a server split between two pieces of its answer."""

from __future__ import annotations

from gongfu.core.jsonfix import scrub_text


class Halves:
    """Joins the halves of surrogate pairs that come in different pieces; a half without another becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What of the pieces so far can be shown by now."""
        if not self._held and piece.isascii():
            return piece
        text = self._held + piece
        self._held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return scrub_text(text[: len(text) - len(self._held)])

    def flush(self) -> str:
        """What is left when nothing more comes."""
        held, self._held = self._held, ""
        return scrub_text(held)
