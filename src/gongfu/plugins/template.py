"""The text of a command with its placeholders: `$1`, `$ARGUMENTS`, `{{name}}`, `@file` and `` !`command` ``.

It is read once, before any argument is known; what arguments hold is never read as a placeholder. In the line of a
command an argument is one quoted word (`$ARGUMENTS`: one for each), wherever it stands, so that it cannot run anything.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, TypeAlias

from gongfu.core.base import Base

_PLACE: Final = r"\$ARGUMENTS\b|\$[1-9](?!\d)|\{\{[ \t]*[A-Za-z_][\w-]*[ \t]*\}\}"
_PIECE: Final = re.compile(
    rf"\\(?P<plain>[$@!{{\\])|!`(?P<line>[^`\n]+)`|(?P<place>{_PLACE})"
    rf"|(?<![\w@`./])@(?P<path>(?:{_PLACE}|[\w.~/\-])+)"
)
_PLACES: Final = re.compile(_PLACE)
_NOWHERE: Final = re.compile(r"\(\(|\[\[|<<(?!<)|\$'|\$\{(?!\{)|\$\{\{|\b(?:eval|let|case)\b")
_END: Final = ".,:;!?"


class BadTemplateError(ValueError):
    """A text in which an argument stands where it could be more than a word; says so in a sentence."""


class Given(Base, frozen=True):
    """The arguments of one use: the words, all of them as they were typed, and those with a name."""

    words: tuple[str, ...] = ()
    text: str = ""
    named: dict[str, str] = {}

    def value(self, place: str) -> str | None:
        """What a placeholder stands for; None for a name that is none."""
        if place == "$ARGUMENTS":
            return self.text
        if place.startswith("$"):
            at = int(place[1:]) - 1
            return self.words[at] if at < len(self.words) else ""
        return self.named.get(place[2:-2].strip())

    def quoted(self, place: str) -> str | None:
        """The same as words of a command line for a shell of POSIX."""
        if place == "$ARGUMENTS":
            return " ".join(map(shlex.quote, self.words))
        value = self.value(place)
        return None if value is None else shlex.quote(value) if value else "''"


class Line(Base, frozen=True):
    """A command line to run."""

    command: str


class Include(Base, frozen=True):
    """A file to include; `text` stands for it when there is none."""

    path: str
    text: str


Piece: TypeAlias = str | Line | Include


class Template:
    """A text that was read. BadTemplateError when an argument stands where it cannot be made harmless."""

    def __init__(self, text: str) -> None:
        self._pieces: list[tuple[str, str]] = []
        at = 0
        for match in _PIECE.finditer(text):
            self._pieces.append(("text", text[at : match.start()]))
            kind = match.lastgroup or "text"
            self._pieces.append((kind, match[kind]))
            at = match.end()
            if kind == "line":
                check_line(match[kind])
        self._pieces.append(("text", text[at:]))

    @property
    def takes_arguments(self) -> bool:
        """Whether any argument is asked for."""
        return any(kind == "place" or (kind in ("line", "path") and _PLACES.search(t)) for kind, t in self._pieces)

    @property
    def runs(self) -> bool:
        """Whether it runs commands in whose lines arguments stand."""
        return any(kind == "line" and _PLACES.search(text) for kind, text in self._pieces)

    def filled(self, given: Given) -> Iterator[Piece]:
        """The text with its arguments, in pieces."""
        for kind, text in self._pieces:
            if kind in ("text", "plain"):
                yield text
            elif kind == "place":
                value = given.value(text)
                yield text if value is None else value
            elif kind == "line":
                yield Line(command=fill_line(text, given))
            else:
                yield from _included(text, given)


def _included(text: str, given: Given) -> Iterator[Piece]:
    bare = text.rstrip(_END)
    path = _PLACES.sub(lambda m: given.value(m[0]) or "", bare)
    if path:
        yield Include(path=path, text=path if _PLACES.search(bare) else f"@{path}")
    yield text[len(bare) :]


def check_line(line: str) -> None:
    """BadTemplateError for a command line in which an argument could be more than a word."""
    if _PLACES.search(line) and (found := _NOWHERE.search(line)):
        raise BadTemplateError(f"no argument can stand in a command with {found[0]!r}: {line}")
    for _ in _walk(line):
        pass


def fill_line(line: str, given: Given) -> str:
    """A command line with its arguments, each quoted for the place where it stands.

    As for a shell, `$1` and `$ARGUMENTS` between single quotes stay as they are.
    """
    parts: list[str] = []
    for text, quote in _walk(line):
        value = given.quoted(text) if quote is not None else None
        if quote is None or value is None:
            parts.append(text)
        else:
            parts.append(f"{quote}{value}{quote}")
    return "".join(parts)


def _walk(line: str) -> Iterator[tuple[str, str | None]]:
    """The pieces of a line: plain text with None, a placeholder with the quotes that it stands in ("" for none)."""
    open_in = [""]  # the quotes around the place, one for each command substitution
    at = 0
    while at < len(line):
        quote = open_in[-1]
        place = _PLACES.match(line, at)
        if place is not None and not (quote == "'" and place[0][0] == "$"):
            yield place[0], quote
            at = place.end()
            continue
        step = _step(line, at, quote, open_in)
        if step == 0:  # a comment: the rest of the line
            if _PLACES.search(line, at):
                raise BadTemplateError(f"no argument can stand in the comment of a command: {line}")
            step = len(line) - at
        yield line[at : at + step], None
        at += step


def _step(line: str, at: int, quote: str, open_in: list[str]) -> int:
    """How many characters belong together here; what they open and close is noted."""
    char, two = line[at], line[at : at + 2]
    if quote == "'":
        if char == "'":
            open_in[-1] = ""
        return 1
    if char == "\\":
        place = _PLACES.match(line, at + 1)
        return 1 + (len(place[0]) if place else 1)
    if two == "$(":
        open_in.append("")
        return 2
    if two == "$$":
        return 2
    if char == '"':
        open_in[-1] = "" if quote else '"'
    elif not quote:
        if char == "'":
            open_in[-1] = "'"
        elif char == "(":
            open_in.append("")
        elif char == ")" and len(open_in) > 1:
            open_in.pop()
        elif char == "#" and (at == 0 or line[at - 1] in " \t;&|("):
            return 0
    return 1


async def expand(
    pieces: Iterator[Piece],
    run: Callable[[str], Awaitable[str]],
    include: Callable[[str], Awaitable[str | None]],
) -> str:
    """The text for the model. `run` gives what a command said, `include` what a file holds (None: there is none).

    A file that is named stands behind the text, once.
    """
    text: list[str] = []
    files: dict[str, str | None] = {}
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
        elif isinstance(piece, Line):
            text.append(await run(piece.command))
        else:
            if piece.path not in files:
                files[piece.path] = await include(piece.path)
            text.append(piece.text if files[piece.path] is None else piece.path)
    held = [f'<file path="{path}">\n{body}\n</file>' for path, body in files.items() if body is not None]
    return "\n\n".join(["".join(text).strip(), *held])


def words_of(text: str) -> tuple[str, ...]:
    """The words of what was typed behind a command: quotes hold words together."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def name_words(names: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    """Words for names: `name=value` anywhere, the others in their order, the last name takes all that is left."""
    named: dict[str, str] = {}
    plain: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in names and name not in named:
            named[name] = value
        else:
            plain.append(word)
    waiting = [name for name in names if name not in named]
    for at, name in enumerate(waiting):
        last = at == len(waiting) - 1
        taken = plain[at:] if last else plain[at : at + 1]
        if taken:
            named[name] = " ".join(taken)
    return named
