"""Project rules of a session that begins: found, classified by the operator's words, pinned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.core.duties import Policy, Word
from gongfu.core.errors import Refusal
from gongfu.core.events import WarningRaised
from gongfu.core.told import RulesPinned
from gongfu.store.rulebook import Rulebook

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.context.rules.found import Found
    from gongfu.context.rules.wording import Outgrown
    from gongfu.engine.session import Session


def find_rules(app: App, *, seconds: float = 10.0, directory: str = "") -> Found:
    """The rule files of the app's workspace as they are now; the search for nested ones takes `seconds` at most.

    They are those for work in `directory`, the one that a session began in, where it still is part of the workspace.
    """
    from gongfu.context.rules.discover import discover  # only when a session begins or is asked about its rules

    where = app.workspace
    there = Path(directory) if directory else where.directory
    if there != where.directory and not (there.is_relative_to(where.root) and there.is_dir()):
        there = where.directory
    return discover(root=where.root, directory=there, own=app.places.home / "AGENTS.md", seconds=seconds)


def rulebook(app: App) -> Rulebook:
    """What the operator has said of project rules."""
    return Rulebook(app.database)


def words_of(app: App) -> list[Word]:
    """What the operator has said of the rules of this workspace, the oldest first."""
    return rulebook(app).words(root_of(app))


def pin_for(app: App, session: Session) -> RulesPinned | None:
    """The snapshot for a session that begins; None when there are no rules at all.

    Raises Refusal RULES_LIMIT for files that can be no rules and are not excluded.
    """
    found = find_rules(app, seconds=1.0)
    if not (found.drafts or found.misfits or found.ignored):
        return None
    return snapshot(app, session.id, found, words_of(app), policy=app.options.rules)


def repin_for(app: App, session: Session) -> RulesPinned | None:
    """For a session that goes on: the same texts under the word that was given for this run; None when nothing changes.

    Raises Refusal SNAPSHOT_CORRUPT when the snapshot was tampered with.
    """
    context = session.state.context
    if not app.options.rules or not (context.pinned or context.told_rules):
        return None
    from gongfu.context.rules.snapshot import check_session, under  # only where there are rules

    check_session(context.pinned, context.told_rules)
    return under(context.pinned, app.options.rules, session.id) if context.pinned else None


def is_corrupt(pinned: RulesPinned | None, told: str) -> bool:
    """Whether a session cannot go on with its snapshot; `told` is the fingerprint of its newest receipt since."""
    from gongfu.context.rules.snapshot import check_session  # only where there are rules

    try:
        check_session(pinned, told)
    except Refusal:
        return True
    return False


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


def root_of(app: App) -> str:
    """The project that words are bound to."""
    return str(app.workspace.root)
