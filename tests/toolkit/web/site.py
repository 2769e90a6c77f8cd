"""A small web on loopback: pages by path, and what is needed to look at it with the tools."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from gongfu.core.errors import UserError
from gongfu.toolkit.web import WebTools
from gongfu.toolkit.web_client import Client, Limits
from gongfu.toolkit.web_guard import Reach
from tests.models.raw_server import Exchange, RawServer, raw_server
from tests.toolkit.pdfs import pdf

PUBLIC = "public.test"
INSIDE = "inside.test"
PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\x02\0\0\0{@\xe8\xdd\0\0\0\x0eIDATx\x9cc\xf8\xcf\xc0\xf0\x1f"
    b"\0\x05\0\x01\xff\xa6\xee\xf9\xd4\0\0\0\0IEND\xaeB`\x82"
)
CHINESE = (
    "<html><head>{meta}<title>功夫手册</title></head><body><h1>安装</h1><p>先安装依赖，然后运行测试。</p></body></html>"
)
ARTICLE = """<!doctype html><html><head><title>A &amp; B</title><script>var x = "<p>no</p>";</script></head><body>
<nav><a href="/menu">Menu</a></nav><main><h1>Guide</h1><p>Read <a href="next.html">the next page</a> and
<b>do not</b> skip <code>make test</code>.</p><ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul>
<pre><code class="language-python">def f():
    return 1
