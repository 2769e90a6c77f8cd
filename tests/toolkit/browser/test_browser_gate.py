"""The gate of the browser by itself: what it lets through, and how; and the outline of a page."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

import anyio
import pytest

from gongfu.toolkit.browser_gate import Gate
from gongfu.toolkit.browser_outline import news, outline
from gongfu.toolkit.web_guard import Reach, link_of
from tests.models.raw_server import Exchange, raw_server
from tests.toolkit.browser.shop import PUBLIC, names

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def gate(*allow: str, **env: str) -> AsyncGenerator[Gate]:
    made = Gate(Reach(allow, names), env)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


async def say(made: Gate, data: bytes) -> bytes:
    """Everything that comes back until the other side ends."""
    got = b""
    with anyio.fail_after(5):
        async with await anyio.connect_tcp("127.0.0.1", int(made.url.rpartition(":")[2])) as stream:
            await stream.send(data)
            with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    got += await stream.receive()
    return got


async def echo(ask: Exchange) -> None:
    lines = f"{ask.method} {ask.target} {ask.headers.get('connection')} {ask.headers.get('proxy-connection')} "
    await ask.answer(lines.encode() + ask.body, kind="text/plain", more="Keep-Alive: timeout=9\r\nX-Kept: 1\r\n")
    ask.close()


async def test_a_request_passes_whole_and_its_connection_ends() -> None:
    async with gate(PUBLIC) as made, raw_server(echo) as server:
        place = f"{PUBLIC}:{server.port}"
        head = f"POST http://{place}/a//b?k=ghp_0123456789abcdefghijABCDEFGHIJ012345 HTTP/1.1\r\nHost: {place}\r\n"
        head += "Proxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\n"
        answer = await say(made, head.encode() + b"body" + b"GET http://127.0.0.1/ HTTP/1.1\r\n\r\n")
        told, _, body = answer.partition(b"\r\n\r\n")
        assert body == b"POST /a//b?k=ghp_0123456789abcdefghijABCDEFGHIJ012345 close None body"
        assert b"Connection: close" in told
        assert b"Keep-Alive" not in told
        assert b"X-Kept: 1" in told
        assert len(server.requests) == 1


async def test_a_tunnel_carries_both_ways() -> None:
    async with gate(PUBLIC) as made, raw_server(echo) as server:
        head = f"CONNECT {PUBLIC}:{server.port} HTTP/1.1\r\n\r\n"
        async with await anyio.connect_tcp("127.0.0.1", int(made.url.rpartition(":")[2])) as stream:
            await stream.send(head.encode())
            assert await stream.receive() == b"HTTP/1.1 200 OK\r\n\r\n"
            await stream.send(b"GET /x HTTP/1.1\r\n\r\n")
            answer = b""
            while b"GET /x" not in answer:
                answer += await stream.receive()


@pytest.mark.parametrize(
    ("request_line", "said"),
    [
        ("CONNECT 127.0.0.1:443 HTTP/1.1", "this machine"),
        ("CONNECT [::1]:443 HTTP/1.1", "this machine"),
        ("CONNECT 10.0.0.1:443 HTTP/1.1", "the local network"),
        ("CONNECT sly.example:443 HTTP/1.1", "this machine"),
        ("CONNECT nowhere.example:443 HTTP/1.1", "cannot be found"),
        ("CONNECT a@127.0.0.1:443 HTTP/1.1", "user name"),
        ("GET http://0x7f.1/ HTTP/1.1", "this machine"),
        ("GET http://169.254.169.254/latest HTTP/1.1", "cloud metadata"),
        ("GET http://[::ffff:127.0.0.1]/ HTTP/1.1", "this machine"),
        ("GET /etc/passwd HTTP/1.1", "whole http:// addresses only"),
        ("GET https://shop.example/ HTTP/1.1", "whole http:// addresses only"),
        ("GET file:///etc/passwd HTTP/1.1", "whole http:// addresses only"),
        ("nonsense", "whole http:// addresses only"),
    ],
)
async def test_what_does_not_pass(request_line: str, said: str) -> None:
    async with gate() as made:
        answer = (await say(made, f"{request_line}\r\n\r\n".encode())).decode()
    assert answer.startswith("HTTP/1.1 502 ")
    assert said in answer


async def test_what_was_agreed_to_passes_under_every_name_of_this_machine() -> None:
    async with gate() as made, raw_server(echo) as server:
        made.agree(link_of(f"http://localhost:{server.port}/"))
        for host in ("localhost", "127.0.0.1"):
            assert b"GET /" in await say(made, f"GET http://{host}:{server.port}/ HTTP/1.1\r\n\r\n".encode())
        assert b"502" in await say(made, f"GET http://sly.example:{server.port}/ HTTP/1.1\r\n\r\n".encode())
        assert list(made.refused) == [f"sly.example:{server.port} (this machine)"]


async def test_an_outer_proxy_is_used_for_the_open_web() -> None:
    async with raw_server(echo) as outer, gate(PUBLIC, http_proxy=outer.url, https_proxy=outer.url) as made:
        assert b"GET http://shop.example:80/x" in await say(made, b"GET http://shop.example/x HTTP/1.1\r\n\r\n")
        async with await anyio.connect_tcp("127.0.0.1", int(made.url.rpartition(":")[2])) as stream:
            await stream.send(b"CONNECT shop.example:443 HTTP/1.1\r\n\r\n")
            assert b"200" in await stream.receive()
        assert [r.target for r in outer.requests] == ["http://shop.example:80/x", "shop.example:443"]


def test_the_outline_of_a_page() -> None:
    snapshot = """- generic [active] [ref=e1]:
  - heading "Guide \\"A\\"" [level=2] [ref=e2]
  - generic [ref=e3]:
    - text: "Some: text"
    - link "next page" [ref=e4] [cursor=pointer]:
      - /url: /next
  - generic [ref=e5] [cursor=pointer]: a box
  - list [ref=e6]:
    - listitem [ref=e7]:
      - checkbox "done" [checked] [ref=e8]
  - textbox "Name" [ref=e9]: value
  - 'button "It''s: x" [disabled] [ref=e10]'
  - table [ref=e12]:
    - rowgroup:
      - row "a b":
        - columnheader "a"
        - columnheader "b"
      - row [ref=e13]:
        - cell "1"
        - cell [ref=e14]:
          - link "two" [ref=e15]
  - list:
    - listitem: one
  - img "pic" [ref=e11]"""
    assert outline(snapshot).splitlines() == [
        '## Guide "A"',
        "Some: text",
        'link "next page" [e4] -> /next',
        "click [e5]: a box",
        'checkbox "done" [e8] (checked)',
        'textbox "Name" [e9]: value',
        'button "It\'s: x" [e10] (disabled)',
        "table",
        "  | a | b",
        "  | 1",
        '  link "two" [e15]',
        "- one",
        'img "pic"',
    ]
    prose = """- paragraph [ref=e1]:
  - text: Returns a
  - code [ref=e2]: Frob | x
  - text: or
  - link "none" [ref=e3]:
    - /url: /none
  - text: at all.
- paragraph [ref=e4]:
  - text: Next
- code [ref=e5]: "a: b"
"""
    assert outline(prose).splitlines() == [
        "Returns a `Frob | x` or", 'link "none" [e3] -> /none', "at all.", "Next", "`a: b`",
    ]  # fmt: skip
    assert news("a\nb\n  c", "a\n  b\nd\nc") == "d"
    assert outline("") == ""
    assert outline("\0garbage\n- ") == ""
