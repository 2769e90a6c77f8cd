"""Project rules to look at: what is configured, and what the requests of a session delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.app.rule_words import UNPINNED
from gongfu.app.rules import find_rules, is_corrupt, outgrown_of, root_of, snapshot, words_of
from gongfu.context.receipt import receipts
from gongfu.context.rules.wording import Outgrown, policy_of
from gongfu.core.base import Base
from gongfu.core.duties import Policy
from gongfu.core.errors import Refusal
from gongfu.core.events import Entry, RequestSent
from gongfu.core.told import RulesJoined, RulesPinned

if TYPE_CHECKING:
    from gongfu.app.app import App


class Seen(Base, frozen=True):
    """Rules to look at: of a `session`, or ("") those that a new one would be pinned to.

    `carried` tells of each envelope how many of the session's `requests` held it and which was the last. `live` is the
    fingerprint of what lies on disk now ("" when it cannot be pinned), `other` the latest session here that is
    pinned to something else. `corrupt`: the snapshot is not what was recorded, so the session cannot go on with it.
    """

    session: str
    snapshot: RulesPinned
    joined: tuple[str, ...] = ()
    carried: Mapping[str, tuple[int, str]] = {}
    requests: int = 0
    outgrown: tuple[Outgrown, ...] = ()
    live: str = ""
    other: str = ""
    corrupt: bool = False


def look(app: App, session: str | None) -> Seen:
    """The rules of a session, or of the disk when none is named. Nothing is locked or changed.

    Raises Refusal RULES_LIMIT for what lies on disk.
    """
    if session:
        row = app.rows.get(session)
        return _look_at(app, row.id)
    now = _on_disk(app, "")
    row = app.rows.latest(root_of(app))
    seen = Seen(session="", snapshot=now, outgrown=outgrown_of(app, now), live=now.fingerprint)
    if row is None:
        return seen
    here = row.directory == str(app.workspace.directory)
    of_session = _look_at(app, row.id, live=now.fingerprint if here else None)
    if of_session.snapshot.fingerprint == now.fingerprint:
        return of_session
    return replace(seen, other=row.id) if of_session.snapshot.revision else seen


def _look_at(app: App, id: str, live: str | None = None) -> Seen:
    entries = list(app.journal.read(id))
    pinned = RulesPinned(fingerprint=UNPINNED, revision=0, nonce="", by="")
    joined: list[str] = []
    told = ""
    for entry in entries:
        match entry.event:
            case RulesPinned() as event:
                known = {source.path for source in event.sources}
                pinned, joined, told = event, [path for path in joined if path in known], ""
            case RequestSent(purpose="main", rules=rules):
                told = rules
            case RulesJoined(paths=paths):
                joined += paths
            case _:
                pass
    carried, requests = _carried(entries, pinned)
    if live is None:
        try:
            live = _on_disk(app, id, policy_of(pinned.by), directory=app.rows.get(id).directory).fingerprint
        except Refusal:
            live = ""
    return Seen(
        session=id,
        snapshot=pinned,
        joined=tuple(joined),
        carried=carried,
        requests=requests,
        outgrown=outgrown_of(app, pinned),
        live=live,
        corrupt=is_corrupt(pinned if pinned.revision else None, told),
    )


def _carried(entries: Sequence[Entry], pinned: RulesPinned) -> tuple[dict[str, tuple[int, str]], int]:
    carried: dict[str, tuple[int, str]] = {}
    requests = 0
    for receipt in receipts(entries):
        if receipt.purpose != "main" or receipt.rules != pinned.fingerprint:
            continue
        requests += 1
        for name in {item.id for item in receipt.included if item.id.startswith("rule:")}:
            carried[name] = carried.get(name, (0, ""))[0] + 1, receipt.request
    return carried, requests


def _on_disk(app: App, session: str, policy: Policy = "", *, directory: str = "") -> RulesPinned:
    return snapshot(app, session, find_rules(app, directory=directory), words_of(app), policy=policy)


def revisions(app: App, session: str) -> list[tuple[float, RulesPinned]]:
    """Every snapshot that a session was pinned to, with its time, the first one first."""
    row = app.rows.get(session)
    return [(e.time, e.event) for e in app.journal.read(row.id) if isinstance(e.event, RulesPinned)]
