"""The words of a shell command line that may name files: a tolerant reading, not a shell.

It errs on the side of finding too much: quotes, escapes, variables, braces and substitutions are seen through where
that is possible, and become `*` where it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gongfu.workspace.globs import expand_braces

_ESCAPE = r"(?s)\\(?:x([0-9a-fA-F]{1,2})|[uU]([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))"
_BREAKS = " \t\r\n;|&()<>`"
_VARIABLE = r"(?i)\$(?:\{(?:env:)?(\w+)[^}]*\}|(?:env:)?(\w+))|%(\w+)%|\$[*@#?!$-]"
_ASSIGNMENT = r"(?s)^(\w+)=(.*)$"
_PIECES = r"[=@:,]|^-+\w"
_INNER = r"[\s'\"()\[\]<>|;&`,=@:]+"
_PLAIN = r"[^'\"\\$ \t\r\n;|&()<>`]+"
_MAX_WORDS = 20_000


def raw_words(command: str, *, windows: bool = False) -> list[str]:
    """The command cut into words, quotes and escapes removed; operators are left out. Never fails."""
    words: list[str] = []
    current: list[str] = []
    open_word = False
    run = re.compile(_PLAIN).match
    i = 0
    while i < len(command) and len(words) < _MAX_WORDS:
        if plain := run(command, i):
            current.append(plain[0])
            i = plain.end()
            open_word = True
            continue
        c = command[i]
        i += 1
        if c in "'\"":
            ansi = c == "'" and current[-1:] == ["$"]
            text, i = _quoted(command, i, c, plain=windows)
            current[-1 if ansi else len(current) :] = [_unescape(text) if ansi else text]
            open_word = True
        elif c == "\\" and not windows:
            current.append("" if command[i : i + 1] == "\n" else command[i : i + 1])
            i += 1
            open_word = True
        elif c == "$" and command[i : i + 1] == "(":
            current.append("*")
            open_word = True
            words.append("")  # what stands inside is read as further words
        elif c in _BREAKS:
            if open_word:
                words.append("".join(current))
            current, open_word = [], False
        else:
            current.append(c)
            open_word = True
    if open_word:
        words.append("".join(current))
    return [w for w in words if w]


def _quoted(command: str, start: int, quote: str, *, plain: bool) -> tuple[str, int]:
    end = command.find(quote, start)
    whole = command[start:] if end < 0 else command[start:end]
    if "\\" not in whole:
        return whole, start + len(whole) + 1
    out: list[str] = []
    i = start
    while i < len(command) and command[i] != quote:
        if command[i] == "\\" and quote == '"' and not plain and command[i + 1 : i + 2] in ('"', "\\", "$", "`"):
            i += 1
        elif command[i] == "\\" and quote == "'" and command[start - 2 : start - 1] == "$":
            out.append(command[i])
            i += 1
        out.append(command[i : i + 1])
        i += 1
    return "".join(out), i + 1


def _unescape(text: str) -> str:
    """The inside of `$'…'`."""
    return re.sub(_ESCAPE, _unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return chr(int(match[3], 8)) if match[3] else {"n": "\n", "t": "\t", "r": "\r"}.get(match[4], match[4])


def path_words(words: Sequence[str], variables: Mapping[str, str]) -> dict[str, bool]:
    """All words, of those that `raw_words` gives, which may be a path or a glob of paths, in their order.

    True for one that the shell itself would hand on as it is. `variables` are those known to the shell, as far as they
    matter.
    """
    known = dict(variables)
    found: dict[str, bool] = {}
    has_more = re.compile(_INNER).search
    for raw in words:
        text = expand(raw, known)
        match = re.match(_ASSIGNMENT, text) if "=" in text else None
        if match is not None:
            known[match[1]] = match[2]
        for choice in _choices(text):
            found[choice] = True
            for piece in _pieces(choice):
                found[piece] = True
        if has_more(text) is not None:
            for inner in _inside(raw, known):
                found.setdefault(inner, False)
    return found


def _choices(text: str) -> list[str]:
    return expand_braces(text) if "{" in text else [text]


def _pieces(text: str) -> list[str]:
    """What stands behind an option's letter or between `=`, `@`, `:` and commas, where there are any."""
    if not (text.startswith("-") or "=" in text or "@" in text or ":" in text or "," in text):
        return []
    return [piece for piece in re.split(_PIECES, text) if piece]


def _inside(text: str, known: Mapping[str, str]) -> Iterator[str]:
    """Words inside a quoted script, such as that of `bash -c` or `python -c`."""
    seen: set[str] = set()
    for source in dict.fromkeys((" ".join(raw_words(text)), text)):
        for piece in re.split(_INNER, expand(source, known)):
            if piece and piece not in seen and len(seen) < _MAX_WORDS:
                seen.add(piece)
                yield from _choices(piece)


def expand(text: str, known: Mapping[str, str]) -> str:
    """Variables filled in; one that is not known may hold anything and becomes `*`."""
    if "$" not in text and "%" not in text:
        return text

    def fill(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3] or ""
        if match[3] and name.upper() not in known:
            return match[0]
        return known.get(name, known.get(name.upper(), "*"))

    return re.sub(_VARIABLE, fill, text)
