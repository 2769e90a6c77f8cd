"""A text as terms to search by: scripts without spaces as overlapping pairs of signs, other words as stems.

The same text gives the same terms in every process.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from gongfu.core.lexical.porter import stem

_PAIRED: Final = (
    "\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U000323af"
)
"""Chinese, Japanese, Korean; Thai, Lao, Burmese, Khmer."""
_WORD: Final = rf"[^\W{_PAIRED}]+"
_RUN: Final = re.compile(rf"(?P<paired>[{_PAIRED}]+)|{_WORD}(?:[.\-/\\:]{{1,2}}{_WORD})*")
_JOINED: Final = re.compile(r"[_./\\:]")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_A-Za-z0-9]+")
_LONGEST: Final = 64
_SIGN: Final = re.compile(f"[{_PAIRED}]")
_LITTLE: Final = 0.3
_JOINING_WORDS: Final = (
    "a about an and are as at be been being but by can could d did do does done each for from had has"
    " have having he her hers him his how i if in into is it its ll m may me might must my no nor not of"
    " on or our over re s shall she should so t than that the their them then there these they this those"
    " to us ve was we were what when where which who whom whose why will with would you your"
)
_JOINING: Final = frozenset(map(stem, _JOINING_WORDS.split()))
_JOINING_SIGNS: Final = frozenset("的了吗呢是在有和就都而及与着或一个没我们你您他她它这那吧啊呀嘛什么怎样多少几")


def terms(text: str) -> Iterator[str]:
    """Every term of `text` as often as it stands there, in order.

    A run of signs of a script without spaces gives its pairs, and its last sign alone, so each sign begins a term.
    Other words are folded (width, case, accents) and stemmed. A name such as `parse_url`, `parseUrl` or `src/a.py`
    gives its parts, and itself whole.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for run in _RUN.finditer(text):
        word = run[0]
        if run["paired"]:
            for place in range(len(word)):
                yield word[place : place + 2]
        else:
            yield from _names(word)


def query_terms(text: str) -> dict[str, float]:
    """The different terms of a query with the weight of each: words that join others weigh less."""
    found = {term: _weight(term) for term in terms(text)}
    if len(found) > 1:  # the last sign of a run stands in its pair, too
        found = {term: weight for term, weight in found.items() if len(term) > 1 or not _SIGN.match(term)} or found
    return found


def _weight(term: str) -> float:
    if term in _JOINING:
        return _LITTLE
    if len(term) <= 2 and _SIGN.match(term):
        return math.prod(_LITTLE for sign in term if sign in _JOINING_SIGNS)
    return 1.0


def _names(word: str) -> Iterator[str]:
    parts = _PART.findall(word)
    for part in parts:
        yield _fold(part)
    if len(parts) > 1 and (_JOINED.search(word) or word.isalnum()):
        yield word.lower()[:_LONGEST]


def _fold(part: str) -> str:
    word = part.lower()
    if not word.isascii() and word[0] < "\u0250":
        word = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    return stem(word) if word.isascii() and word.isalpha() else word[:_LONGEST]
