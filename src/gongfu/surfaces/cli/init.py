"""`gongfu init`: the first set-up."""

from __future__ import annotations

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag, option


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(*, source: str | None, model: str | None, yes: bool, config: str | None) -> int:
        from gongfu.surfaces.cli.first_steps import set_up

        return set_up(cli, source=source or "", model=model or "", yes=yes, config=config or "")

    params: list[click.Parameter] = [
        option(cli, "--from", "source", metavar="FILE", key="from_settings"),
        option(cli, "-m", "--model", metavar="REF", key="init_model"),
        flag(cli, "-y", "--yes", key="init_yes"),
        option(cli, "--config", metavar="NAME", key="init_config"),
    ]
    return Command(cli, "init", callback, params)
