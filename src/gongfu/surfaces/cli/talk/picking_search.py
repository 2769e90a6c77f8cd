"""Words that narrow a list, in any language and with letters left out."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

from gongfu.surfaces.cli.talk.face import Option


def narrowed(options: Sequence[Option], words: str) -> list[int]:
    """The indices of the options that every one of the words fits, the best first; all of them without words.

    A word fits where it occurs in the name, the value or the detail, and where its letters occur in the name or the
    value in their order. Full-width letters count as their narrow ones, and case does not count.
    """
    wanted = folded(words).split()
    if not wanted:
        return list(range(len(options)))
    found = list[tuple[int, int]]()
    for index, option in enumerate(options):
        scores = [_score(word, option) for word in wanted]
        if all(scores):
            found.append((-sum(scores), index))
    return [index for _, index in sorted(found)]


def folded(text: str) -> str:
    """`text` as it is compared."""
    return normalize("NFKC", text).casefold()


def _score(word: str, option: Option) -> int:
    best = 0
    for name in (folded(option.label), folded(option.value)):
        at = name.find(word)
        if at == 0:
            best = max(best, 100 if len(name) == len(word) else 50)
        elif at > 0:
            best = max(best, 40 if not name[at - 1].isalnum() else 30)
        elif _in_order(word, name):
            best = max(best, 5)
    return best or (10 if word in folded(option.detail) else 0)


def _in_order(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)
