"""What lies on disk in the places of rule files."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from gongfu.core.base import Base

MAX_FILE: Final = 64 << 10
MAX_DEPTH: Final = 32

Kind: TypeAlias = Literal["agents", "claude", "rules"]
Unfit: TypeAlias = Literal["size", "depth", "link", "nul", "encoding", "special", "unreadable"]


class Draft(Base, frozen=True, gc=False):
    """A rule file as it is on disk now; the fields are those of `core.told.RuleSource`."""

    path: str
    kind: Kind
    depth: int
    scope: str
    text: str
    sha256: str
    paths: tuple[str, ...] = ()
    nested: bool = False


class Misfit(Base, frozen=True, gc=False):
    """A file in the place of a rule file that cannot be one; the run stops until it is classified excluded."""

    path: str
    reason: Unfit
    sha256: str
    size: int = 0


class Found(Base, frozen=True):
    """What lies on disk. `ignored` are (path, reason): empty, same (as AGENTS.md beside it), front_matter, walk."""

    drafts: tuple[Draft, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
