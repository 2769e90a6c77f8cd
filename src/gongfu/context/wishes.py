"""Finds in a person's words what must not be forgotten: constraints, preferences, decisions. And, in answers, what went
wrong and what is still open.

The words are those that people use in English and in Chinese, and the plainest of a few other languages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Literal, TypeAlias

import msgspec

from gongfu.context.quote import clean, clip
from gongfu.core.base import Base
from gongfu.resources import text as resource

Kind: TypeAlias = Literal["constraint", "preference", "decision", "wish"]
Trait: TypeAlias = Literal["open", "trouble"]
TRAITS: tuple[Trait, ...] = ("open", "trouble")

SENTENCE = 400  # characters; longer ones are cut around what makes them matter
_LOOKED_AT = 24_000  # characters of one person's turn, half of them its head
_ANSWER = 3_000  # characters of one answer, half of them its head
_LIST = 300  # characters of list items that are kept behind the line that leads them in
STRENGTH: dict[Kind, int] = {"constraint": 3, "preference": 3, "decision": 3, "wish": 2}


class _Signs(Base, frozen=True):
    """What gives a sentence away: whole `words`, and `phrases` wherever they stand; `foreign` ones are not ASCII."""

    words: frozenset[str]
    phrases: tuple[str, ...]
    foreign: tuple[str, ...]

    def find(self, sentence: str, words: Collection[str]) -> int:
        """Where the first sign stands in a sentence of lower-case `words`; -1 when there is none."""
        common = self.words.intersection(words)
        places = [sentence.find(w) for w in common] if common else []
        places += [at for p in self.phrases if (at := sentence.find(p)) >= 0]
        if not sentence.isascii():
            places += [at for p in self.foreign if (at := sentence.find(p)) >= 0]
        return min(places, default=-1)


@cache
def _signs() -> dict[str, _Signs]:
    return msgspec.json.decode(resource("signs.json"), type=dict[str, _Signs])


@cache
def _breaks() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)\s+(?=[^a-z\s])|(?<=[。！？；])\s*")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_][\w']*")


@cache
def _bullet() -> re.Pattern[str]:
    return re.compile(r"\s*(?:[-*+•·]|\(?\d{1,3}[.)、]|[一二三四五六七八九十]{1,3}、)\s*")


def wishes(words: str) -> Iterator[tuple[Kind, int, str]]:
    """What a person's words hold: (kind, strength 1 to 3, the sentence as it was said, on one line), in order.

    Code blocks and quotations are passed over, also the middle of very long texts. Questions count a step less.
    """
    signs = _signs()
    for sentence in _sentences(words, _LOOKED_AT):
        lower = sentence.casefold()
        own = _word().findall(lower)
        for kind, strength in STRENGTH.items():
            if (at := signs[kind].find(lower, own)) >= 0:
                asked = sentence.endswith(("?", "？"))
                yield kind, strength - asked, _around(sentence, at)
                break


def first_sentence(words: str) -> str:
    """What a text begins with."""
    return next(iter(_sentences(words, _ANSWER)), "")


def traits(answer: str) -> Iterator[tuple[Trait, str]]:
    """Sentences of an answer that tell of trouble and its cure, or of what is still open, in order."""
    signs = _signs()
    for sentence in _sentences(answer, _ANSWER):
        lower = sentence.casefold()
        own = _word().findall(lower)
        for trait in TRAITS:
            if (at := signs[trait].find(lower, own)) >= 0:
                yield trait, _around(sentence, at, SENTENCE // 2)
                break


def _around(sentence: str, at: int, size: int = SENTENCE) -> str:
    """A long sentence cut to what stands around position `at`."""
    if len(sentence) <= size:
        return sentence
    if at < size // 2:
        return clip(sentence, size)
    start = max(0, at - size // 3)
    end = start + size
    return f"…{sentence[start:end].strip()}{'…' if end < len(sentence) else ''}"


def _sentences(text: str, most: int) -> Iterator[str]:
    if len(text) > most:
        text = f"{text[: most // 2]}\n{text[-most // 2 :]}"
    lead, items = "", ""
    for line in _prose(text):
        bullet = _bullet().match(line)
        if lead and bullet and line.strip():  # a list belongs to the line that leads it in
            item = line[bullet.end() :].strip()
            if items and len(items) + len(item) > _LIST:
                yield f"{lead} {items}"
                items = ""
            items = f"{items}; {item}" if items else item
            continue
        if lead and line:
            yield f"{lead} {items}".strip()
            lead = items = ""
        body = line[bullet.end() :] if bullet else line
        parts = [" ".join(p.split()) for p in _breaks().split(body)]
        parts = [p for p in parts if p]
        if parts and parts[-1].endswith((":", "：")) and _leads(parts[-1]):
            lead = parts.pop()
        yield from parts
    if lead:
        yield f"{lead} {items}".strip()


def _leads(line: str) -> bool:
    lower = line.casefold()
    words = _word().findall(lower)
    if "rule" in lower or "规则" in line:
        return True
    return any(_signs()[kind].find(lower, words) >= 0 for kind in STRENGTH)


def _prose(text: str) -> Iterator[str]:
    fenced = ""
    for line in clean(text).split("\n"):
        bare = line.strip()
        if fenced:
            fenced = "" if bare.startswith(fenced) else fenced
        elif bare.startswith(("```", "~~~")):
            fenced = bare[:3]
        elif not bare.startswith(">"):
            yield bare
