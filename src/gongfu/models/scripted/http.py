"""Just enough of HTTP/1.1 over asyncio streams to answer a client, well or badly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from itertools import pairwise

from gongfu.core.base import Base

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
_MAX_HEAD = 64 * 1024


class Head(Base, frozen=True):
    """The request line and the headers, their names in lower case."""

    method: str
    path: str
    headers: dict[str, str]


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next head on a connection; None when the client has closed it."""
    try:
        block = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = block[:_MAX_HEAD].decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    pairs = (line.partition(":") for line in lines if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Head(method=method, path=rest.rpartition(" ")[0] or rest, headers=headers)


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes:
    """The whole body, of known length or in chunks."""
    if "chunked" not in head.headers.get("transfer-encoding", "").lower():
        return await reader.readexactly(int(head.headers.get("content-length", "0") or 0))
    body = bytearray()
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readline()
    return bytes(body)


def head_bytes(status: int, headers: Mapping[str, str]) -> bytes:
    """A status line and headers."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; of nothing it is the last one."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def split_at(data: bytes, offsets: Iterable[int]) -> list[bytes]:
    """The data cut at the offsets; empty pieces are left out."""
    edges = [0, *sorted({o for o in offsets if 0 < o < len(data)}), len(data)]
    return [data[a:b] for a, b in pairwise(edges) if b > a]
