"""Reading text that is almost JSON: tokens, brackets and words, without guessing at content."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>(?:[\s\ufeff\u00a0\x00]|\\[nrt])+)
    |(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<mark>[{}\[\]:,])
    |(?P<string>\"{3}(?:[^\\]|\\.)*?\"{3}|`[^`\\]*(?:\\.[^`\\]*)*`
       |"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*(?:\\.[^'\\]*)*')
    |(?P<word>(?!\\[nrt])[^\s{}\[\]:,"'`](?:(?!\\[nrt])[^\s{}\[\]:,"])*)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.))""", re.DOTALL)
_HEX = re.compile(r"(\\\\)|\\x([0-9a-fA-F]{2})|\\U([0-9a-fA-F]{8})")
_CONTROL = re.compile(r"[\x00-\x1f]")
_DRIVE = re.compile(r"[A-Za-z]:\\[^\\]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {
    "true": "true", "True": "true", "TRUE": "true",
    "false": "false", "False": "false", "FALSE": "false",
    "null": "null", "None": "null", "undefined": "null", "nil": "null",
    "NaN": "null", "nan": "null", "Infinity": "null", "-Infinity": "null", "inf": "null", "-inf": "null",
}  # fmt: skip


_PYTHON = ("True", "False", "None")


class Token(NamedTuple):
    """A piece of the text. `kind` is "mark", "string" or "word"; spaces and comments are left out."""

    kind: str
    text: str
    end: int


class Scan(NamedTuple):
    """All tokens; `open` says that the text ends inside a string, inside a bracket or after a comma or a colon.

    `root_end` is the number of tokens up to the one that closes the outermost bracket, 0 when none does.
    """

    tokens: list[Token]
    open: bool
    root_end: int


def scan(text: str) -> Scan:
    """Cut `text` into tokens. Brackets are counted, not matched: one too many does not count as open."""
    tokens: list[Token] = []
    position, depth, root_end, unclosed = 0, 0, 0, False
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            unclosed = True
            break
        position = found.end()
        kind = found.lastgroup or ""
        if kind in ("space", "comment"):
            continue
        piece = found.group()
        tokens.append(Token(kind, piece, position))
        if kind == "mark":
            depth += (piece in "{[") - (piece in "}]")
            if depth == 0 and not root_end and piece in "}]":
                root_end = len(tokens)
    dangling = bool(tokens) and tokens[-1].text in (",", ":")
    return Scan(tokens, unclosed or depth > 0 or dangling, root_end)


def tidy(tokens: list[Token]) -> list[str] | None:
    """The tokens as strict JSON spells them, or None where a word is neither a value nor a key.

    Single quotes, Python's and JavaScript's words, bare keys, raw control characters, unknown escapes and commas
    before a closing bracket are put right; nothing else is added or left out.
    """
    out: list[str] = []
    python = any(t.text in _PYTHON or (t.kind == "string" and t.text[0] == "'") for t in tokens)  # escapes as well
    for number, token in enumerate(tokens):
        following = tokens[number + 1].text if number + 1 < len(tokens) else ""
        if token.kind == "mark":
            if token.text != "," or not (following in ("}", "]") or _doubled(tokens, number)):
                out.append(token.text)
        elif token.kind == "string":
            out.append(_strict_string(token.text, python=python))
        elif following == ":":
            out.append(_quoted(token.text))
        elif token.text in _WORDS:
            out.append(_WORDS[token.text])
        elif _NUMBER.fullmatch(token.text):
            out.append(token.text)
        else:
            return None
    return out


def _doubled(tokens: list[Token], comma: int) -> bool:
    """Whether this comma is followed by another one and then a key: in a list an element could be missing there."""
    after = [t.text for t in tokens[comma + 1 : comma + 4]]
    return len(after) == 3 and after[0] == "," and after[2] == ":"


def _strict_string(text: str, *, python: bool) -> str:
    size = 3 if text.startswith('"""') and len(text) > 5 else 1
    quote, inner = text[:size], text[size:-size]
    if python:
        inner = _HEX.sub(_strict_hex, inner)
    if _DRIVE.match(inner) and any(m.group(2) for m in _ESCAPE.finditer(inner)):
        return _quoted(inner)  # a Windows path with plain backslashes: its \n and \t are letters too
    inner = _ESCAPE.sub(_strict_escape, inner)
    if quote != '"':
        inner = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', inner)
    return _closed(inner)


def _strict_hex(found: re.Match[str]) -> str:
    """Python's escapes that JSON has not: \\x41 and \\U0001f600."""
    digits = found.group(2) or found.group(3)
    if digits is None:
        return found.group()
    letter = chr(min(int(digits, 16), 0x10FFFF))
    return letter if letter not in '"\\' else "\\" + letter


def _strict_escape(found: re.Match[str]) -> str:
    other = found.group(2)
    if other is None:
        return found.group()
    return other if other in "'`" else "\\\\" + other


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return _closed(text)


def _closed(inner: str) -> str:
    return '"' + _CONTROL.sub(lambda m: "\\u%04x" % ord(m.group()), inner) + '"'  # noqa: UP031


class Shape(NamedTuple):
    """How many objects, lists, keys of objects and elements of lists there are."""

    objects: int
    lists: int
    keys: int
    elements: int


def shape_of_tokens(tokens: list[Token]) -> Shape:
    """The shape that the text claims to have."""
    objects = lists = keys = elements = 0
    stack: list[str] = []
    fresh = False  # an element of a list may start here
    before = ""
    for token in tokens:
        in_list = bool(stack) and stack[-1] == "["
        starts = fresh or (token.text in ("{", "[") and before in ("}", "]"))  # or a comma is missing
        if in_list and starts and token.text not in ("]", ",", "}"):
            elements += 1
        fresh, before = False, token.text
        if token.kind != "mark":
            continue
        if token.text in "{[":
            stack.append(token.text)
            objects += token.text == "{"
            lists += token.text == "["
            fresh = token.text == "["
        elif token.text in "}]":
            if stack and stack[-1] == ("{" if token.text == "}" else "["):
                stack.pop()
        elif token.text == ",":
            fresh = in_list
        else:
            keys += not in_list
    return Shape(objects, lists, keys, elements)


def shape_of_value(value: Any) -> Shape:
    """The shape of a decoded value."""
    objects = lists = keys = elements = 0
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            objects += 1
            keys += len(item)  # pyright: ignore[reportUnknownArgumentType]
            todo.extend(item.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        elif isinstance(item, list):
            lists += 1
            elements += len(item)  # pyright: ignore[reportUnknownArgumentType]
            todo.extend(item)  # pyright: ignore[reportUnknownArgumentType]
    return Shape(objects, lists, keys, elements)
