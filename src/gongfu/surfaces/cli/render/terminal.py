"""A turn in a terminal: finished blocks above, what is still going on as a few living lines below."""

from __future__ import annotations

from msgspec.structs import replace

from gongfu.core import events as ev
from gongfu.surfaces.cli.render.agents import Agents
from gongfu.surfaces.cli.render.asked import Asked
from gongfu.surfaces.cli.render.blocks import Further
from gongfu.surfaces.cli.render.calls import Calls
from gongfu.surfaces.cli.render.groups import Groups
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.markdown import MarkdownStream, draw
from gongfu.surfaces.cli.render.numbers import duration, elapsed
from gongfu.surfaces.cli.render.spent import Spent
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.width import wrap

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_WORTH = 1.0  # seconds of thinking that are worth a line
_SHOWN = 6000  # characters at the end of an open block: more than a third of any screen


class Terminal:
    """Feeds on entries; `feed` gives back finished text, `living` the lines that are redrawn below it.

    `symbols` says whether the terminal can show more than ASCII, `compact` whether a batch of calls is one line.
    `columns` is asked whenever something is finished. With `talking` (a conversation goes on) thinking leaves a line,
    and the end of a turn tells less.
    """

    def __init__(
        self,
        lines: Lines,
        *,
        session: str = "",
        quiet: bool = False,
        symbols: bool = True,
        compact: bool = False,
        talking: bool = False,
    ) -> None:
        self._lines = lines
        self._talking = talking
        self._session = session
        self._quiet = quiet
        self._frames = _FRAMES if symbols else _PLAIN_FRAMES
        self.markdown = MarkdownStream()
        self._thinking = ""
        self._thought_since = self._time = 0.0
        self._fed: list[str] = []  # the answer so far, as it was streamed
        self.calls = Calls(lines, gone=talking)
        self.groups = Groups(lines, compact=compact and not quiet)
        self._spent = Spent()
        self.agents = Agents(lines)
        self._asked = Asked(lines, live=True, gone=talking)
        self._waiting: tuple[str, float] | None = None  # what for, and since when
        self._last = "text" if talking else ""  # the kind of what was finished last: "" nothing, "text", "line"
        self._shown = ""  # what the model said in this turn
        self._gave_up = False  # the newest request failed for good, and that was told

    def feed(self, entry: ev.Entry, columns: int) -> str:
        """Finished lines that one entry brings, with a line end each; "" when it brings none."""
        event, self._time = entry.event, entry.time
        match event:
            case ev.TextDelta() | ev.MessagePartial():
                return self._text(event, columns)
            case ev.ReasoningDelta():
                self._thought_since = self._thought_since or entry.time
                self._thinking += event.text
                self._waiting = (self._lines.speech("thinking"), self._waiting[1] if self._waiting else entry.time)
                return ""
            case ev.CallDelta():
                label = self._lines.speech("writing_call", name=event.name, size=event.size)
                self._waiting = (label, self._waiting[1] if self._waiting else entry.time)
                return ""
            case ev.AnswerReceived():
                text = self._answer(event, columns)
                self.calls.follow(entry)
                self.groups.follow(entry)
                return text
            case ev.ToolStarted() | ev.ToolOutput() | ev.ToolFinished() | ev.BatchLabelled():
                return self._tool(entry)
            case ev.QuestionAsked() | ev.QuestionAnswered():
                return self._tool(entry)
            case ev.TurnFinished():
                return self._finish(event, columns)
            case _:
                return self._note(entry, columns)

    def use(self, lines: Lines, *, compact: bool) -> None:
        """From now on show things so."""
        self._lines = self.calls.lines = self.groups.lines = self.agents.lines = self._asked.lines = lines
        self.groups.compact = compact

    def block(self, text: str) -> str:
        """Words that no event of `feed` brings, after what they follow."""
        return self._headers() + self._as("text", text) if text else ""

    def aside(self) -> None:
        """Something that is no event was shown; single lines follow it without a gap."""
        self._last = "line"

    def living(self, now: float, columns: int) -> list[str]:
        """What is alive at `now`: the open block, running calls with their last output, or who is awaited."""
        frame = self._frames[int(now * 10) % len(self._frames)]
        if self.markdown.open.strip():
            return wrap(clean(self.markdown.open.strip("\n")[-_SHOWN:]), columns - 1)
        lines: list[str] = [f"● {header}"] if (header := self.groups.header) else []
        for run in self.calls.running.values():
            tail = [line for line in clean(run.tail).split("\n") if line.strip()][-3:]
            title = self._plain_title(run.started)
            lines += [f"{frame} {title}  {duration(max(0.0, now - run.since))}", *(f"  │ {line}" for line in tail)]
            lines += self.agents.of_call(run.started.call)
        if not self.calls.running and self._waiting:
            what, since = self._waiting
            lines += [f"{frame} {what}  {duration(max(0.0, now - since))}"]
        return lines + self.agents.in_background(frame, now)

    def _plain_title(self, started: ev.ToolStarted) -> str:
        title = clean(started.title).partition("\n")[0]
        return f"{started.name}  {title}" if title else started.name

    def _text(self, event: ev.TextDelta | ev.MessagePartial, columns: int) -> str:
        self._waiting, text = None, event.text
        if isinstance(event, ev.MessagePartial):  # all so far, of which much may have come before
            text = text.removeprefix("".join(self._fed))
        self._fed.append(text)
        return self._thought() + self._blocks(self.markdown.feed(text), columns)

    def _blocks(self, blocks: list[str], columns: int) -> str:
        return self._headers() + "".join(self._block(block, columns) for block in blocks) if blocks else ""

    def _block(self, block: str, columns: int) -> str:
        drawn = draw(block, columns, color=self._lines.style.color)
        if isinstance(block, Further) and self._last == "text" and drawn:
            return drawn + "\n"
        return self._as("text", drawn)

    def _headers(self) -> str:
        """The line of the batches that words or the end follow (compact view)."""
        return self._as("line", "\n".join(self.groups.close()))

    def _as(self, kind: str, text: str) -> str:
        """Text with the empty line that separates it from what came before."""
        if not text:
            return ""
        gap = "\n" if self._last and (kind, self._last) != ("line", "line") else ""
        self._last = kind
        return gap + text + "\n"

    def _thought(self) -> str:
        thinking, self._thinking = self._thinking.strip(), ""
        took, self._thought_since = self._time - self._thought_since if self._thought_since else 0.0, 0.0
        if not self._lines.verbose:
            return self._thought_line(took) if thinking and self._talking and not self.groups.compact else ""
        if not thinking:
            return ""
        shown = "\n".join(self._lines.style.dim(f"│ {line}") for line in clean(thinking).split("\n"))
        return self._headers() + self._as("text", shown)

    def _thought_line(self, took: float) -> str:
        if took < _WORTH:
            return ""
        text = self._lines.style.dim(f"· {self._lines.speech('talk_view.thought', time=elapsed(took))}")
        return self._headers() + self._as("line", text)

    def _answer(self, event: ev.AnswerReceived, columns: int) -> str:
        if event.purpose != "main":
            self._spent.follow(event)
            return ""
        self._waiting = None
        text = event.message.text
        self._shown += text
        fed, self._fed = "".join(self._fed), []
        rest = text.removeprefix(fed) if text.startswith(fed) and not self._quiet else ""
        blocks = self.markdown.feed(rest) if rest.strip() else []
        return self._thought() + self._blocks(blocks + self.markdown.finish(), columns)

    def _tool(self, entry: ev.Entry) -> str:
        lines = self.groups.shown(entry, self.calls.follow(entry))
        lines += filter(None, [self._asked.follow(entry.event)])
        return "" if self._quiet else self._as("line", "\n".join(lines))

    def _finish(self, event: ev.TurnFinished, columns: int) -> str:
        self._waiting = None
        self.calls.running.clear()
        self.agents.working.clear()
        text = self._headers() + self._thought() + self._blocks(self.markdown.finish(), columns)
        if not "".join(self._shown.split()).endswith("".join(event.text.split())):
            text += self._blocks([event.text], columns)
        self._shown = ""
        beside = self._spent.take()
        closing = self._lines.closing(event, self._session, {} if self._talking and not self._lines.verbose else beside)
        if self._gave_up and event.reason == "engine.fault":
            closing = replace(closing, reason=[self._lines.style.yellow(self._lines.speech("talk_view.kept"))])
        return text + self._as("text", "\n".join(closing.reason if self._quiet else closing.all))

    def _note(self, entry: ev.Entry, columns: int) -> str:
        event, speech, broken = entry.event, self._lines.speech, ""
        if agents := self.agents.follow(entry):
            return "" if self._quiet else self._as("line", "\n".join(agents))
        self.calls.follow(entry)
        self.groups.follow(entry)
        if isinstance(event, ev.RequestSent | ev.RequestFailed) and event.purpose != "main":
            return self._as("line", self._lines.note(event, quiet=self._quiet))
        if isinstance(event, ev.RequestSent):
            self._fed, self._gave_up = [], False
            self._waiting = (speech("waiting_for", model=event.model.rpartition("/")[2]), entry.time)
        elif isinstance(event, ev.RequestFailed):
            self._waiting = (speech("waiting_retry"), entry.time) if event.retry_in else None
            self._gave_up = self._talking and event.retry_in is None and not event.next_model
            broken = self._blocks(self.markdown.finish(), columns)
        return broken + self._as("line", self._lines.note(event, quiet=self._quiet))
