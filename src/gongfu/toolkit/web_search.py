"""The tool web_search: asks the engines of the settings, one after the other until one answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gongfu.config.settings import Web, WebEngine
from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import looks_secret
from gongfu.toolkit.web_client import Client, Follow, failed, same_site
from gongfu.toolkit.web_engines import ENGINES, Engine, Hit, Unreadable
from gongfu.toolkit.web_guard import Link, link_of, shown, unbroken
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome

_MOST = 20
_USUAL = 8
_QUERY = 500
_SNIPPET = 300


class Chosen(Base, frozen=True):
    """An engine of the settings: its name there, its kind, its place and its key."""

    name: str
    engine: Engine
    base: str = ""
    key: str = ""

    def link(self, query: str, count: int) -> Link:
        """The address that it is asked at."""
        return link_of(self.engine.address(self.base, query, count))


class SearchTools:
    """web_search of one session. `web` are the settings, `client` makes what fetches."""

    def __init__(self, web: Web, client: Callable[[], Client]) -> None:
        self._web = web
        self._client = client

    async def _facts(self, args: dict[str, Any]) -> Facts:
        query, count = _checked(args["query"], args.get("count", _USUAL))
        hosts = dict.fromkeys(one.link(query, count).place for one in self._engines())
        return Facts(access=("network",), hosts=tuple(hosts), title=f'"{query}"')

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:  # noqa: ARG002 - the seam's own
        return ()

    @tool(access="network", facts=_facts, claims=_claims)
    async def web_search(self, query: str, count: int = _USUAL) -> Outcome:
        query, count = _checked(query, count)
        client = self._client()
        problems: list[str] = []
        for one in self._engines():
            try:
                hits = await _asked(one, client, query, count)
            except ToolFailure as failure:
                problems.append(f"{one.name}: {str(failure).replace(one.key, '…') if one.key else failure}")
                continue
            return _told(hits[:count], query, one.name, problems)
        raise ToolFailure(
            f"no search engine could be reached; nothing was searched. {'; '.join(problems)}. The person can choose "
            "others with web.search in the settings."
        )

    def _engines(self) -> list[Chosen]:
        """The engines that are asked, in order. ToolFailure for a setting that is none."""
        chosen = [_chosen(name, self._web.engines) for name in dict.fromkeys(self._web.search)]
        if not chosen:
            raise ToolFailure("the settings name no search engine (web.search is empty); nothing was searched")
        return chosen


def _checked(query: str, count: int) -> tuple[str, int]:
    words = " ".join(unbroken(query).replace("\0", " ").split())
    if not words:
        raise ToolFailure("query is empty; give the words to search for")
    if len(words) > _QUERY:
        raise ToolFailure(f"query has {len(words):,} characters; at most {_QUERY} are searched for")
    if looks_secret(words):
        raise ToolFailure("query holds what looks like a key or password; nothing was sent. Leave it out.")
    if count < 1:
        raise ToolFailure(f"count must be at least 1; arrived: {count}")
    return words, min(count, _MOST)


def _chosen(name: str, known: Mapping[str, WebEngine]) -> Chosen:
    setting = known.get(name, WebEngine())
    kind = setting.kind or name
    engine = ENGINES.get(kind)
    if engine is None:
        raise ToolFailure(f"web.search names {name!r}, and {kind!r} is no kind of engine: {', '.join(ENGINES)}")
    if not setting.url and engine.url.startswith("/"):
        raise ToolFailure(f"the search engine {name} needs its address: web.engines.{name}.url in the settings")
    if engine.key and not setting.api_key:
        raise ToolFailure(f"the search engine {name} needs a key: web.engines.{name}.api_key in the settings")
    return Chosen(name=name, engine=engine, base=setting.url, key=setting.api_key)


async def _asked(one: Chosen, client: Client, query: str, count: int) -> list[Hit]:
    headers = {k: v.replace("{key}", one.key) for k, v in one.engine.headers.items()}
    body = one.engine.payload(query, count)
    if body:
        headers["Content-Type"] = "application/json"
    link = one.link(query, count)
    answer = await client.fetch(
        link, headers=headers, body=body, method="POST" if body else "GET", follow=_near(one.engine, bool(one.key))
    )
    if answer.onward:
        raise ToolFailure(f"it redirects to {shown(answer.onward)}")
    if answer.status != 200:
        raise failed(answer, "it")
    try:
        return one.engine.read(answer.body, answer.link.url)
    except Unreadable as problem:
        raise ToolFailure(str(problem)) from None


def _near(engine: Engine, key: bool) -> Follow:
    def follow(one: Link, other: Link) -> bool:
        if same_site(one, other):
            return True
        return not key and other.scheme == "https" and any(other.host.endswith(f".{name}") for name in engine.near)

    return follow


def _told(hits: list[Hit], query: str, engine: str, problems: list[str]) -> Outcome:
    lines = [f"[{problem}]" for problem in problems]
    lines += [f"{len(hits)} results of {engine}" if hits else f"{engine} found nothing for: {query}"]
    for number, hit in enumerate(hits, 1):
        snippet = hit.snippet if len(hit.snippet) <= _SNIPPET else f"{hit.snippet[:_SNIPPET]}…"
        lines += [f"{number}. {hit.title[:200]}", f"   {hit.url}", *([f"   {snippet}"] if snippet else [])]
    items = [unbroken(f"{hit.title[:200]} — {hit.url}") for hit in hits]
    display = {"kind": "list", "items": items, "total": len(items), "summary": f"{len(items)} results, {engine}"}
    return Outcome(text=unbroken("\n".join(lines)), display=display)
