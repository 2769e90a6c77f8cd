"""`gongfu models pull`: fetches the embedded model, with its size said first and a line of progress."""

from __future__ import annotations

import time
from pathlib import Path

from gongfu.config.paths import Places, places
from gongfu.core.errors import Refusal
from gongfu.models.local.download import estimate, model_path, pull
from gongfu.models.local.meter import Progress
from gongfu.models.local.models import LocalModel, find_model
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.confirm import can_ask, confirm
from gongfu.surfaces.cli.opening import run_async
from gongfu.surfaces.cli.render.numbers import duration, size
from gongfu.surfaces.cli.width import clip

_SLOW, _FAST = 1_000_000, 10_000_000  # bytes a second, for the two estimates
_QUIET = 15.0  # seconds between two lines of progress without a terminal


def pull_model(cli: Cli, *, name: str | None, source: str | None, yes: bool) -> int:
    """Fetch the model (the default one when not named) unless it is there already."""
    model = find_model(name or "")
    path = fetch(cli, places(cli.env), model, source=source or "", yes=yes)
    cli.out.line(cli.say("setup.pulled", name=model.name, path=path))
    return 0


def fetch(cli: Cli, found: Places, model: LocalModel, *, source: str = "", yes: bool = False) -> Path:
    """The file of the model, fetched after the person agreed. Raises UserError, Refusal without a yes."""
    there = model_path(found, model.name)
    if there:
        return there
    if not source:
        left = estimate(model.name, found).left
        cli.note(
            cli.say(
                "setup.pull_size", title=model.title, size=size(left), license=model.license,
                slow=duration(left / _SLOW), fast=duration(left / _FAST),
            )
        )  # fmt: skip
    if not (yes or source or (can_ask(cli) and confirm(cli, cli.say("setup.pull_sure")))):
        raise Refusal("local.not_agreed", name=model.name, size=size(model.size))
    line = ProgressLine(cli)
    try:
        return run_async(
            lambda: pull(model.name, places=found, env=cli.env, source=source, yes=True, progress=line.show)
        )
    finally:
        line.end()


class ProgressLine:
    """How far a download is: one line that is rewritten in a terminal, now and then a new one elsewhere."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self._live = cli.err.tty and not cli.dumb
        self._last = 0.0
        self._open = False

    def show(self, progress: Progress) -> None:
        """Take in the newest state."""
        text = progress_text(self._cli, progress, bar=self._live)
        if self._live:
            columns, _ = self._cli.size()
            self._cli.err.write(f"\r\x1b[K{clip(text, columns - 1)}")
            self._open = True
        elif time.monotonic() - self._last > _QUIET:
            self._last = time.monotonic()
            self._cli.err.line(text)

    def end(self) -> None:
        """Leave the line as it stands."""
        if self._open:
            self._cli.err.line()
            self._open = False


def progress_text(cli: Cli, progress: Progress, *, bar: bool = True) -> str:
    """How far it is, in a line."""
    say = cli.say
    share = progress.done / progress.total if progress.total else 0.0
    drawn = "█" * round(share * 24) + "░" * (24 - round(share * 24)) if bar else ""
    if progress.phase == "check":
        return f"{drawn} {say('setup.pull_checking', percent=int(share * 100))}".strip()
    left = duration(progress.left) if progress.left is not None else "?"
    text = say(
        "setup.pulling", done=size(progress.done), total=size(progress.total), percent=int(share * 100),
        rate=size(int(progress.rate)), left=left, source=progress.source,
    )  # fmt: skip
    return f"{drawn} {text}".strip()
