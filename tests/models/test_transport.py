"""HTTP to model endpoints: kept connections, proxies, certificates, and every way in which it breaks."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import time
import zlib
from contextlib import aclosing

import anyio
import pytest

from gongfu.core.errors import BadRequest, StreamCut, Unreachable
from gongfu.models.transport import Reply, Transport
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio


async def read_all(reply: Reply) -> bytes:
    async with aclosing(reply.chunks()) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def post(transport: Transport, path: str = "/chat", body: bytes = b"{}") -> bytes:
    async with transport.stream(path, body) as reply:
        return await read_all(reply)


async def test_a_request_and_its_streamed_answer() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.stream(b"one ", b"two")

    async with raw_server(handler) as server:
        transport = Transport(f"{server.url}/v1?api-version=3", headers={"Authorization": "Bearer k"}, env={})
        async with transport.stream("/chat?x=1", b'{"a":1}', {"X-Extra": "y"}) as reply:
            assert reply.status == 200
            assert reply.headers["content-type"] == "text/event-stream"
            assert await read_all(reply) == b"one two"
        await transport.aclose()
    sent = server.requests[0]
    assert (sent.method, sent.target, sent.body) == ("POST", "/v1/chat?api-version=3&x=1", b'{"a":1}')
    assert sent.headers["authorization"] == "Bearer k"
    assert sent.headers["x-extra"] == "y"
    assert sent.headers["host"] == f"127.0.0.1:{server.port}"
    assert sent.headers["content-type"] == "application/json"


async def test_the_connection_is_kept_also_when_the_reader_stops_at_the_last_event() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.stream(b"data: [DONE]\n\n")

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        for _ in range(3):
            async with transport.stream("/chat", b"{}") as reply, aclosing(reply.chunks()) as chunks:
                async for _ in chunks:
                    break
        assert server.connections == 1
        await transport.aclose()
        await transport.aclose()


async def test_parallel_requests_do_not_wait_for_each_other() -> None:
    both = asyncio.Barrier(2)

    async def handler(exchange: Exchange) -> None:
        await both.wait()
        await exchange.answer(b"ok")

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        assert await asyncio.wait_for(asyncio.gather(post(transport), post(transport)), 5) == [b"ok", b"ok"]
        await transport.aclose()


async def test_a_connection_that_the_server_closed_while_idle_is_replaced() -> None:
    async def handler(exchange: Exchange) -> None:
        if exchange.number == 1 and len(server.requests) == 1:
            await exchange.answer(b"first")
        elif exchange.number == 1:
            exchange.drop()  # the race: closed in the moment in which the next request is sent
        else:
            await exchange.answer(b"second")

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        assert await post(transport) == b"first"
        assert await post(transport) == b"second"
        assert server.connections == 2
        await transport.aclose()


async def test_a_fresh_connection_that_closes_is_not_tried_twice() -> None:
    async def handler(exchange: Exchange) -> None:
        exchange.drop()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        with pytest.raises(Unreachable, match=r"without an answer|lost"):
            await post(transport)
        assert len(server.requests) == 1
        await transport.aclose()


async def test_a_kept_connection_that_answered_in_part_is_not_tried_again() -> None:
    async def handler(exchange: Exchange) -> None:
        if len(server.requests) == 1:
            await exchange.answer(b"first")
        else:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-")
            exchange.close()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        await post(transport)
        with pytest.raises(Unreachable):
            await post(transport)
        assert len(server.requests) == 2
        await transport.aclose()


ANSWER = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"


async def test_an_answer_cut_at_every_byte_is_a_typed_fault() -> None:
    cut = 0

    async def handler(exchange: Exchange) -> None:
        await exchange.send(ANSWER[:cut])
        exchange.close()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        for cut in range(len(ANSWER)):
            with pytest.raises((Unreachable, StreamCut)) as caught:
                await post(transport)
            assert isinstance(caught.value, StreamCut) == (cut >= ANSWER.index(b"\r\n\r\n") + 4)
        cut = len(ANSWER)
        assert await post(transport) == b"hello world"
        await transport.aclose()


async def test_an_answer_that_arrives_byte_by_byte() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(*[ANSWER[n : n + 1] for n in range(len(ANSWER))])

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        assert await post(transport) == b"hello world"
        await transport.aclose()


async def test_a_large_body_and_large_chunks() -> None:
    size = 3_000_000

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(exchange.body)

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        assert await post(transport, body=b"x" * size) == b"x" * size
        async with transport.stream("/", b"y" * size) as reply:
            assert await reply.read(10) == b"y" * 10
        assert await transport.get("/models") == (200, server_headers(), b"")
        await transport.aclose()


def server_headers() -> dict[str, str]:
    return {"content-type": "text/event-stream", "transfer-encoding": "chunked"}


async def test_an_error_before_the_request_was_read_is_the_answer() -> None:
    """A server may refuse a large body early: its answer counts, not the broken pipe."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        await writer.drain()
        while await reader.read(65536):
            pass
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    transport = Transport(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", env={})
    async with transport.stream("/", b"x" * 2_000_000) as reply:
        assert reply.status == 413
        assert await reply.read(100) == b"no"
    await transport.aclose()
    server.close()


async def test_a_broken_error_body_still_tells_the_status() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 429 No\r\nContent-Length: 100\r\n\r\npart")
        exchange.close()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        async with transport.stream("/", b"{}") as reply:
            assert (reply.status, await reply.read(1000)) == (429, b"part")
        await transport.aclose()


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw"])
async def test_packed_answers_are_unpacked_although_not_asked_for(kind: str) -> None:
    text = b"data: hello\n\n" * 500
    raw = zlib.compressobj(wbits=-15)
    packed = {"gzip": gzip.compress(text), "deflate": zlib.compress(text), "raw": raw.compress(text) + raw.flush()}[
        kind
    ]

    async def handler(exchange: Exchange) -> None:
        assert exchange.headers["accept-encoding"] == "identity"
        encoding = "gzip" if kind == "gzip" else "deflate"
        await exchange.answer(packed, more=f"Content-Encoding: {encoding}\r\n")

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        assert await post(transport) == text
        await transport.aclose()


async def test_damaged_or_unknown_packing_is_a_fault() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.answer(b"\x00not packed", more=f"Content-Encoding: {exchange.target[1:]}\r\n")

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        with pytest.raises(StreamCut):
            await post(transport, "/gzip")
        with pytest.raises(BadRequest, match="br"):
            await post(transport, "/br")
        await transport.aclose()


async def test_silence_ends_after_the_idle_time() -> None:
    forever = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        if exchange.target == "/later":
            await exchange.stream(b"one", end=False)
        await forever.wait()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={}, idle_seconds=0.05)
        with pytest.raises(Unreachable, match=r"nothing came for 0\.05 s"):
            await post(transport)
        with pytest.raises(StreamCut, match=r"nothing came for 0\.05 s"):
            await post(transport, "/later")
        await transport.aclose()


