"""From roles to providers."""

from __future__ import annotations

import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest

from gongfu.config.paths import Places
from gongfu.config.settings import Models, ModelSettings, Provider, Settings
from gongfu.core.errors import ConfigError, Unauthorized, UsageError, UserError
from gongfu.core.messages import user
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.models.build import list_models
from gongfu.models.protocol import Answer, ModelProvider, Request
from gongfu.models.router import Router
from gongfu.models.scripted import Fault, Say, Scripted, serve

pytestmark = pytest.mark.anyio
REQUEST = Request(model="m", system="", messages=(user("hi"),))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(home=tmp_path)


def settings(*main: str, fast: tuple[str, ...] = (), **providers: Provider) -> Settings:
    return Settings(models=Models(main=main, fast=fast), providers=providers)


async def say(provider: ModelProvider, request: Request = REQUEST) -> str:
    async with aclosing(provider.complete(request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Answer):
                return delta.message.text
    raise AssertionError("no answer")


# --- roles -------------------------------------------------------------------------------------------------------


async def test_roles_take_their_chains_in_order(places: Places) -> None:
    one, two, quick = (Scripted([Say(n)]) for n in ("one", "two", "quick"))
    extra = {"a/one": one, "a/two": two, "a/quick": quick}
    router = Router(settings("a/two", "a/one", fast=("a/quick",)), {}, places, extra=extra)
    assert await router.chain("main") == (two, one)
    assert await router.chain("fast") == (quick,)
    assert await router.chain("main", "a/quick") == (quick,)
    assert await router.chain("main", "a/quick, a/one") == (quick, one)


async def test_without_a_fast_model_there_is_none(places: Places) -> None:
    router = Router(settings("a/one"), {"DEEPSEEK_API_KEY": "k"}, places, extra={"a/one": Scripted()})
    assert await router.chain("fast") == ()


async def test_the_environment_names_a_model_when_settings_do_not(places: Places) -> None:
    one, two = Scripted(), Scripted()
    env = {"GONGFU_MODEL": "a/two"}
    assert await Router(Settings(), env, places, extra={"a/one": one, "a/two": two}).chain("main") == (two,)
    # settings hold what flags said already, and flags come before the environment
    assert await Router(settings("a/one"), env, places, extra={"a/one": one, "a/two": two}).chain("main") == (one,)


async def test_a_ready_provider_is_the_main_one_when_nothing_is_said(places: Places) -> None:
    one = Scripted()
    assert await Router(Settings(), {}, places, extra={"a/one": one}).chain("main") == (one,)


async def test_unknown_names_are_told_and_nothing_is_made(places: Places) -> None:
    router = Router(settings("depseek/x", "a/one"), {"OPENAI_API_KEY": "k"}, places, extra={"a/one": Scripted()})
    with pytest.raises(UsageError, match="deepseek"):
        await router.chain("main")


# --- keys --------------------------------------------------------------------------------------------------------


async def test_without_a_key_nothing_is_sent(places: Places) -> None:
    with pytest.raises(UserError, match=r"no key for deepseek.*DEEPSEEK_API_KEY"):
        await Router(settings("deepseek/x"), {}, places).chain("main")


async def test_a_member_without_a_key_refuses_so_that_the_next_is_asked(places: Places) -> None:
    one = Scripted([Say("one")])
    chain = await Router(settings("deepseek/x", "a/one"), {}, places, extra={"a/one": one}).chain("main")
    assert chain[0].info.ref == "deepseek/x"
    with pytest.raises(Unauthorized, match="DEEPSEEK_API_KEY"):
        await say(chain[0])
    assert await say(chain[1]) == "one"
    with pytest.raises(UserError, match="no key for deepseek"):
        await Router(settings("deepseek/x", "openai/y"), {}, places).chain("main")


# --- scripts -----------------------------------------------------------------------------------------------------


async def test_a_script_is_played_from_a_file(places: Places, tmp_path: Path) -> None:
    file = tmp_path / "my script.yaml"
    file.write_text("[{say: from the file}]", encoding="utf-8")
    router = Router(Settings(), {}, places)
    (provider,) = await router.chain("main", f"scripted:{file}")
    assert await say(provider) == "from the file"
    assert provider.info.ref == f"scripted:{file}"
    assert provider.info == router.info(f"scripted:{file}")
    configured = settings("play", play=Provider(api="scripted", script=str(file)))
    (provider,) = await Router(configured, {}, places).chain("main")
    assert await say(provider) == "from the file"


async def test_a_script_that_is_not_there_is_told(places: Places, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        await Router(Settings(), {}, places).chain("main", f"scripted:{tmp_path / 'none.yaml'}")
    with pytest.raises(UsageError, match="no file is named"):
        await Router(settings("play/x", play=Provider(api="scripted")), {}, places).chain("main")


# --- what is known -----------------------------------------------------------------------------------------------


async def test_the_window_comes_from_settings_then_the_environment_then_the_catalog(places: Places) -> None:
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    given = Settings(model_settings={"openai/m": ModelSettings(window=5_000)})
    assert Router(given, env | {"GONGFU_CONTEXT_WINDOW": "7000"}, places).info("openai/m").window == 5_000
    router = Router(Settings(), env | {"GONGFU_CONTEXT_WINDOW": "7000"}, places)
    assert router.info("bench-model").window == 7_000
    assert router.info("bench-model", "fast").window == 0, "not known"
    assert Router(Settings(), {}, places).info("anthropic/claude-sonnet-4-5").window == 200_000
    whichever = Settings(model_settings={"*": ModelSettings(window=6_000)})
    assert Router(whichever, env, places).info("bench-model").window == 6_000


async def test_settings_under_both_spellings_of_a_model_count_together(places: Places) -> None:
    """A window of the environment stands under the name that was written, and must hide nothing else."""
    both = {"m": ModelSettings(window=7_000), "openai/m": ModelSettings(window=5_000, supports_images=True)}
    info = Router(Settings(model_settings=both), {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, places).info("m")
    assert (info.window, info.images) == (7_000, True)


@pytest.mark.parametrize("text", ["lots", "0", "-5", "1e5"])
async def test_a_window_that_is_no_number_is_told(text: str, places: Places) -> None:
    with pytest.raises(UsageError, match="GONGFU_CONTEXT_WINDOW"):
        Router(Settings(), {"GONGFU_CONTEXT_WINDOW": text}, places).info("deepseek/x")


async def test_endpoints_hide_their_key(places: Places) -> None:
    router = Router(Settings(), {"DEEPSEEK_API_KEY": "sk-secret-secret-1234"}, places)
    endpoint = router.endpoint("deepseek")
    assert endpoint.key == "sk-secret-secret-1234"
    assert "secret-secret" not in repr(endpoint)


@pytest.mark.parametrize(
    ("name", "given", "env", "api", "base_url"),
    [
        ("openai", None, {"OPENAI_API_KEY": "k"}, "openai_responses", "https://api.openai.com/v1"),
        ("openai", None, {"OPENAI_BASE_URL": "http://h/v1"}, "openai_chat", "http://h/v1"),
        ("anthropic", None, {"ANTHROPIC_BASE_URL": "http://h"}, "anthropic", "http://h/v1"),
        ("anthropic", Provider(api_key="k"), {}, "anthropic", "https://api.anthropic.com/v1"),
        ("anthropic", Provider(base_url="http://h/v1"), {}, "openai_chat", "http://h/v1"),
        ("deepseek", Provider(base_url="http://h/v1"), {"DEEPSEEK_BASE_URL": "http://e"}, "openai_chat", "http://h/v1"),
        ("ollama", None, {"OLLAMA_HOST": "h:1"}, "openai_chat", "http://h:1/v1"),
        ("mine", Provider(api="anthropic", base_url="http://h/v1"), {}, "anthropic", "http://h/v1"),
    ],
)
async def test_endpoints(
    name: str, given: Provider | None, env: dict[str, str], api: str, base_url: str, places: Places
) -> None:
    configured = Settings(providers={name: given} if given else {})
    endpoint = Router(configured, env, places).endpoint(name)
    assert (endpoint.api, endpoint.base_url) == (api, base_url)


async def test_a_provider_without_an_address_is_told(places: Places) -> None:
    with pytest.raises(UsageError, match=r"providers\.mine\.base_url"):
        Router(settings(mine=Provider()), {}, places).endpoint("mine")


async def test_small_models_are_led_wherever_they_run(places: Places) -> None:
    action = '{"thought": "look", "action": "run", "command": "ls"}'
    spec = ToolSpec(name="shell", description="Runs.", parameters={"type": "object", "properties": {}})
    async with serve([Say(action)], strict=False) as server:
        env = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        router = Router(Settings(), env, places)
        (provider,) = await router.chain("main", "ollama/qwen2.5-coder:1.5b")
        assert provider.info.small
        async with aclosing(provider.complete(msgspec.structs.replace(REQUEST, tools=(spec,)))) as deltas:
            async for _ in deltas:
                pass
        body = server.requests[0].body
        await router.aclose()
    assert "tools" not in body
    assert body["response_format"]["type"] == "json_schema"
    able = Settings(model_settings={"ollama/qwen2.5-coder:1.5b": ModelSettings(supports_tools=True)})
    assert not Router(able, env, places).info("ollama/qwen2.5-coder:1.5b").small


async def test_the_embedded_model_is_made_without_starting_it(places: Places) -> None:
    router = Router(Settings(), {"GONGFU_CONTEXT_WINDOW": "200000"}, places)
    (provider,) = await router.chain("main", "local")
    assert provider.info == router.info("local")
    assert provider.info.ref.startswith("local/")
    assert provider.info.window == 8192
    with pytest.raises(UsageError, match="nothing-like-it"):
        await router.chain("main", "local/nothing-like-it")
    with pytest.raises(UserError, match="models pull"):
        await say(provider)
    await router.aclose()


@pytest.mark.parametrize(
    ("name", "env", "header"),
    [
        ("anthropic", {"ANTHROPIC_API_KEY": "sk-1"}, ("x-api-key", "sk-1")),
        ("anthropic", {"ANTHROPIC_AUTH_TOKEN": "tok-1"}, ("authorization", "Bearer tok-1")),
        ("openai", {"OPENAI_API_KEY": "sk-1"}, ("authorization", "Bearer sk-1")),
    ],
)
async def test_keys_travel_in_the_header_of_their_kind(
    name: str, env: dict[str, str], header: tuple[str, str], places: Places
) -> None:
    async with serve([Say("hi")], models=["m", "n"], key=header[1].removeprefix("Bearer ")) as server:
        address = {"ANTHROPIC_BASE_URL": server.root_url, "OPENAI_BASE_URL": server.base_url}
        router = Router(Settings(), env | address, places)
        (provider,) = await router.chain("main", f"{name}/m")
        assert await say(provider) == "hi"
        sent = server.requests[0].headers
        assert sent[header[0]] == header[1]
        assert ("x-api-key" in sent) != ("authorization" in sent)
        assert await list_models(router.endpoint(name), env | address) == ["m", "n"]
        await router.aclose()


async def test_a_refused_list_of_models_is_a_typed_fault(places: Places) -> None:
    async with serve([], key="right") as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "wrong"}
        with pytest.raises(Unauthorized):
            await list_models(Router(Settings(), env, places).endpoint("openai"), env)


# --- detection through the router --------------------------------------------------------------------------------


async def test_the_only_model_of_a_configured_server_is_found(places: Places) -> None:
    async with serve([], models=["the-one"], key="k") as server:
        configured = settings(mine=Provider(base_url=server.base_url, api_key="k"))
        router = Router(configured, {}, places)
        assert (await router.found()).ref == "mine/the-one"
        assert (await router.found()).ref == "mine/the-one"
        assert len(server.others) == 1  # asked once
    async with serve([], models=["one", "two"]) as server:
        with pytest.raises(UsageError, match=r"models\.main"):
            await Router(settings(mine=Provider(base_url=server.base_url)), {}, places).found()


# --- sharing -----------------------------------------------------------------------------------------------------


async def test_providers_are_made_once_and_closed_with_the_router(places: Places) -> None:
    class Closing(Scripted):
        closed = 0

        async def aclose(self) -> None:
            self.closed += 1

    one = Closing()
    router = Router(
        settings("a/one", "openai/x"), {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, places, extra={"a/one": one}
    )
    first, second = await router.chain("main"), await router.chain("main")
    assert first[1] is second[1]
    assert first[1].info.ref == "openai/x"
    await router.aclose()
    await router.aclose()
    assert one.closed == 2


async def test_routers_share_nothing(places: Places) -> None:
    async def ask(name: str, results: dict[str, str]) -> None:
        info = ModelInfo(ref=f"p/{name}", provider="p", name=name, window=1000)
        router = Router(settings(f"p/{name}"), {}, places, extra={f"p/{name}": Scripted([Say(name)], info=info)})
        (provider,) = await router.chain("main")
        results[name] = await say(provider)
        assert provider.info.name == name

    results: dict[str, str] = {}
    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(ask, str(n), results)
    assert results == {str(n): str(n) for n in range(20)}


async def test_one_slot_serves_main_before_fast(places: Places) -> None:
    """Ollama answers one request at a time: while it is busy, the main model's next call overtakes a waiting helper."""
    async with serve([Fault("hang"), Say("main"), Say("fast")]) as server:
        env = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        router = Router(settings("ollama/big", fast=("ollama/little",)), env, places)
        (main,), (fast,) = await router.chain("main"), await router.chain("fast")
        order: list[str] = []

        async def ask(provider: ModelProvider) -> None:
            order.append(await say(provider))

        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()

            async def hold() -> None:
                with scope:
                    await say(fast)

            group.start_soon(hold)
            await server.received(1)
            group.start_soon(ask, fast)
            group.start_soon(ask, main)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            assert len(server.requests) == 1
            scope.cancel()
        assert order == ["main", "fast"]
        await router.aclose()


def test_importing_the_router_loads_no_adapter() -> None:
    code = (
        "import sys, gongfu.models.router\n"
        "bad = {m for m in sys.modules if m.startswith('gongfu.models.') and m.rpartition('.')[2] in "
        "('openai_chat', 'anthropic', 'openai_responses', 'transport', 'detect', 'scripted', 'catalog')}\n"
        "bad |= {'h11', 'ssl', 'ruamel', 'difflib', 'email'} & set(sys.modules)\n"
        "print(sorted(bad))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
