"""Texts into vectors, on the wire."""

from __future__ import annotations

import base64
import json
import math
import struct
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.config.paths import Places
from gongfu.config.settings import Models, ModelSettings, Provider, Settings
from gongfu.core.errors import (
    BadRequest,
    Overloaded,
    ProviderFault,
    Refused,
    StreamCut,
    Throttled,
    Unauthorized,
    UsageError,
    UserError,
)
from gongfu.core.specs import ModelInfo, Usage
from gongfu.core.tokens import text_tokens
from gongfu.models.embeddings import Embedder, nearness
from gongfu.models.probe import probe_vectors
from gongfu.models.retry import Failed, RetryPolicy
from gongfu.models.router import Router
from gongfu.models.scripted import serve
from gongfu.models.scripted.vectors import vector_of
from gongfu.models.transport import Transport
from tests.models.raw_server import Exchange, raw_server

pytestmark = pytest.mark.anyio

INFO = ModelInfo(ref="near/bge", provider="near", name="bge")
QUICK = RetryPolicy(base=0.001, max_attempts=3)
Answer = Callable[[Exchange], Awaitable[None]]


@asynccontextmanager
async def embedder_at(url: str, info: ModelInfo = INFO) -> AsyncGenerator[Embedder]:
    made = Embedder(info, Transport(f"{url}/v1", env={}), policy=QUICK)
    try:
        yield made
    finally:
        await made.aclose()


def rows(*vectors: Any, **more: Any) -> bytes:
    data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]
    return json.dumps({"object": "list", "data": data, **more}).encode()


def length_of(text: str) -> list[float]:
    return [float(len(text)), 1.0]


async def asked(answer: Answer, texts: list[str], info: ModelInfo = INFO) -> tuple[Embedder, Any, list[Exchange]]:
    async with raw_server(answer) as server, embedder_at(server.url, info) as embedder:
        return embedder, await embedder.encode(texts), server.requests


# --- what goes out and what comes back ---------------------------------------------------------------------------


async def test_vectors_come_in_the_order_of_the_texts_with_tag_and_usage() -> None:
    async def answer(exchange: Exchange) -> None:
        data = [{"index": n, "embedding": length_of(t)} for n, t in enumerate(exchange.json["input"])]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        await exchange.answer(json.dumps({"data": data[::-1], "usage": usage}).encode())

    embedder, got, (request,) = await asked(answer, ["a", "bbb", "cc"])
    assert got.vectors == ((1.0, 1.0), (3.0, 1.0), (2.0, 1.0))
    assert got.tag == embedder.tag == "near/bge@2"
    assert got.usage == embedder.usage == Usage(input=7)
    assert request.target == "/v1/embeddings"
    assert request.json == {"model": "bge", "input": ["a", "bbb", "cc"], "encoding_format": "float"}


async def test_base64_whole_numbers_and_missing_indexes_are_read() -> None:
    packed = base64.b64encode(struct.pack("<3f", 0.5, -2.0, 1.25)).decode()

    async def answer(exchange: Exchange) -> None:
        await exchange.answer(json.dumps({"data": [{"embedding": packed}, {"embedding": [1, 2, 3]}]}).encode())

    _, got, _ = await asked(answer, ["a", "b"])
    assert got.vectors == ((0.5, -2.0, 1.25), (1.0, 2.0, 3.0))


async def test_many_texts_go_in_requests_of_a_bounded_size() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(rows(*map(length_of, exchange.json["input"]), usage={"prompt_tokens": 1}))

    texts = ["x" * n for n in range(1, 101)] + ["y" * 20_000 for _ in range(10)]
    _, got, requests = await asked(answer, texts)
    assert [v[0] for v in got.vectors] == [len(t) for t in texts]
    assert got.usage.input == len(requests)
    assert max(len(r.json["input"]) for r in requests) <= 32
    assert max(sum(map(text_tokens, r.json["input"])) for r in requests) <= 16_000


async def test_what_says_nothing_is_not_sent_and_has_no_vector() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(rows(*map(length_of, exchange.json["input"])))

    embedder, got, requests = await asked(answer, ["", "a", " \n\t", "b\ud800"])
    assert got.vectors == ((), (1.0, 1.0), (), (2.0, 1.0))
    assert got.empty == (0, 2)
    assert requests[0].json["input"] == ["a", "b\ufffd"]
    _, got, requests = await asked(answer, [])
    assert (got.vectors, got.tag, requests) == ((), "near/bge", [])
    assert await embedder.embed([" "]) == [()]  # nothing is sent: the server is gone by now


