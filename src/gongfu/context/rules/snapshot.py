"""The snapshot of rules that a session is held to: pinned with a fingerprint, verified, never changed by the disk."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from gongfu.context.rules.found import MAX_FILE, Draft, Found, Misfit
from gongfu.context.rules.sections import mark_of, sha256_of, split
from gongfu.core.duties import Policy, Word
from gongfu.core.errors import Refusal
from gongfu.core.told import Duty, RuleSection, RuleSource, RulesPinned

MAX_FILES: Final = 64
MAX_TOTAL: Final = 256 << 10
_NONCE: Final = re.compile("[0-9a-f]{8}")
_KINDS: Final = ("agents", "claude", "rules")


def order(source: RuleSource | Draft) -> tuple[int, int, str]:
    """The precedence of a source: (depth, kind, path); where two disagree, the later one wins."""
    return source.depth, _KINDS.index(source.kind), source.path


def pin(
    found: Found, words: Iterable[Word] = (), *, session: str, revision: int = 1, policy: Policy = "", by: str = ""
) -> RulesPinned:
    """The snapshot of what was found, classified by `words` (a later one wins) and for this run by `policy`.

    A word on a section beats one on its file; only those bound to the very text count. `policy` decides for all that is
    not excluded. Raises Refusal RULES_LIMIT, naming the files, for what is over a limit or cannot be a rule and is not
    excluded.
    """
    said = {(w.path, w.heading, w.sha256): w for w in words}
    ignored = list(found.ignored)
    for misfit in found.misfits:
        word = said.get((misfit.path, "", misfit.sha256))
        if word is not None and word.duty == "excluded":
            ignored.append((misfit.path, "excluded"))
    excluded = {path for path, reason in ignored if reason == "excluded"}
    _check_misfits([m for m in found.misfits if m.path not in excluded])
    drafts = sorted(found.drafts, key=order)
    sources = tuple(_classified(draft, said, policy) for draft in drafts)
    _check_limits([(d, s) for d, s in zip(drafts, sources, strict=True) if not _all_excluded(s)])
    fingerprint = fingerprint_of(sources)
    return RulesPinned(
        fingerprint=fingerprint,
        revision=revision,
        nonce=_nonce(session, fingerprint, sources),
        sources=sources,
        by=by or (f"--rules {policy}" if policy else "start"),
        ignored=tuple(ignored),
        conflicts=_conflicts(sources),
    )


def verify(pinned: RulesPinned) -> None:
    """Raises Refusal SNAPSHOT_CORRUPT when a text is not the one that was pinned, or anything else was changed."""
    for source in pinned.sources:
        whole = "".join(s.text for s in source.sections)
        if sha256_of(whole) != source.sha256 or any(sha256_of(s.text) != s.sha256 for s in source.sections):
            raise Refusal("rules.snapshot_corrupt", what=source.path)
    marked = any(mark_of(pinned.nonce) in s.text for source in pinned.sources for s in source.sections)
    if fingerprint_of(pinned.sources) != pinned.fingerprint or not _NONCE.fullmatch(pinned.nonce) or marked:
        raise Refusal("rules.snapshot_corrupt", what=pinned.fingerprint[:12])


def check_session(pinned: RulesPinned | None, told: str) -> None:
    """Raises Refusal SNAPSHOT_CORRUPT when the snapshot of a session is not what was pinned, or another one than its
    requests were sent under: `told` is the fingerprint in the newest receipt since the pinning, "" without one.
    """
    if pinned is not None:
        verify(pinned)
    if told and (pinned is None or pinned.fingerprint != told):
        raise Refusal("rules.snapshot_corrupt", what=told[:12])


def under(pinned: RulesPinned, policy: Policy, session: str) -> RulesPinned | None:
    """The same texts with `policy` as the word on all that is not excluded, as the next revision; None when the duties
    are so already.
    """
    sources = tuple(
        replace(source, sections=tuple(_under(s, _by_policy(policy, source.depth)) for s in source.sections))
        for source in pinned.sources
    )
    fingerprint = fingerprint_of(sources)
    if fingerprint == pinned.fingerprint:
        return None
    return replace(
        pinned,
        fingerprint=fingerprint,
        revision=pinned.revision + 1,
        nonce=_nonce(session, fingerprint, sources),
        sources=sources,
        by=f"--rules {policy}",
        conflicts=_conflicts(sources),
    )


def _under(section: RuleSection, duty: Duty | None) -> RuleSection:
    return section if duty is None or section.duty == "excluded" else replace(section, duty=duty, said=True)


def fingerprint_of(sources: Sequence[RuleSource]) -> str:
    """SHA-256 over sources, their order and their classification, in hexadecimal."""
    plain = [
        [
            s.path, s.kind, s.depth, s.scope, s.sha256, list(s.paths), s.nested,
            [[p.heading, p.sha256, p.duty, p.why] for p in s.sections],
        ]
        for s in sources
    ]  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()


def _classified(draft: Draft, said: dict[tuple[str, str, str], Word], policy: Policy) -> RuleSource:
    whole = said.get((draft.path, "", draft.sha256))
    sections: list[RuleSection] = []
    for part in split(draft.text):
        digest = sha256_of(part.text)
        word = said.get((draft.path, part.heading, digest)) or whole
        flag = _by_policy(policy, draft.depth)
        duty: Duty = word.duty if word is not None else "optional"
        if flag is not None and duty != "excluded":
            duty = flag
        sections.append(
            RuleSection(
                heading=part.heading,
                text=part.text,
                sha256=digest,
                duty=duty,
                said=word is not None or flag is not None,
                why=word.why if word is not None and duty == "excluded" else "",
            )
        )
    return RuleSource(
        path=draft.path,
        kind=draft.kind,
        depth=draft.depth,
        scope=draft.scope,
        sha256=draft.sha256,
        sections=tuple(sections),
        paths=draft.paths,
        nested=draft.nested,
    )


def _by_policy(policy: Policy, depth: int) -> Duty | None:
    if policy == "mandatory-all" or (policy == "mandatory-root" and depth == 0):
        return "mandatory"
    return "optional" if policy == "optional" else None


def _all_excluded(source: RuleSource) -> bool:
    return all(s.duty == "excluded" for s in source.sections)


def _check_misfits(misfits: Sequence[Misfit]) -> None:
    if not misfits:
        return
    reason = misfits[0].reason
    named = [m for m in misfits if m.reason == reason]
    raise Refusal(f"rules.limit_{reason}", files=_names([m.path for m in named]), limit=MAX_FILE >> 10)


def _check_limits(pairs: Sequence[tuple[Draft, RuleSource]]) -> None:
    if len(pairs) > MAX_FILES:
        beyond = [d.path for d, _ in pairs[MAX_FILES:]]
        raise Refusal("rules.limit_files", files=_names(beyond), count=len(pairs), limit=MAX_FILES)
    total, beyond = 0, list[str]()
    for draft, _ in pairs:
        total += len(draft.text.encode())
        if total > MAX_TOTAL:
            beyond.append(draft.path)
    if beyond:
        raise Refusal("rules.limit_total", files=_names(beyond), size=-(-total >> 10), limit=MAX_TOTAL >> 10)


def _names(paths: Sequence[str]) -> str:
    return ", ".join(paths[:8]) + (f", … ({len(paths)})" if len(paths) > 8 else "")


def _nonce(session: str, fingerprint: str, sources: Sequence[RuleSource]) -> str:
    """Eight digits from session and fingerprint that occur in no rule text."""
    for number in range(1 << 20):
        nonce = hashlib.sha256(f"{session}\n{fingerprint}\n{number}".encode()).hexdigest()[:8]
        if not any(nonce in part.text for source in sources for part in source.sections):
            return nonce
    raise AssertionError("256 KiB of text hold less than a million different nonces")


def _conflicts(sources: Sequence[RuleSource]) -> tuple[tuple[str, str], ...]:
    """(stronger, weaker) paths of sources that can hold for one place, and under one heading say something else."""
    seen: dict[str, list[tuple[str, str, str]]] = {}
    found: dict[tuple[str, str], None] = {}
    for source in sources:
        for section in source.sections:
            if section.duty == "excluded" or not section.heading:
                continue
            heading = section.heading.casefold()
            for path, digest, scope in seen.get(heading, ()):
                if path != source.path and digest != section.sha256 and _meet(scope, source.scope):
                    found[source.path, path] = None
            seen.setdefault(heading, []).append((source.path, section.sha256, source.scope))
    return tuple(found)


def _meet(outer: str, inner: str) -> bool:
    """Whether a folder is another one or holds it; `inner` is at least as deep."""
    return outer in (".", "~", inner) or inner.startswith(f"{outer}/")
