"""The root of the command tree: commands load when they are named, and everything else is a task."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

import click

from gongfu.core.version import __version__
from gongfu.surfaces.cli import run
from gongfu.surfaces.cli.bare import COMMANDS
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Group, first_word, flag

_FOR_ROOT = {"--help", "-h", "--version"}


class Root(Group):
    """`gongfu`: a command and its arguments in any order of options, or a task."""

    def __init__(self, cli: Cli) -> None:
        loaders = {name: _loader(cli, module) for name, module in COMMANDS.items()}
        options = [p for p in run.params(cli) if isinstance(p, click.Option)]
        version = flag(cli, "--version", is_eager=True, expose_value=False, callback=self._version)
        super().__init__(cli, "gongfu", loaders, [*options, version], alone=self._alone)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            args = self._arrange(args)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        del ctx
        return [self.cli.say("root_usage")]

    def _arrange(self, args: list[str]) -> list[str]:
        """Options before a command go behind it; without a command the arguments are those of `run`."""
        if args[:1] == ["help"]:  # what people type who come from other tools
            args = [*args[1:], "--help"] if set(args[1:2]) <= set(self.loaders) else args
        at = first_word(args, self.params)
        named = args[at] if at is not None else ""
        if named in self.loaders and not {"-p", "--prompt"} & set(args[:at]):
            return [named, *args[:at], *args[at + 1 :]] if at else args
        if at is None and _FOR_ROOT & set(args):
            return [arg for arg in args if arg in _FOR_ROOT]
        if not self._asks(args):
            return []
        self.cli.bare = True
        return ["run", *args]

    def _asks(self, args: list[str]) -> bool:
        """Whether there is anything but the options that every command takes."""
        rest = [arg for arg in args if arg not in ("--no-color", "--verbose", "--lang", "en", "zh")]
        return any(not arg.startswith("--lang=") for arg in rest)

    def _alone(self, **values: object) -> int:
        if self.cli.stdin is not None and not self.cli.stdin.isatty():
            return run.run(self.cli, {**values, "words": ()})
        if not run.at_terminal(self.cli):
            from gongfu.surfaces.cli.welcome import welcome

            return welcome(self.cli)
        return run.converse(self.cli, dict(values))

    def _version(self, ctx: click.Context, param: click.Parameter, value: bool) -> None:
        del param
        if value and not ctx.resilient_parsing:
            self.cli.out.line(f"gongfu {__version__}")
            ctx.exit(0)


def _loader(cli: Cli, module: str) -> Callable[[], click.Command]:
    def load() -> click.Command:
        return cast("click.Command", import_module(f"gongfu.surfaces.cli.{module}").build(cli))

    return load
