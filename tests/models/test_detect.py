"""What is found when nothing is configured, with real servers on loopback."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec
import pytest

from gongfu.config.paths import Places
from gongfu.core.errors import UserError
from gongfu.models.detect import detect, survey
from gongfu.models.known import SERVERS, Known
from gongfu.models.local.models import DEFAULT, KNOWN, LocalModel, find_model
from gongfu.models.scripted import Route, serve
from gongfu.models.scripted.server import Server

pytestmark = pytest.mark.anyio


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(home=tmp_path)


def at(**ports: int) -> tuple[Known, ...]:
    """The known servers on other ports; those that are not named are nowhere."""
    return tuple(
        msgspec.structs.replace(s, base_url=f"http://127.0.0.1:{ports.get(s.name, 1)}/v1", port=ports.get(s.name, 1))
        for s in SERVERS
    )


def page(value: object, *, status: int = 200) -> Route:
    return Route(body=json.dumps(value).encode(), status=status)


def models(*ids: str, owner: str = "") -> dict[str, Route]:
    return {"/v1/models": page({"object": "list", "data": [{"id": i, "owned_by": owner} for i in ids]})}


def server(routes: Mapping[str, Route]) -> Server:
    return Server([], models=[], routes=routes)


@pytest.mark.parametrize(
    ("env", "ref", "by"),
    [
        ({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY"),
        ({"DEEPSEEK_API_KEY": "k", "MISTRAL_API_KEY": "k"}, "deepseek/deepseek-v4-flash", "DEEPSEEK_API_KEY"),
        ({"KIMI_API_KEY": "k", "KIMI_MODEL": "x", "MOONSHOT_MODEL": "y"}, "moonshot/y", "KIMI_API_KEY"),
        ({"OPENAI_API_KEY": "k", "OPENAI_MODEL": "mine"}, "openai/mine", "OPENAI_API_KEY"),
    ],
)
async def test_a_key_decides_in_the_documented_order(env: dict[str, str], ref: str, by: str, places: Places) -> None:
    found = await detect(env, places, servers=())
    assert (found.ref, found.by) == (ref, by)


async def test_the_key_file_counts_too(places: Places) -> None:
    places.keys.write_text("deepseek: k\n", encoding="utf-8")
    places.keys.chmod(0o600)
    assert (await detect({}, places, servers=())).ref == "deepseek/deepseek-v4-flash"


async def test_another_address_is_asked_what_it_has(places: Places) -> None:
    async with serve([], models=["their-model", "other"], key="k") as running:
        env = {"OPENAI_BASE_URL": running.base_url, "OPENAI_API_KEY": "k"}
        found = await detect(env, places, servers=())
        assert (found.ref, found.base_url) == ("openai/their-model", running.base_url)
        assert (await detect(env | {"OPENAI_MODEL": "x"}, places, servers=())).ref == "openai/x"
    async with serve([], models=["other", "deepseek-v4-flash"]) as running:
        found = await detect({"DEEPSEEK_BASE_URL": running.base_url}, places, servers=())
        assert (found.ref, found.by) == ("deepseek/deepseek-v4-flash", "DEEPSEEK_BASE_URL")


async def test_an_address_that_does_not_answer_is_still_the_one_that_was_named(places: Places) -> None:
    found = await detect({"DEEPSEEK_BASE_URL": "http://127.0.0.1:1/v1"}, places, servers=())
    assert found.ref == "deepseek/deepseek-v4-flash"


async def test_ollama_prefers_what_is_loaded_and_knows_what_cannot_chat(places: Places) -> None:
    routes = {
        "/api/tags": page({"models": [{"name": "bge-m3"}, {"name": "llama3:8b"}, {"name": "qwen2.5-coder:7b"}]}),
        "/api/ps": page({"models": []}),
    }
    running = server(routes)
    await running.start()
    try:
        assert (await detect({}, places, servers=at(ollama=running.port))).ref == "ollama/qwen2.5-coder:7b"
        routes["/api/ps"] = page({"models": [{"name": "llama3:8b"}]})
        loaded = server(routes)
        await loaded.start()
        assert (await detect({}, places, servers=at(ollama=loaded.port))).ref == "ollama/llama3:8b"
        await loaded.stop()
        env = {"OLLAMA_HOST": f"127.0.0.1:{running.port}"}
        found = await detect(env, places, servers=at())
        assert (found.provider, found.base_url) == ("ollama", f"http://127.0.0.1:{running.port}/v1")
    finally:
        await running.stop()


async def test_lm_studio_tells_what_is_loaded_and_its_window(places: Places) -> None:
    data = [
        {"id": "nomic", "type": "embeddings", "state": "loaded"},
        {"id": "big", "type": "llm", "state": "not-loaded"},
        {"id": "ready", "type": "llm", "state": "loaded", "loaded_context_length": 16384},
    ]
    running = server({"/api/v0/models": page({"data": data})})
    await running.start()
    found = await detect({}, places, servers=at(lmstudio=running.port))
    await running.stop()
    assert (found.ref, found.window) == ("lmstudio/ready", 16384)


async def test_the_order_of_servers_is_fixed(places: Places) -> None:
    vllm, llama = server(models("v")), server(models("l"))
    await vllm.start()
    await llama.start()
    both = at(vllm=vllm.port, llamacpp=llama.port)
    assert (await detect({}, places, servers=both)).ref == "llamacpp/l"
    assert set(await survey({}, both)) == {"vllm", "llamacpp"}
    await vllm.stop()
    await llama.stop()


@pytest.mark.parametrize(
    "route",
    [
        Route(body=b"<html>hello</html>", content_type="text/html"),
        page({"data": "no"}),
        page([1, 2]),
        page({"data": [{"name": "thing"}]}),
        page({"data": [{"id": 7}]}),
        page({"data": [{"id": "x"}]}, status=404),
        page({"data": [{"id": "main", "owned_by": "gongfu"}]}),
        Route(body=b"\xff\xfe{"),
    ],
)
async def test_a_random_web_server_is_no_model(route: Route, places: Places) -> None:
    running = server({"/v1/models": route, "/": route})
    await running.start()
    with pytest.raises(UserError, match="No model is configured"):
        await detect({}, places, servers=at(llamacpp=running.port))
    await running.stop()


async def test_a_server_without_a_model_is_told(places: Places) -> None:
    running = server({"/api/tags": page({"models": []})})
    await running.start()
    with pytest.raises(UserError, match=r"ollama is running but has no model") as caught:
        await detect({}, places, servers=at(ollama=running.port))
    await running.stop()
    assert len(str(caught.value).splitlines()) == 3


async def test_nothing_at_all_says_in_three_lines_what_to_do(places: Places) -> None:
    with pytest.raises(UserError) as caught:
        await detect({}, places, servers=at())
    assert len(str(caught.value).splitlines()) == 3
    assert "gongfu models pull" in str(caught.value)
    assert caught.value.code == 2


async def test_servers_that_accept_and_stay_silent_cost_little_time(places: Places) -> None:
    async def silent(stream: anyio.abc.SocketStream) -> None:
        await anyio.sleep_forever()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, silent)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        started = time.monotonic()
        with pytest.raises(UserError):
            await detect({}, places, servers=at(ollama=port, vllm=port, llamacpp=port, lmstudio=port))
        assert time.monotonic() - started < 5
        group.cancel_scope.cancel()


def pretend_pulled(places: Places, model: LocalModel) -> None:
    """A file of the model's size with nothing in it."""
    with (places.models / f"{model.name}.gguf").open("wb") as file:
        file.truncate(model.size)


async def test_the_embedded_model_comes_last(places: Places) -> None:
    places.ensure(places.models)
    small = next(m for m in KNOWN if m.name != DEFAULT)
    pretend_pulled(places, small)
    assert (await detect({}, places, servers=at())).ref == f"local/{small.name}"
    pretend_pulled(places, find_model(DEFAULT))
    assert (await detect({}, places, servers=at())).ref == "local"
    running = server(models("m"))
    await running.start()
    assert (await detect({}, places, servers=at(vllm=running.port))).ref == "vllm/m"
    await running.stop()


async def test_a_list_of_models_nested_without_end_is_no_list(places: Places) -> None:
    deep = Route(body=b'{"data":' + b"[" * 5000 + b"]" * 5000 + b"}")
    async with serve([], routes={"/v1/models": deep}) as server:
        found = await detect({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.base_url}, places, servers=())
    assert found.ref.startswith("openai/")
