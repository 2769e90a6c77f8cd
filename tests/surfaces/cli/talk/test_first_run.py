"""The first conversation on a machine: from nothing to a model that works, and back at every step."""

from __future__ import annotations

import io
import json
import stat
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.config.load import Flags, load
from gongfu.config.paths import places
from gongfu.models.known import CLOUD, SERVERS
from gongfu.models.local import download
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.model_ways import address_of, clouds, title_of
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.talk.face import Option, Pick, Picked
from gongfu.surfaces.cli.talk.first_run import guide, needs_model
from gongfu.surfaces.cli.talk.picking_search import narrowed
from tests.surfaces.cli.talk.faces import Stub

pytestmark = pytest.mark.anyio
KEY = "sk-right-0123456789"


class Server:
    """A model server on loopback: a list of models for who has the key, an answer to a prompt, Ollama's own list."""

    def __init__(self) -> None:
        self.models = ["deepseek-v4-flash", "other"]
        self.key = KEY
        self.lists = True
        self.seen: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.seen.append(self.path)
                if self.path == "/api/tags":
                    self._say(200, {"models": [{"name": "qwen3-coder:30b"}, {"name": "nomic-embed-text"}]})
                elif not self.path.endswith("/v1/models") or not outer.lists:
                    self._say(404, {"error": "no such page"})
                elif outer.key and self.headers.get("Authorization") != f"Bearer {outer.key}":
                    self._say(401, {"error": {"message": f"bad key {self.headers.get('Authorization')}"}})
                else:
                    self._say(200, {"data": [{"id": name} for name in outer.models]})

            def do_POST(self) -> None:
                outer.seen.append(self.path)
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if body["model"] not in outer.models:
                    self._say(404, {"error": {"message": "no such model"}})
                    return
                chunk = {"choices": [{"index": 0, "delta": {"content": "OK"}, "finish_reason": "stop"}]}
                self._say(200, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", "text/event-stream")

            def _say(self, status: int, value: Any, kind: str = "application/json") -> None:
                data = (value if isinstance(value, str) else json.dumps(value)).encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None: ...

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An empty machine where no local server answers."""
    closed = {name: "http://127.0.0.1:9/v1" for one in SERVERS for name in one.addresses}
    return {"HOME": str(tmp_path), "GONGFU_HOME": str(tmp_path / "g"), "LANG": "en_US.UTF-8", **closed}


def cli_of(env: dict[str, str]) -> Cli:
    return Cli([], env, stdin=None, stdout=io.StringIO(), stderr=io.StringIO())


async def guided(env: dict[str, str], *picks: Any, lines: tuple[str | None, ...] = ()) -> tuple[bool, Stub]:
    """Play what a person does; nobody is asked more than that."""
    face, cli = Stub(), cli_of(env)
    cli.shows = face.show
    face.picks, face.lines = list(picks), list(lines)
    with anyio.fail_after(20):
        taken = await guide(face, cli)
    assert (face.picks, face.lines) == ([], [])
    return taken, face


def settings(env: dict[str, str]) -> str:
    file = places(env).config
    return file.read_text() if file.exists() else ""


def main_of(env: dict[str, str]) -> str:
    return load(places(env), project=None, project_trusted=False, env=env, flags=Flags()).settings.models.main[0]


def values(pick: Pick) -> list[str]:
    return [option.value for option in pick.options]


async def test_a_local_server_is_one_key_away(env: dict[str, str], server: Server) -> None:
    taken, face = await guided(env | {"OLLAMA_BASE_URL": f"{server.url}/v1"}, lambda pick: pick.options[0].value)
    assert taken
    assert values(face.asked[0])[0] == "ollama/qwen3-coder:30b"
    assert main_of(env) == "ollama/qwen3-coder:30b"
    assert "ollama/qwen3-coder:30b works" in face.text
    assert not needs_model(cli_of(env), Opening())


async def test_a_pasted_key_is_checked_kept_and_never_shown(env: dict[str, str], server: Server) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url}
    taken, face = await guided(env, "+key", "deepseek", lines=(f" {KEY}\n",))
    assert taken
    keys = places(env).keys
    assert KEY in keys.read_text()
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert main_of(env) == "deepseek/deepseek-v4-flash"
    assert KEY not in face.text + settings(env)
    assert server.seen == ["/v1/models"]


async def test_a_wrong_key_is_told_and_can_be_pasted_again(env: dict[str, str], server: Server) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url}
    taken, face = await guided(env, "+key", "deepseek", lines=("sk-wrong-987654321", KEY))
    assert taken
    assert "DeepSeek does not accept the key" in face.text
    assert "sk-wrong-987654321" not in face.text + places(env).keys.read_text()


async def test_of_a_wrong_key_nothing_is_left(env: dict[str, str], server: Server) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url}
    taken, _ = await guided(env, "+key", "deepseek", None, None, lines=("sk-wrong-987654321", None))
    assert not taken
    assert settings(env) == ""
    assert not places(env).keys.exists()


async def test_where_the_usual_model_is_not_to_be_had_another_is_chosen(env: dict[str, str], server: Server) -> None:
    server.models = ["text-embedding", "a-coder", "b"]
    taken, face = await guided(env | {"DEEPSEEK_BASE_URL": server.url}, "+key", "deepseek", "a-coder", lines=(KEY,))
    assert taken
    assert values(face.asked[-1]) == ["a-coder", "b"]
    assert main_of(env) == "deepseek/a-coder"


async def test_a_key_of_the_environment_is_checked_too(env: dict[str, str], server: Server) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url, "DEEPSEEK_API_KEY": "sk-old-0123456789"}
    assert not needs_model(cli_of(env), Opening())
    first = f"deepseek/{server.models[0]}"
    taken, face = await guided(env, first, None)
    assert not taken
    assert "does not accept" in face.text
    assert "DEEPSEEK_API_KEY" in face.asked[0].options[0].label
    taken, _ = await guided(env | {"DEEPSEEK_API_KEY": KEY}, first)
    assert taken
    assert not places(env).keys.exists()


@pytest.mark.parametrize("there", ["", '"openai": "sk-other-012345"\n'])
async def test_where_it_cannot_be_written_all_stays_as_it_was(env: dict[str, str], server: Server, there: str) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url}
    found = places(env)
    found.ensure()
    found.config.write_text("models: [")
    if there:
        found.keys.write_text(there)
        found.keys.chmod(0o600)
    ways = ("+key", "deepseek", None, None)
    taken, face = await guided(env, *ways, lines=(KEY, None))
    assert not taken
    assert "config.yaml" in face.text.replace("\n  ", "")
    assert settings(env) == "models: ["
    assert (found.keys.read_text() if found.keys.exists() else "") == there


async def test_a_variable_that_goes_before_a_pasted_key_is_named(env: dict[str, str], server: Server) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url, "DEEPSEEK_API_KEY": "sk-old-0123456789"}
    taken, face = await guided(env, "+key", "deepseek", lines=(KEY,))
    assert taken
    assert "DEEPSEEK_API_KEY in the environment goes before" in face.text


@pytest.mark.parametrize("path", ["", "/v1", "/v1/"])
async def test_an_own_address(env: dict[str, str], server: Server, path: str) -> None:
    taken, _ = await guided(env, "+address", "other", lines=(server.url + path, KEY))
    assert taken
    assert f"base_url: {server.url}/v1" in settings(env)
    assert main_of(env) == "custom/other"
    assert KEY in places(env).keys.read_text()


async def test_an_own_address_that_lists_nothing_is_asked_a_few_words(env: dict[str, str], server: Server) -> None:
    server.lists, server.key = False, ""
    taken, face = await guided(
        env, "+address", lines=("not an address", server.url, "", "nonsense", server.url, "", "other")
    )
    assert taken
    assert "neither a provider" in face.text
    assert "did not answer as it should" in face.text
    assert main_of(env) == "custom/other"
    assert not places(env).keys.exists()


async def test_an_address_where_nobody_answers(env: dict[str, str]) -> None:
    taken, face = await guided(env, "+address", None, lines=("http://127.0.0.1:9/v1", "", None))
    assert not taken
    assert "127.0.0.1:9 cannot be reached" in face.text
    assert settings(env) == ""


async def test_every_step_is_left_by_esc(env: dict[str, str], server: Server) -> None:
    env |= {"DEEPSEEK_BASE_URL": server.url}
    server.models = ["a", "b"]
    steps: list[tuple[tuple[Any, ...], tuple[str | None, ...]]] = [
        ((None,), ()),
        (("+key", None, None), ()),
        (("+key", "deepseek", None, None), (None,)),
        (("+key", "deepseek", None, None, None), (KEY, None)),
        (("+address", None), (None,)),
        (("+address", None), (server.url, None, None)),
        (("+address", None, None), (server.url, KEY, None)),
    ]
    for picks, lines in steps:
        taken, face = await guided(env, *picks, lines=lines)
        assert not taken
        assert "No model is chosen yet" in face.text
    assert settings(env) == ""
    assert not places(env).keys.exists()


async def test_the_language_is_asked_where_nothing_says_it(env: dict[str, str]) -> None:
    taken, face = await guided(env | {"LANG": "C.UTF-8"}, "zh", None)
    assert not taken
    assert "欢迎使用 Gongfu" in face.text
    assert "language: zh" in settings(env)
    await guided(env | {"LANG": "C.UTF-8"}, None)  # it is known now
    _, face = await guided(env | {"LANG": "zh_CN.UTF-8"}, "+key", None, None)
    assert values(face.asked[1])[:2] == ["deepseek", "dashscope"]


class Progressing(Stub):
    """Somebody who waits for a download, and stops it once it is `enough`."""

    enough: Callable[[str], bool]

    async def pick(self, pick: Pick) -> Picked | None:
        if pick.options[0].value != "stop":
            return await super().pick(pick)
        self.show(pick.lines[0])
        if self.enough(pick.lines[0]):
            return None
        await anyio.sleep_forever()
        raise AssertionError


@pytest.mark.parametrize("drawn", [True, False])
async def test_a_fetched_model_is_used_and_a_stopped_one_goes_on(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, drawn: bool
) -> None:
    got = anyio.Event()

    async def pull(_: str, *, progress: Any, **__: Any) -> Path:
        progress(download.Progress(source="hub", done=500_000_000, total=1_117_320_768, rate=1e7, left=60.0))
        await got.wait()
        return Path("model.gguf")

    monkeypatch.setattr(download, "pull", pull)
    face, cli = Progressing(drawn=drawn), cli_of(env)
    if drawn:
        face.enough = lambda title: "44%" in title
        face.picks = ["+pull", None]
        assert not await guide(face, cli)
        assert "goes on from there" in face.text
        assert settings(env) == ""
    face.enough = lambda _: False
    face.picks = ["+pull"]
    got.set()
    assert await guide(face, cli)
    assert main_of(env) == "local"


def test_a_model_is_needed_only_where_nothing_names_one(env: dict[str, str]) -> None:
    bare = {name: value for name, value in env.items() if not value.endswith(":9/v1")}
    assert needs_model(cli_of(bare), Opening())
    assert not needs_model(cli_of(bare), Opening(model="ollama/x"))
    assert not needs_model(cli_of(bare | {"GONGFU_MODEL": "ollama/x"}), Opening())
    for one in (*CLOUD, *SERVERS):
        assert not needs_model(cli_of(bare | {one.addresses[0]: "http://127.0.0.1:1/v1"}), Opening())
    for one in CLOUD:
        assert not needs_model(cli_of(bare | {one.keys[0]: "k"}), Opening())
    file = places(bare).config
    file.parent.mkdir(parents=True)
    file.write_text("language: zh\n")
    assert needs_model(cli_of(bare), Opening())
    file.write_text("models:\n  main: [")
    assert not needs_model(cli_of(bare), Opening())


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("192.168.1.5:8000/v1/", "http://192.168.1.5:8000/v1"),
        ("llm.example.com/v1", "https://llm.example.com/v1"),
        ("https://h/v1/chat/completions", "https://h/v1"),
    ],
)
def test_an_address_as_people_type_it(typed: str, means: str) -> None:
    assert address_of(typed) == means


def test_providers_are_found_by_what_they_are_called_in_chinese() -> None:
    options = [Option(value=one.name, label=title_of(one.name, "zh"), detail=one.model) for one in clouds("zh")]
    called = {
        "通义": "dashscope", "百炼": "dashscope", "qwen": "dashscope", "智谱": "zhipu", "glm": "zhipu",
        "月之暗面": "moonshot", "kimi": "moonshot", "深度求索": "deepseek", "claude": "anthropic",
    }  # fmt: skip
    for typed, name in called.items():
        assert options[narrowed(options, typed)[0]].value == name, typed
    assert title_of("dashscope") == title_of("dashscope", "en") == "Qwen (DashScope)"