</code></pre><table><tr><th>name</th><th>size</th></tr><tr><td>a|b</td><td>3</td></tr></table></main>
<footer>Footer</footer></body></html>"""


class Pages:
    """Answers by path. Whatever else is asked for is not found."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.port = 0

    async def __call__(self, ask: Exchange) -> None:
        path = ask.target.removeprefix(f"http://{PUBLIC}:{self.port}")
        self.paths.append(path)
        name, _, rest = path.removeprefix("/").partition("?")[0].partition("/")
        await getattr(self, f"_{name}", self._missing)(ask, rest)

    async def _missing(self, ask: Exchange, rest: str) -> None:
        await ask.answer(b"<p>nothing here</p>", status=404, kind="text/html")

    async def _page(self, ask: Exchange, rest: str) -> None:
        await ask.answer(ARTICLE.encode(), kind="text/html; charset=utf-8")

    async def _gbk(self, ask: Exchange, rest: str) -> None:
        kind = {"header": "text/html; charset=gb2312", "wrong": "text/html; charset=utf-8"}.get(rest, "text/html")
        meta = '<meta charset="gbk">' if rest in ("meta", "wrong") else ""
        await ask.answer(CHINESE.format(meta=meta).encode("gbk"), kind=kind)

    async def _big5(self, ask: Exchange, rest: str) -> None:
        body = CHINESE.format(meta="").replace("册", "冊").replace("装", "裝").replace("赖", "賴")
        body = body.replace("后", "後").replace("运", "運").replace("测试", "測試").replace("，", "，")
        await ask.answer(body.replace("运行", "執行").encode("big5"), kind="text/html; charset=big5")

    async def _latin(self, ask: Exchange, rest: str) -> None:
        await ask.answer("<p>naïve 功夫</p>".encode(), kind="text/html; charset=iso-8859-1")

    async def _json(self, ask: Exchange, rest: str) -> None:
        await ask.answer(b'{"a": [1, 2]}')

    async def _png(self, ask: Exchange, rest: str) -> None:
        await ask.answer(PNG, kind="image/png")

    async def _pdf(self, ask: Exchange, rest: str) -> None:
        await ask.answer(pdf("First page", "Second page"), kind="application/octet-stream")

    async def _binary(self, ask: Exchange, rest: str) -> None:
        await ask.answer(b"PK\x03\x04" + bytes(500), kind="application/zip")

    async def _long(self, ask: Exchange, rest: str) -> None:
        await ask.answer("".join(f"row {n}\n" for n in range(1, 20_001)).encode(), kind="text/plain")

    async def _status(self, ask: Exchange, rest: str) -> None:
        more = "Retry-After: 30\r\n" if rest == "429" else ""
        await ask.answer(b"trouble", status=int(rest), kind="text/plain", more=more)

    async def _to(self, ask: Exchange, rest: str) -> None:
        """Redirects to what the query says."""
        where = ask.target.partition("?")[2]
        await ask.answer(b"", status=302, more=f"Location: {where}\r\n")

    async def _loop(self, ask: Exchange, rest: str) -> None:
        await ask.answer(b"", status=301, more=f"Location: /loop/{int(rest or 0) + 1}\r\n")

    async def _login(self, ask: Exchange, rest: str) -> None:
        if "seen=yes" in ask.headers.get("cookie", ""):
            await ask.answer(b"welcome", kind="text/plain")
        else:
            await ask.answer(b"", status=302, more="Set-Cookie: seen=yes; Path=/\r\nLocation: /login\r\n")

    async def _slow(self, ask: Exchange, rest: str) -> None:
        await ask.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n")
        while True:
            await ask.send(b"x")
            await anyio.sleep(0.05)

    async def _still(self, ask: Exchange, rest: str) -> None:
        await anyio.sleep_forever()

    async def _cut(self, ask: Exchange, rest: str) -> None:
        await ask.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nhalf")
        ask.close()

    async def _flood(self, ask: Exchange, rest: str) -> None:
        kind, size = (rest or "text").split("-")[0], 100_000_000
        head = {"pdf": b"%PDF-1.7\n", "png": PNG}.get(kind, b"")
        media = {"pdf": "application/pdf", "png": "image/png"}.get(kind, "text/plain")
        start = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {size}\r\n\r\n"
        await ask.send(start.encode() + head)
        line = b"a line of a hundred megabytes\n" * 2000
        for _ in range(size // len(line)):
            await ask.send(line)

    async def _bomb(self, ask: Exchange, rest: str) -> None:
        packer = zlib.compressobj(1, zlib.DEFLATED, 31 if rest == "gzip" else 15)
        packed = b"".join(packer.compress(bytes(1_000_000)) for _ in range(100)) + packer.flush()
        await ask.answer(packed, kind="text/plain", more=f"Content-Encoding: {rest}\r\n")

    async def _packed(self, ask: Exchange, rest: str) -> None:
        body = b"packed text"
        raw = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = {
            "gzip": gzip.compress(body), "two": gzip.compress(body[:6]) + gzip.compress(body[6:]),
            "deflate": zlib.compress(body), "raw": raw.compress(body) + raw.flush(), "broken": b"\x1f\x8bnonsense",
            "br": b"\x0b\x05\x80",
        }[rest]  # fmt: skip
        kind = {"two": "gzip", "raw": "deflate", "broken": "gzip"}.get(rest, rest)
        await ask.answer(packed, kind="text/plain", more=f"Content-Encoding: {kind}\r\n")

    async def _scripted(self, ask: Exchange, rest: str) -> None:
        await ask.answer(b"<html><body><div id=app></div><script>go()</script></body></html>", kind="text/html")


@asynccontextmanager
async def site() -> AsyncGenerator[tuple[RawServer, Pages]]:
    """The pages on a port of loopback."""
    pages = Pages()
    async with raw_server(pages) as server:
        pages.port = server.port
        yield server, pages


async def names(host: str, port: int) -> Sequence[str]:
    """The names of the tests: one that stands for a public one, one that leads inside."""
    if host in (PUBLIC, f"www.{PUBLIC}"):
        return ("127.0.0.1",)
    if host == INSIDE:
        return ("10.1.2.3",)
    raise OSError("no such name")


def client(*allow: str, limits: Limits | None = None, env: dict[str, str] | None = None) -> Client:
    """A client to which `public.test` is a public host."""
    return Client(Reach((PUBLIC, f"www.{PUBLIC}", *allow), names), env or {}, limits or Limits())


class _Writer(io.BytesIO):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.id = path.name

    def close(self) -> None:
        if not self.closed:
            self.path.write_bytes(self.getvalue())
        super().close()


def tools(folder: Path, *allow: str, limits: Limits | None = None, full: bool = False) -> WebTools:
    """web_fetch, that keeps what is too long in `folder`."""

    def artifact():
        if full:
            raise UserError("store.artifact_full", path=folder)
        return _Writer(folder / "a1")

    return WebTools(lambda: client(*allow, limits=limits), artifact)
