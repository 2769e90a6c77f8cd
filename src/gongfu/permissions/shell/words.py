"""The words of a command: what they are when quotes are gone, and whether that is all that they can be."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gongfu.core.base import Base
from gongfu.workspace.globs import expand_braces

_BARE = r"[A-Za-z0-9_@%+:,./=-]+"
_CONTROL = "[\x00-\x1f\x7f\u0085\u2028\u2029]"


class Word(Base, frozen=True):
    """One word as the command gets it. `literal`: `text` is exactly that; otherwise `text` is what is known of it.

    `glob`: the shell puts the names of files in its place if there are some. `source` is how it is written, in one
    line and the same for two spellings of a literal word.
    """

    text: str
    source: str = ""
    literal: bool = True
    glob: bool = False

    @property
    def plain(self) -> bool:
        """Whether it stands for itself alone."""
        return self.literal and not self.glob


UNKNOWN = Word(text="", source="?", literal=False)


def quoted(text: str, *, first: bool = False) -> str:
    """A literal word as a shell would take it back, in one line. `first`: it is the name of the command."""
    if re.fullmatch(_BARE, text) and not (first and "=" in text):
        return text
    if _has_control(text):
        return f"$'{_escaped(text)}'"
    return "'" + text.replace("'", "'\\''") + "'"


def shown(source: str) -> str:
    """The source of a word that is not literal, in one line; two different ones never look alike."""
    return f'$"{_escaped(source)}"' if _has_control(source) or source.startswith('$"') else source


def _has_control(text: str) -> bool:
    return not text.isprintable() and re.search(_CONTROL, text) is not None


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    return re.sub(_CONTROL, lambda m: {"\n": "\\n", "\t": "\\t"}.get(m[0]) or f"\\u{ord(m[0]):04x}", text)


def literal(text: str) -> Word:
    """The word that stands for itself."""
    return Word(text=text, source=quoted(text))


class Pieces:
    """A word as it is put together. Text that stood in quotes is kept apart from what the shell still looks at."""

    __slots__ = ("literal", "quoted", "source", "text")

    def __init__(self, source: str) -> None:
        self.source = source
        self.text: list[tuple[str, bool]] = []
        self.literal = True

    def add(self, text: str, *, quoted: bool) -> None:
        """Add what is known."""
        self.text.append((text, quoted))

    def unknown(self) -> None:
        """Something stands here that may be anything."""
        self.literal = False

    def words(self, variables: Mapping[str, str]) -> list[Word]:
        """The words that come of it: more than one by braces."""
        whole = "".join(t for t, _ in self.text)
        bare = "".join(t for t, q in self.text if not q)
        if not self.literal:
            return [Word(text=whole, source=shown(self.source), literal=False)]
        if "{" in bare and "}" in bare and whole not in ("{", "}", "{}"):
            return self._braced(whole, all(not q for _, q in self.text), variables)
        home = self._home(whole, variables)
        if home is None:
            return [Word(text=whole, source=shown(self.source), literal=False)]
        glob = any(c in bare for c in "*?[")
        if glob or home != whole:
            return [Word(text=home, source=shown(self.source), glob=glob)]
        return [Word(text=whole, source=quoted(whole))]

    def _braced(self, whole: str, plain: bool, variables: Mapping[str, str]) -> list[Word]:
        source = shown(self.source)
        choices = expand_braces(whole) if plain and "\\" not in self.source else [whole]
        if len(choices) < 2 or len(choices) > 40 or any("{" in c or "}" in c or c.startswith("~") for c in choices):
            if re.search(r",|\.\.", whole) is None and self._home(whole, variables) == whole:
                return [Word(text=whole, source=source, glob=any(c in whole for c in "*?["))]
            return [Word(text=whole, source=source, literal=False)]
        words: list[Word] = []
        for choice in filter(None, choices):
            glob = any(sign in choice for sign in "*?[")
            words.append(Word(text=choice, source=choice if glob else quoted(choice), glob=glob))
        return words

    def _home(self, whole: str, variables: Mapping[str, str]) -> str | None:
        """The text with a tilde at its start filled in; None when that is not known."""
        if not whole.startswith("~") or self.text[0][1]:
            return whole
        if whole == "~" or whole.startswith("~/"):
            return variables["HOME"] + whole[1:] if "HOME" in variables else None
        return None


def unescaped(text: str) -> str:
    """A bare word without its backslashes."""
    return re.sub(r"(?s)\\(.)", lambda m: "" if m[1] == "\n" else m[1], text) if "\\" in text else text


def in_double_quotes(text: str) -> str:
    """Text inside double quotes, or in a here-document that is expanded, without its backslashes."""
    if "\\" not in text:
        return text
    return re.sub(r'(?s)\\([$`"\\\n])', lambda m: "" if m[1] == "\n" else m[1], text)


def ansi_c(text: str) -> str | None:
    """What stands inside `$'…'`; None when there are escapes in it that could spell anything."""
    if re.fullmatch(r"""(?s)(?:[^\\]|\\[nt\\'"])*""", text) is None:
        return None
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)
