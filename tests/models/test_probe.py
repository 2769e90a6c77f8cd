"""The checks of an endpoint, against a scripted one."""

from __future__ import annotations

import base64
import re
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.messages import ImagePart
from gongfu.core.specs import ModelInfo, Price, Usage
from gongfu.core.tokens import text_tokens
from gongfu.models.checks import haystack, red_square, sizes_for
from gongfu.models.finding import Finding
from gongfu.models.probe import probe
from gongfu.models.protocol import Request
from gongfu.models.retry import RetryPolicy
from gongfu.models.router import Router
from gongfu.models.scripted import SCRIPTED, Call, Fault, Say, Scripted
from gongfu.models.scripted.script import Step
from gongfu.models.scripted.server import Received, serve

pytestmark = pytest.mark.anyio

NUMBERS = " ".join(str(n) for n in range(1, 41))


class Endpoint:
    """Answers as a good model would, but for what is asked to be different."""

    def __init__(self, served: int = 10**9, **changed: Step) -> None:
        self.served = served
        self.changed = changed
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Step:
        self.asked.append(request)
        text = request.messages[0].text
        name, step = self._answer(request, text)
        changed = self.changed.get(name)
        return step if changed is None else changed

    def _answer(self, request: Request, text: str) -> tuple[str, Step]:
        if "numbers from 1 to 40" in text:
            return "first", Say(NUMBERS)
        if request.tools:
            if len(request.messages) > 1:
                return "result", Say(f"The sum is {request.messages[-1].results[0].text}.")
            return "tools", Call("add_numbers", {"a": 17, "b": 25})
        if request.schema:
            return "structured", Say('{"city": "Paris", "digits": [1, 2, 3]}')
        if any(isinstance(p, ImagePart) for p in request.messages[0].parts):
            return "images", Say("Red.")
        return "window", self._window(text)

    def _window(self, text: str) -> Step:
        tokens = text_tokens(text)
        kept = text[-self.served * 4 :] if tokens > self.served else text
        found = re.search(r"The code word is (\S+)\.", kept)
        return Say(found.group(1) if found else "I do not know", usage=Usage(input=min(tokens, self.served), output=5))


async def run(endpoint: Endpoint, info: ModelInfo = SCRIPTED, **fields: Any) -> dict[str, Finding]:
    provider = Scripted(_forever(endpoint), info=info)
    return {f.name: f async for f in probe(provider, **fields)}


def _forever(endpoint: Endpoint) -> Any:
    while True:
        yield endpoint


async def test_a_good_endpoint_passes_everything_and_its_cost_is_told() -> None:
    info = ModelInfo(ref="a/b", provider="a", name="b", window=200_000, images=True, price=Price(input=1.0, output=2.0))
    found = await run(Endpoint(), info)
    assert {n: f.level for n, f in found.items()} == dict.fromkeys(
        ["reachable", "key", "streaming", "usage", "tools", "structured", "images", "window", "spent"], "ok"
    )
    assert "12000" in found["window"].detail("en")
    assert found["spent"].values["requests"] == 8
    assert re.search(r"\$0\.0\d+", found["spent"].detail("en"))


@pytest.mark.parametrize(
    ("fault", "name", "advice"),
    [
        (Fault("refuse"), "reachable", "base_url"),
        (Fault("status", status=401), "key", "key"),
        (Fault("status", status=404), "model", "models list"),
        (Fault("status", status=400), "model", "quirks"),
    ],
)
async def test_a_first_fault_ends_the_checks_with_advice(fault: Fault, name: str, advice: str) -> None:
    found = await run(Endpoint(first=fault))
    last = list(found.values())[-1]
    assert (last.name, last.level) == (name, "fail")
    assert advice in last.advice("en")
    assert fault.message in last.detail("en")
    assert "tools" not in found


@pytest.mark.parametrize(
    ("changed", "name", "level", "told"),
    [
        ({"first": Say("12345")}, "streaming", "warn", "1 pieces"),
        ({"first": Say(NUMBERS, usage=Usage())}, "usage", "warn", "no token counts"),
        ({"tools": Say("It is 42.")}, "tools", "fail", "without calling"),
        ({"tools": Call("add_numbers", {"a": 17})}, "tools", "fail", '"a":17'),
        ({"tools": Call("add_numbers", '{"a": 17, "b"')}, "tools", "fail", '{"a": 17, "b"'),
        ({"tools": Call("other", {"a": 17, "b": 25})}, "tools", "fail", "other"),
        ({"result": Say("I cannot say.")}, "tools", "warn", "not used"),
        ({"result": Fault("status", status=400)}, "tools", "fail", "the script asks"),
        ({"structured": Say("```json\n{}\n```")}, "structured", "warn", "does not follow"),
        ({"structured": Fault("status", status=400)}, "structured", "warn", "the script asks"),
        ({"images": Say("Blue")}, "images", "warn", "Blue"),
        ({"window": Fault("overflow", message="too long")}, "window", "fail", "3000 tokens was refused"),
    ],
)
async def test_what_is_wrong_is_named(changed: dict[str, Step], name: str, level: str, told: str) -> None:
    found = await run(Endpoint(**changed))
    assert (found[name].level, told in found[name].detail("en")) == (level, True), found[name].detail("en")
    assert found[name].advice("en")
    assert found["spent"]


