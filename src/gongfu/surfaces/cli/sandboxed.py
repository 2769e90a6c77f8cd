"""The sandbox in words: for the line above a turn, and for `gongfu doctor`."""

from __future__ import annotations

from gongfu.app import App
from gongfu.surfaces.cli.cli import Cli


def status(cli: Cli, app: App, *, mode: str = "") -> str:
    """One line, without trying anything: `sandbox: bubblewrap, network off`, or plainly that there is none.

    `mode` is the permission that holds ("": that of the settings).
    """
    kind = app.sandbox.likely
    if (mode or app.options.mode) == "full" and (kind != "none" or not app.settings.sandbox.required):
        return cli.say("sandbox.status_full")
    if kind == "none":
        refused = app.settings.sandbox.required and app.settings.sandbox.kind != "off"
        return cli.say("sandbox.status_refused" if refused else "sandbox.status_none")
    return cli.say("sandbox.status", kind=cli.say(f"sandbox.kind_{kind}"), network=_network(cli, app))


def detail(cli: Cli, app: App) -> str:
    """What it is and what it does not cover, or why there is none; it is tried out for that."""
    sandbox = app.sandbox
    why = cli.say(sandbox.why.key, **sandbox.why.values)
    if sandbox.kind == "none":
        refused = app.settings.sandbox.required and app.settings.sandbox.kind != "off"
        return cli.say("sandbox.none_required" if refused else "sandbox.none", why=why)
    kind = cli.say(f"sandbox.kind_{sandbox.kind}")
    if not sandbox.sees_all:
        why = f"{why} {cli.say('sandbox.partial')}"
    return cli.say("sandbox.detail", kind=kind, network=_network(cli, app), open=why)


def _network(cli: Cli, app: App) -> str:
    reach = app.sandbox.network
    return cli.say(f"sandbox.network_{reach}", hosts=", ".join(app.settings.sandbox.hosts) or "-")