async def test_a_long_text_stands_for_its_beginning_and_that_is_said() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(rows(*map(length_of, exchange.json["input"])))

    info = ModelInfo(ref="near/bge", provider="near", name="bge", window=100)
    _, got, (request,) = await asked(answer, ["short", "中" * 1000, "x" * 400], info)
    assert got.cut == (1,)
    short, cut, whole = request.json["input"]
    assert (short, whole) == ("short", "x" * 400)
    assert text_tokens(cut) == 100
    assert cut == "中" * len(cut)
    assert text_tokens(cut + "中") > 100


async def test_a_server_that_takes_fewer_texts_is_sent_fewer_from_then_on() -> None:
    async def answer(exchange: Exchange) -> None:
        texts = exchange.json["input"]
        if len(texts) > 10:
            words = "batch size is invalid, it should not be larger than 10.: input.contents"
            await exchange.answer(json.dumps({"error": {"message": words}}).encode(), status=400)
        else:
            await exchange.answer(rows(*map(length_of, texts)))

    texts = ["x" * n for n in range(1, 65)]
    _, got, requests = await asked(answer, texts)
    assert [v[0] for v in got.vectors] == [len(t) for t in texts]
    assert [len(r.json["input"]) for r in requests] == [32, 16, *[8] * 8]
    assert got.cut == ()


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "the input length exceeds the context length"),
        (413, "Error code 413: input must have less than 512 tokens. Given: 2000"),
        (500, "input (2000 tokens) is too large to process. increase the physical batch size (current: 512)"),
        (400, "This model's maximum context length is 512 tokens, however you requested 2,000 tokens (2,000 in input)"),
    ],
)
async def test_a_server_that_takes_shorter_texts_is_sent_shorter_ones(status: int, words: str) -> None:
    async def answer(exchange: Exchange) -> None:
        texts = exchange.json["input"]
        if max(map(len, texts)) > 2048:
            await exchange.answer(json.dumps({"error": {"message": words}}).encode(), status=status)
        else:
            await exchange.answer(rows(*map(length_of, texts)))

    texts = ["a", "b" * 8000, "c", "d" * 8000]
    embedder, got, requests = await asked(answer, texts)
    first, one, second, other = (v[0] for v in got.vectors)
    assert first == second == 1
    assert 1900 < one == other <= 2048  # hardly less than may be
    assert got.cut == (1, 3)
    seen = len(requests)
    async with raw_server(answer) as server, embedder_at(server.url) as other:
        assert (await other.encode(texts)).cut == (1, 3)
        before = len(server.requests)
        await other.encode(texts)
        assert len(server.requests) == before + 1  # the limit is known now
        assert before == seen
    assert embedder.dimension == 2


@pytest.mark.parametrize("text", ["word " * 3000, "中文字" * 3000, "0123456789" * 900, "é🙂 " * 1500])
async def test_a_text_is_cut_to_the_limit_that_the_server_names(text: str) -> None:
    """The server counts otherwise than the estimate does: one token for two characters, and takes 1,000."""

    async def answer(exchange: Exchange) -> None:
        count = len(exchange.json["input"][0]) // 2
        if count > 1000:
            words = f"Input validation error: `inputs` must have less than 1000 tokens. Given: {count}"
            await exchange.answer(json.dumps({"error": {"message": words}}).encode(), status=413)
        else:
            await exchange.answer(rows(*map(length_of, exchange.json["input"])))

    _, got, requests = await asked(answer, [text])
    assert 1800 < got.vectors[0][0] <= 2001
    assert len(requests) == 2


async def test_a_server_that_names_nonsense_is_not_asked_for_ever() -> None:
    async def answer(exchange: Exchange) -> None:
        tokens = text_tokens(exchange.json["input"][0])
        words = f"prompt is too long: {tokens + 1} tokens > {tokens} maximum"
        await exchange.answer(json.dumps({"error": {"message": words}}).encode(), status=400)

    async with raw_server(answer) as server, embedder_at(server.url) as embedder:
        with pytest.raises(ProviderFault, match="too long"):
            await embedder.embed(["x" * 100_000])
        assert len(server.requests) < 16


async def test_a_text_is_not_cut_down_to_nothing() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(b'{"error": {"message": "prompt is too long"}}', status=400)

    async with raw_server(answer) as server, embedder_at(server.url) as embedder:
        with pytest.raises(ProviderFault, match="too long"):
            await embedder.embed(["x" * 100_000])
        assert len(server.requests) < 12
        assert len(server.requests[-1].json["input"][0]) > 100


# --- faults ------------------------------------------------------------------------------------------------------


