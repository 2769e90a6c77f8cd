"""One simple command while it is rated: what its handlers are given."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.permissions.rating import Rating
from gongfu.permissions.shell.paths import places_of, touch
from gongfu.permissions.shell.state import Found, Simple, State
from gongfu.permissions.shell.words import UNKNOWN, Word, literal
from gongfu.workspace.protect import mentions_protected

if TYPE_CHECKING:
    from gongfu.permissions.shell.walk import Walker

_URL = r"(?i)\b[a-z][a-z0-9+.-]*://(?:[^\s/@'\"]*@)?(\[[0-9a-f:.]+\]|[^\s/:'\"?#,;)\\]+)"


class Command:
    """The name and arguments of a command, what was found of it, and how to look further."""

    __slots__ = ("args", "found", "inner", "name", "simple", "state", "walker")

    def __init__(
        self,
        walker: Walker,
        simple: Simple,
        found: Found,
        words: Sequence[Word],
        inner: Callable[[Command, Sequence[Word]], None],
    ) -> None:
        self.walker = walker
        self.state: State = walker.state
        self.simple = simple
        self.found = found
        self.name = words[0].text
        self.args = list(words[1:])
        self.inner = inner

    def add(self, *ratings: Rating, why: str = "", about: str = "") -> None:
        """Further ratings."""
        self.found.add(*ratings, why=why, about=about)

    def unseen(self, about: str = "") -> None:
        """It cannot be seen through."""
        self.add("unknown", why="shell_unseen", about=about or self.name)

    def read(self, *words: Word) -> None:
        """It reads these files or folders."""
        for word in words:
            touch(word, self.state, self.found)

    def write(self, *words: Word) -> None:
        """It writes these files or folders."""
        for word in words:
            touch(word, self.state, self.found, write=True)

    def run(self, words: Sequence[Word]) -> None:
        """It runs another command."""
        if not words:
            self.add("read")
            return
        self.state.enter()
        self.inner(self, words)
        self.state.leave()

    def script(self, word: Word, *, kept: bool = False) -> None:
        """It has a shell run a script."""
        if word.plain:
            self.add("read")
            self.walker.script(word.text, kept=kept)
        else:
            self.unseen(word.source)

    def texts(self) -> list[str]:
        """What is known of its arguments."""
        return [a.text for a in self.args]

    def seen(self) -> bool:
        """Whether all arguments are what they look like; says so when they are not."""
        for arg in self.args:
            if not arg.literal:
                self.add("unknown", why="shell_unseen", about=arg.source)
                return False
        return True

    def has(self, *names: str) -> str:
        """The first argument that is one of the options, abbreviated or with a value, too; "" when none is."""
        for text in self.texts():
            if any(is_option(text, name) for name in names):
                return text
        return ""

    def paths(self, args: Iterable[Word] | None = None, *, write: bool = False, always: bool = False) -> None:
        """Rates what in the arguments may be a path. `always`: every one that is no option is."""
        for arg in self.args if args is None else args:
            if not arg.literal:
                touch(arg, self.state, self.found)
                continue
            for text in _candidates(arg.text):
                whole = text == arg.text
                if text and ((always and whole and text != "-") or looks_like_path(text, self.state)):
                    touch(
                        Word(text=_home(text, self.state), glob=arg.glob and whole), self.state, self.found, write=write
                    )

    def secrets_below(self, *words: Word) -> None:
        """It shows or packs all that lies in these folders, also what may be secret there."""
        for word in words:
            for place in places_of(word.text, self.state):
                if place is not None and mentions_protected(
                    "grep -r x .", Path(place), self.state.workspace, windows=False
                ):
                    self.add("credential", why="protected_secret", about=self.name)

    def hosts(self) -> None:
        """Notes the hosts that its arguments name."""
        for text in self.texts():
            for match in re.finditer(_URL, text) if "://" in text else ():
                self.found.hosts[match[1].lower()] = None


def is_option(text: str, name: str) -> bool:
    """Whether an argument is the option: `-o` also among others in one word, `--output` also cut short."""
    if name.startswith("--"):
        given = text.partition("=")[0]
        return len(given) > 2 and given.startswith("--") and name.startswith(given)
    if len(name) > 2:
        return text == name
    return len(text) > 1 and text[0] == name[0] and text[1] != "-" and name[1] in text[1:].partition("=")[0]


def looks_like_path(text: str, state: State) -> bool:
    """Whether a word may name a file: by its look, or because there is one."""
    if "://" in text:
        return text.lower().startswith("file://")
    if "/" in text or text.startswith(("~", "..")) or text == "." or "\\" in text:
        return True
    if text.startswith((".", "id_")) or "." in text:
        return True
    return any(place is not None and os.path.lexists(os.path.join(place, text)) for place in state.places)  # noqa: PTH118


def _candidates(text: str) -> list[str]:
    if text.startswith("-"):
        value = text.partition("=")[2]
        return [v for v in (value, text[2:] if not text.startswith("--") else "", text.lstrip("-")[1:]) if v]
    pieces = [text]
    if "=" in text:
        pieces.append(text.partition("=")[2])
    if "@" in text:
        pieces.append(text.rpartition("@")[2])
    if text.startswith("file://"):
        pieces.append(text[7:])
    if ":" in text and "://" not in text:
        pieces.extend(text.split(":"))
    return pieces


def _home(text: str, state: State) -> str:
    if text == "~" or text.startswith("~/"):
        return state.variables.get("HOME", "/~") + text[1:]
    return "/~/unknown" if re.match(r"~\w", text) else text


def options(args: Sequence[Word], valued: str = "") -> tuple[list[tuple[str, Word]], list[Word]]:
    """Options with their values (an empty word when there is none), and the rest.

    `valued` names those that take a value, split by blanks: `-o --output`. Letters in one word are taken apart.
    """
    takes = frozenset(valued.split())
    found: list[tuple[str, Word]] = []
    rest: list[Word] = []
    nothing = literal("")
    i = 0
    while i < len(args):
        arg = args[i]
        text = arg.text
        i += 1
        if not arg.literal or not text.startswith("-") or text == "-":
            rest.append(arg)
        elif text == "--":
            rest.extend(args[i:])
            break
        elif text.startswith("--"):
            name, sign, value = text.partition("=")
            if not sign and name in takes:
                found.append((name, args[i] if i < len(args) else UNKNOWN))
                i += 1
            else:
                found.append((name, Word(text=value, source=value) if sign else nothing))
        else:
            for at, letter in enumerate(text[1:], 2):
                if f"-{letter}" not in takes:
                    found.append((f"-{letter}", nothing))
                    continue
                if at < len(text):
                    found.append((f"-{letter}", Word(text=text[at:], source=text[at:])))
                else:
                    found.append((f"-{letter}", args[i] if i < len(args) else UNKNOWN))
                    i += 1
                break
    return found, rest


def until_command(args: Sequence[Word], valued: str = "", skip: int = 0) -> list[Word]:
    """What a wrapper runs: its arguments without its own options and the first `skip` words."""
    takes = frozenset(valued.split())
    i = 0
    while i < len(args) and args[i].literal and args[i].text.startswith("-") and args[i].text != "-":
        text = args[i].text
        i += 1
        if text == "--":
            break
        if text in takes or (
            not text.startswith("--") and len(text) > 2 and f"-{text[-1]}" in takes and not _has_value(text, takes)
        ):
            i += 1
    return list(args[i + skip :])


def _has_value(text: str, takes: frozenset[str]) -> bool:
    """Whether letters in one word end in the value of one of them."""
    return any(f"-{letter}" in takes for letter in text[1:-1])
