"""`gongfu permissions`: what may run here; how a command is judged; what was granted, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import EXIT_DONE, EXIT_FAILED, UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, flag
from gongfu.surfaces.cli.options import Opening, places_options
from gongfu.surfaces.cli.style import clean, one_line

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.consent import Checked
    from gongfu.store.grants import GrantRow


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    where = places_options(cli)
    as_json = flag(cli, "--json", "as_json", key="json")
    checked: list[click.Parameter] = [click.Argument(["command"], metavar="COMMAND"), as_json, *where]
    revoked: list[click.Parameter] = [
        click.Argument(["numbers"], nargs=-1, type=int, metavar="[NUMBER]..."),
        flag(cli, "--all", "everything", key="revoke_all"),
        *where,
    ]

    def alone(**values: Any) -> int:
        return show(cli, **values)

    def check(**values: Any) -> int:
        return check_one(cli, **values)

    def revoke(**values: Any) -> int:
        return take_back(cli, **values)

    return Group(
        cli,
        "permissions",
        {
            "check": lambda: Command(cli, "check", check, checked, key="permissions_check"),
            "revoke": lambda: Command(cli, "revoke", revoke, revoked, key="permissions_revoke"),
        },
        [as_json, *where],
        alone=alone,
    )


def show(cli: Cli, *, as_json: bool, config: str | None, root: str | None) -> int:
    """The mode, the rules and what was granted for this project."""
    from gongfu.surfaces.cli.opening import with_app

    def work(app: App) -> tuple[dict[str, Any], list[GrantRow]]:
        from gongfu.store.grants import GrantBook

        settings = app.settings.permission
        rules = {name: list(getattr(settings, name)) for name in ("allow", "ask", "deny")}
        grants = GrantBook(app.database).rows(str(app.workspace.root))
        return {"type": "permissions", "mode": app.options.mode, "root": str(app.workspace.root), **rules}, grants

    data, grants = with_app(cli, Opening(config=config or "", root=root), work)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        rows = [{"number": g.number, "tool": g.tool, "text": g.text, "at": g.at} for g in grants]
        cli.out.line(to_json({**data, "grants": rows}))
        return 0
    cli.out.line(cli.say("permissions.mode", mode=data["mode"]))
    for name in ("allow", "ask", "deny"):
        for rule in data[name]:
            cli.out.line(f"  {cli.say(f'permissions.rule_{name}', rule=one_line(clean(rule)))}")
    if grants:
        cli.out.line(cli.say("permissions.granted", root=data["root"]))
    for grant in grants:
        cli.out.line(f"  {grant.number}. {grant.tool}  {one_line(clean(grant.text))}")
    cli.note(cli.say("permissions.how" if grants else "permissions.none_granted"))
    return 0


def check_one(cli: Cli, *, command: str, as_json: bool, config: str | None, root: str | None) -> int:
    """How a command line is rated part by part, and what each mode does with it. Nothing runs."""
    from gongfu.surfaces.cli.opening import with_app

    if not command.strip():
        raise UsageError("cli.missing_parameter", name="COMMAND")

    def work(app: App) -> Checked:
        from gongfu.app.consent import check_command

        return check_command(app, command)

    found = with_app(cli, Opening(config=config or "", root=root), work)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        parts = [{"text": p.text, "ratings": list(p.ratings), "hosts": list(p.hosts)} for p in found.line.parts]
        verdicts = {mode: d.verdict for mode, d in found.decisions.items()}
        cli.out.line(to_json({"type": "permission_check", "command": command, "parts": parts, "verdicts": verdicts}))
        return 0
    for line in _lines(cli, found):
        cli.out.line(line)
    return 0


def _lines(cli: Cli, found: Checked) -> list[str]:
    lines: list[str] = []
    for part in found.line.parts:
        why = cli.say.told(f"permissions.{part.why}", {"about": part.about}) if part.why else ""
        said = [cli.say(f"permissions.rating_{r}") for r in part.ratings]
        lines.append(f"{one_line(clean(part.text))}")
        joined = cli.say("permissions.and").join(said)
        lines.append(f"    {joined}{cli.say('labels.in_brackets', what=one_line(why)) if why else ''}")
    modes = {"allow": list[str](), "ask": list[str](), "deny": list[str]()}
    for mode, decision in found.decisions.items():
        modes[decision.verdict].append(mode)
    for verdict, names in modes.items():
        if names:
            lines.append(cli.say(f"permissions.verdict_{verdict}", modes=cli.say("permissions.and").join(names)))
    rules = {(d.rule, d.about): None for d in found.decisions.values() if d.rule in ("denied_by_rule", "asked_by_rule")}
    lines += [f"    {one_line(cli.say(f'permissions.{rule}', about=about))}" for rule, about in rules]
    return lines


def take_back(cli: Cli, *, numbers: tuple[int, ...], everything: bool, config: str | None, root: str | None) -> int:
    """Take grants of this project back, by the numbers that `gongfu permissions` shows, or all of them."""
    from gongfu.surfaces.cli.opening import with_app

    if not numbers and not everything:
        raise UsageError("cli.missing_parameter", name="NUMBER")

    def work(app: App) -> tuple[str, int]:
        from gongfu.store.grants import GrantBook

        here = str(app.workspace.root)
        return here, GrantBook(app.database).forget(here, None if everything else numbers)

    here, count = with_app(cli, Opening(config=config or "", root=root), work)
    if not count:
        cli.note(cli.say(f"permissions.{'nothing' if everything else 'none'}_revoked", root=one_line(here)))
        return EXIT_DONE if everything else EXIT_FAILED
    cli.out.line(cli.say("permissions.revoked", count=count))
    return 0
