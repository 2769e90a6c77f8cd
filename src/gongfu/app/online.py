"""What the tools that use the web are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.toolkit.web_client import Client


def client_of(app: App) -> Client:
    """What fetches for the tools of `app`, as its settings say."""
    from gongfu.toolkit.web_client import Client, Limits  # few sessions use the web
    from gongfu.toolkit.web_guard import Reach

    web = app.settings.web
    limits = Limits(total=web.seconds, bytes=web.max_bytes)
    return Client(Reach(web.allow_hosts), app.options.env, limits)
