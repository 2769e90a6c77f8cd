"""Click's own complaints in the person's language."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gongfu.surfaces.cli.speech import Speech

_ELSEWHERE = {
    "--yolo": "--yes",
    "--full-auto": "--yes",
    "--auto": "--yes",
    "--dangerously-skip-permissions": "--permission full",
    "--dangerously-bypass-approvals-and-sandbox": "--permission full",
    "--permission-mode": "--permission",
    "--approval-mode": "--permission",
    "--ask-for-approval": "--permission",
    "--allowed-tools": "--permission",
    "--allowedTools": "--permission",
    "--allow-all": "--permission full",
    "--allow-all-tools": "--permission full",
    "--print": "--prompt",
    "--resume": "--session",
    "--output-format": "--json",
    "--max-turns": "--max-steps",
    "--max-budget-usd": "--max-cost",
    "--cwd": "--root",
    "--cd": "--root",
    "--profile": "--config",
    "-V": "--version",
    "-v": "--verbose",
}
"""Options of other agents, and what they are called here."""


def usage_message(error: click.ClickException, say: Speech) -> str:
    """One sentence for a wrong command line, with the likeliest right option."""
    match error:
        case click.NoSuchOption():
            close = _ELSEWHERE.get(error.option_name, "") or _near(error.option_name, error.possibilities or [])
            if close:
                return say("no_option_but", option=error.option_name, close=close)
            return say("no_option", option=error.option_name)
        case click.MissingParameter():
            name = (error.param.make_metavar(error.ctx) if error.param and error.ctx else "").removesuffix("...")
            if "|" in name:
                return say("missing_choice", choices=name.replace("|", ", "))
            if isinstance(error.param, click.Option):
                name = max(error.param.opts, key=len)
            return say("missing_parameter", name=name)
        case click.BadOptionUsage():
            return say("option_needs_value", option=error.option_name)
        case click.BadParameter():
            name = max(error.param.opts, key=len) if error.param else ""
            return say("bad_value", name=name, message=error.message)
        case _:
            return say("usage_error", message=error.format_message())


def _near(name: str, among: Sequence[str]) -> str:
    """The option that was most likely meant; "" when none is near enough to be named."""
    from difflib import get_close_matches  # only for an error

    return next(iter(get_close_matches(name, among, n=1, cutoff=0.7)), "")


def usage_hint(error: click.UsageError, say: Speech) -> str:
    """Where to read how the command is called."""
    path = error.ctx.command_path if error.ctx else "gongfu"
    return say("try_help", command=path)
