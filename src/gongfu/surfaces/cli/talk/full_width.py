"""Marks as an input method writes them: people who type Chinese hit them where `/` and `!` are meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer

_MARKS: Final = {"／": "/", "、": "/", "！": "!"}  # 、 is what many write for the key of the slash
_NAME: Final = re.compile(r"/[^\s/]+\u3000")


def halved(text: str) -> str:
    """`text` with the full-width mark at its start as the narrow one it stands for, and with the wide space behind the
    name of a command as a space. It keeps its length.

    A mark counts by itself or before what is typed without an input method: `！重要` stays what it is.
    """
    mark = _MARKS.get(text[:1])
    following = text[1:2]
    if mark and (following in ("", "？") or ("!" <= following <= "~")):
        text = "/?" if text[1:] == "？" else mark + text[1:]
    found = _NAME.match(text)
    return text if found is None else f"{text[: found.end() - 1]} {text[found.end() :]}"


def halve(buffer: Buffer) -> None:
    """Do so with what is typed in a buffer."""
    narrow = halved(buffer.text)
    if narrow != buffer.text:
        document = type(buffer.document)
        buffer.document = document(narrow, buffer.cursor_position)
