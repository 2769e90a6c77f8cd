"""The tools kb (notes) and history (earlier sessions)."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, Protocol, TypeAlias

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure, UserError
from gongfu.knowledge.notes import Note, Notes
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Tool

Action: TypeAlias = Literal["add", "update", "read", "search", "index", "history", "delete"]
_MOST = 50
_PIECE = 400


class Past(Protocol):
    """What is known of earlier sessions."""

    def find(self, query: str, since: float, until: float, limit: int, *, everywhere: bool) -> list[str]:
        """A line for each session in question, best or newest first. Times are seconds since 1970."""
        ...

    def elsewhere(self, session: str, *, everywhere: bool) -> str:
        """The file that is read when a question is about other folders than this project; "" when it is not."""
        ...

    def read(self, session: str) -> str:
        """The prompts and final answers of a session. UserError when there is none."""
        ...


class NotebookTools:
    """kb and history of one session. `notes(shared)` opens this project's notes, or the person's own."""

    def __init__(self, notes: Callable[[bool], Notes], past: Past) -> None:
        self._notes = notes
        self._past = past

    def __iter__(self) -> Iterator[Tool]:
        yield self.kb
        yield self.history

    async def _kb_facts(self, args: dict[str, Any]) -> Facts:
        about = str(args.get("title") or args.get("query") or "")
        return Facts(access=("read",), title=f"{args['action']} {about}".strip())

    def _kb_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="kb", write=args["action"] in ("add", "update", "delete")),)

    @tool(access="read", facts=_kb_facts, claims=_kb_claims)
    async def kb(  # noqa: PLR0917  (the model's arguments)
        self,
        action: Action,
        title: str = "",
        text: str = "",
        tags: list[str] | None = None,
        query: str = "",
        append: bool = False,
        shared: bool = False,
    ) -> Outcome:
        notes = self._notes(shared)
        match action:
            case "add":
                return _kept("Added", notes.add(title, text, tags or ()))
            case "update":
                return _kept("Updated", notes.update(title, text, tags, append=append))
            case "delete":
                return _kept("Deleted", notes.delete(title))
            case "read":
                note = notes.read(title)
                return Outcome(text=f"{_head(note)}\n\n{note.text}", display=text_display(note.text, note.title))
            case "history":
                return _listed([f"version {n.version}, {_day(n.at)}: {_piece(n.text)}" for n in notes.versions(title)])
            case "index":
                return _listed([_head(note) for note in notes.all()], "There are no notes yet.")
            case "search":
                if not query.strip():
                    raise ToolFailure("query is empty; `index` lists all titles")
                found = notes.search(query, 10)
                return _listed([f"{_head(n)}\n  {_piece(n.text)}" for n in found], "No note fits.")

    async def _history_facts(self, args: dict[str, Any]) -> Facts:
        session = str(args.get("session") or "").strip()
        beyond = self._past.elsewhere(session, everywhere=bool(args.get("everywhere")))
        title = str(session or args.get("query") or "")
        return Facts(access=("read",), paths=(beyond,) if beyond else (), title=title)

    @tool(access="read", facts=_history_facts)
    async def history(
        self,
        query: str = "",
        session: str = "",
        since: str = "",
        until: str = "",
        everywhere: bool = False,
        limit: int = 10,
    ) -> Outcome:
        if session.strip():
            try:
                text = self._past.read(session.strip())
            except UserError as error:
                raise ToolFailure(str(error)) from error
            return Outcome(text=text, display=text_display("", session.strip()))
        first, last = _date(since, "since"), _date(until, "until")
        if limit < 1:
            raise ToolFailure(f"limit must be at least 1; arrived: {limit}")
        end = last + 86_400 if last else time.time() + 1
        lines = self._past.find(query.strip(), first, end, min(limit, _MOST), everywhere=everywhere)
        return _listed(lines, "No earlier session fits.")


def _date(text: str, name: str) -> float:
    if not text.strip():
        return 0.0
    try:
        return dt.datetime.strptime(text.strip(), "%Y-%m-%d").astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise ToolFailure(f"{name} must be a date such as 2026-01-31; arrived: {text!r}") from None


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def _head(note: Note) -> str:
    tags = f" [{', '.join(note.tags)}]" if note.tags else ""
    return f"{note.title}{tags} ({_day(note.at)}, {len(note.text):,} characters)"


def _piece(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PIECE else f"{line[: _PIECE - 1]}…"


def _kept(what: str, note: Note) -> Outcome:
    return Outcome(text=f"{what} note: {_head(note)}", display=text_display(note.text, f"{what.lower()} {note.title}"))


def _listed(lines: list[str], nothing: str = "") -> Outcome:
    return Outcome(
        text="\n".join(lines) or nothing,
        display={"kind": "list", "items": lines, "total": len(lines), "summary": f"{len(lines)} found"},
    )
