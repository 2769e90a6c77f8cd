"""A view of a session that is fed by hand, and what it has shown."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gongfu.core import events as ev
from gongfu.core.messages import CallPart, Message, TextPart, user
from gongfu.core.specs import Usage
from gongfu.models.scripted import Say
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.painted import bare, cells
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.talk.view import View
from tests.app.cast import Cast, opened


class Shown:
    """Feeds events to a view; `text` is what was finished so far, without paint."""

    def __init__(self, view: View, session: Any, columns: int, rows: int) -> None:
        self.view, self.session = view, session
        self.columns, self.rows = columns, rows
        self.time, self.seq = 1000.0, 0
        self.painted = ""

    @property
    def text(self) -> str:
        return bare(self.painted)

    def feed(self, *events: ev.AnyEvent, after: float = 0.0) -> str:
        """Feed events, `after` seconds after the ones before; what they bring."""
        self.time += after
        text = ""
        for event in events:
            if event.durable:
                self.seq += 1
                self.session.state.apply(event)
            text += self.view.feed(ev.Entry(seq=self.seq, time=self.time, event=event), self.columns)
        self.painted += text
        self.check(text)
        self.living()
        return bare(text)

    def check(self, text: str) -> None:
        assert max(map(cells, text.split("\n"))) <= self.columns, text
        assert "\n\n\n" not in bare(self.painted)

    def living(self, after: float = 0.0) -> list[str]:
        """What is alive `after` seconds from now, without paint."""
        rows = self.view.living(self.time + after, self.columns, self.rows)
        assert len(rows) <= max(1, self.rows // 3)
        assert all(cells(row) <= self.columns for row in rows), rows
        return [bare(row) for row in rows]

    def status(self) -> str:
        (line,) = self.view.status(self.time, self.columns)
        assert cells(line) <= self.columns
        return bare(line)

    # --- events ---

    def prompt(self, text: str, **more: Any) -> str:
        """A prompt whose turn begins at once."""
        return self.feed(queued("p", text, **more), turn("p"))


def queued(prompt: str, text: str, **more: Any) -> ev.PromptQueued:
    return ev.PromptQueued(prompt=prompt, message=user(text, images=more.pop("images", ()), id=prompt), **more)


def turn(prompt: str = "", **more: Any) -> ev.TurnStarted:
    return ev.TurnStarted(turn="t", model="lab/quick-1", permission="ask", prompt=prompt, **more)


def sent(request: str = "r", **more: Any) -> ev.RequestSent:
    return ev.RequestSent(request=request, purpose="main", model="lab/quick-1", **more)


def answer(text: str = "", *calls: tuple[str, str], **more: Any) -> ev.AnswerReceived:
    parts = (*([TextPart(text=text)] if text else []), *(CallPart(id=id, name=name) for id, name in calls))
    return ev.AnswerReceived(request="r", message=Message(role="assistant", parts=parts), **more)


def done(text: str = "", **more: Any) -> ev.TurnFinished:
    usage = Usage(input=12_345, cached=10_000, output=678)
    given: dict[str, Any] = {"status": "done", "usage": usage, "cost": 0.0123, "steps": 2, "seconds": 12.3, **more}
    return ev.TurnFinished(turn="t", text=text, **given)


@asynccontextmanager
async def shown(
    work: Path,
    *,
    columns: int = 80,
    rows: int = 24,
    language: str = "en",
    color: bool = False,
    encoding: str = "utf-8",
) -> AsyncGenerator[Shown]:
    """A view of a new session in the folder `work`."""
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    cli = Cli([], {"GONGFU_LANGUAGE": language, "TERM": "xterm"}, stdin=None, stdout=out, stderr=io.StringIO())
    cli.out_style = Style(color=color)
    work.mkdir()
    async with opened(work, Cast([Say("ok")])) as app:
        session = await app.session()
        yield Shown(View(cli, app, session), session, columns, rows)
