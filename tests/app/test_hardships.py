"""A clock that jumps, a home that cannot be written, many sessions at once, and a very large one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

import gongfu
from gongfu.core.events import MessageAdded, ToolFinished, TurnFinished
from gongfu.core.messages import user
from gongfu.models.scripted import Call, Say, serve
from gongfu.models.scripted.server import Server

from .cast import Cast, opened, run, workplace

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


@pytest.mark.parametrize("jump", [-10 * 365 * 86400, -3600, 3600, 10 * 365 * 86400])
async def test_a_clock_that_jumps_in_the_middle_of_a_turn(
    work: Path, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    """Limits of time and waits go by a clock that does not jump; the order of a session by its numbers."""
    real, shift = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + shift[0])

    async def during(event: object) -> None:
        if isinstance(event, ToolFinished):
            shift[0] += jump

    steps = [Call("read_file", {"path": "a.txt"}), Call("shell", {"command": "sleep 0.05; cat b.txt"}), Say("Done.")]
    async with opened(work, Cast(list(steps)), yes=True, max_minutes=1) as app:
        ran = await run(app, during=during)
        assert (ran.finished.status, ran.finished.text) == ("done", "Done.")
        assert 0 <= ran.finished.seconds < 30
        assert all(0 <= e.seconds < 30 for e in ran.of(ToolFinished))
        id = ran.session.id
        seqs = [e.seq for e in app.journal.read(id)]
        assert seqs == sorted(set(seqs))
    async with opened(work, Cast([Say("Again.")]), yes=True) as app:
        session = await app.session(id)
        with anyio.fail_after(10):
            assert (await (await session.prompt("And now?"))).text == "Again."
        assert [row.id for row in app.sessions()] == [id]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a disk, for which it needs root")
async def test_a_home_that_cannot_be_written_is_one_sentence_and_nothing_is_sent(work: Path) -> None:
    home = work.parent / "home"
    home.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,ro", "tmpfs", home], check=False).returncode:
        pytest.skip("may not mount here")
    try:
        async with serve([]) as server:
            env = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH")} | settings(server)
            done = await anyio.run_process(
                [sys.executable, "-m", "gongfu", "run", "--yes", "look"], cwd=work, check=False,
                env={**env, "HOME": str(work.parent), "GONGFU_HOME": str(home)},
            )  # fmt: skip
            err = done.stderr.decode()
            assert done.returncode == 1, err
            assert "Traceback" not in err
            assert str(home) in err
            assert not server.requests
    finally:
        subprocess.run(["umount", home], check=True)


def settings(server: Server) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k", "GONGFU_MODEL": "m",
        "GONGFU_CONTEXT_WINDOW": "200000", "LANG": "C.UTF-8",
    }  # fmt: skip


@pytest.mark.soak
async def test_two_hundred_streams_at_once(work: Path) -> None:
    async with serve([Say("word " * 200, times=0)]) as server:
        env = {"PATH": os.environ["PATH"], "HOME": str(work.parent), **settings(server)}
        async with gongfu.open(work, home=work.parent / "home", env=env) as app:
            ends: list[TurnFinished] = []

            async def one() -> None:
                ends.append(await (await (await app.session()).prompt("Go")))

            with anyio.fail_after(240):
                async with anyio.create_task_group() as tasks:
                    for _ in range(200):
                        tasks.start_soon(one)
            assert [e.status for e in ends] == ["done"] * 200
            assert len(server.requests) == 200


@pytest.mark.soak
async def test_a_session_of_a_hundred_megabytes(work: Path) -> None:
    """5,000 messages of 20 kB: it opens, folds, answers and is listed; a cancel in it is heard at once."""
    async with opened(work, Cast([Say("First.")]), yes=True) as app:
        id = (await run(app)).session.id
        text = "".join(f"{n} words that fill a line of a long session\n" for n in range(420))
        for at in range(50):
            app.journal.append(id, [MessageAdded(message=user(f"{at}.{n} {text}")) for n in range(100)], at=time.time())
        assert app.places.store.stat().st_size + app.database.wal_bytes > 95_000_000
    async with opened(work, Cast([Say("Still here.")]), yes=True) as app:
        began = time.monotonic()
        session = await app.session(id)
        assert time.monotonic() - began < 20
        with anyio.fail_after(60):
            assert (await (await session.prompt("And now?"))).text == "Still here."
        prompted = await session.prompt("Again?")
        await session.cancel()
        with anyio.fail_after(5):
            await prompted
