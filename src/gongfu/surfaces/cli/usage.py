"""Click's own complaints in the person's language."""

from __future__ import annotations

import click

from gongfu.surfaces.cli.speech import Speech


def usage_message(error: click.ClickException, say: Speech) -> str:
    """One sentence for a wrong command line, with the likeliest right option."""
    match error:
        case click.NoSuchOption():
            close = error.possibilities or []
            if close:
                return say("no_option_but", option=error.option_name, close=close[0])
            return say("no_option", option=error.option_name)
        case click.MissingParameter():
            name = error.param.make_metavar(error.ctx) if error.param and error.ctx else ""
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


def usage_hint(error: click.UsageError, say: Speech) -> str:
    """Where to read how the command is called."""
    path = error.ctx.command_path if error.ctx else "gongfu"
    return say("try_help", command=path)
