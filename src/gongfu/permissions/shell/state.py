"""What is known while a line is walked: folders, variables, functions, and the parts found so far."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.permissions.rating import Part, Rating
from gongfu.permissions.shell.words import Word
from gongfu.workspace.root import Workspace, rest_below

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 50
MAX_PARTS = 500


class TooMuch(Exception):
    """A line is nested too deep or has too much in it to be rated; the text says which."""


class Redirect(Base, frozen=True):
    """One redirection. `mark` is the operator with its descriptor, `target` the word behind it."""

    mark: str
    target: Word


class Simple(Base, frozen=True):
    """A simple command. `stdin`: what it reads, "pipe" for the output of another; `here`: the text that it reads when
    that is known; `before`: the sources of what stands before it in its pipe.
    """

    words: tuple[Word, ...] = ()
    assigned: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: str = ""
    here: str | None = None
    before: tuple[str, ...] = ()


class State:
    """Of one line, with all that is nested in it.

    `places` are the folders that a command may run in (None: any at all); `moved` those after a `cd` that worked.
    """

    __slots__ = (
        "bodies", "calls", "depth", "first", "functions", "moved", "near", "order", "parts", "patterns", "places",
        "tainted", "variables", "workspace",
    )  # fmt: skip

    def __init__(self, cwd: Path, workspace: Workspace, variables: Mapping[str, str]) -> None:
        self.workspace = workspace
        self.first = str(cwd)
        self.places: tuple[str | None, ...] = (str(cwd),)
        self.moved: tuple[str | None, ...] | None = None
        self.variables = dict(variables)
        self.functions: dict[str, Node] = {}
        self.bodies: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.parts: dict[str, Found] = {}
        self.depth = 0
        self.order = 0
        self.tainted = False
        self.patterns: set[str] = set()
        self.near = _near(variables.get("PATH", ""), (str(workspace.root), *map(str, workspace.extra)))

    def enter(self) -> None:
        """One level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuch("it is nested too deep")

    def leave(self) -> None:
        """One level up."""
        self.depth -= 1

    def found(self, text: str, fed: str = "") -> Found:
        """The part of this text which a pipe feeds with `fed`; the same for one that was met before."""
        self.order += 1
        if self.order > MAX_PARTS:
            raise TooMuch("it has too many commands in it")
        found = self.parts.setdefault(f"{fed}\0{text}", Found(text))
        found.fed = fed
        return found


@lru_cache(maxsize=8)  # the same for every line of a session
def _near(path: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Folders in which programs are looked for and may be written to: those of the workspace, and relative ones."""
    folders = path.split(os.pathsep) if path else []
    return tuple(f for f in folders if not f.startswith("/") or _within(f, roots))


def _within(folder: str, roots: tuple[str, ...]) -> bool:
    path = str(Path(folder))
    return any(rest_below(path, root) is not None for root in roots)


class Found:
    """A part while it is being rated."""

    __slots__ = ("about", "also", "fed", "hosts", "ratings", "text", "why")

    def __init__(self, text: str) -> None:
        self.text = text
        self.ratings: set[Rating] = set()
        self.why = ""
        self.about = ""
        self.hosts: dict[str, None] = {}
        self.also: dict[str, None] = {}
        self.fed = ""

    def add(self, *ratings: Rating, why: str = "", about: str = "") -> None:
        """Further ratings; the first reason stays."""
        self.ratings.update(ratings)
        if why and not self.why:
            self.why, self.about = why, about

    def named(self, words: Iterable[Word]) -> None:
        """Another name of what it runs."""
        texts = [word.text if word.literal else word.source for word in words]
        texts[0] = texts[0].rpartition("/")[2]
        self.also[" ".join(texts)] = None

    def part(self) -> Part:
        """The part as it is handed out."""
        ratings = tuple(sorted(self.ratings)) or ("read",)
        return Part(
            text=self.text, ratings=ratings, why=self.why, about=self.about[:200], hosts=tuple(self.hosts),
            also=tuple(text for text in self.also if text != self.text),
            fed=self.fed,
        )  # fmt: skip
