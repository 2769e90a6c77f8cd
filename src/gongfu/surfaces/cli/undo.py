"""`gongfu undo`: give files back to how they were before the last turns; `redo` and `rewind` share its words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import EXIT_FAILED
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Number, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.give_back import Agree, Given

MANY = 20
"""Files from which on a person is asked first."""
_SHOWN = 40


def build(cli: Cli) -> click.Command:
    """The command."""

    def undo(**values: Any) -> int:
        turns = int(values.pop("turns") or 1)
        return give(cli, lambda app, agree, args: app.undo(**args, turns=turns, agree=agree), **values)

    turns = option(cli, "--turns", type=Number(whole=True), metavar="N", key="undo_turns")
    return Command(cli, "undo", undo, [session_argument(), turns, *giving_options(cli)])


def session_argument() -> click.Parameter:
    """The session, the latest that changed files when none is named."""
    return click.Argument(["session"], required=False, metavar="[SESSION]")


def giving_options(cli: Cli) -> list[click.Parameter]:
    """What all commands take that give files back."""
    return [
        flag(cli, "--force", key="undo_force"),
        flag(cli, "--dry-run", key="undo_dry_run"),
        flag(cli, "-y", "--yes", key="yes_delete"),
        flag(cli, "--json", "as_json", key="json"),
        *places_options(cli),
    ]


def give(
    cli: Cli,
    work: Callable[[App, Agree, dict[str, Any]], Awaitable[Given]],
    *,
    session: str | None,
    force: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Let `work` give files back and tell what became of them; the exit code.

    A person at a terminal is asked when much would change, something is kept, or a turn was cut off.
    """
    from gongfu.surfaces.cli.opening import opened, run_async

    said_no = False

    def agree(shown: Given) -> bool:
        nonlocal said_no
        if dry_run:
            return False
        said_no = not (yes or as_json or _agreed(cli, shown))
        return not said_no

    async def run() -> Given:
        async with opened(cli, Opening(config=config or "", root=root)) as app:
            return await work(app, agree, {"session": session or "", "force": force})

    given = run_async(run)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json(fields(given)))
    elif not said_no:
        if told := lines(cli, given, dry=dry_run):
            cli.out.line("\n".join(told))
    else:
        cli.note(cli.say("not_confirmed"))
    refused = not given.done and not dry_run
    return EXIT_FAILED if refused or given.failed else 0


def _agreed(cli: Cli, shown: Given) -> bool:
    from gongfu.surfaces.cli.confirm import can_ask, confirm

    if not can_ask(cli) or not (len(shown.marks) > MANY or shown.kept or shown.cut):
        return True
    cli.err.line("\n".join(lines(cli, shown, dry=True)))
    return confirm(cli, cli.say("undo.sure"))


def fields(given: Given) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "type": given.action,
        "session": given.session,
        "origin": given.origin,
        "done": given.done,
        "turns": [
            {"turn": turn.turn, "number": turn.number, "prompt": turn.text, "lasting": list(turn.lasting)}
            for turn in given.turns
        ],
        "prompt": given.prompt,
        "cut": given.cut,
        "files": [{"path": path, "mark": mark} for path, mark in given.marks.items()],
        "kept": list(given.kept),
        "uncovered": list(given.uncovered),
        "failed": [{"path": path, "reason": reason} for path, reason in given.failed],
        "checkpoint": given.before,
    }


def lines(cli: Cli, given: Given, *, dry: bool = False, area: str = "undo") -> list[str]:
    """The same for a person. `area` has the words for what is kept and how to go on."""
    from gongfu.surfaces.cli.style import clean, one_line

    say = cli.say
    if not given.done and not dry:
        return [say(f"{area}.nothing_given"), *_list([clean(path) for path in given.kept], cli)]
    names = {"undo": "undid", "redo": "redid", "rewind": "rewound_files"}
    told = [say(f"undo.{f'would_{given.action}' if dry else names[given.action]}")] if given.turns else []
    told += [f"  {turn.number}. {clean(turn.title) or say('undo.went_on')}" for turn in given.turns]
    if given.cut:
        told.append(say("undo.cut"))
    told += _list([f"{mark} {clean(path)}" for path, mark in given.marks.items()], cli)
    if dry and given.action == "rewind" and not given.turns:
        told = [say("undo.would_rewind"), f"  {given.number}. {one_line(given.prompt, 200)}"]
    if not given.marks and (given.turns or told):
        told.append(say("undo.no_files"))
    kept = "kept_undone" if given.action == "undo" and given.done and not dry else "kept"
    for name, some in ((f"{area}.{kept}", given.kept), ("undo.uncovered", given.uncovered)):
        if some:
            told += [say(name), *_list([clean(path) for path in some], cli)]
    if given.action != "redo" and (lasting := [one for turn in given.turns for one in turn.lasting]):
        told += [say("undo.lasting"), *_list([one_line(clean(one), 200) for one in lasting], cli)]
    if given.failed:
        told += [say("undo.failed"), *_list([f"{clean(path)}: {clean(why)}" for path, why in given.failed], cli)]
    if given.done and given.action != "redo" and given.marks:
        told.append(say(f"{area}.redo_hint"))
    return told


def _list(names: Sequence[str], cli: Cli) -> list[str]:
    shown = [f"  {name}" for name in names[:_SHOWN]]
    return shown if len(names) <= _SHOWN else [*shown, f"  {cli.say('undo.more', count=len(names) - _SHOWN)}"]
