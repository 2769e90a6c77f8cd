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
KINDS: tuple[Kind, ...] = ("constraint", "preference", "decision", "wish")
_SHORTENED = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "no.", "fig.")
_OPENERS = frozenset(
    ["please", "also", "and", "then", "but", "so", "just", "ok", "okay", "now", "yes", "well", "additionally"]
)
_ORDERS = frozenset([
    "use", "keep", "follow", "name", "call", "stick", "treat", "leave", "respond", "reply", "answer", "target",
    "support", "pin", "limit", "cap", "skip", "ignore", "exclude", "preserve", "no", "every", "each", "all",
])  # fmt: skip
_ORDERS_ABROAD = ("用", "叫", "命名", "遵循", "按照", "按")


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
def _ends() -> re.Pattern[str]:
    return re.compile(r"[.!?](?=\s+[^a-z\s])|[。！？；]")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_][\w']*")


@cache
def _report() -> re.Pattern[str]:
    """How people tell of a fault, with words that elsewhere make a demand."""
    return re.compile(
        r"\bi (?:can'?t|cannot|could ?n[o']t)\b|\bmust be (?:a|some) bug\b"
        r"|\b(?:only|always|never) (?:fail|crash|work|happen|occur|finish|appear)(?:s|es|ed)?\b"
    )


@cache
def _printed() -> re.Pattern[str]:
    """The beginning of a line that a program printed."""
    return re.compile(
        r"Traceback |File \"|at [\w.$]+\(|[\w.]*(?:Error|Exception|Warning):|\d{4}-\d\d-\d\d[T ]\d\d:"
        r"|\[?(?:INFO|DEBUG|WARN|ERROR)\b"
    )


@cache
def _telling() -> re.Pattern[str]:
    return re.compile(r"\d|`|\w[/\\.]\w|_\w")


@cache
def _bullet() -> re.Pattern[str]:
    return re.compile(r"\s*(?:[-*+•·]|\(?\d{1,3}[.)、]|[一二三四五六七八九十]{1,3}、)\s*")


def wishes(words: str) -> Iterator[tuple[Kind, int, str]]:
    """What a person's words hold: (kind, strength 1 to 3, the sentence as it was said, on one line), in order.

    Code blocks and quotations are passed over, also the middle of very long texts. Questions count a step less, and
    other wishes one more where they name a figure, a path or a piece of code.
    """
    for sentence in _sentences(words, _LOOKED_AT):
        if (found := _judged(sentence)) is not None:
            kind, strength, at = found
            yield kind, strength, _around(sentence, at)


def strength_of(sentence: str) -> int:
    """The strength of one sentence, 1 where it holds no wish at all."""
    found = _judged(sentence)
    return found[1] if found is not None else 1


def _judged(sentence: str) -> tuple[Kind, int, int] | None:
    """The kind of a sentence, its strength and where that shows; None when it is of none."""
    lower = _report().sub(lambda m: " " * len(m[0]), sentence.casefold())
    words = _word().findall(lower)
    asked = sentence.endswith(("?", "？"))
    for kind in KINDS:
        if (at := _signs()[kind].find(lower, words)) >= 0:
            if kind == "wish":
                return kind, 2 if _telling().search(sentence) else 1, at
            return kind, 3 - asked, at
        if kind == "preference" and not asked and _orders(lower, words):
            return kind, 3, 0
    return ("wish", 1, 0) if not asked and _telling().search(sentence) else None


def _orders(sentence: str, words: list[str]) -> bool:
    """Whether a sentence begins with a verb that tells how things are to be, such as "Use tabs"."""
    ahead = [w for w in words[:5] if w not in _OPENERS]
    first = ahead[0] if ahead else ""
    if first == "no" and sentence.startswith(("no,", "no.", "no!", "no ")) and len(ahead) > 1 and ahead[1] in _ORDERS:
        first = ahead[1]  # "No, use the other one"
    return first in _ORDERS or sentence.startswith(_ORDERS_ABROAD)


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
        parts = list(_split(body))
        if parts and parts[-1].endswith((":", "：")) and _leads(parts[-1]):
            lead = parts.pop()
        yield from parts
    if lead:
        yield f"{lead} {items}".strip()


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in _ends().finditer(line):
        if line[max(0, end.start() - 4) : end.end()].lstrip().casefold() in _SHORTENED:
            continue
        if part := " ".join(line[start : end.end()].split()):
            yield part
        start = end.end()
    if part := " ".join(line[start:].split()):
        yield part


def _leads(line: str) -> bool:
    lower = line.casefold()
    words = _word().findall(lower)
    return any(_signs()[kind].find(lower, words) >= 0 for kind in KINDS)


def _prose(text: str) -> Iterator[str]:
    fenced = ""
    for line in clean(text).split("\n"):
        bare = line.strip()
        if fenced:
            fenced = "" if bare.startswith(fenced) else fenced
        elif bare.startswith(("```", "~~~")):
            fenced = bare[:3]
        elif not bare.startswith(">") and not _printed().match(bare):
            yield bare
