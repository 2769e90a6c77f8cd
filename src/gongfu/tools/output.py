"""What a tool printed, made fit for the model: bounded, and as a terminal would show it in the end."""

from __future__ import annotations

from gongfu.core.base import Base
from gongfu.tools.terminal import clean_terminal

__all__ = ["Bounded", "bound", "clean_terminal"]


class Bounded(Base, frozen=True):
    """A text that keeps a limit. When something was left out it lies between `head` and `tail`.

    `lines` and `size` (bytes of UTF-8) count what was left out; `first` is the number (from 1) of its first line.
    `inside` tells that the gap begins or ends in the middle of a line.
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
        how = f'; read_file path="artifact:{artifact}" offset={self.first} shows them' if artifact else ""
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
        first=head.count(b"\n") + 1,
        inside=not (head_whole and tail_whole),
    )


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
