"""Where a text may be cut: between two characters as people see them."""

from __future__ import annotations

from unicodedata import category, combining

_LEAD, _VOWEL, _TAIL = range(0x1100, 0x1160), range(0x1160, 0x11A8), range(0x11A8, 0x1200)
_SYLLABLES = range(0xAC00, 0xD7A4)
_ZWJ = "\u200d"


def cut(text: str, limit: int) -> str:
    """The beginning of `text` with at most `limit` code points, ending where a character ends (UAX 29).

    One character that is longer than that by itself is cut inside.
    """
    if len(text) <= limit:
        return text
    at = limit
    while at > 0 and _joined(text, at):
        at -= 1
    return text[: at or limit]


def before(text: str, at: int) -> int:
    """Where the character that ends at `at` begins; 0 at the beginning."""
    at = max(0, at - 1)
    while at > 0 and _joined(text, at):
        at -= 1
    return at


def after(text: str, at: int) -> int:
    """Where the character that begins at `at` ends; the length of `text` at its end."""
    at = min(len(text), at + 1)
    while at < len(text) and _joined(text, at):
        at += 1
    return at


def _joined(text: str, at: int) -> bool:
    """Whether `text[at]` belongs to the same character as what stands before it."""
    before, here = text[at - 1], text[at]
    if here < "\x80":
        return before == "\r" and here == "\n"
    if here in (_ZWJ, "\u200c") or category(here) in ("Mn", "Me", "Mc") or _modifies(ord(here)):
        return True
    if before == _ZWJ or (combining(before) == 9 and category(here) == "Lo"):  # a sign that joins consonants
        return True
    return _flag(text, at) or _hangul(ord(before), ord(here))


def _modifies(code: int) -> bool:
    return 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F or 0xFF9E <= code <= 0xFF9F


def _flag(text: str, at: int) -> bool:
    """Whether a cut here would split a pair of regional letters."""
    if not _regional(text[at]):
        return False
    start = at
    while start and _regional(text[start - 1]):
        start -= 1
    return (at - start) % 2 == 1


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _hangul(before: int, here: int) -> bool:
    if here in _VOWEL:
        return before in _LEAD or before in _VOWEL or (before in _SYLLABLES and not (before - 0xAC00) % 28)
    if here in _TAIL:
        return before in _VOWEL or before in _TAIL or before in _SYLLABLES
    return before in _LEAD and (here in _LEAD or here in _SYLLABLES)
