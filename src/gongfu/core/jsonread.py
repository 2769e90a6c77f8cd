"""Reading a value out of text that is not strict JSON, without ever adding, losing or closing anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from typing import Any, Literal, NamedTuple, cast

from gongfu.core.jsonscan import Scan, Token, scan, shape_of_tokens, shape_of_value, tidy

BLANK = "\ufeff\x00 \t\r\n"
_TRIES = 400  # brackets, or pairs of them, that are left out in turn
_WORK = 300_000  # tokens that are looked at for that in all
_GUESSABLE = 200_000  # characters; the repair library is quadratic on some input
_FENCED = re.compile(r"\s*(`{3,}|~{3,})[\w+-]*[ \t]*\n?(.*?)\n?\s*\1\s*", re.DOTALL)
_LABEL = re.compile(r"""[^{}\[\]"']{1,64}(?=[{\[])""")
_ESCAPED = re.compile(r'[{\[](?:\s|\\[nrt])*\\"')
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_CLOSERS = re.compile(r"[}\]\s,;]*")
_QUOTES = "\"'“”‘’"
_NOT_LETTERS = re.compile(r"[\W_]+")


class Loose(NamedTuple):
    """What was read. `fault` is empty when `value` is set: "cut" off, "several" values, or "broken"."""

    value: Any = None
    dropped: int = 0
    fault: Literal["", "cut", "several", "broken"] = ""


def read_loose(text: str, fits: Callable[[Any], bool]) -> Loose:
    """Read the one value in `text`. `fits` tells a value that could stand for itself from garbage.

    Kept as they are: raw control characters in strings. Put right: byte order mark, code fence, label in front,
    single quotes, Python's words, comments, commas before a closing bracket, unknown escapes, one or two closing
    brackets too many, garbage behind the value; and what json_repair finds where it neither adds nor loses a word or
    an element.
    """
    import json  # only for text that is not strict JSON

    text = text.strip(BLANK)
    for candidate in dict.fromkeys((text, _unescaped(text))):
        try:
            return Loose(json.loads(candidate, strict=False))
        except (ValueError, RecursionError):
            text = candidate
    body, dropped = _bare(text)
    seen = scan(body)
    found = _from_tokens(body, seen, fits)
    if found is None and not seen.open:
        found = _guessed(body, seen.tokens)
    if found is None:
        return Loose(fault="cut" if seen.open else "broken")
    return found._replace(dropped=found.dropped + dropped)


def _unescaped(text: str) -> str:
    """The text without quotes around it that should have been escaped, and with one level of escapes taken off."""
    if text[:2] == '"{' and text[-2:] == '}"':
        return text[1:-1]
    if _ESCAPED.match(text) and not _BARE_QUOTE.search(text):
        return text.replace('\\"', '"').replace("\\\\", "\\")
    return text


def _bare(text: str) -> tuple[str, int]:
    """The text without a code fence around it or a label in front of it, and how many bytes of label went."""
    fenced = _FENCED.fullmatch(text)
    if fenced:
        text = fenced.group(2)
    label = _LABEL.match(text)
    if label and text[0] not in "/#":
        return text[label.end() :], len(label.group().encode(errors="replace"))
    return text, 0


def _decoded(tokens: list[Token], pieces: list[str] | None = None) -> Any:
    """The value that tokens stand for, if every object, list, key and element of them is in it; else None."""
    import json

    try:
        strict = tidy(tokens) if pieces is None else pieces
        value = None if strict is None else json.loads(" ".join(strict))
    except (ValueError, RecursionError):
        return None
    return value if value is None or shape_of_value(value) == shape_of_tokens(tokens) else None


def _from_tokens(body: str, seen: Scan, fits: Callable[[Any], bool]) -> Loose | None:
    whole = None if seen.open else _decoded(seen.tokens)
    if whole is not None:
        return Loose(whole)
    first = _decoded(seen.tokens[: seen.root_end]) if seen.root_end else None
    tail = body[seen.tokens[seen.root_end - 1].end :] if first is not None else ""
    at_end = first is not None and _CLOSERS.fullmatch(tail) is not None
    if at_end and fits(first):
        return Loose(first, len(tail.strip()))
    fewer = [] if seen.open else _with_fewer_brackets(seen.tokens)
    fitting = [v for v in fewer if fits(v)] if len(fewer) > 1 else fewer
    if len(fitting) == 1:
        return Loose(fitting[0])
    if at_end:
        return Loose(first, len(tail.strip()))
    if len(fewer) > 1:
        return Loose(fault="broken")  # it could mean several things
    return None if first is None else _before_tail(first, tail, seen.tokens[seen.root_end :], fits)


