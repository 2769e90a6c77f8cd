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
    return done + waiting[::-1]


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


def segment(pattern: str) -> str:
    """The source of a regular expression for one segment; no slash is ever matched."""
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
            end = _class_end(pattern, i)
            out.append("\\[" if end < 0 else _class(pattern[i:end]))
            i = i if end < 0 else end + 1
        elif c == "\\" and i < len(pattern):
            out.append(re.escape(pattern[i]))
            i += 1
        else:
            out.append(re.escape(c))
    return "".join(out)


def _class_end(pattern: str, start: int) -> int:
    """Where the bracket that opened before `start` closes; -1 when it does not."""
    at = start + 1 if pattern[start : start + 1] in ("!", "^") else start
    return pattern.find("]", at + 1)


def _class(inner: str) -> str:
    negated = inner[:1] in ("!", "^")
    body = inner[1:] if negated else inner
    body = (
        body.replace("\\", "\\\\").replace("[", "\\[").replace("&&", "\\&&").replace("~~", "\\~~").replace("]", "\\]")
    )
    source = f"(?!/)[{'^' if negated else ''}{body}]"
    try:
        re.compile(source)
    except re.error:
        return re.escape(f"[{inner}]")
    return source


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
