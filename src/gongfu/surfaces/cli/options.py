"""Options that say how the app is opened."""

from __future__ import annotations

from typing import Any, Literal

import click

from gongfu.core.base import Base
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Choice, Number, flag, option


class Opening(Base, frozen=True):
    """How the app is opened for one command. Empty values leave the settings as they are."""

    config: str = ""
    model: str = ""
    permission: str = ""
    mode: str = ""
    yes: bool = False
    root: str | None = None
    add_dir: tuple[str, ...] = ()
    max_steps: int | None = None
    max_cost: float | None = None
    max_minutes: float | None = None
    rules: str = ""
    trust: bool = False
    answers: Literal["ask", "no"] = "no"


def places_options(cli: Cli) -> list[click.Parameter]:
    """Which settings and which folder a command works with."""
    return [option(cli, "--config", metavar="NAME"), option(cli, "--root", metavar="DIR")]


def run_options(cli: Cli) -> list[click.Parameter]:
    """Everything that bounds a run."""
    return [
        option(cli, "-m", "--model", metavar="REF"),
        option(cli, "--permission", type=Choice(["ask", "edits", "plan", "auto", "full"])),
        flag(cli, "-y", "--yes"),
        option(cli, "--mode", metavar="NAME"),
        option(cli, "--max-cost", type=Number()),
        option(cli, "--max-steps", type=Number(whole=True)),
        option(cli, "--max-minutes", type=Number()),
        option(cli, "--add-dir", metavar="DIR", multiple=True),
        option(cli, "--rules", type=Choice(["mandatory-root", "mandatory-all", "optional"]), metavar="WORD"),
        flag(cli, "--trust", key="trust_run"),
        *places_options(cli),
    ]


def opening_of(values: dict[str, Any], *, answers: Literal["ask", "no"]) -> Opening:
    """The values of `run_options`, taken out of `values`."""
    names = (
        "config",
        "model",
        "permission",
        "yes",
        "mode",
        "root",
        "add_dir",
        "max_steps",
        "max_cost",
        "max_minutes",
        "rules",
        "trust",
    )
    given = {name: value for name in names if (value := values.pop(name, None)) is not None}
    return Opening(**given, answers=answers)