def _with_fewer_brackets(tokens: list[Token]) -> list[Any]:
    """All values that can come out when the one or two closing brackets that are too many are left out."""
    opening = sum(t.kind == "mark" and t.text in "{[" for t in tokens)
    closing = [n for n, t in enumerate(tokens) if t.kind == "mark" and t.text in "}]"]
    extra = len(closing) - opening
    pieces = tidy(tokens) if extra in (1, 2) else None
    if pieces is None:
        return []
    if len(pieces) != len(tokens):  # commas were dropped: look again among what is left
        return _with_fewer_brackets(scan(" ".join(pieces)).tokens)
    found: list[Any] = []
    for number, leave in enumerate(combinations(closing, extra)):
        if number >= _TRIES or number * len(pieces) > _WORK:
            return []
        if not _balanced(pieces, leave):
            continue
        kept = [t for n, t in enumerate(tokens) if n not in leave]
        value = _decoded(kept, [p for n, p in enumerate(pieces) if n not in leave])
        if value is not None and value not in found:
            found.append(value)
    return found


def _balanced(pieces: list[str], leave: tuple[int, ...]) -> bool:
    stack: list[str] = []
    for number, piece in enumerate(pieces):
        if number in leave or piece not in ("{", "[", "}", "]"):
            continue
        if piece in "{[":
            stack.append(piece)
        elif not stack or stack.pop() != ("{" if piece == "}" else "["):
            return False
    return not stack


def _before_tail(first: Any, tail: str, tokens: list[Token], fits: Callable[[Any], bool]) -> Loose | None:
    """Keep the first value and drop what follows, unless that goes on with the value or stands for itself."""
    size = len(tail.encode(errors="replace"))
    if tail.lstrip().startswith((",", ":")) and any(t.kind != "mark" or t.text in "{[" for t in tokens):
        return None
    others = [v for v in _values(tokens) if v != first and isinstance(v, type(first))]
    if not others:
        return Loose(first, size)
    if not first and len(others) == 1:
        return Loose(others[0])  # "{}" as a start, then the real value
    if any(fits(v) for v in others):
        return Loose(fault="several")
    return Loose(first, size)


def _values(tokens: list[Token]) -> list[Any]:
    values: list[Any] = []
    start = depth = 0
    for number, token in enumerate(tokens):
        if token.kind != "mark" or token.text in ",:":
            continue
        if token.text in "{[":
            start = number if depth == 0 else start
            depth += 1
        else:
            depth = max(0, depth - 1)
            value = _decoded(tokens[start : number + 1]) if depth == 0 else None
            if value is not None:
                values.append(value)
    return values


def _guessed(body: str, tokens: list[Token]) -> Loose | None:
    """What the repair library makes of it, if every word and every element is still there."""
    import json

    from json_repair import repair_json  # 25 ms, needed for very few calls

    if len(body) > _GUESSABLE or not tokens:
        return None
    try:
        value = cast("Any", repair_json(body, return_objects=True, skip_json_loads=True))
        written = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError, TypeError):
        return None
    same = _NOT_LETTERS.sub("", written) == _NOT_LETTERS.sub("", body)
    if not same or shape_of_value(value) != shape_of_tokens(tokens) or not isinstance(value, dict | list):
        return None
    return Loose(cast("Any", value)) if _all_quoted(value, body) else None


def _all_quoted(value: Any, body: str) -> bool:
    """Whether every string of the value stands between quotes in the text: none swallowed a comma or lost its end."""
    plain = body.replace("\\", "")
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo.extend(cast("dict[str, Any]", item).values())
        elif isinstance(item, list):
            todo.extend(cast("list[Any]", item))
        elif isinstance(item, str):
            inner = re.escape(item.replace("\\", ""))
            if not re.search(f"[{_QUOTES}]{inner}[{_QUOTES}]", plain):
                return False
    return True
