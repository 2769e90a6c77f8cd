"""`gongfu completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

from typing import Any

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Choice, Command


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return completion(cli, **values)

    shell = click.Argument(["shell"], type=Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
    return Command(cli, "completion", callback, [shell])


def completion(cli: Cli, *, shell: str) -> int:
    """Print the script; a terminal is told what to do with it."""
    from click.shell_completion import get_completion_class

    from gongfu.surfaces.cli.root import Root

    kind = get_completion_class(shell)
    if kind is None:
        return 1
    source = kind(Root(cli), {}, "gongfu", "_GONGFU_COMPLETE").source_template % {
        "complete_func": "_gongfu_completion",
        "complete_var": "_GONGFU_COMPLETE",
        "prog_name": "gongfu",
    }
    cli.out.line(source.strip())
    if cli.out.tty:
        cli.note(cli.say(f"completion_{shell}"))
    return 0
