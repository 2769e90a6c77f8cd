"""A script as an HTTP server on loopback, in three dialects, streaming and not.

    async with serve([Call("shell", {"command": "ls"}), Say("Done.")]) as server:
        ...  # a client of server.base_url
        server.requests[0].body

POST …/chat/completions, …/responses and …/messages play the script; POST …/embeddings answers beside it, always with
the same vectors for the same texts; GET …/models lists `models`. Everything else is 404.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec

from gongfu.core.base import Base
from gongfu.models.scripted.deliver import Deliverer, Plan, plan_of
from gongfu.models.scripted.dialects import dialect_of
from gongfu.models.scripted.http import Head, head_bytes, read_body, read_head
from gongfu.models.scripted.player import Player, UnexpectedCall
from gongfu.models.scripted.script import Planned
from gongfu.models.scripted.vectors import DIMENSION, answer
from gongfu.models.scripted.wire import Dialect


class Route(Base, frozen=True):
    """What a GET of one path answers."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


class Received:
    """One request as it came. `time` is of the monotonic clock; `gone` is set when the client left before the end."""

    def __init__(self, head: Head, raw: bytes, dialect: str) -> None:
        self.path = head.path
        self.headers = head.headers
        self.raw = raw
        self.dialect = dialect
        self.time = time.monotonic()
        self.gone = asyncio.Event()
        self.body: dict[str, Any] = _decode(raw)


def _decode(raw: bytes) -> dict[str, Any]:
    try:
        value: Any = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class Server:
    """A running server. `requests` are those that the script answered, `embeddings` those for vectors (of `dimension`
    numbers), `others` the method and path of the rest.

    With `key` set, requests that do not carry it are answered 401.
    """

    def __init__(
        self,
        steps: Iterable[Planned],
        *,
        models: Iterable[str | dict[str, Any]] = ("scripted",),
        routes: Mapping[str, Route] | None = None,
        key: str = "",
        record: Callable[[Received], None] | None = None,
        dimension: int = DIMENSION,
    ) -> None:
        self.requests: list[Received] = []
        self.embeddings: list[Received] = []
        self.others: list[str] = []
        self.port = 0
        self._player = Player(steps)
        self._models = [{"id": m, "object": "model"} if isinstance(m, str) else m for m in models]
        self._routes = dict(routes or {})
        self._key = key
        self._record = record
        self._dimension = dimension
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._arrived = asyncio.Event()

    @property
    def root_url(self) -> str:
        """The address without a version, as Anthropic's clients want it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The address with the version, as OpenAI's clients want it."""
        return f"{self.root_url}/v1"

    @property
    def errors(self) -> list[UnexpectedCall]:
        """Every request that did not fit the script; its client got HTTP 400."""
        return self._player.errors

    def finish(self) -> None:
        """Raise the first UnexpectedCall there was, or UnusedSteps when steps are left."""
        self._player.finish()

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1."""
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", port, limit=1 << 20)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close every connection and stop listening."""
        if self._server is None:
            return
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._server = None

    async def received(self, count: int) -> Received:
        """Wait until `count` requests have come; the last of them."""
        while len(self.requests) < count:
            self._arrived.clear()
            await self._arrived.wait()
        return self.requests[count - 1]

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the client left or speaks no HTTP: both are its own affair
        except asyncio.CancelledError:
            pass  # the server stops
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open."""
        head = await read_head(reader)
        if head is None:
            return False
        raw = await read_body(reader, head)
        out = Deliverer(reader, writer)
        dialect = dialect_of(head.path) if head.method == "POST" else None
        if dialect is None:
            return await self._other(head, raw, out)
        if self._key and self._key not in (head.headers.get("x-api-key"), _bearer(head)):
            return await out.json(401, dialect.error(401, "Incorrect API key provided", "invalid_api_key"))
        received = Received(head, raw, dialect.name)
        self.requests.append(received)
        self._arrived.set()
        if self._record:
            self._record(received)
        try:
            return await out.deliver(self._plan(received, dialect))
        except ConnectionError:
            received.gone.set()
            raise

    def _plan(self, received: Received, dialect: Dialect) -> Plan:
        uid = f"{self.port}_{len(self.requests):04d}"
        try:
            step = self._player.next(dialect.seen(received.body), received)
        except UnexpectedCall as error:
            body = msgspec.json.encode(dialect.error(400, str(error), "unexpected_call"))
            return Plan(status=400, headers={"content-type": "application/json"}, pieces=(body,))
        return plan_of(step, dialect, received.body, len(received.raw), uid)

    async def _other(self, head: Head, raw: bytes, out: Deliverer) -> bool:
        path = head.path.split("?", 1)[0]
        for_vectors = head.method == "POST" and path.rstrip("/").endswith("/embeddings")
        if not for_vectors:
            self.others.append(f"{head.method} {head.path}")
        if route := self._routes.get(path):
            headers = {"content-type": route.content_type, "content-length": str(len(route.body))}
            return await out.send(head_bytes(route.status, headers) + route.body)
        if self._key and self._key not in (head.headers.get("x-api-key"), _bearer(head)):
            return await out.json(401, {"error": {"message": "Incorrect API key provided"}})
        if for_vectors:
            self.embeddings.append(Received(head, raw, "embeddings"))
            return await out.json(*answer(self.embeddings[-1].body, self._dimension))
        if head.method == "GET" and path.rstrip("/").endswith("/models"):
            return await out.json(200, {"object": "list", "data": self._models})
        return await out.json(404, {"error": {"message": f"nothing at {path}", "type": "invalid_request_error"}})


def _bearer(head: Head) -> str:
    return head.headers.get("authorization", "").removeprefix("Bearer ")


@asynccontextmanager
async def serve(
    steps: Iterable[Planned],
    *,
    port: int = 0,
    strict: bool = True,
    models: Iterable[str | dict[str, Any]] = ("scripted",),
    routes: Mapping[str, Route] | None = None,
    key: str = "",
    dimension: int = DIMENSION,
) -> AsyncGenerator[Server, None]:
    """A running `Server`. When the block ends well and `strict` is set, `finish()` is called."""
    server = Server(steps, models=models, routes=routes, key=key, dimension=dimension)
    await server.start(port)
    try:
        yield server
    finally:
        await server.stop()
    if strict:
        server.finish()
