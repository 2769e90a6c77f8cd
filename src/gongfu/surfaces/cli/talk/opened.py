"""What is shown of a session that is opened again: the end of it, read from the end of its log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.core.messages import TextPart
from gongfu.engine.state import MAY_GO_ON
from gongfu.surfaces.cli.render.blocks import closes, fence_of
from gongfu.surfaces.cli.render.history import History
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.open_block import plainly
from gongfu.surfaces.cli.render.painted import fitted
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.width import clip, width

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.surfaces.cli.cli import Cli

_PAGE, _PAGES = 96, 4  # entries that are read at a time, and how often
_LEAST, _MOST = 24, 70  # rows that are shown
_FINE = 1200  # characters of Markdown that are drawn thoroughly
_DAY = 86400.0


class Opened(Base, frozen=True):
    """The text, and of the newest request: tokens of context with its budget, and the model."""

    text: str
    context: tuple[int, int] = (0, 0)
    model: str = ""


def opened(cli: Cli, app: App, session: str, lines: Lines, *, compact: bool = False) -> Opened:
    """The last turns of about two screens, what session it is, and whether its last turn may go on.

    Only the end of the log is read, and little Markdown is drawn: the session itself need not be open yet.
    """
    budget = min(_MOST, max(_LEAST, cli.size()[1] * 2 - 8))
    read, chosen = _chosen(app, session, lines.columns, budget)
    if not any(isinstance(entry.event, ev.TurnStarted) for entry in read) and (not read or read[0].seq == 1):
        return Opened(text="")  # a copy that ends before its first prompt
    first = chosen[0].seq if chosen else 0
    chosen = _with_prompts(chosen, read)
    drawer = _Drawer(lines)
    history = History(lines, drawer.draw, compact=compact, talking=True)
    shown = "".join(history.blocks(chosen)).strip("\n")
    style, say = lines.style, lines.speech
    earlier = any(entry.seq < first and isinstance(entry.event, ev.TurnStarted) for entry in read) or (
        bool(read) and read[0].seq > 1
    )
    rows = [style.dim(say("talk_view.earlier")), ""] if earlier else []
    rows = [
        "",
        *rows,
        shown,
        "",
        *(style.dim(row) for row in _about(app, session, lines.columns, say, whole=not earlier)),
    ]
    if _interrupted(read):
        rows.append(style.yellow(say("talk_view.interrupted")))
    return Opened(text=fitted("\n".join(rows), lines.columns), context=_context(read), model=_model(read))


# --- which entries ---


def _chosen(app: App, session: str, columns: int, budget: int) -> tuple[list[ev.Entry], list[ev.Entry]]:
    """What was read of the log, and the last entries of it that fill `budget` rows; they begin with a turn where one
    begins among them.
    """
    read: list[ev.Entry] = []
    shown: list[ev.Entry] = []
    left = budget
    for _ in range(_PAGES):
        page = app.journal.tail(session, _PAGE, before=read[0].seq if read else None)
        read = page + read
        for entry in reversed(page):
            need = _rows(entry.event, columns)
            if need > left:
                if isinstance(entry.event, ev.AnswerReceived) and left > _LEAST // 2:
                    shown.append(_shortened(entry, entry.event, left, columns))
                left = 0
                break
            left -= need
            shown.append(entry)
        if not left or len(page) < _PAGE:
            break
    shown.reverse()
    begins = next((at for at, entry in enumerate(shown) if isinstance(entry.event, ev.TurnStarted)), None)
    whole = read and shown and shown[0].seq == read[0].seq == 1
    return read, shown if begins is None or whole else shown[begins:]


def _rows(event: ev.AnyEvent, columns: int) -> int:
    """About how many rows an event takes."""
    match event:
        case ev.AnswerReceived(purpose="main"):
            return _text_rows(event.message.text, columns)
        case ev.PromptQueued() | ev.MessageAdded():
            return min(12, _text_rows(event.message.text, columns))
        case ev.ToolFinished(display=display):
            return 1 + min(40, str(display.get("diff", "")).count("\n"))
        case ev.TurnFinished():
            return 3
        case _:
            return 0


def _text_rows(text: str, columns: int) -> int:
    return 1 + sum(1 + len(line) // max(8, columns) for line in text.split("\n")) if text.strip() else 0


def _shortened(entry: ev.Entry, event: ev.AnswerReceived, rows: int, columns: int) -> ev.Entry:
    """The answer with the end of its text only; a fence that began before goes on as one."""
    lines = event.message.text.rstrip().split("\n")
    at, left = len(lines), rows
    while at and left > 0:
        at -= 1
        left -= 1 + len(lines[at]) // max(8, columns)
    fence = opener = ""
    for line in lines[:at]:
        if fence and closes(line, fence):
            fence = opener = ""
        elif not fence and (begun := fence_of(line)):
            fence, opener = begun, line
    kept = [*([opener] if opener else []), *lines[at:]]
    text = "\n".join(kept)[-columns * rows :] if len(kept) <= 2 else "\n".join(kept)
    others = tuple(part for part in event.message.parts if not isinstance(part, TextPart))
    message = replace(event.message, parts=(TextPart(text=f"…\n\n{text}"), *others))
    return replace(entry, event=replace(event, message=message))


def _with_prompts(chosen: list[ev.Entry], read: list[ev.Entry]) -> list[ev.Entry]:
    """The entries after the prompts of their turns, wherever those were queued."""
    there = {entry.event.prompt for entry in chosen if isinstance(entry.event, ev.PromptQueued)}
    begun = {entry.event.prompt for entry in chosen if isinstance(entry.event, ev.TurnStarted)}
    before = [e for e in read if isinstance(e.event, ev.PromptQueued) and e.event.prompt in begun - there]
    return before + chosen


def _interrupted(read: list[ev.Entry]) -> bool:
    """Whether the last turn began and never ended, or ended so that it may go on."""
    for entry in reversed(read):
        match entry.event:
            case ev.TurnStarted():
                return True
            case ev.TurnFinished(status=status):
                return status in MAY_GO_ON
            case _:
                pass
    return False


class _Drawer:
    """Draws Markdown: thoroughly what is short, when what does that is loaded; anything else in the cheap way."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._left = _FINE

    def draw(self, text: str) -> str:
        self._left -= len(text)
        columns = self._lines.columns
        if self._left >= 0 and "rich.markdown" in sys.modules:
            from gongfu.surfaces.cli.render.markdown import draw

            return draw(text, columns, color=self._lines.style.color)
        return plainly(text, columns, self._lines.style)


