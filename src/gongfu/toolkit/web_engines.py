"""The search engines of web_search: what each is asked, as data, and how its answer is read."""

from __future__ import annotations

import html as entities
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qs, quote_plus, urljoin, urlsplit

import msgspec

from gongfu.core.base import Base


class Hit(Base, frozen=True):
    """One result."""

    title: str
    url: str
    snippet: str = ""


Reader: TypeAlias = Callable[[bytes, str], list[Hit]]


class Engine(Base, frozen=True):
    """A kind of engine. `url` and `body` hold `{query}` and `{count}` (`{key}` in headers); a body is JSON and sent by
    POST. `key` tells that it cannot be used without one. `near` are further hosts that it may redirect to.
    """

    url: str
    read: Reader
    body: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}
    key: bool = False
    near: tuple[str, ...] = ()

    def address(self, base: str, query: str, count: int) -> str:
        """The address to ask, at the engine's own place or at `base`."""
        url = self.url if not base else self._at(base)
        return url.replace("{query}", quote_plus(query)).replace("{count}", str(count))

    def _at(self, base: str) -> str:
        own = urlsplit(self.url)
        root = base.rstrip("/").removesuffix(own.path.rstrip("/"))
        return root + own.path + (f"?{own.query}" if own.query else "")

    def payload(self, query: str, count: int) -> bytes:
        """The body to send; b"" for a GET."""
        if not self.body:
            return b""
        filled = {k: query if v == "{query}" else count if v == "{count}" else v for k, v in self.body.items()}
        return msgspec.json.encode(filled)


class Unreadable(Exception):
    """The answer is not what the engine usually sends: a check for robots, or a page that has changed."""


# --- answers in HTML --------------------------------------------------------------------------------------------------


class _Results(HTMLParser):
    """Reads results from HTML: a link of class `link` begins one, an element of class `text` holds its snippet;
    `box` is the class of the element that holds a result, where the link has no class of its own."""

    def __init__(self, link: str, text: str, box: str = "") -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self._link, self._text, self._box = link, text, box
        self._in_box = not box
        self._field = -1
        self._tag = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {k: v or "" for k, v in attrs}
        classes = named.get("class", "").split()
        if self._field >= 0:
            self._depth += tag == self._tag
            return
        if self._box and self._box in classes:
            self._in_box = True
        if tag == "a" and self._in_box and named.get("href") and (not self._link or self._link in classes):
            self.found.append([named["href"], "", ""])
            self._begin(tag, 1)
            self._in_box = not self._box
        elif self.found and not self.found[-1][2] and (self._text in classes or tag == self._text):
            self._begin(tag, 2)

    def _begin(self, tag: str, field: int) -> None:
        self._tag, self._field, self._depth = tag, field, 0

    def handle_endtag(self, tag: str) -> None:
        if self._field < 0 or tag != self._tag:
            return
        if self._depth:
            self._depth -= 1
        else:
            self._field = -1

    def handle_data(self, data: str) -> None:
        if self._field >= 0:
            self.found[-1][self._field] += data


def _html_hits(raw: bytes, base: str, parser: _Results, unwrap: Callable[[str], str]) -> list[Hit]:
    parser.feed(raw.decode("utf-8", "replace"))
    parser.close()
    hits = [
        Hit(title=" ".join(title.split()), url=unwrap(urljoin(base, url)), snippet=" ".join(text.split()))
        for url, title, text in parser.found
    ]
    return [hit for hit in hits if hit.title and hit.url.startswith(("http://", "https://"))]


def read_duckduckgo(raw: bytes, base: str) -> list[Hit]:
    """The page without scripts of DuckDuckGo; its advertisements are left out."""

    def unwrap(url: str) -> str:
        parts = urlsplit(url)
        target = parse_qs(parts.query).get("uddg", [""])[0] if parts.path == "/l/" else url
        return "" if urlsplit(target).path == "/y.js" else target

    hits = _html_hits(raw, base, _Results("result__a", "result__snippet"), unwrap)
    if not hits and b"no-results" not in raw and b"No results" not in raw:
        raise Unreadable("it asks whether a person is there" if b"anomaly" in raw else "its page holds no results")
    return hits


