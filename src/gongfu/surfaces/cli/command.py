"""Commands and options of click that speak the person's language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import click

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.width import width, wrap


class Formatter(click.HelpFormatter):
    """Help text in columns that are right for wide characters too."""

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for line in wrap(text, self.width - self.current_indent):
            self.write(f"{indent}{line}".rstrip() + "\n")

    def write_dl(self, rows: Any, col_max: int = 32, col_spacing: int = 2) -> None:
        table = cast("list[tuple[str, str]]", list(rows))
        col_max = min(col_max, self.width // 2)
        first = min(max((width(term) for term, _ in table), default=0), col_max) + col_spacing
        indent = " " * self.current_indent
        for term, text in table:
            lines = wrap(text, max(10, self.width - first - self.current_indent))
            if width(term) > first - col_spacing:
                lines.insert(0, "")
            starts = [term, *[""] * (len(lines) - 1)]
            for start, line in zip(starts, lines, strict=True):
                self.write(f"{indent}{start}{' ' * (first - width(start))}{line}".rstrip() + "\n")


class Context(click.Context):
    """A context whose help is written by `Formatter`."""

    formatter_class = Formatter

    def make_formatter(self) -> click.HelpFormatter:
        """A formatter as wide as the terminal, at most 80 columns; click itself never goes below 50."""
        from shutil import get_terminal_size  # only for help

        return Formatter(width=max(24, min(get_terminal_size().columns, 80) - 2))


class Command(click.Command):
    """A command with its words from the catalogue: "cli_help.NAME" (words with "_" for "-" and for a group's space)."""

    context_class = Context

    def __init__(
        self,
        cli: Cli,
        name: str,
        callback: Callable[..., Any] | None,
        params: list[click.Parameter] | None = None,
        *,
        key: str = "",
        **attrs: Any,
    ) -> None:
        key = key or name.replace("-", "_")
        text = cli.say(f"cli_help.{key}")
        attrs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        self.common = common(cli)
        super().__init__(name, callback=callback, params=[*(params or []), *self.common], help=text, **attrs)
        self.short_help = text.partition("\n")[0]
        self.cli = cli

    def get_short_help_str(self, limit: int = 45) -> str:
        del limit
        return self.short_help or ""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = self.cli.say("cli_help.opt_help")
            option.callback = self._show_help
        return option

    def _show_help(self, ctx: click.Context, param: click.Parameter, value: bool) -> None:
        del param
        if value and not ctx.resilient_parsing:
            self.cli.out.line(ctx.get_help())
            ctx.exit(0)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, self.cli.say("usage") + " ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        rows = [row for row in (option.get_help_record(ctx) for option in options) if row]
        with formatter.section(self.cli.say("options")):
            formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        allowed, ctx.allow_extra_args = ctx.allow_extra_args, True
        rest = super().parse_args(ctx, args)
        ctx.allow_extra_args = allowed
        if rest and not allowed and not ctx.resilient_parsing:
            raise UsageError("cli.extra_arguments", command=ctx.command_path, words=" ".join(rest))
        return rest


def first_word(args: Sequence[str], params: Sequence[click.Parameter]) -> int | None:
    """Index of the first argument that is neither an option nor its value; None when there is none before `--`."""
    takes = {name for p in params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
    skip = False
    for index, arg in enumerate(args):
        if skip:
            skip = False
        elif arg == "--":
            return None
        elif not arg.startswith("-") or arg == "-":
            return index
        elif arg.startswith("--"):
            skip = arg in takes
        else:
            valued = next((at for at, letter in enumerate(arg[1:]) if f"-{letter}" in takes), None)
            skip = valued is not None and valued == len(arg) - 2
    return None


class Group(Command, click.Group):
    """A command with subcommands that load when they are used.

    `loaders` gives for every name what builds its command; the help of a subcommand is "cli_help.GROUP_NAME".
    `alone` is called when no subcommand is named.
    """

    def __init__(
        self,
        cli: Cli,
        name: str,
        loaders: dict[str, Callable[[], click.Command]],
        params: list[click.Parameter] | None = None,
        *,
        alone: Callable[..., int],
    ) -> None:
        def callback(**values: Any) -> int:
            if click.get_current_context().invoked_subcommand:
                return 0
            return alone(**values)

        super().__init__(cli, name, callback, params, invoke_without_command=True)
        self.loaders = loaders
        self.prefix = "" if name == "gongfu" else f"{name}_"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before a subcommand are the subcommand's, so that none is dropped in silence."""
        at = None if ctx.resilient_parsing else first_word(args, self.params)
        if at and args[at] in self.loaders:
            args = [args[at], *args[:at], *args[at + 1 :]]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.loaders)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        loader = self.loaders.get(cmd_name)
        return loader() if loader else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            raise no_subcommand(args[0], list(self.loaders), ctx.command_path)
        return (args[0] if command else None), command, args[1:]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        say = self.cli.say
        rows = [(name, self.short(name)) for name in self.loaders]
        with formatter.section(say("commands")):
            formatter.write_dl(rows)
        super().format_options(ctx, formatter)

    def short(self, name: str) -> str:
        """The first line of a subcommand's help, without loading it."""
        return self.cli.say(f"cli_help.{self.prefix}{name.replace('-', '_')}").partition("\n")[0]


def no_command(word: str, names: list[str], path: str) -> UsageError:
    """The error for a word that is no command, with the likeliest one."""
    from difflib import get_close_matches  # only for an error

    close = get_close_matches(word.lower(), names, n=1, cutoff=0.55)
    if close:
        return UsageError("cli.no_command_but", word=word, close=f"{path} {close[0]}")
    return UsageError("cli.no_command", word=word, path=path)


def no_subcommand(word: str, names: list[str], path: str) -> UsageError:
    """The same for a word behind a command that has commands of its own."""
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), names, n=1, cutoff=0.55)
    if close:
        return UsageError("cli.no_subcommand_but", word=word, path=path, close=f"{path} {close[0]}")
    return UsageError("cli.no_subcommand", word=word, path=path)


