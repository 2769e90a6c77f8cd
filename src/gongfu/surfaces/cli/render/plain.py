"""A turn without a terminal: the answer for standard output, everything else for standard error."""

from __future__ import annotations

from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.surfaces.cli.render.agents import Agents
from gongfu.surfaces.cli.render.asked import Asked
from gongfu.surfaces.cli.render.calls import Calls
from gongfu.surfaces.cli.render.groups import Groups
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.spent import Spent
from gongfu.surfaces.cli.style import clean


class Written(Base, frozen=True):
    """Text for the two standard streams: `head` goes to standard error before the rest."""

    out: str = ""
    err: str = ""
    head: str = ""


class Plain:
    """Feeds on entries and gives back what to write.

    The answer (the turn's last words) goes to `out` once it is known, so that a redirected file holds it alone.
    With `stream` (a terminal that cannot move its cursor) every word goes to `out` as it comes. `quiet` leaves only
    the answer, faults that end a turn and warnings; `compact` makes one line of a batch of calls.
    """

    def __init__(
        self, lines: Lines, *, session: str = "", quiet: bool = False, stream: bool = False, compact: bool = False
    ) -> None:
        self._lines = lines
        self._session = session
        self._quiet = quiet
        self._stream = stream
        self._calls = Calls(lines)
        self._groups = Groups(lines, compact=compact and not quiet)
        self._spent = Spent()
        self._agents = Agents(lines)
        self._asked = Asked(lines, live=True)
        self._text = ""
        self._thinking = ""
        self._shown = ""  # the last answer that has gone to `out` already

    def feed(self, entry: ev.Entry) -> Written:
        """What one entry adds."""
        event = entry.event
        match event:
            case ev.TextDelta() | ev.MessagePartial():
                return self._delta(event.text)
            case ev.ReasoningDelta():
                self._thinking += event.text if self._lines.verbose else ""
                return Written()
            case ev.AnswerReceived():
                written = self._answer(event)
                self._calls.follow(entry)
                self._groups.follow(entry)
                return written
            case ev.TurnFinished():
                return self._finish(event)
            case ev.RequestFailed():
                return self._failed(event)
            case _:
                return self._note(entry)

    def _delta(self, text: str) -> Written:
        self._text += text
        return Written(out=clean(text), head=self._headers()) if self._stream else Written()

    def _headers(self) -> str:
        """The line of the batches that words or the end follow (compact view)."""
        return _line("\n".join(self._groups.close()))

    def _answer(self, event: ev.AnswerReceived) -> Written:
        if event.purpose != "main":
            self._spent.follow(event)
            return Written()
        thinking, self._thinking = self._thinking.strip(), ""
        streamed, self._text = self._text, ""
        text = event.message.text
        style = self._lines.style
        err = "".join(f"{style.dim('│ ' + line)}\n" for line in clean(thinking).split("\n")) if thinking else ""
        if self._stream:
            self._shown = text
            return Written(out="\n" if streamed and not streamed.endswith("\n") else "", err=err)
        if text.strip():
            err = self._headers() + err
        if event.message.calls and text.strip() and not self._quiet:
            err += clean(text.strip()) + "\n"
        return Written(err=err)

    def _failed(self, event: ev.RequestFailed) -> Written:
        if event.purpose != "main":
            return Written()
        broken = "\n" if self._stream and self._text else ""
        self._text = ""
        return Written(out=broken, err=_line(self._lines.note(event, quiet=self._quiet)))

    def _finish(self, event: ev.TurnFinished) -> Written:
        text = event.text
        out = "" if self._stream and text.strip() == self._shown.strip() else text
        if out and not out.endswith("\n"):
            out += "\n"
        closing = self._lines.closing(event, self._session, self._spent.take())
        lines = closing.reason if self._quiet else closing.all
        return Written(out=out, head=self._headers(), err="".join(line + "\n" for line in lines))

    def _note(self, entry: ev.Entry) -> Written:
        lines = self._calls.follow(entry) + self._agents.follow(entry)
        lines = self._groups.shown(entry, lines)
        lines += filter(None, [self._asked.follow(entry.event)])
        if lines:
            return Written(err="" if self._quiet else _line("\n".join(lines)))
        return Written(err=_line(self._lines.note(entry.event, quiet=self._quiet)))


def _line(text: str) -> str:
    return f"{text}\n" if text else ""
