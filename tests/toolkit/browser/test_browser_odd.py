"""Odd arguments and odd pages: each call ends with an answer or a failure that speaks, and quickly."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.config.settings import Web
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.web_client import Client
from gongfu.toolkit.web_github import GithubTools
from gongfu.toolkit.web_guard import Reach
from gongfu.toolkit.web_search import SearchTools
from tests.app.cast import workplace
from tests.models.raw_server import raw_server
from tests.toolkit.browser.shop import Shop, need_browser
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play
from tests.toolkit.web.site import tools

pytestmark = pytest.mark.anyio

ODD = [
    "",
    " ",
    "\0",
    "\ud800",
    "x" * 200_000,
    "../../etc",
    "'\"<>",
    "e1\n",
    "css=",
    "[",
    "http://\0",
    "aria-ref=e1",
    "中" * 300,
]


@pytest.mark.parametrize("text", ODD)
async def test_odd_arguments_of_the_web(text: str, tmp_path: Path) -> None:
    async def nobody(host: str, port: int):
        raise OSError

    def client() -> Client:
        return Client(Reach((), nobody), {})

    search = SearchTools(Web(), client).web_search
    github = GithubTools("https://api.github.com", {"GITHUB_TOKEN": "x"}, client).github_search
    for tool, args in (
        (tools(tmp_path).web_fetch, {"url": text}),
        (search, {"query": text}),
        (github, {"query": text}),
    ):
        for step in (tool.facts, lambda given, tool=tool: tool.run(given, Ctx())):
            try:
                said = await step(args)
            except ToolFailure as failure:
                said = str(failure)
                assert len(said) < 3000
            str(said).encode()


async def test_odd_arguments_and_pages_through_the_loop(tmp_path: Path) -> None:
    need_browser()
    shop = Shop()
    shop.page = """<script>document.title = "a\\ud800b";
        document.write("<h1>\\udfff x</h1><p>" + "long ".repeat(30000));
        setInterval(() => fetch("/png"), 100); onbeforeunload = e => e.preventDefault();</script>"""
    work = workplace(tmp_path)
    async with raw_server(shop) as server:
        url = f"http://localhost:{server.port}/page"
        calls = [("browser_open", {"url": url}), ("browser_read", {})]
        calls += [("browser_click", {"element": text}) for text in ("\0", "[", "css=", "x" * 200_000)]
        calls += [
            ("browser_type", {"element": "h1", "text": "a\0"}),
            ("browser_tabs", {"tab": -1, "action": "close"}),
        ]
        calls += [("browser_open", {"url": f"http://localhost:{server.port}/second"})]
        told = await play(work, *calls)
    states = [r.status for r in told.results]
    assert states == ["done", "done", *["failed"] * 6, "done"]
    assert "internal error" not in "".join(r.text for r in told.results)
    assert "# \ufffd x" in told.results[1].text
    assert "# 第二页" in told.text
