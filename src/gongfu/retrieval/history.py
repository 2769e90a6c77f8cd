"""Sessions found by what was said in them."""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.core.base import Base
from gongfu.retrieval.rank import Doc, factor
from gongfu.store.database import Database
from gongfu.store.history import History, Where
from gongfu.store.sessions import SessionRow, Sessions

_LOOKED_AT = 900


class Found(Base, frozen=True):
    """A session, and the place in it that answers best: `where` it is, its time, a line of it."""

    row: SessionRow
    score: float
    where: Where
    at: float
    snippet: str


def search_history(
    db: Database, words: str, *, root: str | None = None, limit: int = 20, now: float = 0.0
) -> Sequence[Found]:
    """The sessions (of the workspace `root`; None: all) that `words` are found in, best first.

    A score is 0 to 1 as in `rank`, with the age of the place; of equal sessions the one active last comes first.
    """
    rows = {row.id: row for row in Sessions(db).list(root, limit=-1)}
    found: dict[str, Found] = {}
    for place in History(db).find(words, limit=_LOOKED_AT):
        row = rows.get(place.session)
        if row is None:
            continue
        score = min(place.score * factor(Doc(id="", text="", at=place.at), now), 1.0)
        if row.id not in found or score > found[row.id].score:
            found[row.id] = Found(row=row, score=score, where=place.where, at=place.at, snippet=place.snippet)
    order = sorted(found.values(), key=lambda item: (-item.score, -item.row.updated))
    return order[:limit]
