"""Labels for batches of tool calls: one line in the style of a commit subject."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gongfu.context.plain_labels import gate, plain
from gongfu.core.graphemes import cut
from gongfu.core.messages import CallPart, ResultPart
from gongfu.resources import text as resource

__all__ = ["clean", "gate", "plain", "prompt", "title_prompt"]

PURPOSE = "tool_use_summary_generation"
LENGTH = 100
OUTPUT = 60  # tokens of an answer
_TOOLS = 12
_PROMPT = 4000
_SAMPLE = 300
_INTENT = 200
_WINDOW = 400  # characters beyond what is shown of a text that are searched for secrets with it


# --- what a model is asked ----------------------------------------------------------------------------------------


def prompt(calls: Sequence[CallPart], results: Mapping[str, ResultPart], intent: str) -> tuple[str, str]:
    """System prompt and text of a request for a label; the first is always the same. Secrets are left out.

    Inputs and outputs have at most 300 characters each (fewer where there are many), the intent 200, all of it 4,000.
    """
    shown = calls[:_TOOLS]
    head = f"Intent: {_sample(' '.join(intent.split()), _INTENT)}\n" if intent.strip() else ""
    frame = sum(len(c.name[:60]) + 40 for c in shown) + len(head) + 40
    room = min(_SAMPLE, (_PROMPT - frame) // (2 * max(1, len(shown))))
    lines = [head] if head else []
    for number, call in enumerate(shown, 1):
        result = results.get(call.id)
        lines.append(f"{number}. {call.name[:60]} {_sample(call.arguments, room)}")
        lines.append(f"-> {result.status if result else 'open'}: {_sample(result.text if result else '', room)}")
    if len(calls) > _TOOLS:
        lines.append(f"and {len(calls) - _TOOLS} more calls")
    return resource("prompts/label.md"), "\n".join(lines)[:_PROMPT]


def title_prompt(words: str, answer: str) -> tuple[str, str]:
    """System prompt and text of a request for a title: the person's first words and what was answered, in part."""
    text = f"Person: {_sample(words, 1500)}"
    said = _sample(answer, 500)
    return resource("prompts/title.md"), f"{text}\n\nAgent: {said}" if said else text


def _sample(text: str, size: int) -> str:
    """The beginning and the end of a text, without secrets."""
    from gongfu.core.secrets import redact  # only where a model writes labels

    window = size + _WINDOW
    head, tail = size * 2 // 3, size - size * 2 // 3 - 1
    if len(text) <= 2 * window:
        first = last = redact(text).strip()
        if len(first) <= size:
            return first
    else:  # words at the cuts are left out: half a secret is not known for one
        first = redact((text[:window].rsplit(None, 1) or [""])[0]).strip()
        last = redact((text[-window:].split(None, 1) or [""])[-1]).strip()
    return f"{first[:head]}…{last[-tail:]}"


# --- what a model has answered ------------------------------------------------------------------------------------

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_BULLETS = "-*•+–—·‣◦▪●"
_QUOTES = "\"'`“”‘’„‟«»「」『』＂＇"
_OPENERS = {'"': '"', "`": "`", "”": "“", "」": "「", "』": "『", "»": "«", "＂": "＂"}
_CLOSERS = {opener: closer for closer, opener in _OPENERS.items()}
_PREFIX = r"(?i)(?:label|summary|result|output|标签|摘要|总结|结果|输出)[ \t]{0,8}[:：]"
_NUMBER = r"\d{1,3}[.)](?=[ \t])"
_REFUSALS = ("api error", "error:", "error：", "i cannot", "i can't", "unable to", "错误", "无法", "抱歉")
_ANSI = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]P_^X]|[\x90\x9d\x9e\x9f\x98])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)


def clean(text: str) -> str:
    """A model's answer as a label, "" when it is none. Takes time linear in the length of `text`.

    In this order: first line, bullet, quotes, prefix (again while there are any), refusals, control characters, length.
    What control characters had hidden is looked at once more. Cleaning a label leaves it as it is.
    """
    line = _unwrapped(_first_line(text))
    if _refuses(line):
        return ""
    line = _unwrapped(_first_line(_without_controls(line)))
    if _refuses(line):
        return ""
    if len(line) > LENGTH:
        line = _unwrapped(cut(line, LENGTH))
    return line


def _first_line(text: str) -> str:
    """The first line that is not blank."""
    at = 0
    for found in re.finditer(f"[{_BREAKS}]", text):
        if line := text[at : found.start()].strip():
            return line
        at = found.end()
    return text[at:].strip()


def _refuses(line: str) -> bool:
    return line[:24].lower().replace("’", "'").startswith(_REFUSALS)


def _unwrapped(line: str) -> str:
    """Without bullets, quotes and prefixes at its ends, whatever their order; a quotation inside stays whole."""
    start, end = 0, len(line)
    before = (-1, -1)
    while before != (start, end):
        before = (start, end)
        while start < end and line[start].isspace():
            start += 1
        while start < end and line[end - 1].isspace():
            end -= 1
        start = _after_bullet(line, start, end)
        while start < end and line[start] in _QUOTES:
            start += 1
        while start < end and line[end - 1] in _QUOTES:
            end -= 1
        if found := re.compile(_PREFIX).match(line, start, end):
            start = found.end()
    return _rejoined(line, start, end)


def _after_bullet(line: str, start: int, end: int) -> int:
    if start + 1 < end and line[start] in _BULLETS and line[start + 1].isspace():
        return start + 1
    found = re.compile(_NUMBER).match(line, start, end)
    return found.end() if found else start


def _rejoined(line: str, start: int, end: int) -> str:
    """Give a quotation its other half back, where that was taken for a quote around all."""
    body = line[start:end]
    closing, opening = line[end : end + 1], line[start - 1 : start]
    if body and closing in _OPENERS and _open(body, _OPENERS[closing], closing):
        return body + closing
    if body and opening in _CLOSERS and _open(body, opening, _CLOSERS[opening], backwards=True):
        return opening + body
    return body


def _open(body: str, opener: str, closer: str, *, backwards: bool = False) -> bool:
    if opener == closer:
        return body.count(opener) % 2 == 1
    return (body.count(closer) > body.count(opener)) if backwards else (body.count(opener) > body.count(closer))


def _without_controls(line: str) -> str:
    if line.isascii() and line.isprintable():
        return " ".join(line.split())
    from unicodedata import category  # only for what is not plain

    line = re.sub(_ANSI, "", line)
    kept = (" " if c.isspace() else c for c in line if c.isspace() or c in "\u200c\u200d" or category(c)[0] != "C")
    return " ".join("".join(kept).split())
