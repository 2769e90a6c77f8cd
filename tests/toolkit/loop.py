"""One tool on the shelf through the real agent loop: the scripted model calls it with `use_tool`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gongfu.core.events import ToolFinished, ToolStarted
from gongfu.core.messages import ResultPart
from gongfu.models.protocol import Request
from gongfu.models.scripted import Call, Say
from tests.app.cast import Cast, opened, results, run


class Played:
    """What came of the calls: their results in order, the events of the turn and the requests that were sent."""

    def __init__(self, results: list[ResultPart], events: list[Any], requests: list[Request]) -> None:
        self.results = results
        self.events = events
        self.requests = requests

    @property
    def text(self) -> str:
        """The text of the last result."""
        return self.results[-1].text

    @property
    def status(self) -> str:
        return self.results[-1].status

    @property
    def finished(self) -> list[ToolFinished]:
        return [e for e in self.events if isinstance(e, ToolFinished)]

    @property
    def started(self) -> list[ToolStarted]:
        return [e for e in self.events if isinstance(e, ToolStarted)]


async def play(
    work: Path,
    *calls: tuple[str, dict[str, Any]],
    direct: bool = False,
    during: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Played:
    """Run `calls` (tool, arguments) one after the other, each through `use_tool` (`direct`: by its own name).

    By itself everything may run (`permission="full"`), and with less every question is answered no; `options` are those
    of `gongfu.open`. `during` sees each event.
    Events and history must name the tool itself.
    """
    steps = [Call(n, a) if direct else Call("use_tool", {"name": n, "arguments": a}) for n, a in calls]
    cast = Cast([*steps, Say("Done.")])
    async with opened(work, cast, **({"permission": "full", "answers": "no"} | options)) as app:
        turn = await run(app, during=during)
        events = [e.event for e in app.journal.read(turn.session.id)]
    played = Played(results(cast.asked[""][-1]), events, cast.asked[""])
    names = [name for name, _ in calls]
    assert [e.name for e in played.finished] == names, [e.result for e in played.finished]
    sent = [part for m in played.requests[-1].messages for part in m.calls]
    assert [part.name for part in sent] == names
    return played


def body(played: Played) -> Any:
    """The last result read as JSON."""
    return msgspec.json.decode(played.text)
