"""What an App tells of its sessions without opening them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from gongfu.core.errors import UserError

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.context.receipt import Receipt
    from gongfu.context.xray import Xray
    from gongfu.retrieval.history import Found
    from gongfu.store.sessions import SessionRow


class Listed:
    """The part of `App` that reads the list of sessions, and their logs. Nothing is locked or changed."""

    def sessions(self, *, everywhere: bool = False, limit: int = 50, children: bool = False) -> list[SessionRow]:
        """Sessions of this workspace (or all), the last active first; with `children` those of sub-agents, too."""
        return _app(self).rows.list(
            None if everywhere else str(_app(self).workspace.root), limit=limit, children=children
        )

    def search(self, words: str, *, everywhere: bool = False, limit: int = 20) -> Sequence[Found]:
        """Sessions of this workspace (or all) in whose titles, prompts or final answers `words` are, best first."""
        from gongfu.retrieval.history import search_history  # no turn needs it

        root = None if everywhere else str(_app(self).workspace.root)
        return search_history(_app(self).database, words, root=root, limit=limit, now=time.time())

    def row(self, id: str = "") -> SessionRow:
        """What the list says of a session, by its id or a unique part of it; "": the latest of this workspace.

        UserError when there is no such session.
        """
        app = _app(self)
        row = app.rows.get(id) if id else app.rows.latest(str(app.workspace.root))
        if row is None:
            raise UserError("app.no_session_here", root=str(app.workspace.root))
        return row

    def xray(self, id: str = "") -> Xray:
        """What the log of a session (by its id or a unique part of it; "": the latest here) tells of its requests.

        Nothing is locked or changed. UserError when there is no such session.
        """
        from gongfu.app.look import look  # no turn needs it

        row = self.row(id)
        return look(row, _app(self).journal.read(row.id))

    def receipts(self, id: str = "") -> tuple[Receipt, ...]:
        """A receipt for each request that a session has sent, in their order; see `xray`."""
        return self.xray(id).receipts


def _app(part: Listed) -> App:
    return cast("App", part)
