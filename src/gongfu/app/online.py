"""What the tools that use the web are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.app.families import Parts
    from gongfu.toolkit.web_client import Client
    from gongfu.tools.protocol import Toolset


def client_of(app: App, also: Iterable[str] = ()) -> Client:
    """What fetches for the tools of `app`, as its settings say; the hosts `also` may be reached besides."""
    from gongfu.toolkit.web_client import Client, Limits  # few sessions use the web
    from gongfu.toolkit.web_guard import Reach

    web = app.settings.web
    limits = Limits(total=web.seconds, bytes=web.max_bytes)
    reach = Reach((*web.allow_hosts, *also), barred=app.options.permissions.bars_host)
    return Client(reach, app.options.env, limits)


def web_tools(parts: Parts) -> Toolset:
    """web_search and github_search. What the settings name as their servers may be inside."""
    from gongfu.toolkit.web_github import GithubTools
    from gongfu.toolkit.web_guard import link_of
    from gongfu.toolkit.web_search import SearchTools

    app, web = parts.app, parts.app.settings.web

    def engines() -> Client:
        return client_of(app, [link_of(one.url).place for one in web.engines.values() if one.url])

    def github() -> Client:
        return client_of(app, [link_of(web.github).place])

    return (SearchTools(web, engines).web_search, GithubTools(web.github, app.options.env, github).github_search)


def browser_family(parts: Parts) -> Toolset:
    """The tools of the browser, which ends with the session."""
    from gongfu.toolkit.browser import browser_tools
    from gongfu.toolkit.browser_session import Browsing

    app, session = parts.app, parts.session

    def kept(data: bytes) -> str:
        name = app.artifacts.put(session.id, data)
        return f"{name}: {app.artifacts.all(session.id)[name]}"

    browsing = Browsing(app.settings.web, app.options.env, lambda: parts.programs.env, kept,
                        barred=app.options.permissions.bars_host)  # fmt: skip
    parts.closing.append(browsing.close)
    return browser_tools(
        browsing, lambda: app.artifacts.writer(session.id), lambda data: app.artifacts.put(session.id, data)
    )