def read_bing(raw: bytes, base: str) -> list[Hit]:
    """The page of Bing. Its links lead through Bing; where they do, the address is packed in base 64."""

    def unwrap(url: str) -> str:
        packed = parse_qs(urlsplit(url).query).get("u", [""])[0] if "/ck/a" in url else ""
        if not packed.startswith("a1"):
            return url
        import base64  # only here

        try:
            return base64.urlsafe_b64decode(packed[2:] + "=" * (-len(packed[2:]) % 4)).decode("utf-8", "replace")
        except ValueError:
            return url

    body = re.sub(rb"(?is)<h2\b([^>]*)>", rb'<h2 class="b_head"\1>', raw)
    hits = _html_hits(body, base, _Results("", "p", "b_head"), unwrap)
    if not hits and b"b_no" not in raw:
        raise Unreadable("its page holds no results")
    return hits


# --- answers in JSON --------------------------------------------------------------------------------------------------


def _json_reader(path: tuple[str, ...], title: str, url: str, *snippets: str) -> Reader:
    """Reads a list that lies at `path`; `title`, `url` and the first of `snippets` that is there name its fields."""

    def read(raw: bytes, base: str) -> list[Hit]:  # noqa: ARG001 - as readers are called
        try:
            found: Any = msgspec.json.decode(raw)
        except msgspec.DecodeError:
            raise Unreadable("its answer is no JSON") from None
        for name in path:
            found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
        if found is None:
            found = []
        if not isinstance(found, list):
            raise Unreadable("its answer has another form")
        hits: list[Hit] = []
        for entry in cast("list[Any]", found):
            if isinstance(entry, dict):
                fields = cast("dict[str, Any]", entry)
                text = next((str(fields[s]) for s in snippets if fields.get(s)), "")
                hits.append(Hit(title=_plain(fields.get(title)), url=str(fields.get(url) or ""), snippet=_plain(text)))
        return [hit for hit in hits if hit.url.startswith(("http://", "https://"))]

    return read


def _plain(text: Any) -> str:
    bare = re.sub(r"<[^<>]{0,200}>", "", str(text or ""))
    return " ".join(entities.unescape(bare).split())


ENGINES: Mapping[str, Engine] = {
    "duckduckgo": Engine(
        url="https://html.duckduckgo.com/html/?q={query}", read=read_duckduckgo, near=("duckduckgo.com",)
    ),
    "bing": Engine(url="https://www.bing.com/search?q={query}&count={count}", read=read_bing, near=("bing.com",)),
    "brave": Engine(
        url="https://api.search.brave.com/res/v1/web/search?q={query}&count={count}",
        read=_json_reader(("web", "results"), "title", "url", "description"),
        headers={"X-Subscription-Token": "{key}", "Accept": "application/json"}, key=True,
    ),
    "searxng": Engine(
        url="/search?q={query}&format=json", read=_json_reader(("results",), "title", "url", "content"),
        headers={"Accept": "application/json"},
    ),
    "tavily": Engine(
        url="https://api.tavily.com/search", read=_json_reader(("results",), "title", "url", "content"),
        body={"query": "{query}", "max_results": "{count}"}, headers={"Authorization": "Bearer {key}"}, key=True,
    ),
    "serper": Engine(
        url="https://google.serper.dev/search", read=_json_reader(("organic",), "title", "link", "snippet"),
        body={"q": "{query}", "num": "{count}"}, headers={"X-API-KEY": "{key}"}, key=True,
    ),
    "bocha": Engine(
        url="https://api.bochaai.com/v1/web-search",
        read=_json_reader(("data", "webPages", "value"), "name", "url", "summary", "snippet"),
        body={"query": "{query}", "count": "{count}", "summary": True}, headers={"Authorization": "Bearer {key}"},
        key=True,
    ),
}  # fmt: skip
