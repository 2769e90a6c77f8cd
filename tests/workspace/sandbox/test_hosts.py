"""The list of hosts, and the proxy that holds commands to it; names are looked up in a table."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.workspace.sandbox.hosts import listed, may_be_reached, split_port
from gongfu.workspace.sandbox.proxy import Proxy
from tests.workspace.sandbox.scene import PYTHON, USERS, Scene

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("host", "port", "entry"),
    [
        ("pypi.org", 443, "pypi.org"),
        ("PyPI.org.", 80, "pypi.org"),
        ("pypi.org", 8080, ""),
        ("notpypi.org", 443, ""),
        ("pypi.org.evil.com", 443, ""),
        ("a.pypi.org", 443, ""),
        ("files.example.com", 443, "*.example.com"),
        ("a.b.example.com", 443, "*.example.com"),
        ("example.com", 443, ""),
        (".example.com", 443, ""),
        ("badexample.com", 443, ""),
        ("localhost", 8080, "localhost:8080"),
        ("localhost", 443, ""),
        ("127.0.0.1", 8080, ""),
        ("10.0.0.5", 443, "10.0.0.5"),
        ("::1", 9, "[::1]:9"),
        ("", 443, ""),
    ],
)
def test_what_a_list_lets_through(host: str, port: int, entry: str) -> None:
    hosts = ("pypi.org", "*.example.com", "localhost:8080", "10.0.0.5", "[::1]:9")
    assert listed(host, port, hosts) == entry


@given(st.text(st.characters(codec="ascii"), max_size=20), st.integers(1, 65535))
def test_only_what_is_listed(host: str, port: int) -> None:
    if host.strip().rstrip(".").lower() not in ("a.example", "[a.example]"):
        assert listed(host, port, ("a.example",)) == "" or "a.example" in host.lower()
    assert listed(host, port, ()) == ""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a:80", ("a", 80)),
        ("a", ("a", 7)),
        ("[::1]:9", ("::1", 9)),
        ("::1", ("::1", 7)),
        ("a:x", ("", 0)),
        ("a:0", ("", 0)),
        ("a:99999", ("", 0)),
    ],
)
def test_ports(text: str, parts: tuple[str, int]) -> None:
    assert split_port(text, 7) == parts


@pytest.mark.parametrize(
    ("address", "entry", "may"),
    [
        ("93.184.216.34", "a.example", True),
        ("127.0.0.1", "a.example", False),
        ("::1", "*.example", False),
        ("10.1.2.3", "a.example", False),
        ("169.254.169.254", "a.example", False),
        ("::ffff:127.0.0.1", "a.example", False),
        ("fe80::1%eth0", "a.example", False),
        ("fd00::1", "a.example", False),
        ("0.0.0.0", "a.example", False),
        ("224.0.0.1", "a.example", False),
        ("nonsense", "a.example", False),
        ("127.0.0.1", "localhost:80", True),
        ("127.0.0.1", "127.0.0.1:80", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.4", "10.1.2.3", False),
    ],
)
def test_addresses_that_a_name_may_lead_to(address: str, entry: str, may: bool) -> None:
    assert may_be_reached(address, entry) is may


# --- the proxy ----------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Generator[tuple[int, list[bytes]]]:
    """A server that keeps what it is sent and answers `hello`."""
    seen: list[bytes] = []

    def serve(listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            with near:
                seen.append(near.recv(65536))
                near.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        yield listening.getsockname()[1], seen
        listening.shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def proxy(path: Path, hosts: tuple[str, ...], names: dict[str, list[str]]) -> AsyncGenerator[Proxy]:
    async def resolve(host: str, port: int) -> list[str]:
        if host not in names:
            raise OSError(f"no such name: {host}")
        return names[host]

    made = Proxy(hosts, path / "p", resolve)
    await made.open()
    try:
        yield made
    finally:
        await made.close()


async def say(path: Path, *parts: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(str(path / "p"))
    for part in parts:
        writer.write(part)
        await writer.drain()
    writer.write_eof()
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


async def test_a_request_is_passed_on_without_what_is_for_the_proxy(
    tmp_path: Path, server: tuple[int, list[bytes]]
) -> None:
    port, seen = server
    async with proxy(tmp_path, (f"localhost:{port}",), {"localhost": ["127.0.0.1"]}):
        head = (
            f"GET http://localhost:{port}/a?b HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: x\r\nA: b\r\n\r\n"
        )
        assert (await say(tmp_path, head.encode())).endswith(b"hello")
    assert seen == [f"GET /a?b HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nA: b\r\n\r\n".encode()]


async def test_a_tunnel(tmp_path: Path, server: tuple[int, list[bytes]]) -> None:
    port, seen = server
    async with proxy(tmp_path, (f"localhost:{port}",), {"localhost": ["127.0.0.1"]}):
        answer = await say(tmp_path, f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode(), b"raw bytes")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"hello")
    assert b"".join(seen) == b"raw bytes"


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("CONNECT other.example:443 HTTP/1.1", 403),
        ("CONNECT inner.example:{port} HTTP/1.1", 403),
        ("CONNECT 127.0.0.1:{port} HTTP/1.1", 403),
        ("CONNECT localhost:{port} HTTP/1.1", 403),
        ("GET http://inner.example:{port}/ HTTP/1.1", 403),
        ("GET http://good.example@127.0.0.1:{port}/ HTTP/1.1", 403),
        ("GET http://127.0.0.1:{port}#good.example/ HTTP/1.1", 403),
        ("GET ftp://good.example/ HTTP/1.1", 403),
        ("GET / HTTP/1.1", 403),
        ("CONNECT gone.example:443 HTTP/1.1", 502),
        ("CONNECT good.example:22 HTTP/1.1", 403),
        ("HELLO", 400),
        ("GET http://good.example/ SMTP", 400),
    ],
)
async def test_what_is_refused(tmp_path: Path, server: tuple[int, list[bytes]], request_line: str, status: int) -> None:
    """A listed name that leads to this machine is refused, too."""
    port, seen = server
    hosts = ("good.example", f"inner.example:{port}", "gone.example")
    names = {"inner.example": ["127.0.0.1", "::1"], "good.example": ["127.0.0.1"], "localhost": ["127.0.0.1"]}
    async with proxy(tmp_path, hosts, names):
        answer = await say(tmp_path, request_line.format(port=port).encode() + b"\r\nHost: good.example\r\n\r\n")
    assert answer.split()[1] == str(status).encode()
    assert seen == []


async def test_a_head_without_end_is_dropped(tmp_path: Path) -> None:
    async with proxy(tmp_path, (), {}):
        assert await say(tmp_path, b"GET http://a.example/ HTTP/1.1\r\n", b"A: " + b"x" * 70_000) == b""
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("user", USERS)
def test_a_command_reaches_what_is_listed_and_nothing_else(
    scene_folder: Path, server: tuple[int, list[bytes]], user: str
) -> None:
    port, seen = server
    scene = Scene(scene_folder, user)
    get = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=9).read())"
    told = scene.run(
        f"{PYTHON} -c '{get}' http://localhost:{port}/",
        f"no_proxy= NO_PROXY= {PYTHON} -c '{get}' http://127.0.0.1:{port}/",
        f"{PYTHON} -c 'import socket; socket.create_connection((\"127.0.0.1\",{port}))'",
        "echo $HTTPS_PROXY; exit 3",
        "kill -9 $$",
        kind="bwrap",
        network="list",
        hosts=[f"localhost:{port}"],
    )
    assert "hello" in told[0]["text"], told
    assert "403" in told[1]["text"]
    assert "refused" in told[2]["text"]
    assert (told[3]["text"], told[3]["code"]) == ("http://127.0.0.1:3128\n", 3)
    assert told[4]["code"] == 137
    assert [done["left"] for done in told] == [False] * 5
    assert len(seen) == 1
