"""`gongfu models pull`: fetches the embedded model, with its size said first and a progress line."""

from __future__ import annotations

from pathlib import Path

from gongfu.config.paths import Places, places
from gongfu.core.errors import UserError
from gongfu.models.local.download import pull
from gongfu.models.local.models import LocalModel, find_model
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.confirm import can_ask, confirm
from gongfu.surfaces.cli.opening import run_async
from gongfu.surfaces.cli.render.numbers import size


def pull_model(cli: Cli, *, name: str | None, source: str | None, yes: bool) -> int:
    """Fetch the model (the default one when not named) unless it is there already."""
    model = find_model(name or "")
    path = fetch(cli, places(cli.env), model, source=source or "", yes=yes)
    cli.out.line(cli.say("setup.pulled", name=model.name, path=path))
    return 0


def fetch(cli: Cli, found: Places, model: LocalModel, *, source: str = "", yes: bool = False) -> Path:
    """The file of the model, fetched after the person agreed. Raises UserError."""
    cli.note(cli.say("setup.pull_size", title=model.title, size=size(model.size), license=model.license))
    if not yes and not source:
        if not can_ask(cli):
            raise UserError("local.not_agreed", name=model.name, size=size(model.size))
        yes = confirm(cli, cli.say("setup.pull_sure"))
        if not yes:
            raise UserError("local.not_agreed", name=model.name, size=size(model.size))
    progress = Progress(cli)

    async def work() -> Path:
        return await pull(model.name, places=found, env=cli.env, source=source, yes=True, progress=progress)

    try:
        return run_async(work)
    finally:
        progress.end()