async def test_cancelling_closes_the_socket_at_once() -> None:
    forever = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(b"one", end=False)
        await forever.wait()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        with anyio.CancelScope() as scope:
            async with transport.stream("/", b"{}") as reply, aclosing(reply.chunks()) as chunks:
                async for _ in chunks:
                    started = time.monotonic()
                    scope.cancel()
        assert scope.cancelled_caught
        await asyncio.wait_for(server.gone.wait(), 0.5)
        assert time.monotonic() - started < 0.5
        await transport.aclose()


async def test_leaving_early_closes_the_socket() -> None:
    forever = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        await exchange.stream(b"one", end=False)
        await forever.wait()

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        async with transport.stream("/", b"{}") as reply, aclosing(reply.chunks()) as chunks:
            assert await anext(chunks) == b"one"
        await asyncio.wait_for(server.gone.wait(), 0.5)
        await transport.aclose()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://no-such-host.invalid", "name of no-such-host.invalid"),
        ("ftp://example.org", "not an http"),
        ("example.org/v1", "not an http"),
        ("http://[::1", "not an address"),
        ("http://127.0.0.1:99999", "not an address"),
    ],
)
async def test_addresses_that_lead_nowhere(url: str, words: str) -> None:
    transport = Transport(url, env={})
    with pytest.raises(Unreachable, match=words):
        await post(transport)


async def test_a_closed_port_says_so_and_a_silent_one_ends_in_time() -> None:
    async with raw_server(lambda exchange: exchange.answer(b"")) as server:
        url = server.url
    with pytest.raises(Unreachable, match="refuses connections"):
        await post(Transport(url, env={}))

    listener = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    started = time.monotonic()
    with pytest.raises(Unreachable, match=r"within 0\.2 s"):  # accepts, but never begins to speak TLS
        await post(Transport(f"https://127.0.0.1:{port}", env={}, connect_seconds=0.2))
    assert time.monotonic() - started < 2
    listener.close()


async def test_what_speaks_no_http_is_told() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(b"220 mail.example ESMTP ready\r\n" * 10)
        exchange.close()

    async with raw_server(handler) as server:
        with pytest.raises(Unreachable, match="does not speak HTTP"):
            await post(Transport(server.url, env={}))


async def test_headers_that_cannot_be_sent_do_not_show_their_value() -> None:
    for value in ("sk-ключ", "sk-secret\nX: y"):
        transport = Transport("http://127.0.0.1:1", headers={"Authorization": f"Bearer {value}"}, env={})
        with pytest.raises((BadRequest, Unreachable)) as caught:
            await post(transport)
        assert value not in str(caught.value)

    async with raw_server(lambda exchange: exchange.answer(b"ok")) as server:
        transport = Transport(server.url, headers={"Authorization": "Bearer sk-a\nX: y"}, env={})
        with pytest.raises(BadRequest):
            await post(transport)
        assert server.requests == []
        transport = Transport(server.url, headers={"Authorization": "Bearer sk-a\n"}, env={})  # a pasted newline
        assert await post(transport) == b"ok"
        await transport.aclose()


async def test_a_user_in_the_address_is_sent_as_basic() -> None:
    async with raw_server(lambda exchange: exchange.answer(b"ok")) as server:
        transport = Transport(f"http://me:p%40ss@127.0.0.1:{server.port}", env={})
        await post(transport)
        assert server.requests[0].headers["authorization"] == "Basic bWU6cEBzcw=="
        await transport.aclose()


def test_nothing_heavy_is_loaded_for_a_plain_address() -> None:
    code = (
        "import sys, gongfu.models.transport as t; t.Transport('http://127.0.0.1:1', env={}); "
        "print([m for m in ('httpcore2', 'httpx2', 'importlib.metadata', 'email', 'http.client', 'truststore', 'zlib',"
        " 'idna') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
