"""The life of the local model's server, with a program in its place that needs no model."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import psutil
import pytest

from gongfu.config.paths import Places
from gongfu.core.errors import UserError
from gongfu.models.local.models import DEFAULT, find_model
from gongfu.models.local.record import Record, read_record, write_record
from gongfu.models.local.server import LocalServer, last_line, lives
from tests.models.local.packages import places_in

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_name("fake_serve.py")


@pytest.fixture
def found(tmp_path: Path) -> Iterator[Places]:
    """Places with a (sparse) file in the model's place; whatever was started is ended afterwards."""
    made = places_in(tmp_path)
    made.ensure(made.models)
    with (made.models / f"{DEFAULT}.gguf").open("wb") as file:
        file.truncate(find_model("").size)
    yield made
    for process in psutil.process_iter(["cmdline"]):
        if str(tmp_path) in " ".join(process.info["cmdline"] or ()):
            process.kill()


def server(found: Places, *, how: str = "serve", idle: float = 60, wait: float = 20) -> LocalServer:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "s3cret", "GONGFU_CHILD": "outer"}
    return LocalServer(
        find_model(""), found, env, program=(sys.executable, str(PROGRAM), "--how", how), idle_seconds=idle,
        start_seconds=wait,
    )  # fmt: skip


def record_path(found: Places) -> Path:
    return found.locks / f"local-{DEFAULT}.json"


async def until_gone(record: Record) -> None:
    with anyio.fail_after(15):
        while lives(record):
            await anyio.sleep(0.02)


async def test_it_starts_when_asked_and_is_shared(found: Places) -> None:
    first = await server(found).ready()
    started = time.monotonic()
    second = await server(found).ready()
    assert second == first
    assert time.monotonic() - started < 2
    assert first.base_url == f"http://127.0.0.1:{first.port}/v1"
    assert lives(first)
    assert await server(found).stop()
    await until_gone(first)
    assert not await server(found).stop()


async def test_several_that_ask_at_once_start_one(found: Places) -> None:
    records: list[Record] = []

    async def ask() -> None:
        records.append(await server(found).ready())

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
    assert len({r.pid for r in records}) == 1
    await server(found).stop()


async def test_the_record_is_for_the_owner_only_and_the_child_knows_no_secrets(found: Places) -> None:
    running = server(found)
    record = await running.ready()
    assert len(record.key) >= 24
    if os.name == "posix":
        assert stat.S_IMODE(record_path(found).stat().st_mode) == 0o600
        assert stat.S_IMODE(running.log.stat().st_mode) == 0o600
    log = running.log.read_text()
    assert "OPENAI_API_KEY" not in log
    assert "OMP_WAIT_POLICY" in log
    assert record.key not in " ".join(psutil.Process(record.pid).cmdline())
    await running.stop()


async def test_it_ends_when_idle_and_its_record_goes_first(found: Places) -> None:
    record = await server(found, idle=0.2).ready()
    await until_gone(record)
    assert not record_path(found).exists()
    again = await server(found).ready()
    assert again.pid != record.pid
    await server(found).stop()


async def test_asking_keeps_it_alive(found: Places) -> None:
    running = server(found, idle=1.0)
    record = await running.ready()
    ends = time.monotonic() + 2.0
    while time.monotonic() < ends:
        assert (await running.ready()).pid == record.pid
        await anyio.sleep(0.1)
    await running.stop()


async def test_a_crashed_server_is_replaced(found: Places) -> None:
    first = await server(found).ready()
    psutil.Process(first.pid).kill()
    await until_gone(first)
    second = await server(found).ready()
    assert second.pid != first.pid
    await server(found).stop()


async def test_a_stale_record_whose_pid_is_another_process_now(found: Places) -> None:
    found.ensure(found.locks)
    stale = Record(pid=os.getpid(), born=1.0, port=1, key="old", model=DEFAULT)
    write_record(record_path(found), stale)
    assert server(found).running() is None
    record = await server(found).ready()
    assert record.pid != os.getpid()
    await server(found).stop()


async def test_a_damaged_record_counts_as_none(found: Places) -> None:
    found.ensure(found.locks)
    record_path(found).write_bytes(b'{"pid": 1')
    assert read_record(record_path(found)) is None
    await server(found).ready()
    await server(found).stop()


async def test_a_server_that_lives_but_listens_no_more_is_replaced(found: Places) -> None:
    running = server(found, how="deaf", wait=3)
    with pytest.raises(UserError):
        await running.ready()
    record = await server(found).ready()
    assert lives(record)
    await server(found).stop()


async def test_a_program_that_ends_at_once_is_told_with_its_last_line(found: Places) -> None:
    with pytest.raises(UserError) as caught:
        await server(found, how="crash").ready()
    assert caught.value.key == "local.server_failed"
    assert "the model file is broken" in str(caught.value)


async def test_a_program_that_never_gets_ready_is_stopped(found: Places) -> None:
    running = server(found, how="hang", wait=1.5)
    with pytest.raises(UserError) as caught:
        await running.ready()
    assert caught.value.key == "local.server_slow"
    for process in psutil.process_iter(["cmdline"]):
        assert str(found.home) not in " ".join(process.info["cmdline"] or ())


async def test_without_the_model_it_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="gongfu models pull"):
        await server(places_in(tmp_path)).ready()


async def test_memory_is_looked_at_before(found: Places) -> None:
    import msgspec

    vast = msgspec.structs.replace(find_model(""), memory=10**18)
    with pytest.raises(UserError) as caught:
        await LocalServer(vast, found, os.environ).ready()
    assert caught.value.key == "local.no_memory"


def test_the_last_line_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert last_line(log) == ""
    log.write_bytes(b"x" * 20_000 + "\nlast \u5b57\n\n".encode())
    assert last_line(log) == "last 字"