class Choice(click.ParamType[str]):
    """One of a few words."""

    name = "choice"

    def __init__(self, choices: list[str]) -> None:
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        del param, ctx
        return "|".join(self.choices)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del ctx
        if value in self.choices:
            return str(value)
        raise UsageError("cli.bad_choice", option=_option(param), value=value, choices=", ".join(self.choices))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        del ctx, param
        from click.shell_completion import CompletionItem

        return [CompletionItem(choice) for choice in self.choices if choice.startswith(incomplete)]


class Number(click.ParamType[float]):
    """A number above nothing; `whole` takes integers only."""

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole
        self.name = "integer" if whole else "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        del param, ctx
        return "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        del ctx
        try:
            number = int(value) if self.whole else float(value)
        except ValueError:
            number = 0
        if not 0 < number < float("inf"):
            key = "cli.bad_whole" if self.whole else "cli.bad_number"
            raise UsageError(key, option=_option(param), value=value)
        return number


def _option(param: click.Parameter | None) -> str:
    return max(param.opts, key=len) if param and param.opts else ""


def option(cli: Cli, *names: str, key: str = "", **attrs: Any) -> click.Option:
    """An option with its help from "cli_help.opt_NAME"."""
    longest = next(name for name in names if name.startswith("--")).lstrip("-").replace("-", "_")
    return click.Option(list(names), help=cli.say(f"cli_help.opt_{key or longest}"), **attrs)


def flag(cli: Cli, *names: str, key: str = "", **attrs: Any) -> click.Option:
    """An option without a value."""
    return option(cli, *names, key=key, is_flag=True, **attrs)


def common(cli: Cli) -> list[click.Option]:
    """What every command takes. Their values are read from the arguments beforehand (see `Cli`)."""
    return [
        option(cli, "--lang", type=Choice(["en", "zh"]), expose_value=False),
        flag(cli, "--no-color", expose_value=False),
        flag(cli, "--verbose", expose_value=False),
    ]
