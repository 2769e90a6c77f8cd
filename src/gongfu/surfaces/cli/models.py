"""`gongfu models`: which there are, whether one works, and fetching the embedded one."""

from __future__ import annotations

from typing import Any

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, flag, option
from gongfu.surfaces.cli.options import places_options


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    listing = [flag(cli, "--json", "as_json", key="json"), *places_options(cli)]

    def models(**values: Any) -> int:
        from gongfu.surfaces.cli.model_list import list_models

        return list_models(cli, **values)

    def test() -> click.Command:
        params: list[click.Parameter] = [
            click.Argument(["ref"], required=False, metavar="[REF]"),
            flag(cli, "--deep"),
            flag(cli, "--json", "as_json", key="json"),
            *places_options(cli),
        ]
        return Command(cli, "test", run_test, params, key="models_test")

    def run_test(**values: Any) -> int:
        from gongfu.surfaces.cli.model_test import test_model

        return test_model(cli, **values)

    def pull() -> click.Command:
        params: list[click.Parameter] = [
            click.Argument(["name"], required=False, metavar="[NAME]"),
            option(cli, "--from", "--source", "source", metavar="FILE", key="from_model"),
            flag(cli, "-y", "--yes", key="yes_delete"),
        ]
        return Command(cli, "pull", run_pull, params, key="models_pull")

    def run_pull(**values: Any) -> int:
        from gongfu.surfaces.cli.model_pull import pull_model

        return pull_model(cli, **values)

    loaders = {
        "list": lambda: Command(cli, "list", models, listing, key="models_list"),
        "test": test,
        "pull": pull,
    }
    return Group(cli, "models", loaders, listing, alone=models)
