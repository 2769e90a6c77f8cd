"""A text as terms to search by: scripts without spaces as overlapping pairs of signs, other words as stems.

The same text gives the same terms in every process.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from gongfu.core.lexical.porter import stem

VERSION: Final = 1
"""Goes up with every change of what `terms` gives: what is stored by older terms is split anew."""

_PAIRED: Final = (
    "\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U000323af"
)
"""Chinese, Japanese, Korean; Thai, Lao, Burmese, Khmer."""
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff"
_ENDS: Final = "(?:['’](?:s|t|d|m|re|ll|ve)\\b)?"
_WORD: Final = rf"(?:[^\W{_PAIRED}]|[{_MARKS}])+"
_RUN: Final = re.compile(rf"(?P<paired>[{_PAIRED}]+)|{_WORD}(?:[.\-/\\:]{{1,2}}{_WORD})*{_ENDS}", re.IGNORECASE)
_ASCII_RUN: Final = re.compile(rf"(?P<paired>\Z.)|\w+(?:[.\-/\\:]{{1,2}}\w+)*{_ENDS}", re.IGNORECASE)
_TAIL: Final = re.compile("['’].*")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\d_A-Z.\-/\\:]+|\d+")
_BETWEEN: Final = re.compile(r"[./\\:]+")
_LONGEST: Final = 64
_LITTLE: Final = 0.3
_LESS: Final = 0.4
_HALF: Final = 0.5

_JOINING_WORDS: Final = (
    "a about an and are as at be been being but by can could did do does done each for from had has have having"
    " he her hers him his how i if in into is it its may me might must my no nor not of on or our over shall she"
    " should so than that the their them then there these they this those to us was we were what when where which"
    " who whom whose why will with would you your"
)
_JOINING: Final = frozenset(map(stem, _JOINING_WORDS.split()))
_JOINING_SIGNS: Final = frozenset("请帮看的了吗呢是在有和就都而及与着或一个没我们你您他她它这那吧啊呀嘛什么怎样多少几")
_SHORT_FORMS: Final = (
    "app=application arg=argument attr=attribute auth=authentication bool=boolean cfg=configuration char=character"
    " cmd=command col=column conf=configuration config=configuration ctx=context db=database del=delete"
    " dest=destination dict=dictionary dir=directory dst=destination elem=element env=environment err=error"
    " exec=execute failure=fail fmt=format fn=function func=function idx=index img=image info=information int=integer"
    " len=length lib=library msg=message num=number obj=object param=parameter pkg=package prev=previous ptr=pointer"
    " ref=reference repo=repository req=request src=source str=string temp=temporary tmp=temporary util=utility"
    " val=value var=variable vec=vector"
)
_LONG: Final = {stem(short): stem(full) for short, full in (pair.split("=") for pair in _SHORT_FORMS.split())}


class Term(NamedTuple):
    """A term, where in the folded text it starts, and whether it is a name whose parts are terms, too."""

    text: str
    start: int
    whole: bool = False


class Query(NamedTuple):
    """What to look for, with weights. "x*" stands for every term that begins with the sign x.

    `joined` are names and neighbours written together ("data base" as "database"): they add to the score of what holds
    them, and nobody has to hold them.
    """

    words: dict[str, float]
    joined: dict[str, float]

    def telling(self, term: str) -> bool:
        """Whether `term` says something by itself; words and signs that only join others do not."""
        return self.words.get(term, 1.0) > _LITTLE


def folded(text: str) -> str:
    """`text` with full and half width, ligatures and the like made one; `Term.start` counts its characters."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def terms(text: str) -> Iterator[str]:
    """Every term of `text` as often as it stands there, in order.

    A run of signs of a script without spaces gives its pairs, and its last sign alone, so each sign begins a term.
    Other words are folded (width, case, accents), stemmed, and written out where programmers write them short. A name
    such as `parse_url`, `parseUrl` or `src/a.py` gives its parts, and itself whole.
    """
    for run in _runs(folded(text)):
        word = run[0]
        if run.lastgroup:
            for place in range(len(word)):
                yield word[place : place + 2]
        else:
            for term, _ in _names(word):
                yield term


def located(text: str) -> Iterator[Term]:
    """The terms of a folded text with their places."""
    for run in _runs(text):
        word, start = run[0], run.start()
        if run.lastgroup:
            for place in range(len(word)):
                yield Term(word[place : place + 2], start + place)
        else:
            for term, whole in _names(word):
                yield Term(term, start, whole)


def query_terms(text: str) -> Query:
    """The different terms of a query: words that only join others weigh less."""
    words: dict[str, float] = {}
    joined: dict[str, float] = {}
    before = ""
    for run in _runs(folded(text)):
        word = run[0]
        if run.lastgroup:
            pairs = [word[place : place + 2] for place in range(len(word) - 1)] or [f"{word}*"]
            words.update({pair: math.prod(_LESS for sign in pair if sign in _JOINING_SIGNS) for pair in pairs})
            before = ""
            continue
        for term, whole in _names(word):
            (joined if whole else words)[term] = _LITTLE if term in _JOINING else _HALF if whole else 1.0
        parts = [part.lower() for part in _PART.findall(_plain(word))]
        if before and parts and _telling(parts[0]):
            joined[_fold(before + parts[0])] = _HALF
        before = parts[-1] if parts and _telling(parts[-1]) else ""
    return Query(words, {term: weight for term, weight in joined.items() if term not in words})


def _telling(word: str) -> bool:
    return word.isalpha() and stem(word) not in _JOINING


def _runs(text: str) -> Iterator[re.Match[str]]:
    return (_ASCII_RUN if text.isascii() else _RUN).finditer(text)


@lru_cache(maxsize=1 << 13)
def _names(word: str) -> tuple[tuple[str, bool], ...]:
    """The terms of a word, each with whether it is the whole of a name whose parts are given, too."""
    word = _plain(word)
    parts = _PART.findall(word)
    if len(parts) == 1:
        return ((_fold(parts[0]), False),)
    whole = _fold(_BETWEEN.sub(".", word.replace("_", "").replace("-", "")))
    if len(whole) <= 3:  # "2d", "x1": one word
        return ((whole, False),) if whole else ()
    return (*((_fold(part), False) for part in parts), (whole, True))


def _plain(word: str) -> str:
    """A word without accents (of Latin letters) and without 's and the like."""
    word = _TAIL.sub("", word)
    if not word.isascii() and word[0] < "\u0250":
        word = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    return word


@lru_cache(maxsize=1 << 13)
def _fold(part: str) -> str:
    word = part.lower()[:_LONGEST]
    if not (word.isascii() and word.isalpha()):
        return word
    found = stem(word)
    return _LONG.get(found, found)
