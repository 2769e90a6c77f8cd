"""The ways to a model endpoint: proxies, TLS, certificates of one's own."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest

from gongfu.core.errors import Unreachable
from gongfu.models.endpoint import Address, Misdirected, bypassed, find_proxy, parse_address
from gongfu.models.transport import Transport
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio


async def post(transport: Transport) -> bytes:
    async with transport.stream("/chat", b"{}") as reply:
        return await reply.read(1000)


# --- proxies -------------------------------------------------------------------------------------------------------


async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The way of a proxy after CONNECT."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def test_an_http_address_through_a_proxy() -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.answer(b"by proxy")

    async with raw_server(handler) as proxy:
        env = {"HTTP_PROXY": f"http://u:p@127.0.0.1:{proxy.port}"}
        transport = Transport("http://models.test:8080/v1", headers={"Authorization": "Bearer k"}, env=env)
        assert await post(transport) == b"by proxy"
        assert await post(transport) == b"by proxy"
        await transport.aclose()
        sent = proxy.requests[0]
        assert sent.target == "http://models.test:8080/v1/chat"
        assert sent.headers["host"] == "models.test:8080"
        assert sent.headers["proxy-authorization"] == "Basic dTpw"
        assert proxy.connections == 1

        setting = Transport("http://other.test", proxy=proxy.url, env={"no_proxy": "*"})
        assert await post(setting) == b"by proxy"
        await setting.aclose()


async def test_a_proxy_that_refuses_or_is_not_there() -> None:
    async def handler(exchange: Exchange) -> None:
        assert (exchange.method, exchange.target) == ("CONNECT", "models.test:443")
        await exchange.answer(b"", status=407)

    async with raw_server(handler) as proxy:
        with pytest.raises(Misdirected, match="407") as caught:
            await post(Transport("https://models.test/v1", env={"https_proxy": f"u:secret@127.0.0.1:{proxy.port}"}))
        assert "secret" not in str(caught.value)
        url = proxy.url
    with pytest.raises(Unreachable, match=r"the proxy 127\.0\.0\.1"):
        await post(Transport("https://models.test/v1", env={"ALL_PROXY": url}))
    with pytest.raises(Misdirected, match="socks5"):
        await post(Transport("https://models.test/v1", env={"ALL_PROXY": "socks5://127.0.0.1:1"}))


# --- TLS -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-made certificate with its key in one file."""
    folder = tmp_path_factory.mktemp("tls")
    file = folder / "both.pem"
    try:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
             str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
            check=True, capture_output=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no openssl program to make a certificate with: {error}")
    file.write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())
    return file


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_a_certificate_of_ones_own_is_trusted_when_named(certificate: Path) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.stream(b"safe ", b"and sound")

    async with raw_server(handler, tls=server_side(certificate)) as server:
        for transport in (
            Transport(server.url, ca_file=str(certificate), env={}),
            Transport(server.url, env={"SSL_CERT_FILE": str(certificate)}),
        ):
            assert await post(transport) == b"safe and sound"
            assert await post(transport) == b"safe and sound"
            await transport.aclose()
        assert server.connections == 2
        with pytest.raises(Misdirected, match="not trusted") as caught:
            await post(Transport(server.url, env={}))
        assert not caught.value.retryable
        with pytest.raises(Misdirected, match="cannot be read"):
            await post(Transport(server.url, ca_file="no-such-file.pem", env={}))


async def test_tls_through_a_proxy(certificate: Path) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.answer(b"inner")

    async with raw_server(handler, tls=server_side(certificate)) as server:

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"CONNECT 127.0.0.1:%d HTTP/1.1" % server.port)
            upstream = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(tunnel(reader, upstream[1]), tunnel(upstream[0], writer))

        listener = await asyncio.start_server(proxy, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        transport = Transport(server.url, ca_file=str(certificate), env={"HTTPS_PROXY": url})
        assert await post(transport) == b"inner"
        assert server.requests[0].target == "/chat"
        await transport.aclose()
        listener.close()


async def test_a_plain_server_behind_an_https_address_is_told() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    with pytest.raises(Misdirected, match="http:// address"):
        await post(Transport(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", env={}))
    server.close()


# --- which proxy, if any -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "env", "proxy"),
    [
        ("https://a.test", {"HTTPS_PROXY": "http://p:1"}, "p:1"),
        ("https://a.test", {"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}, "low:1"),
        ("https://a.test", {"HTTP_PROXY": "http://p:1"}, ""),
        ("http://a.test", {"HTTP_PROXY": "p:1"}, "p:1"),
        ("http://a.test", {"ALL_PROXY": "http://p"}, "p:80"),
        ("http://a.test", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, ""),
        ("https://a.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.test, a.test"}, ""),
        ("https://x.a.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".a.test"}, ""),
        ("https://xa.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "p:1"),
        ("https://a.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ("https://a.test:8443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.test:443"}, "p:1"),
        ("https://10.1.2.3", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, ""),
        ("https://11.1.2.3", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8,rubbish/x"}, "p:1"),
        ("https://[fd00::1]", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "fd00::/8"}, ""),
        ("http://127.0.0.1:11434", {"HTTP_PROXY": "http://corp.test:3128"}, ""),  # it could never get here
        ("http://localhost:11434", {"ALL_PROXY": "http://corp.test:3128"}, ""),
        ("http://127.0.0.1:11434", {"HTTP_PROXY": "http://127.0.0.1:7890"}, "127.0.0.1:7890"),
        ("https://a.test", {"HTTPS_PROXY": "  "}, ""),
    ],
)
def test_which_proxy_is_taken(url: str, env: dict[str, str], proxy: str) -> None:
    found = find_proxy(parse_address(url), "", env)
    assert (found.origin if found else "") == proxy


def test_addresses() -> None:
    address = parse_address("https://me:s3@models.Example:8443/v1/?k=1 ")
    assert (address.host, address.port, address.path, address.user) == ("models.example", 8443, "/v1", "me:s3")
    assert address.target("chat") == "/v1/chat?k=1"
    assert parse_address("http://[::1]:8080").authority == "[::1]:8080"
    assert parse_address("https://bücher.example").host == "xn--bcher-kva.example"
    assert parse_address("http://a").target("") == "/"
    for wrong in ("", "a.b", "http://", "http://a:b", "file:///x"):
        with pytest.raises(Misdirected):
            parse_address(wrong)
    with pytest.raises(Misdirected) as caught:
        parse_address("http://me:secret@a:b")
    assert "secret" not in str(caught.value)
    assert not bypassed(Address(scheme="http", host="a", port=80), "")
