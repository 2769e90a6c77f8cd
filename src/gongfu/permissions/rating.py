"""What a part of a command line does, as the policy sees it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base

Rating: TypeAlias = Literal[
    "read",  # looks at things in the workspace, or at nothing of anybody's
    "write",  # changes files in the workspace, as a file tool would
    "run",  # runs code of the workspace: a build, tests, a script
    "outside",  # reads or writes beyond the workspace
    "network",  # talks to other machines or to services of this one
    "destructive",  # may lose work that no undo brings back
    "privilege",  # acts as somebody else, or changes the system
    "credential",  # reads or changes keys, passwords, logins
    "unknown",  # cannot be seen through
]
"""From the mildest to the gravest is not an order: each mode says what it lets through."""


class Part(Base, frozen=True):
    """One simple command of a line, with the assignments and redirections that belong to it.

    `text` is its source, put in one line with single spaces: what a grant names. `ratings` are sorted and never empty.
    `why` says what is grave in it, as a key of the catalogue of messages below `permissions.` ("" for nothing), with
    `about`: the word that it is about. `hosts` are those that it names. `also` are
    other names of what it runs, for rules that forbid: without folders, quotes, assignments and redirections, the
    command inside a wrapper, git without options of its own. `fed` is what a pipe
    feeds it.
    """

    text: str
    ratings: tuple[Rating, ...]
    why: str = ""
    about: str = ""
    hosts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    fed: str = ""


class Line(Base, frozen=True):
    """A whole command line in its parts, in the order of the source, those in substitutions and quoted scripts, too.

    `problem` is why it could not be parsed (the parts then hold one that is rated "unknown"); "" when it could.
    """

    parts: tuple[Part, ...]
    problem: str = ""

    @property
    def ratings(self) -> frozenset[Rating]:
        """Those of all parts."""
        return frozenset(r for part in self.parts for r in part.ratings)
