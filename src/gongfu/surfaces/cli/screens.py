"""Where the events of a turn go: a terminal, plain streams, one JSON object, or JSON lines."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias, cast

import msgspec

from gongfu.core import events as ev
from gongfu.core.version import __version__
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.output import enable_ansi, encodable
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain
from gongfu.surfaces.cli.render.spent import Spent
from gongfu.surfaces.cli.result import label_fields, result_fields, to_json

View: TypeAlias = Literal["full", "compact", "quiet"]


class Screen(Protocol):
    """What a turn is shown on."""

    animated: bool
    reader: int
    """The pipe of the one for whom all this is, where its end ends the turn too; else -1."""

    def feed(self, entry: ev.Entry) -> None:
        """Show one entry."""
        ...

    def tick(self, now: float) -> None:
        """Redraw what is alive at `now` (seconds since 1970)."""
        ...

    def note(self, text: str) -> None:
        """Say something besides the events."""
        ...

    def pause(self) -> None:
        """Keep still: somebody answers a question."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def finish(self, finished: ev.TurnFinished) -> None:
        """The turn is over."""
        ...


class _Still:
    """What screens share that never redraw."""

    animated = False
    reader = -1

    def __init__(self, cli: Cli) -> None:
        self._cli = cli

    def tick(self, now: float) -> None:
        del now

    def note(self, text: str) -> None:
        """Standard error is free for it."""
        self._cli.note(text)

    def pause(self) -> None:
        """Nothing moves."""

    def resume(self) -> None:
        """Nothing was held back."""

    def finish(self, finished: ev.TurnFinished) -> None:
        del finished


class PlainScreen(_Still):
    """No terminal, or one that cannot move its cursor."""

    def __init__(self, cli: Cli, session: str, *, view: View) -> None:
        super().__init__(cli)
        lines = Lines(style=cli.err_style, speech=cli.say, verbose=cli.verbose)
        quiet, compact = view == "quiet", view == "compact"
        self._plain = Plain(lines, session=session, quiet=quiet, compact=compact, stream=cli.out.tty)

    def feed(self, entry: ev.Entry) -> None:
        written = self._plain.feed(entry)
        if written.head:
            self._cli.err.write(written.head)
        if written.out:
            self._cli.out.write(written.out)
        if written.err:
            self._cli.err.write(written.err)


class TerminalScreen:
    """A terminal that can be drawn on."""

    animated = True
    reader = -1

    def __init__(self, cli: Cli, session: str, *, view: View) -> None:
        from gongfu.surfaces.cli.render.painter import Painter  # a run without a terminal needs neither
        from gongfu.surfaces.cli.render.terminal import Terminal

        enable_ansi()
        self._cli = cli
        columns, _ = cli.size()
        lines = Lines(style=cli.out_style, speech=cli.say, verbose=cli.verbose, columns=columns)
        symbols = encodable("⠋●", cli.out.encoding) == "⠋●"
        quiet, compact = view == "quiet", view == "compact"
        self._terminal = Terminal(lines, session=session, quiet=quiet, compact=compact, symbols=symbols)
        self._painter = Painter(cli.out, cli.size, cli.out_style.dim)

    def feed(self, entry: ev.Entry) -> None:
        columns, _ = self._cli.size()
        done = self._terminal.feed(entry, columns)
        if done:
            self._painter.commit(done, self._terminal.living(entry.time, columns))

    def tick(self, now: float) -> None:
        self._painter.live(self._terminal.living(now, self._cli.size()[0]))

    def note(self, text: str) -> None:
        self._painter.commit(self._cli.out_style.dim(text))

    def pause(self) -> None:
        self._painter.pause()

    def resume(self) -> None:
        self._painter.resume()

    def finish(self, finished: ev.TurnFinished) -> None:
        del finished


class JsonScreen(_Still):
    """One object at the end; warnings and retries on standard error meanwhile."""

    def __init__(self, cli: Cli, session: str, *, quiet: bool, structured: bool) -> None:
        super().__init__(cli)
        self._session = session
        self._structured = structured
        self._quiet = quiet
        self._lines = Lines(style=cli.err_style, speech=cli.say)
        self._spent = Spent()
        self._labels: list[dict[str, Any]] = []

    def feed(self, entry: ev.Entry) -> None:
        match entry.event:
            case ev.WarningRaised():
                self._cli.err.line(self._lines.warning(entry.event))
            case ev.RequestFailed(purpose="main") if not self._quiet:
                self._cli.err.line(self._lines.retry(entry.event))
            case ev.BatchLabelled():
                self._labels.append(label_fields(entry.event))
            case _:
                self._spent.follow(entry.event)

    def finish(self, finished: ev.TurnFinished) -> None:
        fields = result_fields(
            finished, self._session, self._cli.say, structured=self._structured, beside=self._spent.take()
        )
        if self._labels:
            fields["tool_use_summaries"] = self._labels
        self._cli.out.line(to_json(fields))


class StreamJsonScreen(_Still):
    """A header, one event a line, and the result object last."""

    def __init__(self, cli: Cli, session: str, *, structured: bool) -> None:
        super().__init__(cli)
        self._session = session
        self._structured = structured
        self._spent = Spent()
        self.reader = cli.out.pipe
        cli.out.line(to_json({"type": "session", "session": session, "version": __version__, "format": 1}))

    def feed(self, entry: ev.Entry) -> None:
        self._spent.follow(entry.event)
        self._cli.out.line(entry_json(entry))

    def finish(self, finished: ev.TurnFinished) -> None:
        fields = result_fields(
            finished, self._session, self._cli.say, structured=self._structured, beside=self._spent.take()
        )
        self._cli.out.line(to_json(fields))


def entry_json(entry: ev.Entry) -> str:
    """One line of `--stream-json`: `seq`, `time`, `type`, then the event's own fields.

    A label is a `tool_use_summary` there: its text with the ids of the calls before it.
    """
    if isinstance(entry.event, ev.BatchLabelled):
        return to_json({"seq": entry.seq, "time": round(entry.time, 3), **label_fields(entry.event)})
    fields = cast("dict[str, Any]", msgspec.to_builtins(entry.event))
    kind = fields.pop("type")
    return to_json({"seq": entry.seq, "time": round(entry.time, 3), "type": kind, **fields})


def choose(cli: Cli, session: str, *, form: str, view: View, structured: bool) -> Screen:
    """The screen for the form asked ("", "json", "stream"), how much is shown on it, and the streams there are.

    An answer that must follow a schema is data: it is never drawn as Markdown.
    """
    if form == "json":
        return JsonScreen(cli, session, quiet=view == "quiet", structured=structured)
    if form == "stream":
        return StreamJsonScreen(cli, session, structured=structured)
    if cli.out.tty and not cli.dumb and not structured:
        return TerminalScreen(cli, session, view=view)
    return PlainScreen(cli, session, view=view)
