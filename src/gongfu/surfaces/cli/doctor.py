"""`gongfu doctor`: is everything there, and what one command puts right what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import EXIT_DONE, EXIT_FAILED
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag
from gongfu.surfaces.cli.options import places_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gongfu.surfaces.cli.checks import Check


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(*, as_json: bool, salvage: bool, config: str | None, root: str | None) -> int:
        if salvage:
            return rescue(cli)
        return doctor(cli, as_json=as_json, config=config or "", root=root)

    params: list[click.Parameter] = [
        flag(cli, "--json", "as_json", key="json"),
        flag(cli, "--salvage"),
        *places_options(cli),
    ]
    return Command(cli, "doctor", callback, params)


def doctor(cli: Cli, *, as_json: bool, config: str, root: str | None) -> int:
    """Print every check; exit code 1 when something that is needed does not work."""
    from gongfu.surfaces.cli.checks import run_checks
    from gongfu.surfaces.cli.opening import run_async
    from gongfu.surfaces.cli.options import Opening
    from gongfu.surfaces.cli.result import to_json

    checks = run_async(lambda: run_checks(cli, Opening(config=config, root=root)))
    failed = any(check.level == "fail" for check in checks)
    if as_json:
        fields: list[dict[str, Any]] = [
            {"name": c.name, "level": c.level, "detail": c.detail, "fix": c.fix}
            | ({"bytes": c.bytes} if c.bytes else {})
            for c in checks
        ]
        cli.out.line(to_json({"type": "doctor", "ok": not failed, "checks": fields}))
        return EXIT_FAILED if failed else EXIT_DONE
    for line in drawn(cli, checks, cli.size()[0] if cli.out.tty else 0):
        cli.out.line(line)
    return EXIT_FAILED if failed else EXIT_DONE


def drawn(cli: Cli, checks: Sequence[Check], columns: int) -> Iterator[str]:
    """The checks as painted lines of `columns` cells (0: as long as they are)."""
    from gongfu.surfaces.cli.width import pad, width

    style, say = cli.out_style, cli.say
    labels = {check.name: say(f"setup.check_{check.name}") for check in checks}
    longest = max(map(width, labels.values()))
    marks = {"ok": style.green("✓"), "warn": style.yellow("!"), "fail": style.red("✗"), "info": style.dim("·")}
    for check in checks:
        first, *more = _wrapped(check.detail, longest + 4, columns)
        yield f"{marks[check.level]} {pad(labels[check.name], longest)}  {first}"
        for row in more:
            yield f"  {' ' * longest}  {row}"
        for row in _wrapped(check.fix, longest + 4, columns) if check.fix else ():
            yield f"  {' ' * longest}  {style.cyan(row)}"
    failed = any(check.level == "fail" for check in checks)
    yield ""
    yield from _wrapped(say("setup.doctor_bad" if failed else "setup.doctor_good"), 0, columns)


def _wrapped(text: str, margin: int, columns: int) -> list[str]:
    """The rows of a finding beside its name; one where no person reads it at a terminal."""
    from gongfu.surfaces.cli.width import wrap

    return [row.strip() for row in wrap(text, max(20, columns - margin - 1))] if columns else [text]


def rescue(cli: Cli) -> int:
    """Copy everything readable of a damaged store into a new one, which takes its place; the old file is kept."""
    from gongfu.config.paths import places
    from gongfu.store.salvage import salvage, swap_in

    path = places(cli.env).store
    kept = swap_in(path, salvage(path))
    cli.out.line(cli.say("setup.salvaged", path=path, kept=kept))
    return EXIT_DONE
