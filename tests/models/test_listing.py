"""The refreshed catalog: asked for over the wire, written whole, kept when nothing is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gongfu.core.errors import Unauthorized, Unreachable
from gongfu.models.catalog import SNAPSHOT_TIME, lookup, read_refreshed
from gongfu.models.listing import refresh
from gongfu.models.transport import Transport
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio


async def test_refresh_writes_what_is_told_and_keeps_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "home" / "catalog.json"
    told = {
        "a": {"data": [{"id": "x/one", "context_length": 7777}]},
        "b": {"data": [{"id": "two", "max_model_len": 8888}]},
    }

    async def handler(exchange: Exchange) -> None:
        assert exchange.method == "GET"
        assert exchange.headers["authorization"] == "Bearer k"
        await exchange.answer(json.dumps(told[exchange.target.split("/")[1]]).encode())

    async with raw_server(handler) as server:
        for name in told:
            transport = Transport(f"{server.url}/{name}", headers={"Authorization": "Bearer k"}, env={})
            assert await refresh(name, transport, file, now=SNAPSHOT_TIME + 5) == 1
            await transport.aclose()
    assert lookup("a", "x/one", file=file).window == 7777
    assert lookup("b", "two", file=file).window == 8888
    assert read_refreshed(file).providers["a"].time == SNAPSHOT_TIME + 5
    assert [f.name for f in file.parent.iterdir()] == ["catalog.json"]


async def test_a_failed_refresh_leaves_the_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "catalog.json"
    answers = [
        (200, b'{"data": [{"id": "one", "context_length": 7}]}'),
        (401, b""),
        (200, b'{"data": [{"id": "one"}]}'),
    ]

    async def handler(exchange: Exchange) -> None:
        status, body = answers[len(server.requests) - 1]
        await exchange.answer(body, status=status)

    async with raw_server(handler) as server:
        transport = Transport(server.url, env={})
        await refresh("p", transport, file)
        before = file.read_bytes()
        with pytest.raises(Unauthorized):
            await refresh("p", transport, file)
        assert await refresh("p", transport, file) == 0
        await transport.aclose()
    with pytest.raises(Unreachable):
        await refresh("p", Transport(server.url, env={}), file)
    assert file.read_bytes() == before
