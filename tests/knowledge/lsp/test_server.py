"""A server may die, hang, flood or talk nonsense: each question ends in time, and nothing is left running."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from gongfu.knowledge.lsp import client as client_module
from gongfu.knowledge.lsp import server as server_module
from gongfu.knowledge.lsp.pool import Pool
from gongfu.knowledge.lsp.server import LanguageServer, ServerFailed
from gongfu.knowledge.lsp.servers import SERVERS, Found, Server, find_server, language_of
from gongfu.workspace.sandbox.confinement import Launch

pytestmark = pytest.mark.anyio
BAD = str(Path(__file__).with_name("bad_server.py"))


def found(how: str, *more: str) -> Found:
    argv = (sys.executable, BAD, how, *more)
    server = Server(name="bad", argv=argv, files={".x": "x"}, install="", settings={"a": {"b": 7}})
    return Found(server=server, argv=argv)


async def launch(one: Found) -> Launch:
    return Launch(argv=list(one.argv), cwd=Path(BAD).parent, env={"PATH": "/usr/bin:/bin"})


@asynccontextmanager
async def pool(root: Path, **more) -> AsyncGenerator[Pool, None]:
    made = Pool(root, **more)
    try:
        yield made
    finally:
        await made.close()
        assert not running(), "nothing is left"


def running() -> list[int]:
    children = psutil.Process().children(recursive=True)
    return [p.pid for p in children if p.status() != "zombie" and BAD in " ".join(p.cmdline())]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.x"
    path.write_text("0123456789\n")
    return path


async def ask(server: LanguageServer, file: Path):
    return await server.definition(file, file.read_text(), 1, 0)


@pytest.mark.parametrize("how", ["well", "wrong_ids", "shapes", "again", "asks", "prints", "stays"])
async def test_an_answer_is_found_among_whatever_else_comes(how, file, tmp_path, monkeypatch):
    monkeypatch.setattr(client_module, "_ENDING", 0.3)
    async with pool(tmp_path) as servers:
        server = await servers.get(found(how), launch)
        places = await ask(server, file)
        assert [(p.path, p.line, p.column) for p in places][-1] == (str(file), 1, 5)
        assert (await servers.get(found(how), launch)) is server


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("dies", "it ended with code 3: fatal error: out of cheese"),
        ("floods", "it floods"),
        ("garbage", "not the protocol"),
        ("huge", "a message of 99,999,999,999 bytes"),
        ("refuses", "it refused: no such symbol"),
        ("unable", "it offers no definitions"),
    ],
)
async def test_what_a_bad_server_does_is_said(how, said, file, tmp_path, monkeypatch):
    monkeypatch.setattr(client_module, "_MOST_BETWEEN", 4_000_000)
    async with pool(tmp_path) as servers:
        server = await servers.get(found(how), launch)
        with pytest.raises(ServerFailed, match=said):
            await ask(server, file)
        assert server.alive == (how in ("refuses", "unable"))


async def test_one_that_hangs_is_given_up_in_time(file, tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "ANSWER", 0.3)
    begun = time.monotonic()
    async with pool(tmp_path) as servers:
        server = await servers.get(found("hangs"), launch)
        with pytest.raises(ServerFailed, match="did not answer textDocument/definition"):
            await ask(server, file)
        assert not server.alive
    assert time.monotonic() - begun < 10


async def test_one_that_never_speaks_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "START", 0.3)
    async with pool(tmp_path) as servers:
        with pytest.raises(ServerFailed, match="initialize"):
            await servers.get(found("silent"), launch)
        assert not running()


async def test_a_program_that_is_missing_is_said(tmp_path):
    async with pool(tmp_path) as servers:
        nothing = Found(server=found("well").server, argv=(str(tmp_path / "none"),))
        with pytest.raises(ServerFailed, match="could not be started"):
            await servers.get(nothing, launch)


async def test_one_that_dies_again_and_again_is_left_alone(file, tmp_path):
    async with pool(tmp_path) as servers:
        for _ in range(3):
            server = await servers.get(found("dies"), launch)
            with pytest.raises(ServerFailed):
                await ask(server, file)
        with pytest.raises(ServerFailed, match="left alone"):
            await servers.get(found("dies"), launch)


async def test_idle_ones_end(file, tmp_path):
    async with pool(tmp_path, idle=0.1) as servers:
        server = await servers.get(found("well"), launch)
        await ask(server, file)
        with anyio.fail_after(10):
            while server.alive:  # it is looked at now and then
                await anyio.lowlevel.checkpoint()
        with pytest.raises(ServerFailed, match="idle"):
            await ask(server, file)
        again = await servers.get(found("well"), launch)
        assert again is not server
        assert await ask(again, file)


async def test_problems_of_a_text_that_is_gone_are_not_told(file, tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "_PUBLISHED", 0.5)
    async with pool(tmp_path) as servers:
        server = await servers.get(found("well"), launch)
        assert await server.problems(file, file.read_text()) == []


def test_the_table_is_sound():
    for server in SERVERS:
        assert server.install
        assert server.argv
        assert server.files
        assert all(language_of(server, Path(f"a{k}") if k.startswith(".") else Path(k)) for k in server.files)


def test_servers_are_found_in_the_project_then_on_path_and_stand_ins_of_rustup_are_seen_through(tmp_path):
    def program(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    env = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}
    root = tmp_path / "project"
    assert find_server(root / "a.go", root, env) is None
    gopls = program(tmp_path / "home/go/bin/gopls")
    assert find_server(root / "a.go", root, env).argv == (str(gopls),)
    program(tmp_path / "bin/typescript-language-server")
    own = program(root / "node_modules/.bin/typescript-language-server")
    assert find_server(root / "a.tsx", root, env).argv == (str(own), "--stdio")
    rustup = program(tmp_path / "home/.cargo/bin/rustup")
    rustup.with_name("rust-analyzer").symlink_to("rustup")
    assert find_server(root / "a.rs", root, env) is None
    program(tmp_path / "home/.rustup/toolchains/stable/bin/rust-analyzer")
    assert find_server(root / "a.rs", root, env).server.name == "rust-analyzer"
    assert find_server(root / "a.unknown", root, env) is None
