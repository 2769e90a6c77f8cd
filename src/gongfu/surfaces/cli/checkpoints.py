"""`gongfu checkpoints`: the turns that changed files, what each changed, and files as they were at one of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, flag
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app.kept_list import Change, Line


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    where = places_options(cli)
    as_json = flag(cli, "--json", "as_json", key="json")

    def listed(**values: Any) -> int:
        return list_checkpoints(cli, **values)

    def alone(**values: Any) -> int:
        return listed(session=None, **values)

    def show(**values: Any) -> int:
        return show_checkpoint(cli, **values)

    def restore(**values: Any) -> int:
        from gongfu.surfaces.cli.undo import give

        name = values.pop("checkpoint")
        return give(
            cli, lambda app, agree, args: app.restore(name, force=args["force"], agree=agree), session="", **values
        )

    from gongfu.surfaces.cli.undo import giving_options

    session: click.Parameter = click.Argument(["session"], required=False, metavar="[SESSION]")
    one: click.Parameter = click.Argument(["checkpoint"], metavar="ID")
    diff = flag(cli, "--diff", key="checkpoints_diff")
    return Group(
        cli,
        "checkpoints",
        {
            "list": lambda: Command(cli, "list", listed, [session, as_json, *where], key="checkpoints_list"),
            "show": lambda: Command(cli, "show", show, [one, diff, as_json, *where], key="checkpoints_show"),
            "restore": lambda: Command(cli, "restore", restore, [one, *giving_options(cli)], key="checkpoints_restore"),
        },
        [as_json, *where],
        alone=alone,
    )


def list_checkpoints(cli: Cli, *, session: str | None, as_json: bool, config: str | None, root: str | None) -> int:
    """Print the turns of a session that changed files, the oldest first."""
    from gongfu.surfaces.cli.opening import opened, run_async
    from gongfu.surfaces.cli.render.numbers import size
    from gongfu.surfaces.cli.render.table import table
    from gongfu.surfaces.cli.result import to_json
    from gongfu.surfaces.cli.style import one_line

    async def work() -> tuple[str, list[Line]]:
        from gongfu.app.kept_list import lines_of

        async with opened(cli, Opening(config=config or "", root=root)) as app:
            return await lines_of(app, session or "")

    name, rows = run_async(work)
    if as_json:
        cli.out.line(to_json({"type": "checkpoints", "session": name, "checkpoints": [_fields(row) for row in rows]}))
        return 0
    say = cli.say
    if not rows:
        cli.note(say("undo.none", session=name))
        return 0
    cells = [
        [
            str(row.deed.turn.number),
            row.deed.before,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(row.deed.turn.time)),
            f"+{row.added} -{row.removed} ~{row.changed}",
            size(row.bytes),
            say(f"undo.state_{row.state}"),
            one_line(row.deed.turn.title or say("undo.went_on")),
        ]
        for row in rows
    ]
    head = [say(f"undo.head_{n}") for n in ("number", "id", "time", "changes", "size", "state", "title")]
    width = cli.size()[0] if cli.out.tty else 0
    shown = table([head, *cells], columns=width, right=(0, 4), spare=(4, 2, 5), least=16)
    cli.out.line("\n".join([cli.out_style.dim(shown[0]), *shown[1:]]))
    return 0


def _fields(row: Line) -> dict[str, Any]:
    return {
        "turn": row.deed.turn.turn,
        "number": row.deed.turn.number,
        "time": row.deed.turn.time,
        "prompt": row.deed.turn.text,
        "before": row.deed.before,
        "after": row.deed.after,
        "undone": row.deed.undone,
        "added": row.added,
        "removed": row.removed,
        "changed": row.changed,
        "bytes": row.bytes,
    }


def show_checkpoint(
    cli: Cli, *, checkpoint: str, diff: bool, as_json: bool, config: str | None, root: str | None
) -> int:
    """Print what changed between a checkpoint and the one that goes with it."""
    from gongfu.surfaces.cli.opening import opened, run_async
    from gongfu.surfaces.cli.render.diff import diff_lines
    from gongfu.surfaces.cli.result import to_json
    from gongfu.surfaces.cli.style import clean

    async def work() -> list[Change]:
        from gongfu.app.kept_list import changes_at

        async with opened(cli, Opening(config=config or "", root=root)) as app:
            return await changes_at(app, checkpoint, diff=diff or as_json)

    changes = run_async(work)
    if as_json:
        rows = [{n: getattr(change, n) for n in change.__struct_fields__} for change in changes]
        cli.out.line(to_json({"type": "checkpoint", "checkpoint": checkpoint, "files": rows}))
        return 0
    if not changes:
        cli.note(cli.say("undo.changes_none"))
    for change in changes:
        stat = f"  +{change.lines_added} -{change.lines_removed}" if change.lines_added or change.lines_removed else ""
        cli.out.line(f"{change.mark} {clean(change.path)}{cli.out_style.dim(stat)}")
        if diff and change.diff:
            cli.out.line("\n".join(diff_lines(change.diff, cli.out_style, cli.say, limit=400)))
    return 0