@pytest.mark.parametrize("served", [2048, 4096, 8192])
async def test_a_window_that_is_cut_silently_is_noticed_by_default(served: int) -> None:
    found = await run(Endpoint(served=served))
    assert found["window"].level == "fail"
    assert "silently cuts" in found["window"].detail("en")
    assert found["window"].values["counted"] == served
    assert "num_ctx" in found["window"].advice("en")


async def test_deep_tries_the_whole_claimed_window() -> None:
    info = ModelInfo(ref="a/b", provider="a", name="b", window=64_000)
    shallow = await run(Endpoint(served=30_000), info)
    assert shallow["window"].level == "ok"
    deep = await run(Endpoint(served=30_000), info, deep=True)
    assert deep["window"].level == "fail"


async def test_a_model_that_forgets_is_told_from_a_server_that_cuts() -> None:
    forgetful = Say("no idea", usage=Usage(input=5_900, output=3))
    found = await run(Endpoint(window=forgetful), sizes=[6_000])
    assert (found["window"].level, "not found again" in found["window"].detail("en")) == ("warn", True)


def test_sizes_leave_room_for_an_answer() -> None:
    assert sizes_for(200_000, deep=False, sizes=()) == [3_000, 6_000, 12_000]
    assert sizes_for(8_192, deep=False, sizes=()) == [3_000, 5_632]
    assert sizes_for(0, deep=True, sizes=()) == [3_000, 6_000, 12_000]
    assert sizes_for(64_000, deep=True, sizes=[100]) == [100, 32_000, 64_000 - 512 - 3_200]
    assert sizes_for(2_048, deep=True, sizes=()) == []


@pytest.mark.parametrize("size", [200, 3_000, 20_000])
def test_the_haystack_has_its_size_and_no_line_twice(size: int) -> None:
    text = haystack(size)
    assert size <= text_tokens(text) < size * 1.05 + 60
    lines = text.splitlines()
    assert len(set(lines)) >= len(lines) - 1
    assert text.count("MAROON-7341") == 1


def test_the_picture_is_a_red_png() -> None:
    data = base64.b64decode(red_square(8).data)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    pixels = zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])
    assert pixels == (b"\x00" + b"\xff\x00\x00" * 8) * 8


async def test_findings_speak_both_languages() -> None:
    for findings in (await run(Endpoint(first=Fault("refuse"))), await run(Endpoint(served=2048))):
        for finding in findings.values():
            assert finding.label("zh") != finding.label("en")
            assert finding.detail("zh")
            assert bool(finding.advice("zh")) == bool(finding.advice("en"))


class Ollama:
    """Chat Completions as a server with a short window gives it: the beginning of a long prompt is lost in silence."""

    def __init__(self, served: int) -> None:
        self.served = served

    def __call__(self, received: Received) -> Step:
        body = received.body
        text = str(body["messages"][1]["content"])
        if body.get("response_format"):
            return Say('{"city": "Paris", "digits": [1, 2, 3]}')
        if body.get("tools"):
            done = body["messages"][-1]["role"] == "tool"
            return Say("42") if done else Call("add_numbers", {"a": 17, "b": 25})
        if "1 to 40" in text:
            return Say(NUMBERS)
        kept = text[-self.served * 4 :]
        found = re.search(r"The code word is (\S+)\.", kept)
        return Say(found.group(1) if found else "?", usage=Usage(input=min(text_tokens(text), self.served), output=3))


@pytest.mark.parametrize(("served", "level"), [(4096, "fail"), (100_000, "ok")])
async def test_the_checks_on_the_wire(served: int, level: str, tmp_path: Path) -> None:
    async with serve(_forever(Ollama(served))) as server:  # type: ignore[arg-type]
        env = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        router = Router(Settings(), env, Places(home=tmp_path))
        (provider,) = await router.chain("main", "ollama/qwen3:8b")
        found = {f.name: f async for f in probe(provider)}
        await router.aclose()
    assert found["window"].level == level
    assert {n: f.level for n, f in found.items() if n != "window"} == dict.fromkeys(
        ["reachable", "key", "streaming", "usage", "tools", "structured", "spent"], "ok"
    )


async def test_an_address_where_nothing_listens(tmp_path: Path) -> None:
    router = Router(Settings(), {"OLLAMA_HOST": "127.0.0.1:1"}, Places(home=tmp_path))
    (provider,) = await router.chain("main", "ollama/x")
    started = time.monotonic()
    (finding,) = [f async for f in probe(provider, patience=RetryPolicy(max_attempts=1))]
    assert (finding.name, finding.level) == ("reachable", "fail")
    assert time.monotonic() - started < 5
    await router.aclose()
