"""Project rules of a session: found, classified by the operator's words, pinned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.duties import Policy, Word
from gongfu.core.told import RulesPinned
from gongfu.store.rulebook import Rulebook

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.context.rules.found import Found
    from gongfu.engine.session import Session


def find_rules(app: App) -> Found:
    """The rule files of the app's workspace as they are on disk now."""
    from gongfu.context.rules.discover import discover  # only when a session begins or is asked about its rules

    where = app.workspace
    return discover(root=where.root, directory=where.directory, own=app.places.home / "AGENTS.md")


def rulebook(app: App) -> Rulebook:
    """What the operator has said of project rules."""
    return Rulebook(app.database)


def words_of(app: App) -> Sequence[Word]:
    """What the operator has said of the rules of this workspace, in order."""
    return rulebook(app).words(str(app.workspace.root))


def pin_for(app: App, session: Session) -> RulesPinned | None:
    """The snapshot for a session that begins; None when there are no rules at all.

    Raises Refusal RULES_LIMIT for files that can be no rules and are not excluded.
    """
    return snapshot(app, session.id, policy=app.options.rules)


def snapshot(
    app: App, session: str, *, revision: int = 1, policy: Policy = "", by: str = "", found: Found | None = None
) -> RulesPinned | None:
    """What would be pinned now; None when there are no rules at all."""
    found = find_rules(app) if found is None else found
    if not (found.drafts or found.misfits or found.ignored):
        return None
    from gongfu.context.rules.snapshot import pin  # only where there are rules

    return pin(found, words_of(app), session=session, revision=revision, policy=policy, by=by)
