"""`gongfu demo`: the agent finds and fixes a bug before your eyes."""

from __future__ import annotations

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag, option


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(*, model: str | None, yes: bool, keep: bool) -> int:
        from gongfu.surfaces.cli.demo_run import run_demo

        return run_demo(cli, model=model or "", yes=yes, keep=keep)

    params: list[click.Parameter] = [
        option(cli, "-m", "--model", metavar="REF", key="demo_model"),
        flag(cli, "-y", "--yes", key="demo_yes"),
        flag(cli, "--keep"),
    ]
    return Command(cli, "demo", callback, params)
