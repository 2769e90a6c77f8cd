"""What has changed since the rules were pinned, and whether a confirmation of it still holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from gongfu.core.base import Base
from gongfu.core.errors import Refusal
from gongfu.core.told import RuleSource, RulesPinned


class Change(Base, frozen=True):
    """One rule file. `diff` are the lines of a unified diff; empty when only its classification or place changed."""

    path: str
    kind: Literal["added", "changed", "removed", "classified"]
    diff: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


def changes(pinned: RulesPinned, live: RulesPinned) -> tuple[Change, ...]:
    """The differences between two snapshots, in the order of the files; () when the fingerprints are the same."""
    return () if pinned.fingerprint == live.fingerprint else tuple(_changes(pinned, live))


def _changes(pinned: RulesPinned, live: RulesPinned) -> Iterator[Change]:
    old = {s.path: s for s in pinned.sources}
    new = {s.path: s for s in live.sources}
    for path in dict.fromkeys((*new, *old)):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        kind = "added" if before is None else "removed" if after is None else "changed"
        if before is not None and after is not None and before.sha256 == after.sha256:
            kind = "classified"
        yield Change(path=path, kind=kind, diff=_diff(before, after), before=_duties(before), after=_duties(after))


def _text(source: RuleSource | None) -> list[str]:
    return "".join(s.text for s in source.sections).split("\n") if source else []


def _diff(before: RuleSource | None, after: RuleSource | None) -> tuple[str, ...]:
    import difflib  # only when somebody looks at a change

    return tuple(difflib.unified_diff(_text(before), _text(after), "pinned", "live", lineterm="", n=3))


def _duties(source: RuleSource | None) -> str:
    return "+".join(dict.fromkeys(s.duty for s in source.sections)) if source else ""


def check_refresh(pinned: RulesPinned, live: RulesPinned, *, old: str, new: str, running: bool = False) -> None:
    """Raises Refusal when a confirmation that names `old` and `new` fingerprints (at least 8 digits) may not be taken.

    RULES_CHANGED while a turn runs; REFRESH_STALE when `old` is not what the session is pinned to, or `new` not what
    lies on disk now.
    """
    if running:
        raise Refusal("rules.changed_running")
    if len(old) < 8 or not pinned.fingerprint.startswith(old):
        raise Refusal("rules.refresh_stale_pinned", named=old[:12], pinned=pinned.fingerprint[:12])
    if len(new) < 8 or not live.fingerprint.startswith(new):
        raise Refusal("rules.refresh_stale_live", named=new[:12], live=live.fingerprint[:12])
