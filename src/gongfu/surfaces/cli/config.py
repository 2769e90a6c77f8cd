"""`gongfu config`: read and change the settings."""

from __future__ import annotations

from typing import Any

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, flag
from gongfu.surfaces.cli.options import places_options


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    json = flag(cli, "--json", "as_json", key="json")
    which, root = places_options(cli)
    name = click.Argument(["name"], metavar="NAME")
    value = click.Argument(["value"], metavar="VALUE")

    def command(verb: str, params: list[click.Parameter]) -> click.Command:
        def callback(**values: Any) -> int:
            from gongfu.surfaces.cli import settings  # what reads and writes files loads with the command that needs it

            work: Any = getattr(settings, f"{verb}_settings")
            return work(cli, **values)

        return Command(cli, verb, callback, params, key=f"config_{verb}")

    def alone(**values: Any) -> int:
        from gongfu.surfaces.cli.settings import list_settings

        return list_settings(cli, **values)

    listing = [flag(cli, "--all", "whole", key="all_settings"), json, which, root]
    loaders = {
        "list": lambda: command("list", listing),
        "get": lambda: command("get", [name, json, which, root]),
        "set": lambda: command("set", [name, value, which]),
        "unset": lambda: command("unset", [name, which]),
        "path": lambda: command("path", [which]),
        "schema": lambda: command("schema", []),
        "history": lambda: command("history", [json]),
    }
    return Group(cli, "config", loaders, listing, alone=alone)
