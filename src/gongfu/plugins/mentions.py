"""How a person names files in what they type: `@src/main.py`, `@"my notes.txt"`. `app.mentions` reads it.

A bare name is one that a command's text names in the same way (see `template`); any other stands in double quotes, or
in single ones when it has double quotes in it. An `@` behind letters, digits or a dot belongs to an address and is
none; behind a Chinese, Japanese or Korean character it is one. The full-width `＠` of an input method counts as an `@`.
"""

from __future__ import annotations

import re
from typing import Final

from gongfu.core.base import Base

_CJK: Final = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
_START: Final = rf"(?<![@＠`./+\\-])(?<![^\W{_CJK}])[@＠]"
_BARE: Final = r"[\w.~/\-]+"
_END: Final = ".,:;!?"
_OPEN: Final = (
    rf"{_START}(?:\"(?P<double>[^\"\n]*)|'(?P<single>[^'\n]*)"
    r"|(?P<bare>[^\s\"'`@＠，。；：！？、（）《》“”‘’]*))\Z"
)


class Mention(Base, frozen=True):
    """What is being named: what there is of the path, and where it stands in the text, from its `@` to its end."""

    path: str
    start: int
    end: int


def unfinished(before: str) -> Mention | None:
    """The mention that is being typed at the end of `before`, None when there is none."""
    match = re.search(_OPEN, before) if "@" in before or "＠" in before else None
    return Mention(path=_path(match), start=match.start(), end=len(before)) if match else None


def written(path: str, *, closed: bool = True) -> str:
    """A path as a mention of it; "" for one with both kinds of quotes in it.

    Without `closed` it can be gone on with: a closing quote is left out.
    """
    if path.startswith("~") and not path.startswith("~/"):
        path = f"./{path}"
    if re.fullmatch(_BARE, path) and path[-1] not in _END:
        return f"@{path}"
    if '"' in path and "'" in path:
        return ""
    quote = "'" if '"' in path else '"'
    return f"@{quote}{path}{quote if closed else ''}"


def _path(match: re.Match[str]) -> str:
    return match[match.lastgroup or "bare"]
