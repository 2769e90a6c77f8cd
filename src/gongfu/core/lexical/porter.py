"""English stems: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980.

Where the paper leaves a choice it is that of SQLite's tokenizer "porter": an ending is one only behind something else,
a doubled y is a doubled consonant, and what is longer than any word stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3: Final = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4: Final = {
    "al": "", "ance": "", "ence": "", "er": "", "ic": "", "able": "", "ible": "", "ant": "", "ement": "", "ment": "",
    "ent": "", "ion": "", "ou": "", "ism": "", "ate": "", "iti": "", "ous": "", "ive": "", "ize": "",
}  # fmt: skip
_LONGEST: Final = 64  # letters


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The stem of a lower-case English word; what has fewer than 3 or more than 64 letters stays."""
    if not 3 <= len(word) <= _LONGEST:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replace(word, _STEP_2, 1)
    word = _replace(word, _STEP_3, 1)
    word = _replace(word, _STEP_4, 2)
    return _final(word)


def _shape(word: str) -> str:
    """The word as consonants and vowels, "c" and "v"; y is a vowel behind a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant: m in the paper."""
    return _shape(word).count("vc")


def _short(word: str) -> bool:
    """Ends consonant, vowel, consonant, the last not w, x or y: *o in the paper."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _ends(word: str, ending: str) -> bool:
    return len(word) > len(ending) and word.endswith(ending)


def _plural(word: str) -> str:
    if any(_ends(word, ending) for ending in ("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if _ends(word, "eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if word.endswith(ending):
            break
    else:
        return word
    if "v" not in _shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if rest[-1:] == rest[-2:-1] and rest[-1] not in "aeioulsz":
        return rest[:-1]
    return f"{rest}e" if _measure(rest) == 1 and _short(rest) else rest


def _replace(word: str, endings: dict[str, str], least: int) -> str:
    """Swap the longest ending that fits, when what is before it has at least that measure."""
    found = _longest(word, endings)
    rest = word[: len(word) - len(found)]
    if not found or _measure(rest) < least or (found == "ion" and rest[-1:] not in ("s", "t")):
        return word
    return rest + endings[found]


def _longest(word: str, endings: Iterable[str]) -> str:
    return max((ending for ending in endings if word.endswith(ending)), key=len, default="")


def _final(word: str) -> str:
    rest = word[:-1]
    if word.endswith("e") and ((size := _measure(rest)) > 1 or (size == 1 and not _short(rest))):
        word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
