"""`gongfu rules`: what is configured and what was delivered; classifying, refreshing, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Choice, Command, Group, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.core.duties import Why
    from gongfu.core.told import Duty

WHYS = ["superseded", "not_applicable", "withdrawn"]


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    where = places_options(cli)
    session = click.Argument(["session"], required=False, metavar="[SESSION]")
    as_json = flag(cli, "--json", "as_json", key="json")
    shown: list[click.Parameter] = [session, as_json, *where]
    classified: list[click.Parameter] = [
        click.Argument(["target"], metavar="PATH[#HEADING]"),
        click.Argument(["duty"], type=Choice(["mandatory", "optional", "excluded"]), metavar="DUTY"),
        option(cli, "--why", type=Choice(WHYS)),
        as_json,
        *where,
    ]
    refreshed: list[click.Parameter] = [
        session,
        option(cli, "--yes-fingerprints", metavar="OLD:NEW"),
        flag(cli, "--keep-duties"),
        as_json,
        *where,
    ]

    def show(**values: Any) -> int:
        from gongfu.surfaces.cli.rules_show import show_rules

        return show_rules(cli, **values)

    def alone(**values: Any) -> int:
        return show(session=None, **values)

    def history(**values: Any) -> int:
        from gongfu.surfaces.cli.rules_show import show_history

        return show_history(cli, **values)

    def refresh(**values: Any) -> int:
        from gongfu.surfaces.cli.rules_refresh import refresh_rules

        return refresh_rules(cli, **values)

    def say(**values: Any) -> int:
        return classify(cli, **values)

    return Group(
        cli,
        "rules",
        {
            "show": lambda: Command(cli, "show", show, shown, key="rules_show"),
            "classify": lambda: Command(cli, "classify", say, classified, key="rules_classify"),
            "refresh": lambda: Command(cli, "refresh", refresh, refreshed, key="rules_refresh"),
            "history": lambda: Command(cli, "history", history, shown, key="rules_history"),
        },
        [as_json, *where],
        alone=alone,
    )


def classify(
    cli: Cli, *, target: str, duty: str, why: str | None, as_json: bool, config: str | None, root: str | None
) -> int:
    """Record the operator's word on a rule file, a section of one, or all that match a pattern."""
    import time

    from gongfu.app.rules import find_rules, rulebook
    from gongfu.context.rules.wording import words_for
    from gongfu.surfaces.cli.opening import with_app
    from gongfu.surfaces.cli.result import to_json

    if why and duty != "excluded":
        raise UsageError("rules.why_excluded")
    reason = why or ("not_applicable" if duty == "excluded" else "")

    def work(app: App) -> list[dict[str, Any]]:
        found = find_rules(app)
        names, heading = _target(app, target, {f.path for f in (*found.drafts, *found.misfits)})
        words = words_for(
            found, names, heading, cast("Duty", duty), why=cast("Why", reason), at=time.time(), by="classify"
        )
        rulebook(app).say(str(app.workspace.root), words)
        return [{name: getattr(w, name) for name in w.__struct_fields__} for w in words]

    said = with_app(cli, Opening(config=config or "", root=root), work)
    if as_json:
        cli.out.line(to_json({"type": "rules_classified", "words": said}))
        return 0
    for word in said:
        name = f"{word['path']}#{word['heading']}" if word["heading"] else word["path"]
        cli.out.line(
            cli.say("rules.classified", rule=name, duty=cli.say(f"rules.duty_{duty}"), hash=word["sha256"][:12])
        )
    cli.note(cli.say("rules.classified_note"))
    return 0


def _target(app: App, text: str, known: set[str]) -> tuple[list[str], str]:
    """The spellings of the file that a person may mean, and the heading. A path may hold a `#` itself."""
    ends = [len(text), *(at for at in range(len(text) - 1, -1, -1) if text[at] == "#")]
    for end in ends:
        names = _spellings(app, text[:end].replace("\\", "/").removeprefix("./")) if text[:end] else []
        if known.intersection(names):
            return names, text[end + 1 :].strip()
    path, _, heading = text.partition("#")
    if not path:
        raise UsageError("cli.missing_parameter", name="PATH")
    return _spellings(app, path.replace("\\", "/").removeprefix("./")), heading.strip()


def _spellings(app: App, path: str) -> list[str]:
    import os
    from pathlib import Path

    from gongfu.context.rules.discover import OWN
    from gongfu.workspace.root import rest_below

    if path == OWN:
        return [OWN]
    if Path(path).expanduser() == app.places.home / "AGENTS.md":
        return [OWN]
    absolute = os.path.abspath(os.path.join(app.workspace.directory, path))  # noqa: PTH100, PTH118 - links stay
    rest = rest_below(absolute, str(app.workspace.root))
    names = [path.rstrip("/")]
    if rest:
        names.insert(0, rest.replace(os.sep, "/"))
    return list(dict.fromkeys(names))
