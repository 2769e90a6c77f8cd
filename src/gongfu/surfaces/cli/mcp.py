"""`gongfu mcp`: servers of further tools."""

from __future__ import annotations

from typing import Any

import click

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Choice, Command, Group, flag, option
from gongfu.surfaces.cli.options import places_options


class _Add(Command):
    """Its options stand before or right behind the name; all that follows is the server's command.
    An address has no arguments: options may stand behind it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if len(args) == 2 and args[1] in ("-h", "--help"):
            args = args[1:]
        ctx.allow_interspersed_args = any(arg.startswith(("http://", "https://")) for arg in args)
        if args and not args[0].startswith("-"):
            own = {name: p for p in self.params if isinstance(p, click.Option) for name in p.opts}
            at = 1
            while at < len(args) and args[at].partition("=")[0] in own:
                named = own[args[at].partition("=")[0]]
                at += 1 if "=" in args[at] or named.is_flag else 2
            args = [*args[1:at], args[0], *args[at:]]
        return super().parse_args(ctx, args)


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    json = flag(cli, "--json", "as_json", key="json")
    which, root = places_options(cli)
    name = click.Argument(["name"], metavar="NAME")
    trust = flag(cli, "--trust", key="trust_run")

    def command(verb: str, params: list[click.Parameter], kind: type[Command] = Command) -> click.Command:
        def callback(**values: Any) -> int:
            from gongfu.surfaces.cli import mcp_servers  # what does the work loads with the command that needs it

            work: Any = getattr(mcp_servers, f"{verb}_server")
            return work(cli, **values)

        return kind(cli, verb, callback, params, key=f"mcp_{verb}")

    def alone(**values: Any) -> int:
        from gongfu.surfaces.cli.mcp_servers import list_server

        return list_server(cli, **values)

    listing: list[click.Parameter] = [json, which, root, trust]
    adding: list[click.Parameter] = [
        name,
        click.Argument(["words"], nargs=-1, metavar="COMMAND…|URL", type=click.UNPROCESSED),
        option(cli, "--env", "variables", metavar="NAME=VALUE", multiple=True, key="mcp_env"),
        option(cli, "--header", "headers", metavar="NAME:VALUE", multiple=True, key="mcp_header"),
        option(cli, "--transport", type=Choice(["auto", "stdio", "http", "sse"]), key="mcp_transport"),
        option(cli, "--cwd", metavar="DIR", key="mcp_cwd"),
        which,
    ]
    picked = click.Argument(["names"], nargs=-1, metavar="[NAME]...")

    def importing() -> click.Command:
        def callback(**values: Any) -> int:
            from gongfu.surfaces.cli.mcp_import import import_server

            return import_server(cli, **values)

        params: list[click.Parameter] = [picked, flag(cli, "-y", "--yes", key="mcp_import_yes"), json, which]
        return Command(cli, "import", callback, params, key="mcp_import")

    loaders = {
        "list": lambda: command("list", listing),
        "add": lambda: command("add", adding, _Add),
        "import": importing,
        "remove": lambda: command("remove", [name, which]),
        "test": lambda: command("test", [name, json, which, root, trust]),
        "login": lambda: command("login", [name, which, root, trust]),
        "logout": lambda: command("logout", [name, which, root, trust]),
    }
    return Group(cli, "mcp", loaders, listing, alone=alone)
