"""The operator's words: what they mean for the files that lie on disk, and which of them the text has outgrown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar, cast

from gongfu.context.rules.found import Draft, Found, Misfit
from gongfu.context.rules.sections import sha256_of, split
from gongfu.core.base import Base
from gongfu.core.duties import Policy, Why, Word
from gongfu.core.errors import UsageError
from gongfu.core.told import Duty, RulesPinned

POLICIES: Final[tuple[Policy, ...]] = ("mandatory-root", "mandatory-all", "optional")
_T = TypeVar("_T", Draft, Misfit)
_FLAG: Final = re.compile(r"--rules (\S+)")


def policy_of(by: str) -> Policy:
    """The word on all rules that `RulesPinned.by` tells of; "" when there was none."""
    match = _FLAG.search(by)
    return cast("Policy", match[1]) if match and match[1] in POLICIES else ""


def words_for(
    found: Found, names: Sequence[str], heading: str, duty: Duty, *, why: Why = "", at: float, by: str
) -> tuple[Word, ...]:
    """The words that say `duty` of a file, known by one of `names` (spellings of one path, or a pattern of many), or of
    its section `heading` with all below it; each bound to the text on disk.

    UsageError when there is no such file or section, or several sections are called so.
    """
    drafts = _called(found.drafts, names)
    misfits = _called(found.misfits, names)
    if not drafts and not misfits:
        ignored = next((reason for path, reason in found.ignored if path in names), "")
        key = f"rules.no_rule_{ignored}" if ignored in ("empty", "same") else "rules.no_rule"
        raise UsageError(key, path=names[0], known=_known(found))
    if misfits and duty != "excluded":
        raise UsageError("rules.only_excluded", path=misfits[0].path)
    if heading:
        if len(drafts) != 1:
            raise UsageError("rules.no_section", path=names[0], heading=heading, known="-")
        pairs = [(drafts[0].path, *section) for section in _sections(drafts[0], heading)]
    else:
        pairs = [(d.path, "", d.sha256) for d in (*drafts, *misfits)]
    return tuple(
        Word(path=path, heading=name, sha256=digest, duty=duty, why=why, at=at, by=by) for path, name, digest in pairs
    )


def _called(files: Sequence[_T], names: Sequence[str]) -> list[_T]:
    exact = [f for f in files if f.path.rstrip("/") in {name.rstrip("/") for name in names}]
    if exact or not any(c in name for name in names for c in "*?["):
        return exact
    from gongfu.workspace.globs import path_regex  # only for a pattern

    return [f for f in files if any(path_regex(name).fullmatch(f.path.rstrip("/")) for name in names)]


def _known(found: Found) -> str:
    paths = [f.path for f in (*found.drafts, *found.misfits)]
    return ", ".join(paths[:8]) + (", …" if len(paths) > 8 else "") if paths else "-"


def _sections(draft: Draft, heading: str) -> list[tuple[str, str]]:
    """(heading, hash) of the section that is meant and of those below it."""
    parts = split(draft.text)
    wanted = " ".join(heading.casefold().replace(">", " > ").split())
    paths = {part.heading: part.heading.casefold() for part in parts if part.heading}
    meant = [name for name, folded in paths.items() if folded == wanted]
    meant = meant or [name for name, folded in paths.items() if folded.endswith(f" > {wanted}")]
    if len(meant) != 1:
        known = ", ".join((meant or list(paths))[:12]) or "-"
        key = "rules.sections_ambiguous" if meant else "rules.no_section"
        raise UsageError(key, path=draft.path, heading=heading, known=known)
    return [
        (part.heading, sha256_of(part.text))
        for part in parts
        if part.heading == meant[0] or part.heading.startswith(f"{meant[0]} > ")
    ]


class Outgrown(Base, frozen=True, gc=False):
    """A file or section that had a word once, and whose text is another now: it counts as unclassified."""

    path: str
    heading: str
    duty: Duty
    why: Why
    sha256: str


def outgrown(pinned: RulesPinned, words: Iterable[Word]) -> tuple[Outgrown, ...]:
    """What was classified before its text changed; `duty` is the newest word on the earlier text, `sha256` of the new.

    Words of "optional" are left out: without a word the same holds.
    """
    newest = {(w.path, w.heading): w for w in words}
    found: list[Outgrown] = []
    for source in pinned.sources:
        open_parts = [s for s in source.sections if not s.said]
        if not open_parts:
            continue
        places = [("", source.sha256), *((s.heading, s.sha256) for s in open_parts if s.heading)]
        for heading, digest in places:
            word = newest.get((source.path, heading))
            if word is not None and word.sha256 != digest and word.duty != "optional":
                found.append(Outgrown(path=source.path, heading=heading, duty=word.duty, why=word.why, sha256=digest))
    return tuple(found)
