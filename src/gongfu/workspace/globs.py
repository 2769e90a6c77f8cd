"""Glob patterns as regular expressions: `*`, `?`, `[a-z]`, `[!a]`, `**` and `{a,b}`."""

from __future__ import annotations

import re
from functools import lru_cache

_MAX_BRACES = 200


def expand_braces(pattern: str) -> list[str]:
    """`a.{b,c}` as `a.b` and `a.c`, nested ones too; at most 200 results. A brace without a comma stays as it is."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) <= _MAX_BRACES:
        text = waiting.pop()
        parts = _first_brace(text)
        if parts is None:
            done.append(text)
        else:
            before, choices, after = parts
            waiting.extend(f"{before}{c}{after}" for c in reversed(choices))
    return (done + waiting[::-1])[:_MAX_BRACES]


def _first_brace(text: str) -> tuple[str, list[str], str] | None:
    """The first brace with a comma, as text before, choices and text after."""
    start = text.find("{")
    while start >= 0:
        depth, commas = 0, [start]
        for i in range(start, len(text)):
            if text[i] == "{":
                depth += 1
            elif text[i] == "," and depth == 1:
                commas.append(i)
            elif text[i] == "}":
                depth -= 1
                if depth == 0:
                    if len(commas) > 1:
                        ends = [*commas[1:], i]
                        return text[:start], [text[a + 1 : b] for a, b in zip(commas, ends, strict=True)], text[i + 1 :]
                    break
        start = text.find("{", start + 1)
    return None


@lru_cache(maxsize=256)
def name_regex(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """One name (no slash in it) against one segment of a pattern. A broken bracket is taken as it stands."""
    return re.compile(segment(pattern), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def segment(pattern: str, *, strict: bool = False) -> str:
    """The source of a regular expression for one segment; no slash is ever matched.

    A bracket that is never closed and a backslash at the end are plain characters; when `strict`, as for git, a
    pattern with them matches nothing.
    """
    out: list[str] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == "*":
            if not out or out[-1] != "[^/]*":
                out.append("[^/]*")
        elif c == "?":
            out.append("[^/]")
        elif c == "[":
            source, after = _bracket(pattern, i)
            if strict and after == i:
                return "(?!)"
            out.append(source)
            i = after
        elif c == "\\" and i < len(pattern):
            out.append(re.escape(pattern[i]))
            i += 1
        elif c == "\\" and strict:
            return "(?!)"
        else:
            out.append(re.escape(c))
    return "".join(out)


def _bracket(pattern: str, start: int) -> tuple[str, int]:
    """The source for the bracket whose inside begins at `start`, and where the pattern goes on.

    A bracket that is never closed is a plain character; one with a range that is none matches nothing.
    """
    i = start
    negated = pattern[i : i + 1] in ("!", "^")
    i += negated
    items: list[str] = []
    first = True
    while i < len(pattern) and (first or pattern[i] != "]"):
        first = False
        named = _NAMED.match(pattern, i)
        if named is not None:
            items.append(_CLASSES.get(named[1], ""))
            i = named.end()
            continue
        low, i = _literal(pattern, i)
        if pattern[i : i + 1] == "-" and pattern[i + 1 : i + 2] not in ("]", ""):
            high, i = _literal(pattern, i + 1)
            items.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
        else:
            items.append(re.escape(low))
    if i >= len(pattern):
        return "\\[", start
    body = "".join(items)
    if not body:
        return ("[^/]" if negated else "(?!)"), i + 1
    return f"(?!/)[{'^' if negated else ''}{body}]", i + 1


def _literal(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\" and at + 1 < len(pattern):
        return pattern[at + 1], at + 2
    return pattern[at], at + 1


_NAMED = re.compile(r"\[:(\w+):\]")
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip


@lru_cache(maxsize=64)
def path_regex(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """A relative path with forward slashes against a whole pattern.

    A pattern without a slash matches the last name at any depth; `**` stands for any number of folders, none too.
    """
    choices = [_path_source(p) for p in expand_braces(pattern)]
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return re.compile("|".join(f"(?:{c})" for c in choices), flags)


def _path_source(pattern: str) -> str:
    plain = pattern.removeprefix("./")
    anchored = "/" in plain.rstrip("/")
    parts = [p for p in plain.split("/") if p]
    source = "" if anchored else "(?:[^/]+/)*"
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if part == "**":
            source += ".+" if last else "(?:[^/]+/)*"
        else:
            source += segment(part) + ("" if last else "/")
    return source