# --- what is told of it ---


def _context(read: list[ev.Entry]) -> tuple[int, int]:
    used = 0
    for entry in reversed(read):
        match entry.event:
            case ev.AnswerReceived(purpose="main", usage=usage) if usage.input and not used:
                used = usage.input + usage.output
            case ev.EpochOpened(after=after) if after and not used:
                used = after
            case ev.RequestSent(purpose="main", estimate=estimate, budget=budget):
                return used or estimate, budget
            case _:
                pass
    return used, 0


def _model(read: list[ev.Entry]) -> str:
    sent = (e.event for e in reversed(read) if isinstance(e.event, ev.RequestSent))
    return next((event.model for event in sent if event.purpose == "main"), "")


def _about(app: App, session: str, columns: int, say: Speech, *, whole: bool) -> list[str]:
    """Title, turns, age, and how to see all of it: one line, or two where it has no room."""
    row = app.rows.get(session)
    turns = "1 turn" if row.turns == 1 and say.language == "en" else say("talk_view.turns", count=row.turns)
    facts = [turns, age(time.time() - row.updated, say)]
    see = "" if whole else say("talk_view.all_of_it", session=session)
    facts_text = " · ".join(facts)
    title = one_line(row.title) or session
    line = " · ".join(filter(None, (title, facts_text, see)))
    if width(line) <= columns:
        return [line]
    short = clip(title, max(8, columns - width(facts_text) - 3))
    return [f"{short} · {facts_text}", *([see] if see else [])]


def age(seconds: float, say: Speech) -> str:
    """How long ago something was, in words."""
    if seconds < 90:
        return say("talk_view.just_now")
    if seconds < 5400:
        return say("talk_view.minutes", count=round(seconds / 60))
    if seconds < _DAY:
        return say("talk_view.hours", count=round(seconds / 3600))
    days = int(seconds / _DAY)
    return say("talk_view.yesterday") if days == 1 else say("talk_view.days", count=days)
