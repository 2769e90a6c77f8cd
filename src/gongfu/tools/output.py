"""What a tool printed, made fit for the model: bounded, and as a terminal would show it in the end."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from gongfu.core.base import Base
from gongfu.tools.terminal import clean_terminal

__all__ = ["ROW", "Bounded", "bound", "clean_terminal", "rows"]

ROW = 4000  # bytes; a longer line is counted and shown as several


class Bounded(Base, frozen=True):
    """A text that keeps a limit. When something was left out it lies between `head` and `tail`.

    `lines` and `size` (bytes of UTF-8) count what was left out; `first` is the number (from 1) of its first row (see
    `rows`), which is what `recall` counts by. `inside` tells that the gap begins or ends in the middle of a line.
    """

    head: str
    tail: str = ""
    lines: int = 0
    size: int = 0
    first: int = 0
    inside: bool = False

    @property
    def cut(self) -> bool:
        """Whether anything was left out."""
        return self.size > 0

    def text(self, artifact: str = "") -> str:
        """The text for the model; `artifact` names where the whole of it is kept."""
        if not self.cut:
            return self.head
        what = f"{self.size:,} bytes" if self.inside else f"{self.lines:,} lines ({self.size:,} bytes)"
        how = f"; recall id={artifact} offset={self.first} shows them" if artifact else ""
        gap = f"[... {what} left out{how} ...]"
        before = "" if not self.head or self.head.endswith("\n") else "\n"
        return f"{self.head}{before}{gap}\n{self.tail}"


_GAP = 160


def bound(text: str, limit: int) -> Bounded:
    """Keep `text` within `limit` bytes of UTF-8, the line that tells of the gap included.

    Half of the room goes to the head and half to the tail, cut at line ends; a line too long for its half is cut
    between characters. Lone surrogates become U+FFFD.
    """
    data = text.encode("utf-8", "surrogatepass")
    if b"\xed" in data:  # only then can there be a surrogate
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        data = text.encode("utf-8")
    if len(data) <= limit:
        return Bounded(head=text)
    half = max(1, (limit - _GAP) // 2)
    head, head_whole = _head(data, half)
    tail, tail_whole = _tail(data, half)
    gap = data[len(head) : len(data) - len(tail)]
    return Bounded(
        head=head.decode(),
        tail=tail.decode(),
        lines=gap.count(b"\n") + (not gap.endswith(b"\n")),
        size=len(gap),
        first=sum(1 for _ in rows(BytesIO(head))) + (not head or head.endswith(b"\n")),
        inside=not (head_whole and tail_whole),
    )


def rows(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a text in UTF-8 without their ends; one longer than `ROW` bytes in pieces, cut between characters.

    So a text of one endless line can be paged through like any other. A line end at the very end begins no further row.
    """
    more = False  # the line before was cut and goes on
    while piece := file.readline(ROW):
        if piece.endswith(b"\n"):
            piece = piece[:-1].removesuffix(b"\r")
            if piece or not more:
                yield piece
            more = False
            continue
        more = len(piece) == ROW
        if more and (over := _begun(piece)):
            file.seek(-over, 1)
            piece = piece[:-over]
        yield piece


def _begun(data: bytes) -> int:
    """How many bytes at the end belong to a character of UTF-8 that is not whole."""
    for count in range(1, 4):
        byte = data[-count]
        if byte >= 0xC0:
            return count if count < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            break
    return 0


def _head(data: bytes, size: int) -> tuple[bytes, bool]:
    end = data.rfind(b"\n", 0, size) + 1
    if end > size // 2:
        return data[:end], True
    return data[: _edge(data, size)], False


def _tail(data: bytes, size: int) -> tuple[bytes, bool]:
    start = data.find(b"\n", len(data) - size - 1) + 1
    if 0 < start < len(data) - size // 2:
        return data[start:], True
    return data[_edge(data, len(data) - size) :], False


def _edge(data: bytes, at: int) -> int:
    """The nearest place at or before `at` where a character begins, and not one that joins the character before it."""
    while 0 < at < len(data):
        while at > 0 and data[at] & 0xC0 == 0x80:
            at -= 1
        if not _joins(data, at):
            break
        at -= 1
    return at


def _joins(data: bytes, at: int) -> bool:
    """Whether the character at `at` is drawn with the one before: combining marks, joiners, variation selectors."""
    if data[at] < 0xCC:
        return False
    import unicodedata  # only when the cut falls on such a character

    character = data[at : at + 4].decode("utf-8", "ignore")[:1]
    before = data[max(0, at - 3) : at].decode("utf-8", "ignore")[-1:]
    return unicodedata.combining(character) > 0 or "\u200d" in (character, before) or "\ufe00" <= character <= "\ufe0f"