async def test_passing_trouble_is_waited_out_and_told() -> None:
    more = "Retry-After-Ms: 1\r\nConnection: close\r\n"

    async def answer(exchange: Exchange) -> None:
        match len(server.requests):
            case 1:
                await exchange.answer(b'{"error": {"message": "slow down"}}', status=429, more=more)
            case 2:
                exchange.drop()
            case _:
                await exchange.answer(rows([1.0]))

    told: list[Failed] = []
    async with raw_server(answer) as server, embedder_at(server.url) as embedder:
        assert await embedder.embed(["a"], tell=told.append) == [(1.0,)]
    assert [f.fault.kind for f in told] == ["throttled", "unreachable"]
    assert all(f.retry_in is not None and f.fault.model == "near/bge" for f in told)


@pytest.mark.parametrize(
    ("status", "body", "fault", "requests"),
    [
        (401, b'{"error": {"message": "Incorrect API key provided"}}', Unauthorized, 1),
        (404, b'{"error": {"message": "model \\"bge\\" not found"}}', Refused, 1),
        (429, b"{}", Throttled, 3),
        (503, b"{}", Overloaded, 3),
        (400, b'{"error": {"message": "unknown field"}}', BadRequest, 2),
        (200, b'{"data": [{"embedd', StreamCut, 3),
        (200, b"<html>hello</html>", Refused, 1),
        (200, b'{"error": {"message": "overloaded", "type": "overloaded_error"}}', Overloaded, 3),
        (200, b"[]", Refused, 1),
        (200, rows([1.0]), Refused, 1),
        (200, rows([1.0], [1.0, 2.0]), Refused, 1),
        (200, rows([], []), Refused, 1),
        (200, rows([1.0], None), Refused, 1),
        (200, rows([1.0], ["x"]), Refused, 1),
        (200, rows([1.0], "no base64!"), Refused, 1),
        (200, rows([1.0], base64.b64encode(struct.pack("<f", math.nan)).decode()), Refused, 1),
        (200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', Refused, 1),
        (200, b'{"choices": [{"message": {"content": "Hello!"}}]}', Refused, 1),
    ],
)
async def test_faults_are_typed_and_nothing_half_is_given(
    status: int, body: bytes, fault: type[ProviderFault], requests: int
) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(body, status=status)

    async with raw_server(answer) as server, embedder_at(server.url) as embedder:
        with pytest.raises(fault) as caught:
            await embedder.embed(["a", "b"])
        assert len(server.requests) == requests
    assert type(caught.value) is fault
    assert caught.value.model == "near/bge"


async def test_vectors_of_another_length_are_never_mixed_in() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(rows([1.0] * (1 + len(server.requests))))

    async with raw_server(answer) as server, embedder_at(server.url) as embedder:
        await embedder.embed(["a"])
        with pytest.raises(Refused, match="2 and 3 numbers"):
            await embedder.embed(["a"])
        assert embedder.tag == "near/bge@2"


async def test_cancelling_closes_the_connection_at_once() -> None:
    async def answer(_: Exchange) -> None:
        started.set()
        await anyio.sleep_forever()

    started = anyio.Event()
    async with raw_server(answer) as server, embedder_at(server.url) as embedder:
        async with anyio.create_task_group() as group:
            group.start_soon(embedder.embed, ["a"])
            await started.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(5):
            await server.gone.wait()


# --- the scripted server -----------------------------------------------------------------------------------------


async def test_the_scripted_server_gives_the_same_vectors_for_the_same_texts() -> None:
    async with serve([], key="k", dimension=16) as server:
        transport = Transport(server.base_url, env={}, headers={"Authorization": "Bearer k"})
        embedder = Embedder(INFO, transport)
        one, other, again = await embedder.embed(["a cat on a mat", "quarterly report", "a cat on a mat"])
        assert one == again
        assert one != other
        assert embedder.dimension == 16
        (request,) = server.embeddings
        assert request.body["input"][1] == "quarterly report"
        await embedder.aclose()
        stranger = Embedder(INFO, Transport(server.base_url, env={}))
        with pytest.raises(Unauthorized):
            await stranger.embed(["a"])
        await stranger.aclose()


@given(st.text(), st.integers(1, 32))
def test_scripted_vectors_have_length_one(text: str, dimension: int) -> None:
    vector = vector_of(text, dimension)
    assert len(vector) == dimension
    assert math.isclose(math.hypot(*vector), 1.0)
    assert vector == vector_of(text, dimension)


def test_nearness_is_the_cosine() -> None:
    assert nearness((1.0, 0.0), (2.0, 0.0)) == pytest.approx(1)
    assert nearness((1.0, 0.0), (0.0, 3.0)) == pytest.approx(0)
    assert nearness((1.0, 0.0), (-1.0, 0.0)) == pytest.approx(-1)
    assert nearness((), (1.0,)) == 0


# --- the role ----------------------------------------------------------------------------------------------------


def router(tmp_path: Path, embedding: str, env: dict[str, str] | None = None, **providers: Provider) -> Router:
    known = {"near/bge": ModelSettings(window=512)}
    settings = Settings(models=Models(embedding=embedding), providers=providers, model_settings=known)
    return Router(settings, env or {}, Places(home=tmp_path))


async def test_the_role_leads_to_its_endpoint_with_key_and_window(tmp_path: Path) -> None:
    async with serve([], key="secret") as server:
        made = router(tmp_path, "near/bge", near=Provider(base_url=server.base_url, api_key="secret"))
        embedder = made.embedder()
        assert embedder is not None
        assert made.embedder() is embedder
        got = await embedder.encode(["a b c " * 1000])
        assert got.cut == (0,)
        assert got.tag == "near/bge@64"
        assert server.embeddings[0].body["model"] == "bge"
        await made.aclose()
        await made.aclose()


async def test_a_local_server_needs_no_settings(tmp_path: Path) -> None:
    async with serve([]) as server:
        made = router(tmp_path, "ollama/bge-m3", {"OLLAMA_HOST": f"127.0.0.1:{server.port}"})
        embedder = made.embedder()
        assert embedder is not None
        assert len(await embedder.embed(["a"])) == 1
        await made.aclose()


def test_without_the_role_there_is_none(tmp_path: Path) -> None:
    assert router(tmp_path, "").embedder() is None
    assert not router(tmp_path, "").makes_vectors("near/bge")
    assert router(tmp_path, "", {"GONGFU_EMBEDDING_MODEL": "ollama/bge-m3"}).makes_vectors("ollama/bge-m3")


def test_other_names_of_the_role_are_known_and_wrong_ones_disturb_nobody(tmp_path: Path) -> None:
    made = router(tmp_path, "near/bge", near=Provider(base_url="http://x"))
    assert made.makes_vectors("bge")
    assert not made.makes_vectors("near/other")
    assert not made.makes_vectors("")
    assert not router(tmp_path, "olama/bge").makes_vectors("ollama/qwen3")


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("ollama", "no model"),
        ("openai", "no model"),
        ("near", "no model"),
        ("local", "no model"),
        ("local/qwen3", "no vectors"),
        ("scripted:x.yaml", "no vectors"),
        ("anthropic/claude-sonnet-5", "no vectors"),
        ("olama/bge-m3", "ollama"),
        ("mistral/mistral-embed", "key"),
    ],
)
def test_what_cannot_make_vectors_is_told_before_anything_is_sent(tmp_path: Path, ref: str, words: str) -> None:
    made = router(tmp_path, ref, {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, near=Provider(base_url="http://x"))
    with pytest.raises(UserError, match=words) as caught:
        made.embedder()
    assert isinstance(caught.value, UsageError) or "key" in words


async def test_the_check_says_how_long_vectors_are_and_whether_they_mean_anything(tmp_path: Path) -> None:
    async with serve([]) as server:
        made = router(tmp_path, "near/bge", near=Provider(base_url=server.base_url))
        embedder = made.embedder()
        assert embedder is not None
        found = {f.name: f async for f in probe_vectors(embedder)}
        await made.aclose()
    assert list(found) == ["reachable", "key", "vectors", "usage"]
    assert {f.level for f in found.values()} == {"ok"}
    assert "64 numbers" in found["vectors"].detail()
    assert "64 个数" in found["vectors"].detail("zh")

    async def flat(exchange: Exchange) -> None:
        await exchange.answer(rows(*[[1.0, 2.0]] * 3))

    async with raw_server(flat) as server, embedder_at(server.url) as embedder:
        odd = {f.name: f async for f in probe_vectors(embedder)}
    assert odd["vectors"].level == odd["usage"].level == "warn"
    assert odd["vectors"].advice()
    async with embedder_at("http://127.0.0.1:9") as embedder:
        (gone,) = [f async for f in probe_vectors(embedder, patience=RetryPolicy(max_attempts=1))]
    assert (gone.name, gone.level) == ("reachable", "fail")


def test_choosing_models_loads_nothing_of_it() -> None:
    code = "import sys, gongfu.app, gongfu.models.router; print('gongfu.models.embeddings' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
