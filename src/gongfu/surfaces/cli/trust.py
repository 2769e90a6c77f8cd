"""`gongfu trust`: what in a folder would take effect, and whether it may."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gongfu.core.errors import EXIT_DONE, EXIT_FAILED, UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag

if TYPE_CHECKING:
    from gongfu.config.paths import Places


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(*, folder: str | None, yes: bool, listed: bool, revoke: bool, as_json: bool) -> int:
        return trust(cli, folder=folder, yes=yes, listed=listed, revoke=revoke, as_json=as_json)

    params: list[click.Parameter] = [
        click.Argument(["folder"], required=False, metavar="[DIR]"),
        flag(cli, "-y", "--yes", key="trust_yes"),
        flag(cli, "--list", "listed", key="trust_list"),
        flag(cli, "--revoke", key="trust_revoke"),
        flag(cli, "--json", "as_json", key="json"),
    ]
    return Command(cli, "trust", callback, params)


def trust(cli: Cli, *, folder: str | None, yes: bool, listed: bool, revoke: bool, as_json: bool) -> int:
    """Show what would take effect, ask, remember. The exit code is 1 where the folder is not trusted afterwards."""
    from gongfu.config.paths import places

    wanted = [name for name, given in (("--list", listed), ("--revoke", revoke), ("--yes", yes)) if given]
    if len(wanted) > 1:
        raise UsageError("cli.exclusive", one=wanted[0], other=wanted[1])
    found = places(cli.env)
    if listed:
        return _list(cli, found, as_json=as_json)
    root = _root(found, folder)
    if revoke:
        return _revoke(cli, found, root, as_json=as_json)
    return _trust(cli, found, root, yes=yes, as_json=as_json)


def _root(found: Places, folder: str | None) -> Path:
    """The project that a run there works in; a folder that is named and has something of its own is one itself."""
    from gongfu.permissions.trust import look
    from gongfu.workspace.root import find_root

    here = find_root(Path(folder or "."), allow=True)
    return here if folder and look(here, own=found.home).anything else find_root(here)


def _list(cli: Cli, found: Places, *, as_json: bool) -> int:
    from gongfu.app.trust import trusted_folders
    from gongfu.surfaces.cli.result import to_json
    from gongfu.workspace.names import show_name

    folders = trusted_folders(found)
    if as_json:
        rows = [{"path": show_name(f.root), "at": f.at, "files": f.files} for f in folders]
        cli.out.line(to_json({"type": "trusted", "folders": rows}))
        return EXIT_DONE
    for one in folders:
        cli.out.line(f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(one.at))}  {show_name(one.root)}")
    if not folders:
        cli.note(cli.say("trust.none"))
    return EXIT_DONE


def _revoke(cli: Cli, found: Places, root: Path, *, as_json: bool) -> int:
    from gongfu.app.trust import revoke
    from gongfu.surfaces.cli.result import to_json
    from gongfu.workspace.names import show_name

    done, name = revoke(found, root), show_name(str(root))
    if as_json:
        cli.out.line(to_json({"type": "trust", "path": name, "trusted": False, "changed": done}))
    else:
        cli.out.line(cli.say("trust.revoked" if done else "trust.was_not", path=name))
    return EXIT_DONE


def _trust(cli: Cli, found: Places, root: Path, *, yes: bool, as_json: bool) -> int:
    from gongfu.app.trust import check, check_width, judge, remember
    from gongfu.app.trust_list import effects
    from gongfu.surfaces.cli.confirm import can_ask, confirm
    from gongfu.surfaces.cli.opening import run_async
    from gongfu.surfaces.cli.result import to_json
    from gongfu.surfaces.cli.trust_question import show_effects
    from gongfu.workspace.names import show_name

    check_width(found, root)
    now, name = judge(found, root), show_name(str(root))
    shown = run_async(lambda: effects(now, root, cli.env))
    trusted = now.trusted
    if not as_json:
        if shown:
            show_effects(cli, shown, name, trusted=trusted)
        if trusted or not yes:
            state = "is_trusted" if trusted else "not_yet" if shown else "nothing"
            cli.out.line(cli.say(f"trust.{state}", path=name))
    if not trusted and (yes or shown):
        check(now.findings, root)
        if yes or (not as_json and can_ask(cli) and confirm(cli, cli.say("trust.question"))):
            remember(found, root, now.findings)
            trusted = True
            if not as_json:
                cli.out.line(cli.say("trust.remembered", path=name))
        elif not as_json:
            cli.note(cli.say("trust.refused" if can_ask(cli) else "trust.say_yes", path=name))
    if as_json:
        rows = [{"kind": e.kind, "name": e.name, "runs": e.runs, "new": e.new} for e in shown]
        cli.out.line(to_json({"type": "trust", "path": name, "trusted": trusted, "effects": rows}))
    return EXIT_DONE if trusted or not shown else EXIT_FAILED
