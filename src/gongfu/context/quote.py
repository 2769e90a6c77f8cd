"""Old text, quoted: whatever stands in it, it cannot pass for a note of Gongfu, a rule or another speaker.

Every line of it begins with `>`. Control, direction and other invisible characters are gone, and marks that models
take for the frame of a conversation (`<system>`, `<|im_start|>`) no longer are any.
"""

from __future__ import annotations

import re
from functools import cache

from gongfu.core.tokens import text_tokens

GAP = " [… {left:,} characters left out …] "


@cache
def _invisible() -> re.Pattern[str]:
    controls = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    return re.compile(f"[{controls}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                      "\ud800-\udfff\U000e0000-\U000e007f]")  # fmt: skip


@cache
def _frame() -> re.Pattern[str]:
    names = (
        r"system|developer|assistant|user|human|tool|function|env(?:ironment)?|notes?|memor(?:y|ies)|summary|context|"
        r"(?:project|gongfu|mandatory|optional|nested)?[-_ ]?rules?|gongfu|instructions?|reminder|im_(?:start|end)|sys"
    )
    return re.compile(rf"<(?=\s*[/|!]?\s*(?:{names})(?![a-z])|\||<\s*/?\s*SYS)|\[(?=\s*/?\s*INST\s*\])", re.IGNORECASE)


@cache
def _ends() -> re.Pattern[str]:
    return re.compile("\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    """`text` with plain line ends, without invisible characters, its frame marks made harmless (`‹system>`)."""
    text = _invisible().sub("", _ends().sub("\n", text))
    return _frame().sub(lambda m: "‹" if m[0] == "<" else "⟦", text) if "<" in text or "[" in text else text


def one_line(text: str, size: int = 0) -> str:
    """`text` cleaned, on one line; at most about `size` characters when that is not 0."""
    line = " ".join(clean(text).split())
    return clip(line, size) if size else line


def short(text: str, size: int) -> str:
    """The beginning of `text` on one line, at most `size` characters."""
    line = one_line(text)
    return line if len(line) <= size else f"{line[: size - 1].rstrip()}…"


def quoted(text: str) -> str:
    """Each line of `text`, cleaned, behind a `>`."""
    return "\n".join(f"> {line}".rstrip() for line in clean(text).strip("\n").split("\n"))


def clip(text: str, size: int) -> str:
    """`text` at about `size` characters: three fifths of them its head, the rest its tail."""
    if len(text) <= size:
        return text
    room = max(2, size - len(GAP))
    head, tail = room - room * 2 // 5, room * 2 // 5
    return f"{text[:head].rstrip()}{GAP.format(left=len(text) - head - tail)}{text[-tail:].lstrip()}"


def fitted(text: str, tokens: int) -> str:
    """`text` at `tokens` at most as the estimator counts: head and tail; "" when not even a few words fit."""
    have = text_tokens(text)
    if have <= max(0, tokens):
        return text
    size = len(text)
    while have > tokens:
        size = min(size - 1, size * max(1, tokens) // have)
        if size < len(GAP) + 16:
            return ""
        have = text_tokens(clip(text, size))
    return clip(text, size)
