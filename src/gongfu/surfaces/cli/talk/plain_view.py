"""What the plain face shows of a session: everything once, as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from gongfu.app import Session
from gongfu.core import events as ev
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.opened import Opened


class Writes(Protocol):
    """Where it is written: whole lines, or words as they come."""

    def show(self, text: str) -> None: ...

    def write(self, text: str) -> None: ...


class PlainView:
    """Follows the events of one session and writes them; it has the methods of `View`."""

    def __init__(self, cli: Cli, session: Session, face: Writes) -> None:
        self._cli = cli
        self._face = face
        self._session = session
        self.compact = False
        self.verbose = cli.verbose
        self.todo_shown = False
        self.moving = False
        self._plain = self._make()

    def _make(self) -> Plain:
        lines = Lines(style=self._cli.out_style, speech=self._cli.say, verbose=self.verbose, talking=True)
        return Plain(lines, stream=True, compact=self.compact)

    def set_view(self, compact: bool | None = None, verbose: bool | None = None) -> None:
        """What is shown from now on."""
        self.compact = self.compact if compact is None else compact
        self.verbose = self.verbose if verbose is None else verbose
        self._plain = self._make()

    def opening(self, columns: int) -> str:
        """What is shown of a session that is opened again."""
        del columns
        title = self._session.title
        return self._cli.say("talk.switched", session=self._session.id, title=title) if title else ""

    def heavy(self, entry: ev.Entry) -> bool:
        """Nothing takes long here."""
        del entry
        return False

    def follow_on(self, shown: Opened) -> None:
        """Nothing of it is told here."""
        del shown

    def feed(self, entry: ev.Entry, columns: int) -> str:
        """Write what an entry brings; nothing is left to show."""
        del columns
        written = self._plain.feed(entry)
        self._face.show(written.head)
        self._face.write(written.out)
        self._face.show(written.err)
        return ""

    def living(self, now: float, columns: int, rows: int) -> Sequence[str]:
        """Nothing is alive here."""
        del now, columns, rows
        return ()

    def status(self, now: float, columns: int) -> Sequence[str]:
        """There is no status line; `/status` tells."""
        del now, columns
        return ()

    def aside(self) -> None:
        """Something that is no event of the session was shown: here nothing depends on that."""

    def stopping(self) -> None:
        """The person stops the turn; it has not ended yet."""
        self._face.show(self._cli.say("talk.stopping"))

    def steered(self, text: str) -> None:
        """Words for the turn that runs were sent."""
        self._face.show(self._cli.say("talk.steering", text=text))
