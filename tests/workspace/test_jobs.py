"""Background commands: told of, read, written to, stopped, and gone with the session."""

from __future__ import annotations

import os
import time
from pathlib import Path

import anyio
import pytest

from gongfu.core.events import JobChanged
from gongfu.workspace.jobs import UNREAD, Job, Jobs
from gongfu.workspace.proctree import snapshot
from tests.toolkit.kit import Store

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"]}


class Session:
    def __init__(self, folder: Path) -> None:
        self.changes: list[JobChanged] = []
        self.jobs = Jobs(changed=self.changes.append, artifact=Store(folder).writer)
        self.folder = folder

    def start(self, command: str) -> Job:
        return self.jobs.start(["bash", "-c", command], cwd=self.folder, env=ENV, command=command)


def living(name: str) -> list[int]:
    found: list[int] = []
    for pid, proc in snapshot().items():
        try:
            if not proc.dead and name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
        except OSError:
            continue
    return found


async def ends(job: Job) -> None:
    with anyio.fail_after(10):
        while job.look() == "running":
            await job.news(5, ended=True)


async def test_a_job_is_told_of_from_start_to_end(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.start("echo hello; exit 3")
    await ends(job)
    assert [(c.state, c.code) for c in session.changes] == [("running", None), ("ended", 3)]
    assert job.read() == (b"hello\n", 0)
    assert job.read() == (b"", 0)
    assert job.sink.path.read_bytes() == b"hello\n"
    await job.stop()
    await session.jobs.close()
    assert len(session.changes) == 2


async def test_input_line_by_line_and_its_end(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.start("while read l; do echo got $l; done; echo over")
    assert job.send(b"one\n") == 4
    await job.news(5)
    assert job.read()[0] == b"got one\n"
    job.close_input()
    await ends(job)
    assert job.read()[0] == b"over\n"
    with pytest.raises(OSError, match="run"):
        job.send(b"x")
    await session.jobs.close()


async def test_a_job_that_does_not_read_blocks_nobody(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.start("sleep 60")
    started = time.perf_counter()
    taken = job.send(b"x" * 1_000_000)
    assert taken < 1_000_000
    assert job.send(b"x") == 0
    assert time.perf_counter() - started < 1
    await session.jobs.close()


async def test_stop_kills_the_tree(tmp_path: Path) -> None:
    session = Session(tmp_path)
    name = f"job-tree-{os.getpid()}"
    job = session.start(f"setsid bash -c 'echo up; trap \"\" TERM; exec -a {name} sleep 60' & sleep 60")
    await job.news(5)
    with anyio.fail_after(5):
        while not living(name):
            await anyio.sleep(0.005)
    await job.stop()
    assert not living(name)
    assert [c.state for c in session.changes] == ["running", "stopped"]
    assert job.look() == "stopped"


async def test_unread_output_is_bounded_and_what_was_skipped_is_counted(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.start("seq 1 200000")
    await ends(job)
    data, skipped = job.read()
    whole = job.sink.path.read_bytes()
    assert len(data) == UNREAD
    assert skipped + len(data) == len(whole) == job.total
    assert whole.endswith(data)


async def test_what_it_leaves_behind_counts_as_the_job(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.start("bash -c 'sleep 0.5; echo later' & echo now")
    with anyio.fail_after(5):
        while job.code is None:
            await job.news(0.05)
    assert job.look() == "running"
    await ends(job)
    assert job.read()[0].endswith(b"later\n")
    assert [c.state for c in session.changes] == ["running", "ended"]


async def test_what_is_left_with_its_output_closed_is_seen_to_end(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.start("mkfifo fifo; bash -c 'read x < fifo' >/dev/null 2>&1 & echo now")
    with anyio.fail_after(5):
        while job.code is None:
            await job.news(0.05)
        await anyio.sleep(0.05)
    assert job.look() == "running"
    with (tmp_path / "fifo").open("w"):
        pass
    with anyio.fail_after(5):
        while job.look() == "running":
            await anyio.sleep(0.01)
    await session.jobs.close()


async def test_closing_leaves_nothing_of_any_command(tmp_path: Path) -> None:
    """Jobs, and what a command of the foreground has sent into a session of its own with its output closed."""
    from gongfu.workspace.process import run

    session = Session(tmp_path)
    names = [f"close-{os.getpid()}-{n}" for n in range(3)]
    session.start(f"exec -a {names[0]} sleep 60")
    session.start(f"trap '' TERM; setsid bash -c 'trap \"\" TERM; exec -a {names[1]} sleep 60' & wait")
    away = f"setsid bash -c 'exec -a {names[2]} sleep 60' >/dev/null 2>&1 & sleep 0.05"
    done = await run(["bash", "-c", away], cwd=tmp_path, env=ENV, mark=session.jobs.mark())
    assert done.code == 0
    with anyio.fail_after(5):
        while not all(map(living, names)):
            await anyio.sleep(0.005)
    started = time.perf_counter()
    await session.jobs.close()
    assert time.perf_counter() - started < 1.5
    assert not [name for name in names if living(name)]


async def test_another_session_is_left_alone(tmp_path: Path) -> None:
    one, two = Session(tmp_path), Session(tmp_path)
    one.start("sleep 60")
    job = two.start("sleep 60")
    await one.jobs.close()
    assert job.look() == "running"
    await two.jobs.close()
    assert job.look() == "stopped"


async def test_what_cannot_be_started_is_no_job(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with pytest.raises(OSError, match="no-such"):
        session.jobs.start(["no-such-program"], cwd=tmp_path, env=ENV, command="x")
    assert list(session.jobs) == []
    assert session.changes == []
    assert session.jobs.get("j1") is None


async def test_a_full_disk_does_not_end_a_job(tmp_path: Path) -> None:
    changes: list[JobChanged] = []
    jobs = Jobs(changed=changes.append, artifact=Store(tmp_path, full=True).writer)
    job = jobs.start(["bash", "-c", "echo x; echo y"], cwd=tmp_path, env=ENV, command="x")
    await ends(job)
    assert job.code == 0
    assert job.problem
    assert job.read()[0] == b"x\ny\n"
