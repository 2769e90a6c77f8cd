"""`gongfu sessions`: what was talked about here, and deleting it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import UsageError, UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, Number, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.store.sessions import SessionRow


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    listing = [
        flag(cli, "--all", "everywhere"),
        flag(cli, "--agents"),
        option(cli, "--limit", type=Number(whole=True), default=20),
        flag(cli, "--json", "as_json", key="json"),
        *places_options(cli),
    ]

    def sessions(**values: Any) -> int:
        return list_sessions(cli, **values)

    def delete(**values: Any) -> int:
        return delete_sessions(cli, **values)

    def search(**values: Any) -> int:
        return search_sessions(cli, **values)

    words: list[click.Parameter] = [click.Argument(["words"], nargs=-1, required=True, metavar="WORDS...")]
    looking = [
        flag(cli, "--all", "everywhere"),
        option(cli, "--limit", type=Number(whole=True), default=20),
        flag(cli, "--json", "as_json", key="json"),
        *places_options(cli),
    ]
    ids: list[click.Parameter] = [click.Argument(["ids"], nargs=-1, required=True, metavar="ID...")]
    confirm = flag(cli, "-y", "--yes", key="yes_delete")
    return Group(
        cli,
        "sessions",
        {
            "list": lambda: Command(cli, "list", sessions, listing, key="sessions_list"),
            "search": lambda: Command(cli, "search", search, [*words, *looking], key="sessions_search"),
            "delete": lambda: Command(
                cli, "delete", delete, [*ids, confirm, *places_options(cli)], key="sessions_delete"
            ),
            "prune": lambda: prune_command(cli),
        },
        listing,
        alone=sessions,
    )


def prune_command(cli: Cli) -> click.Command:
    """`gongfu sessions prune`."""
    from gongfu.surfaces.cli.prune import build as build_prune

    return build_prune(cli)


def list_sessions(
    cli: Cli, *, everywhere: bool, agents: bool, limit: int, as_json: bool, config: str | None, root: str | None
) -> int:
    """Print the sessions of this workspace, or all; with `agents` those of sub-agents, too."""
    from gongfu.surfaces.cli.opening import with_app
    from gongfu.surfaces.cli.render.numbers import money, tokens
    from gongfu.surfaces.cli.render.table import table
    from gongfu.surfaces.cli.result import to_json
    from gongfu.surfaces.cli.style import one_line

    rows, where = with_app(
        cli,
        Opening(config=config or "", root=root),
        lambda app: (app.sessions(everywhere=everywhere, limit=limit, children=agents), app.workspace.root),
    )
    if as_json:
        cli.out.line(to_json({"type": "sessions", "sessions": [row_fields(row) for row in rows]}))
        return 0
    if not rows:
        cli.note(cli.say("no_sessions" if everywhere else "no_sessions_here", root=where))
        return 0
    lines = [
        [
            row.id,
            when(row.updated),
            str(row.turns),
            tokens(row.tokens),
            money(row.cost) if row.cost is not None else "-",
            one_line(f"{row.title}{f'  ({row.directory})' if everywhere else ''}"),
        ]
        for row in rows
    ]
    head = [cli.say(f"head_{name}") for name in ("session", "active", "turns", "tokens", "cost", "title")]
    width = cli.size()[0] if cli.out.tty else 0
    shown = table([head, *lines], columns=width, right=(2, 3, 4), spare=(3, 2, 4, 1), least=16)
    cli.out.line("\n".join([cli.out_style.dim(shown[0]), *shown[1:]]))
    return 0


def search_sessions(
    cli: Cli,
    *,
    words: tuple[str, ...],
    everywhere: bool,
    limit: int,
    as_json: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Print the sessions in which the words were said, each with the place that matches best."""
    from gongfu.surfaces.cli.opening import with_app
    from gongfu.surfaces.cli.result import to_json
    from gongfu.surfaces.cli.style import clean, one_line
    from gongfu.surfaces.cli.width import NARROW, clip

    query = " ".join(words)
    if not query.strip():
        raise UsageError("cli.missing_parameter", name="WORDS")
    found, where = with_app(
        cli,
        Opening(config=config or "", root=root),
        lambda app: (app.search(query, everywhere=everywhere, limit=limit), app.workspace.root),
    )
    if as_json:
        places = [
            {**row_fields(one.row), "score": one.score, "where": one.where, "at": one.at, "snippet": one.snippet}
            for one in found
        ]
        cli.out.line(to_json({"type": "sessions", "query": query, "sessions": places}))
        return 0
    if not found:
        cli.note(cli.say("history.nothing" if everywhere else "history.nothing_here", root=where))
        return 0
    dim, columns = cli.out_style.dim, cli.size()[0] if cli.out.tty else 0
    for one in found:
        title = one_line(f"{one.row.title}{f'  ({one.row.directory})' if everywhere else ''}")
        moment = f"  {dim(when(one.at))}" if not columns or columns >= NARROW else ""
        room = columns - len(one.row.id) - (20 if moment else 2)
        cli.out.line(f"{one.row.id}{moment}  {clip(title, max(16, room)) if columns else title}")
        if one.where != "title":
            said = cli.say(f"history.{one.where}")
            cli.out.line(f"    {dim(f'{said}:')} {clean(one.snippet)}")
    return 0


def row_fields(row: SessionRow) -> dict[str, Any]:
    """All fields of a session, the empty ones included."""
    return {name: getattr(row, name) for name in row.__struct_fields__}


def when(moment: float) -> str:
    """A moment to the minute, in local time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def delete_sessions(cli: Cli, *, ids: tuple[str, ...], yes: bool, config: str | None, root: str | None) -> int:
    """Really delete sessions: their events and their outputs."""
    from gongfu.surfaces.cli.confirm import confirm
    from gongfu.surfaces.cli.opening import opened, run_async

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root)) as app:
            rows = [app.rows.get(name) for name in ids]
            for row in rows:
                cli.note(f"{row.id}  {row.title}")
            if not yes and not confirm(cli, cli.say("delete_sure", count=len(rows))):
                raise UserError("cli.not_confirmed")
            for row in rows:
                gone = await app.delete(row.id)
                cli.out.line(cli.say("deleted", ids=", ".join(gone)))
        return 0

    if not all(ids):
        raise UsageError("cli.missing_parameter", name="ID")
    return run_async(work)
