"""Which rules a place stands under: what joins when it is touched, what must be delivered before it is written."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from gongfu.core.told import RuleSource, RulesPinned
from gongfu.workspace.globs import path_regex
from gongfu.workspace.names import show_name
from gongfu.workspace.root import rest_below


def touched(pinned: RulesPinned, joined: Collection[str], paths: Iterable[str], root: Path) -> tuple[str, ...]:
    """The sources that join because one of `paths` (absolute, or relative to the root) was touched, in order."""
    places = list(_places(paths, root))
    return tuple(
        s.path
        for s in pinned.sources
        if (s.nested or s.paths) and s.path not in joined and any(_governs(s, place) for place in places)
    )


def undelivered(pinned: RulesPinned, delivered: Collection[str], writes: Iterable[str], root: Path) -> tuple[str, ...]:
    """The sources with mandatory parts that govern one of the paths to be written and that no request has carried yet.

    `delivered` are the paths of the sources that one has; those that stand in every request (neither nested nor
    narrowed) always have been.
    """
    places = list(_places(writes, root))
    return tuple(
        s.path
        for s in pinned.sources
        if (s.nested or s.paths)
        and s.path not in delivered
        and any(part.duty == "mandatory" for part in s.sections)
        and any(_governs(s, place) for place in places)
    )


def _places(paths: Iterable[str], root: Path) -> Iterator[str]:
    """Relative to the root with forward slashes, "." for the root; what lies outside is left out."""
    for path in paths:
        whole = os.path.abspath(os.path.join(root, path))  # noqa: PTH100, PTH118 - no disk is asked
        rest = rest_below(whole, str(root))
        if rest is not None:
            yield show_name(rest.replace(os.sep, "/")) or "."


def _governs(source: RuleSource, place: str) -> bool:
    scope = source.scope
    if scope not in (".", "~"):
        if place != scope and not place.startswith(f"{scope}/"):
            return False
        place = place[len(scope) + 1 :] or "."
    return not source.paths or any(path_regex(each).fullmatch(place) for p in source.paths for each in _meant(p))


def _meant(pattern: str) -> tuple[str, ...]:
    """A pattern whose end names a folder, or may, holds for all in it, too."""
    bare = pattern.rstrip("/")
    last = bare.rpartition("/")[2]
    return (bare,) if not last or any(c in last for c in "*?[") else (bare, f"{bare}/**")
