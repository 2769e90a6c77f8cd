"""`gongfu context`: what a request carried, what it did not, and what the prompt cache could reuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import UsageError, UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.context.receipt import Receipt
    from gongfu.context.xray import Xray


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return context(cli, **values)

    params: list[click.Parameter] = [
        click.Argument(["session"], required=False, metavar="[SESSION]"),
        option(cli, "--request", metavar="N|ID"),
        flag(cli, "--all", "everything", key="all_requests"),
        flag(cli, "--json", "as_json", key="json"),
        *places_options(cli),
    ]
    return Command(cli, "context", callback, params)


def context(
    cli: Cli,
    *,
    session: str | None,
    request: str | None,
    everything: bool,
    as_json: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Show one request of a session, or with `everything` a line for each.

    Nothing is locked or changed: a session that another process works on can be read too.
    """
    from gongfu.surfaces.cli.opening import with_app

    if request is not None and everything and not as_json:
        raise UsageError("cli.exclusive", one="--request", other="--all")

    def read(app: App) -> Xray:
        return app.xray(session or "")

    seen = with_app(cli, Opening(config=config or "", root=root), read)
    if as_json:
        from gongfu.surfaces.cli.context_data import context_fields
        from gongfu.surfaces.cli.result import to_json

        chosen = choose(seen, request) if seen.receipts or request is not None else None
        cli.out.line(to_json(context_fields(seen, chosen, whole=everything)))
        return 0
    chosen = choose(seen, request)
    from gongfu.surfaces.cli.context_view import View

    columns = cli.size()[0] if cli.out.tty else 0
    view = View(
        style=cli.out_style, speech=cli.say, columns=columns, symbols=_symbols(cli.out.encoding), verbose=cli.verbose
    )
    lines = view.listing(seen) if everything else view.request(seen, chosen)
    cli.out.line("\n".join(lines))
    return 0


def choose(seen: Xray, wanted: str | None) -> Receipt:
    """The request that is meant: by number, by the beginning of its id, else the last main one.

    UserError when there is none such.
    """
    if not seen.receipts:
        raise UserError("xray.no_requests", session=seen.session)
    if wanted is None:
        return next((r for r in reversed(seen.receipts) if r.purpose == "main"), seen.receipts[-1])
    if wanted.isascii() and wanted.isdecimal():
        number = int(wanted) if len(wanted) < 10 else 0
        if 0 < number <= len(seen.receipts):
            return seen.receipts[number - 1]
    found = [r for r in seen.receipts if wanted and r.request.startswith((wanted, f"r_{wanted}"))]
    exact = [r for r in found if r.request == wanted]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        near = ", ".join(r.request for r in found[:5]) + (", …" if len(found) > 5 else "")
        raise UserError("xray.request_ambiguous", session=seen.session, wanted=wanted, near=near)
    raise UserError("xray.no_request", session=seen.session, wanted=wanted, count=len(seen.receipts))


def _symbols(encoding: str) -> bool:
    try:
        "█▁═─·".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
