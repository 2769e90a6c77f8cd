"""web_search and github_search against loopback servers that answer as the real ones do."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from gongfu.config.settings import Web, WebEngine
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.web_client import Client
from gongfu.toolkit.web_github import GithubTools
from gongfu.toolkit.web_guard import Reach
from gongfu.toolkit.web_search import SearchTools
from tests.app.cast import workplace
from tests.models.raw_server import Exchange, raw_server
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio

DUCK = """<html><body><div class="result results_links result--ad"><h2 class="result__title">
<a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dx">Ad</a></h2>
<a class="result__snippet" href="#">Buy</a></div>
<div class="result results_links"><h2 class="result__title"><a rel="nofollow" class="result__a"
href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fdocs%3Fx%3D1&amp;rut=1">Docs of <b>A</b></a></h2>
<a class="result__snippet" href="//x">How to use <b>A</b> &amp; B</a></div>
<div class="result"><a class="result__a" href="https://b.example/中文">功夫 手册</a></div></body></html>"""
PACKED = base64.urlsafe_b64encode(b"https://b.example/two").decode().rstrip("=")
BING = f"""<html><body><ol id="b_results"><li class="b_algo"><h2><a href="https://a.example/one">First</a></h2>
<div class="b_caption"><p>About the first</p></div></li><li class="b_algo"><h2><a
href="https://www.bing.com/ck/a?!&amp;&amp;p=1&amp;u=a1{PACKED}&amp;ntb=1">Second</a></h2><p>About two</p></li></ol>
<a href="https://footer.example/">Privacy</a></body></html>"""
JSON = {
    "brave": {"web": {"results": [{"title": "One", "url": "https://a.example/", "description": "<b>A</b> b"}]}},
    "searxng": {"results": [{"title": "One", "url": "https://a.example/", "content": "A b"}]},
    "tavily": {"results": [{"title": "One", "url": "https://a.example/", "content": "A b"}]},
    "serper": {"organic": [{"title": "One", "link": "https://a.example/", "snippet": "A b"}]},
    "bocha": {"code": 200, "data": {"webPages": {"value": [
        {"name": "One", "url": "https://a.example/", "summary": "A b"}, {"name": "Bad", "url": "javascript:x"}]}}},
}  # fmt: skip


async def engines(ask: Exchange) -> None:
    name = ask.target.split("/")[1]
    if name in JSON:
        await ask.answer(json.dumps(JSON[name]).encode())
    elif name == "duckduckgo":
        await ask.answer(DUCK.encode(), kind="text/html; charset=utf-8")
    elif name == "bing":
        await ask.answer(BING.encode(), kind="text/html")
    elif name == "robot":
        await ask.answer(b"<div class=anomaly-modal>Unfortunately, bots use it", kind="text/html")
    elif name == "none":
        await ask.answer(b"<div class=no-results>No results found", kind="text/html")
    elif name == "away":
        await ask.answer(b"", status=302, more="Location: https://elsewhere.example/?key=1\r\n")
    else:
        await ask.answer(b"{}", status=500)


def tools(base: str, *names: str, **kinds: str) -> SearchTools:
    """Engines at `base`, each under its name."""
    known = {name: WebEngine(kind=kinds.get(name, ""), url=f"{base}/{name}", api_key="the-key-of-it") for name in names}
    place = urlsplit(base).netloc
    return SearchTools(Web(search=names, engines=known), lambda: Client(Reach((place,)), {}))


async def search(made: SearchTools, **args) -> str:
    args = {"query": "how to 功夫"} | args
    await made.web_search.facts(args)
    return (await made.web_search.run(args, Ctx())).text


@pytest.mark.parametrize("name", list(JSON))
async def test_engines_that_answer_with_json(name: str) -> None:
    async with raw_server(engines) as server:
        assert (
            await search(tools(server.url, name), count=3)
            == f"1 results of {name}\n1. One\n   https://a.example/\n   A b"
        )
        asked = server.requests[0]
    if asked.method == "POST":
        assert "how to 功夫" in asked.json.values()
        assert 3 in asked.json.values()
    else:
        assert parse_qs(urlsplit(asked.target).query)["q"] == ["how to 功夫"]
    assert ("the-key-of-it" in str(asked.headers)) == (name != "searxng")
    assert "the-key-of-it" not in asked.target


async def test_engines_that_answer_with_a_page() -> None:
    async with raw_server(engines) as server:
        assert await search(tools(server.url, "duckduckgo")) == (
            "2 results of duckduckgo\n1. Docs of A\n   https://a.example/docs?x=1\n   How to use A & B\n"
            "2. 功夫 手册\n   https://b.example/中文"
        )
        assert server.requests[0].target.startswith("/duckduckgo/html/?q=how+to+%E5%8A%9F")
        assert await search(tools(server.url, "bing")) == (
            "2 results of bing\n1. First\n   https://a.example/one\n   About the first\n2. Second\n"
            "   https://b.example/two\n   About two"
        )


async def test_the_next_engine_is_asked_when_one_fails() -> None:
    kinds = {"robot": "duckduckgo", "broken": "tavily", "away": "serper"}
    async with raw_server(engines) as server:
        text = await search(tools(server.url, "robot", "broken", "away", "brave", **kinds))
    assert text.splitlines()[:4] == [
        "[robot: it asks whether a person is there]",
        "[broken: it answered 500 Internal Server Error]",
        "[away: it redirects to https://elsewhere.example/?key=1]",
        "1 results of brave",
    ]


async def test_nothing_found_is_no_failure() -> None:
    async with raw_server(engines) as server:
        text = await search(tools(server.url, "none", none="duckduckgo"))
    assert text == "none found nothing for: how to 功夫"


async def test_offline_is_told_honestly() -> None:
    async with raw_server(engines) as server:
        base = server.url
    with pytest.raises(ToolFailure, match=r"no search engine could be reached; nothing was searched\. brave: .*refus"):
        await search(tools(base, "brave", "tavily"))


@pytest.mark.parametrize(
    ("web", "said"),
    [
        (Web(search=()), "web.search is empty"),
        (Web(search=("google",)), "'google' is no kind of engine"),
        (Web(search=("searxng",)), "web.engines.searxng.url"),
        (Web(search=("brave",)), "web.engines.brave.api_key"),
        (Web(search=("x",), engines={"x": WebEngine(kind="y")}), "'y' is no kind"),
    ],
)
async def test_wrong_settings_are_told_before_anything_is_asked(web: Web, said: str) -> None:
    made = SearchTools(web, lambda: Client(Reach(), {}))
    with pytest.raises(ToolFailure, match=said):
        await made.web_search.facts({"query": "x"})


@pytest.mark.parametrize(
    "args", [{"query": " "}, {"query": "x" * 501}, {"query": "x", "count": 0}, {"query": "ghp_" + "a1B2" * 9}]
)
async def test_bad_queries(args: dict) -> None:
    with pytest.raises(ToolFailure):
        await search(tools("http://127.0.0.1:1", "brave"), **args)


async def test_all_hosts_that_may_be_asked_are_named() -> None:
    made = SearchTools(Web(search=("duckduckgo", "bing")), lambda: Client(Reach(), {}))
    facts = await made.web_search.facts({"query": "x\ud800\0y"})
    assert facts.hosts == ("html.duckduckgo.com:443", "www.bing.com:443")


# --- GitHub -----------------------------------------------------------------------------------------------------------

REPOSITORY = {
    "full_name": "o/r", "html_url": "https://github.com/o/r", "description": "A  thing\nof use", "language": "Python",
    "stargazers_count": 1234, "pushed_at": "2026-01-02T00:00:00Z", "archived": True,
}  # fmt: skip
ANSWERS = {
    "repositories": REPOSITORY,
    "code": {"path": "a.py", "html_url": "https://github.com/o/r/a.py", "repository": {"full_name": "o/r"},
             "text_matches": [{"fragment": "def f():\n  pass"}]},
    "issues": {"title": "A bug", "state": "open", "created_at": "2026-01-02T00:00:00Z", "comments": 2,
               "html_url": "https://github.com/o/r/issues/1", "pull_request": {}},
    "users": {"login": "ann", "type": "User", "html_url": "https://github.com/ann"},
}  # fmt: skip
LINES = {
    "repositories": "o/r (1,234 stars, Python, pushed 2026-01-02, archived) https://github.com/o/r\n  A thing of use",
    "code": "o/r: a.py https://github.com/o/r/a.py\n  def f(): pass",
    "issues": "A bug (open, issue, 2026-01-02, 2 comments) https://github.com/o/r/issues/1",
    "users": "ann (user) https://github.com/ann",
}


async def hub(ask: Exchange) -> None:
    kind = urlsplit(ask.target).path.rpartition("/")[2]
    query = parse_qs(urlsplit(ask.target).query)["q"][0]
    if query == "limit":
        await ask.answer(b"{}", status=403, more="X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1\r\n")
    elif query == "wrong":
        await ask.answer(b'{"message": "Validation Failed", "errors": [{"message": "no such repo"}]}', status=422)
    elif query == "token":
        await ask.answer(b'{"message": "Bad credentials"}', status=401)
    elif query == "page":
        await ask.answer(b"<html>")
    elif query == "none":
        await ask.answer(b'{"total_count": 0, "items": []}')
    else:
        body = {"total_count": 5000, "items": [ANSWERS[kind]], "incomplete_results": kind == "users"}
        await ask.answer(json.dumps(body).encode(), more="X-RateLimit-Remaining: 2\r\n")


def github(base: str, **env: str) -> GithubTools:
    return GithubTools(base, env, lambda: Client(Reach((urlsplit(base).netloc,)), {}))


@pytest.mark.parametrize("kind", list(ANSWERS))
async def test_github_is_searched(kind: str) -> None:
    async with raw_server(hub) as server:
        made = github(f"{server.url}/api/v3/", GITHUB_ENTERPRISE_TOKEN="enterprise", GITHUB_TOKEN="never-this")
        told = await made.github_search.run({"query": "http client", "kind": kind, "count": 3}, Ctx())
        asked = server.requests[0]
    assert told.text.startswith(f"1 of 5,000 {kind}\n{LINES[kind]}\n[2 more searches this minute]")
    assert asked.target == f"/api/v3/search/{kind}?q=http+client&per_page=3"
    assert asked.headers["authorization"] == "Bearer enterprise"
    assert ("there may be more" in told.text) == (kind == "users")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("limit", "takes no more searches for now: wait 0 s. With a token in GITHUB_TOKEN"),
        ("wrong", "does not understand the query: Validation Failed; no such repo"),
        ("token", "does not accept the token"),
        ("page", "is web.github right?"),
        ("", "query is empty"),
        ("x" * 300, "at most 256"),
    ],
)
async def test_what_github_refuses_is_told(query: str, said: str) -> None:
    async with raw_server(hub) as server:
        with pytest.raises(ToolFailure) as failure:
            await github(server.url).github_search.run({"query": query}, Ctx())
    assert said in str(failure.value)


async def test_the_token_of_github_goes_nowhere_else() -> None:
    async with raw_server(hub) as server:
        with pytest.raises(ToolFailure, match="only for people with a token"):
            await github(server.url, GITHUB_TOKEN="secret").github_search.run({"query": "x", "kind": "code"}, Ctx())
        none = await github(server.url, GITHUB_TOKEN="secret").github_search.run({"query": "none"}, Ctx())
        assert "authorization" not in server.requests[-1].headers
    assert none.text == "GitHub found no repositories for: none"


async def test_both_through_the_loop_ask_for_their_hosts(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    async with raw_server(engines) as server, raw_server(hub) as second:
        (home / "config.yaml").write_text(
            f"web:\n  search: [searxng]\n  engines: {{searxng: {{url: '{server.url}/searxng'}}}}\n"
            f"  github: '{second.url}'\n"
        )
        calls = (("web_search", {"query": "gongfu"}), ("github_search", {"query": "gongfu"}))
        told = await play(work, *calls)
        assert [r.status for r in told.results] == ["done", "done"]
        assert "https://a.example/" in told.results[0].text
        assert "o/r (1,234 stars" in told.text
        refused = await play(work, *calls, permission="auto", answers="no")
        assert [r.status for r in refused.results] == ["refused", "refused"]
