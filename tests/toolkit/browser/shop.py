"""A small web application on loopback for the browser, and the browser's tools over it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest

from gongfu.config.settings import Web
from gongfu.toolkit.browser import BrowserTools
from gongfu.toolkit.browser_session import Browsing
from tests.models.raw_server import Exchange, RawServer, raw_server
from tests.toolkit.kit import Ctx
from tests.toolkit.web.site import PNG, _Writer

HOME = """<!doctype html><html lang=zh><head><meta charset=utf-8><title>功夫小店</title></head><body>
<h1>欢迎光临</h1><p>今日 <b>特价</b>：<a href="/second">第二页</a></p>
<form onsubmit="done(); return false"><label>姓名 <input id=name></label>
<label>Size <select id=size><option>small<option>large</select></label>
<label><input type=checkbox id=ok> agree</label>
<button>提交</button></form><p id=said></p>
<button onclick="document.getElementById('said').textContent = confirm('Really?') ? 'yes' : 'no'">ask me</button>
<button onclick="alert('Hello 你好')">greet</button>
<button onclick="window.open('/second')">new window</button>
<a href="/file" download="报告.txt">download</a> <a href="/crash">crash</a>
<button>twin</button><button>twin</button>
<iframe srcdoc="<button onclick='this.textContent=&quot;pressed&quot;'>inner</button>"></iframe>
<script>function done() { document.getElementById('said').textContent =
  'Hello ' + name_.value + ' ' + size.value + ' ' + ok.checked; }
const [name_, size, ok] = ['name', 'size', 'ok'].map(id => document.getElementById(id));
setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p>built by script</p>'), 50);
</script></body></html>"""


class Shop:
    """Answers by path; `page` is what `/page` shows."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.page = ""
        self.bodies: list[bytes] = []

    async def __call__(self, ask: Exchange) -> None:
        path = ask.target
        self.paths.append(path)
        self.bodies.append(ask.body)
        match path.partition("?")[0]:
            case "/":
                await ask.answer(HOME.encode(), kind="text/html")
            case "/second":
                await ask.answer("<title>Two</title><h1>第二页</h1>".encode(), kind="text/html; charset=utf-8")
            case "/page":
                await ask.answer(self.page.encode(), kind="text/html; charset=utf-8")
            case "/file":
                await ask.answer("报告".encode(), kind="text/plain", more="Content-Disposition: attachment\r\n")
            case "/png":
                await ask.answer(PNG, kind="image/png")
            case "/to":
                await ask.answer(b"", status=302, more=f"Location: {path.partition('?')[2]}\r\n")
            case "/broken":
                await ask.answer(b"<h1>broken</h1>", status=500, kind="text/html")
            case _:
                await ask.answer(b"", status=404)
        ask.close()


PUBLIC = "shop.example"


async def names(host: str, port: int) -> Sequence[str]:
    """`shop.example` stands for the open web: the tests list it. Others lead inside."""
    known = {PUBLIC: "127.0.0.1", "localhost": "127.0.0.1", "router.lan": "127.0.0.1", "sly.example": "127.0.0.1"}
    if host in known:
        return (known[host],)
    raise OSError("no such name")


def need_browser() -> None:
    """Skip where there is no browser; in CI there must be one."""
    found = any(shutil.which(n) for n in ("google-chrome", "chromium", "chromium-browser", "microsoft-edge"))
    if os.environ.get("CI") == "true":
        return
    if not found:
        pytest.skip("no Chrome, Chromium or Edge is installed")
    if find_spec("playwright") is None:
        pytest.skip("the extra browser is not installed")


class Hand:
    """Calls tools by name, facts first, as the engine does."""

    def __init__(self, tools: BrowserTools, browsing: Browsing) -> None:
        self.tools = tools
        self.browsing = browsing
        self.kept: list[bytes] = []

    async def __call__(self, name: str, **args):
        tool = getattr(self.tools, f"browser_{name}")
        self.facts = await tool.facts(args)
        return await tool.run(args, Ctx())

    async def text(self, name: str, **args) -> str:
        return (await self(name, **args)).text


@asynccontextmanager
async def shop(folder: Path, **web) -> AsyncGenerator[tuple[Hand, RawServer, Shop]]:
    """The application, and a browser that has not started yet."""
    need_browser()
    pages = Shop()
    async with raw_server(pages) as server:
        settings = msgspec.convert({"allow_hosts": (PUBLIC,)} | web, Web)
        kept: list[bytes] = []

        def keep(data: bytes) -> str:
            kept.append(data)
            return f"a{len(kept)}"

        env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        browsing = Browsing(settings, env, lambda: env, keep, names)
        hand = Hand(BrowserTools(browsing, lambda: _Writer(folder / "a0"), keep), browsing)
        hand.kept = kept
        try:
            yield hand, server, pages
        finally:
            await browsing.close()
