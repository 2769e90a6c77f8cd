"""What is shown of a session: finished lines, what is alive, and the facts of the status line."""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.app import App, Session
from gongfu.core import events as ev
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.style import clean


class View:
    """Follows the events of one session. Its switches may be turned at any time."""

    def __init__(self, cli: Cli, app: App, session: Session) -> None:
        self._cli = cli
        self._app = app
        self._session = session
        self.compact = False
        self.verbose = cli.verbose
        self._terminal = self._make()
        self._steered: list[str] = []
        self._prompts: dict[str, str] = {}

    def _make(self) -> Terminal:
        lines = Lines(
            style=self._cli.out_style, speech=self._cli.say, verbose=self.verbose, columns=self._cli.size()[0]
        )
        symbols = encodable("⠋●", self._cli.out.encoding) == "⠋●"
        return Terminal(lines, symbols=symbols, compact=self.compact)

    def opening(self, columns: int) -> str:
        """What is shown of a session that is opened again: its last turns."""
        del columns
        return ""

    def feed(self, entry: ev.Entry, columns: int) -> str:
        """Finished lines that an entry brings; "" for none."""
        event = entry.event
        if isinstance(event, ev.PromptQueued):
            self._prompts[event.prompt] = event.message.text
        if isinstance(event, ev.TurnStarted) and event.prompt in self._prompts:
            said = clean(self._prompts.pop(event.prompt))
            style = self._cli.out_style
            return "\n" + "\n".join(
                f"{style.cyan('›' if not at else ' ')} {row}" for at, row in enumerate(said.split("\n"))
            )
        return self._terminal.feed(entry, columns)

    def steered(self, text: str) -> None:
        """Words for the turn that runs were sent; it has not read them yet."""
        self._steered.append(text)

    def living(self, now: float, columns: int, rows: int) -> Sequence[str]:
        """What is alive, painted, no line wider than `columns`."""
        del rows
        return [self._cli.out_style.dim(line) for line in self._terminal.living(now, columns)]

    def status(self, now: float, columns: int) -> Sequence[str]:
        """The status line."""
        del now, columns
        parts = [self._session.model or "-", self._session.permission, self._session.mode]
        return [self._cli.out_style.dim(" " + " · ".join(filter(None, parts)))]

    @property
    def moving(self) -> bool:
        """Whether what is alive changes by itself: time is counted."""
        return self._session.running
