"""Earlier sessions and unfinished work, told to a model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gongfu.app.note import UNFINISHED_DAYS, unfinished_note
from gongfu.store.sessions import SessionRow

if TYPE_CHECKING:
    from gongfu.app.app import App

_PIECE = 3_000


class AppPast:
    """The sessions of an app, but the one that asks (see `toolkit.notebook.Past`)."""

    def __init__(self, app: App, session: str) -> None:
        self._app = app
        self._session = session

    def find(self, query: str, since: float, until: float, limit: int, *, everywhere: bool) -> list[str]:
        """A line for each session in question: by words the best first, else the newest."""
        if query:
            found = [
                (hit.row, " ".join(hit.snippet.split()))
                for hit in self._app.search(query, everywhere=everywhere, limit=200)
            ]
        else:
            found = [(row, "") for row in self._app.sessions(everywhere=everywhere, limit=1_000)]
        fitting = [(r, s) for r, s in found if r.updated >= since and r.created < until and r.id != self._session]
        return [_line(row, snippet, everywhere=everywhere) for row, snippet in fitting[:limit]]

    def elsewhere(self, session: str, *, everywhere: bool) -> str:
        """The store, when what is asked for was said in other folders than this one."""
        return elsewhere(self._app, session) if session else str(self._app.places.store) if everywhere else ""

    def read(self, session: str) -> str:
        """The prompts and final answers of a session, bounded, without secrets."""
        from gongfu.app.export.export import read_talk
        from gongfu.app.export.talk import Answer, Words

        talk = read_talk(self._app, session, redact=True)
        lines = [f"{talk.session}: {talk.title} ({_day(talk.at)}, {talk.folder})"]
        for number, turn in enumerate(talk.turns, 1):
            for item in turn.items:
                if isinstance(item, Words | Answer):
                    who = "user" if isinstance(item, Words) else "answer"
                    lines.append(f"[{number}, {who}] {_bounded(item.text)}")
        return "\n".join(lines)

    def unfinished(self) -> str:
        """Open todo items of earlier sessions here, and turns that were interrupted; "" for nothing."""
        app, root = self._app, str(self._app.workspace.root)
        since = time.time() - UNFINISHED_DAYS * 86_400
        parts = [unfinished_note(app.rows.unfinished(root, but=self._session, since=since))]
        rows = [row for row in app.sessions(limit=10) if row.id != self._session]
        parts += [said for row in rows[:5] if (said := self._ended(row))]
        return "\n".join(part for part in parts if part)

    def _ended(self, row: SessionRow) -> str:
        """How the last turn of a session ended, where it did not end by itself."""
        from gongfu.core.errors import UserError

        try:
            from gongfu.app.export.export import read_talk

            talk = read_talk(self._app, row.id, last=True, everything=True)
        except UserError:
            return ""
        turn = talk.turns[-1]
        if turn.ended == "done":
            return ""
        how = turn.reason or turn.ended or "it never came to its end"
        return f"Interrupted: session {row.id} ({_day(row.updated)}), {row.title}: {how}"


def elsewhere(app: App, session: str) -> str:
    """The store, when a session ("": this one) is of another workspace; else ""."""
    from gongfu.core.errors import UserError

    try:
        there = bool(session) and app.rows.get(session).root != str(app.workspace.root)
    except UserError:
        return ""
    return str(app.places.store) if there else ""


def _line(row: SessionRow, snippet: str, *, everywhere: bool) -> str:
    where = f" in {row.directory}" if everywhere else ""
    tail = f": {snippet}" if snippet and snippet != row.title else ""
    return f"{row.id} {_day(row.updated)} {row.title} ({row.turns} turn{'' if row.turns == 1 else 's'}{where}){tail}"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def _bounded(text: str) -> str:
    return text if len(text) <= _PIECE else f"{text[: _PIECE // 2]}\n[…]\n{text[-_PIECE // 2 :]}"
