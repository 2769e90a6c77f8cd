"""`gongfu redo`: take back the last undo."""

from __future__ import annotations

from typing import Any

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command
from gongfu.surfaces.cli.undo import give, giving_options, session_argument


def build(cli: Cli) -> click.Command:
    """The command."""

    def redo(**values: Any) -> int:
        return give(cli, lambda app, agree, args: app.redo(**args, agree=agree), **values)

    return Command(cli, "redo", redo, [session_argument(), *giving_options(cli)])
