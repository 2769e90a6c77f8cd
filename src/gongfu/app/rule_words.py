"""The operator's words on project rules: the answer at the first run, and a refresh after a review."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from gongfu.app.rules import find_rules, is_corrupt, outgrown_of, root_of, rulebook, snapshot, warnings_for, words_of
from gongfu.context.rules.changes import Change, changes, check_refresh
from gongfu.context.rules.wording import Outgrown, policy_of
from gongfu.core.base import Base
from gongfu.core.duties import Word
from gongfu.core.errors import Refusal
from gongfu.core.told import RulesPinned

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.context.rules.found import Found
    from gongfu.engine.session import Session

Answer = Literal["mandatory-root", "mandatory-all", "optional"]
UNPINNED: Final = "0" * 64
"""Stands for the fingerprint of a session that no rules were pinned to."""


# --- the operator's word ---


def note_answer(app: App, answer: Answer, found: Found) -> None:
    """Record what the person answers about all rules of the project: a word on each file as it is now."""
    at = time.time()
    words: list[Word] = []
    for draft in found.drafts:
        mandatory = answer == "mandatory-all" or (answer == "mandatory-root" and draft.depth == 0)
        words.append(
            Word(
                path=draft.path,
                heading="",
                sha256=draft.sha256,
                duty="mandatory" if mandatory else "optional",
                at=at,
                by="first run",
            )
        )
    book = rulebook(app)
    book.say(root_of(app), words)
    book.note_asked(root_of(app), answer, at=at)


def unasked(app: App) -> Found | None:
    """The rules of a project that nobody has said or been asked anything about; None when there are none such."""
    book = rulebook(app)
    if book.asked(root_of(app)) is not None or book.words(root_of(app)):
        return None
    found = find_rules(app)
    return found if found.drafts else None


def kept(old: Sequence[Outgrown], *, by: str) -> list[Word]:
    """The words that carry a classification over to a changed text."""
    at = time.time()
    return [Word(path=o.path, heading=o.heading, sha256=o.sha256, duty=o.duty, why=o.why, at=at, by=by) for o in old]


# --- refresh ---


class Review(Base, frozen=True):
    """What a refresh would change: the snapshot of the session and the one that would take its place.

    `words` are those that a refresh adds, so that changed texts keep their duty. `corrupt`: the session cannot go on
    with what it has, so a refresh takes effect though the texts may be the same.
    """

    pinned: RulesPinned
    live: RulesPinned
    changes: tuple[Change, ...] = ()
    words: tuple[Word, ...] = ()
    outgrown: tuple[Outgrown, ...] = ()
    corrupt: bool = False

    @property
    def due(self) -> bool:
        """Whether a refresh would change anything."""
        return bool(self.changes) or self.corrupt


def review(app: App, session: Session, *, keep: bool = False) -> Review:
    """Compare the session's snapshot with the disk and the operator's words as they are now.

    `keep` carries the duty of a text over to its changed form. Raises Refusal RULES_CHANGED while a turn runs.
    """
    if session.running:
        raise Refusal("rules.changed_running")
    context = session.state.context
    pinned = context.pinned or RulesPinned(fingerprint=UNPINNED, revision=0, nonce="", by="")
    policy = app.options.rules or policy_of(pinned.by)
    by = f"refresh --rules {policy}" if policy else "refresh"
    began = session.state.created
    found, words = find_rules(app, directory=began.directory if began else ""), words_of(app)

    def now(words: Sequence[Word]) -> RulesPinned:
        return snapshot(app, session.id, found, words, revision=pinned.revision + 1, policy=policy, by=by)

    live, added = now(words), list[Word]()
    old = outgrown_of(app, live)
    if keep and old:
        added = kept(old, by="refresh")
        live = now([*words, *added])
    return Review(
        pinned=pinned,
        live=live,
        changes=changes(pinned, live),
        words=tuple(added),
        outgrown=old,
        corrupt=is_corrupt(context.pinned, context.told_rules),
    )


def refresh(app: App, session: Session, *, old: str, new: str, keep: bool = False) -> RulesPinned:
    """Pin what is on disk, after a review; `old` and `new` are the fingerprints that the person has seen.

    Raises Refusal RULES_CHANGED while a turn runs, REFRESH_STALE when either is not what it was; nothing is changed
    then. The snapshot holds from the next request on; earlier revisions stay in the log.
    """
    now = review(app, session, keep=keep)
    check_refresh(now.pinned, now.live, old=old, new=new)
    take(app, session, now)
    return now.live


def take(app: App, session: Session, seen: Review) -> None:
    """Pin what a person has reviewed. Raises Refusal RULES_CHANGED while a turn runs; nothing is changed then."""
    if session.running:
        raise Refusal("rules.changed_running")
    if seen.due:
        rulebook(app).say(root_of(app), seen.words)
        session.stream.emit(seen.live, *warnings_for(app, seen.live))
