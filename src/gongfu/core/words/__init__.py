"""The catalogue of sentences for people, in English and Simplified Chinese.

One module an area; each has `TEXT`, a table of `name -> (English, Chinese)` with the same `{placeholders}` on both
sides. A key is "area.name". Areas load when the first of their sentences is said.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Literal, cast

Language = Literal["en", "zh"]


@cache
def _area(name: str) -> dict[str, tuple[str, str]]:
    return cast("dict[str, tuple[str, str]]", import_module(f"gongfu.core.words.{name}").TEXT)


def say(key: str, language: Language = "en", /, **values: object) -> str:
    """The sentence of `key` in `language` with its placeholders filled. KeyError for a key that is not there."""
    area, _, name = key.partition(".")
    return _area(area)[name][1 if language == "zh" else 0].format(**values)


def language_of(wanted: str, locale: str) -> Language:
    """The language to speak: `wanted` when it is "en" or "zh", else what a locale such as "zh_CN.UTF-8" asks for."""
    if wanted in ("en", "zh"):
        return wanted
    return "zh" if locale.lower().startswith("zh") else "en"
