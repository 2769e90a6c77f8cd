"""Project rules of a session: found, classified by the operator's words, pinned, refreshed after a review."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from gongfu.core.base import Base
from gongfu.core.duties import Policy, Word
from gongfu.core.errors import Refusal
from gongfu.core.events import WarningRaised
from gongfu.core.told import RulesPinned
from gongfu.store.rulebook import Rulebook

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.context.rules.changes import Change
    from gongfu.context.rules.found import Found
    from gongfu.context.rules.wording import Outgrown
    from gongfu.engine.session import Session

Answer = Literal["mandatory-root", "mandatory-all", "optional"]
UNPINNED: Final = "0" * 64
"""Stands for the fingerprint of a session that no rules were pinned to."""


def find_rules(app: App) -> Found:
    """The rule files of the app's workspace as they are on disk now."""
    from gongfu.context.rules.discover import discover  # only when a session begins or is asked about its rules

    where = app.workspace
    return discover(root=where.root, directory=where.directory, own=app.places.home / "AGENTS.md")


def rulebook(app: App) -> Rulebook:
    """What the operator has said of project rules."""
    return Rulebook(app.database)


def words_of(app: App) -> list[Word]:
    """What the operator has said of the rules of this workspace, the oldest first."""
    return rulebook(app).words(_root(app))


def pin_for(app: App, session: Session) -> RulesPinned | None:
    """The snapshot for a session that begins; None when there are no rules at all.

    Raises Refusal RULES_LIMIT for files that can be no rules and are not excluded.
    """
    found = find_rules(app)
    if not (found.drafts or found.misfits or found.ignored):
        return None
    return snapshot(app, session.id, found, words_of(app), policy=app.options.rules)


def repin_for(app: App, session: str, pinned: RulesPinned) -> RulesPinned | None:
    """For a session that goes on: the same texts under the word that was given for this run; None when nothing changes.

    Raises Refusal SNAPSHOT_CORRUPT when the snapshot was tampered with.
    """
    from gongfu.context.rules.snapshot import under, verify  # only where there are rules

    verify(pinned)
    return under(pinned, app.options.rules, session) if app.options.rules else None


def snapshot(
    app: App,
    session: str,
    found: Found,
    words: Sequence[Word],
    *,
    revision: int = 1,
    policy: Policy = "",
    by: str = "",
) -> RulesPinned:
    """What would be pinned now."""
    del app
    from gongfu.context.rules.snapshot import pin  # only where there are rules

    return pin(found, words, session=session, revision=revision, policy=policy, by=by)


def warnings_for(app: App, pinned: RulesPinned) -> Iterator[WarningRaised]:
    """What the person should know of a snapshot that was just pinned."""
    if old := outgrown_of(app, pinned):
        names = ", ".join(dict.fromkeys(f"{o.path}#{o.heading}" if o.heading else o.path for o in old))
        yield WarningRaised(key="rules.outgrown", values={"rules": names})
    for reason in ("walk", "front_matter"):
        names = ", ".join(path for path, why in pinned.ignored if why == reason)
        if names:
            yield WarningRaised(key=f"rules.told_{reason}", values={"rules": names})


def outgrown_of(app: App, pinned: RulesPinned) -> tuple[Outgrown, ...]:
    """What was classified before its text changed and counts as unclassified now."""
    from gongfu.context.rules.wording import outgrown  # only where there are rules

    return outgrown(pinned, words_of(app))


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
    book.say(_root(app), words)
    book.note_asked(_root(app), answer, at=at)


def unasked(app: App) -> Found | None:
    """The rules of a project that nobody has said or been asked anything about; None when there are none such."""
    book = rulebook(app)
    if book.asked(_root(app)) is not None or book.words(_root(app)):
        return None
    found = find_rules(app)
    return found if found.drafts else None


def keep_words(app: App, old: Sequence[Outgrown], *, by: str) -> None:
    """Say of changed texts what was said of the earlier ones."""
    rulebook(app).say(_root(app), kept(old, by=by))


def kept(old: Sequence[Outgrown], *, by: str) -> list[Word]:
    """The words that carry a classification over to a changed text."""
    at = time.time()
    return [Word(path=o.path, heading=o.heading, sha256=o.sha256, duty=o.duty, why=o.why, at=at, by=by) for o in old]


# --- refresh ---


class Review(Base, frozen=True):
    """What a refresh would change: the snapshot of the session and the one that would take its place.

    `words` are those that a refresh adds, so that changed texts keep their duty.
    """

    pinned: RulesPinned
    live: RulesPinned
    changes: tuple[Change, ...] = ()
    words: tuple[Word, ...] = ()
    outgrown: tuple[Outgrown, ...] = ()


def review(app: App, session: Session, *, keep: bool = False) -> Review:
    """Compare the session's snapshot with the disk and the operator's words as they are now.

    `keep` carries the duty of a text over to its changed form. Raises Refusal RULES_CHANGED while a turn runs.
    """
    from gongfu.context.rules.changes import changes  # only for a review
    from gongfu.context.rules.wording import policy_of

    if session.running:
        raise Refusal("rules.changed_running")
    pinned = session.state.context.pinned or RulesPinned(fingerprint=UNPINNED, revision=0, nonce="", by="")
    policy = app.options.rules or policy_of(pinned.by)
    by = f"refresh --rules {policy}" if policy else "refresh"
    found, words = find_rules(app), words_of(app)

    def now(words: Sequence[Word]) -> RulesPinned:
        return snapshot(app, session.id, found, words, revision=pinned.revision + 1, policy=policy, by=by)

    live, added = now(words), list[Word]()
    old = outgrown_of(app, live)
    if keep and old:
        added = kept(old, by="refresh")
        live = now([*words, *added])
    return Review(pinned=pinned, live=live, changes=changes(pinned, live), words=tuple(added), outgrown=old)


def refresh(app: App, session: Session, *, old: str, new: str, keep: bool = False) -> RulesPinned:
    """Pin what is on disk, after a review; `old` and `new` are the fingerprints that the person has seen.

    Raises Refusal RULES_CHANGED while a turn runs, REFRESH_STALE when either is not what it was; nothing is changed
    then. The snapshot holds from the next request on; earlier revisions stay in the log.
    """
    from gongfu.context.rules.changes import check_refresh  # only for a refresh

    now = review(app, session, keep=keep)
    check_refresh(now.pinned, now.live, old=old, new=new)
    if now.changes:
        rulebook(app).say(_root(app), now.words)
        session.stream.emit(now.live, *warnings_for(app, now.live))
    return now.live


def _root(app: App) -> str:
    return str(app.workspace.root)
