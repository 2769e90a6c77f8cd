"""`gongfu sessions prune`: delete old sessions for good, and see beforehand what would go."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import UsageError, UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Number, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.pruning import Old, Pruned

_NAMED = 10


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return prune_sessions(cli, **values)

    params: list[click.Parameter] = [
        option(cli, "--older-than", type=Number(), metavar="DAYS"),
        option(cli, "--keep", type=Number(whole=True), key="keep_newest"),
        flag(cli, "--everywhere", "--all", "everywhere", key="all"),
        flag(cli, "--dry-run"),
        flag(cli, "-y", "--yes", key="yes_delete"),
        flag(cli, "--json", "as_json", key="json"),
        *places_options(cli),
    ]
    return Command(cli, "prune", callback, params, key="sessions_prune")


def prune_sessions(
    cli: Cli,
    *,
    older_than: float | None,
    keep: int | None,
    everywhere: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Show which sessions would go, ask, and really delete them."""
    from gongfu.app.pruning import DAY, old_sessions, prune
    from gongfu.surfaces.cli.confirm import confirm
    from gongfu.surfaces.cli.opening import opened, run_async

    if older_than is not None and keep is not None:
        raise UsageError("cli.exclusive", one="--older-than", other="--keep")

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root)) as app:
            days = older_than if older_than is not None or keep is not None else app.settings.retention.days
            if days is None and keep is None:
                raise UsageError("prune.which")
            before = time.time() - (days or 0) * DAY
            old = old_sessions(app, before=before, keep=keep, everywhere=everywhere)
            if not as_json:
                _tell(cli, app, old, everywhere=everywhere)
            if not old or dry_run:
                return _end(cli, old, None, as_json=as_json)
            if not yes and not confirm(cli, cli.say("delete_sure", count=len(old))):
                raise UserError("cli.not_confirmed")
            return _end(cli, old, await prune(app, old), as_json=as_json)

    return run_async(work)


def _tell(cli: Cli, app: App, old: Sequence[Old], *, everywhere: bool) -> None:
    """Which sessions would go: a line for each of the first ones, and how many and how large they are."""
    from gongfu.surfaces.cli.render.numbers import size
    from gongfu.surfaces.cli.style import one_line
    from gongfu.surfaces.cli.width import clip

    if not old:
        cli.note(cli.say("prune.nothing" if everywhere else "prune.nothing_here", root=app.workspace.root))
        return
    columns = cli.size()[0] if cli.out.tty else 0
    for one in old[:_NAMED]:
        place = f"  ({one.row.directory})" if everywhere else ""
        line = f"{one.row.id}  {_day(one.used)}  {size(one.bytes):>9}  {one_line(one.row.title)}{place}"
        cli.out.line(clip(line, columns) if columns else line)
    if len(old) > _NAMED:
        cli.out.line(cli.out_style.dim(cli.say("prune.more", count=len(old) - _NAMED)))
    whole = size(sum(one.bytes for one in old))
    cli.out.line(cli.say("prune.would", count=len(old), size=whole, first=_day(old[0].used), last=_day(old[-1].used)))


def _end(cli: Cli, old: Sequence[Old], done: Pruned | None, *, as_json: bool) -> int:
    from gongfu.surfaces.cli.render.numbers import size
    from gongfu.surfaces.cli.result import to_json

    if as_json:
        chosen = [{"id": o.row.id, "title": o.row.title, "updated": o.used, "bytes": o.bytes} for o in old]
        fields: dict[str, Any] = {"type": "prune", "sessions": chosen, "deleted": [], "busy": [], "freed": 0}
        if done is not None:
            fields |= {"deleted": list(done.gone), "busy": list(done.busy), "freed": done.freed, "shrunk": done.shrunk}
        cli.out.line(to_json(fields))
    elif done is not None:
        cli.out.line(cli.say("prune.done", count=done.sessions, size=size(done.freed)))
        if done.gone and not done.shrunk:
            cli.note(cli.say("prune.not_shrunk"))
        if done.busy:
            cli.note(cli.say("prune.busy", ids=", ".join(done.busy)))
    return 0


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))


async def keep_to_retention(cli: Cli, app: App, session: str) -> None:
    """At the end of a run: delete what `retention.days` lets go, and say so. The run's own session stays."""
    if app.settings.retention.days is None:
        return
    from gongfu.app import pruning

    done = await pruning.keep_to_retention(app, but=session)
    if done is not None:
        cli.note(cli.say("prune.retention", count=done.sessions, days=app.settings.retention.days))
