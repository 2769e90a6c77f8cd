"""Commands are run to their end, without delay, and nothing of them stays behind."""

from __future__ import annotations

import os
import random
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from gongfu.workspace import child as child_module
from gongfu.workspace.activity import activity
from gongfu.workspace.child import Child
from gongfu.workspace.process import Finished, HeadTail, run
from gongfu.workspace.proctree import snapshot
from gongfu.workspace.sampler import Sampler
from gongfu.workspace.shells import as_argv

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


async def sh(command: str, cwd: Path, **more) -> Finished:
    return await run(command, cwd=cwd, env={**ENV, **more.pop("env", {})}, **more)


def living(tag: str) -> list[int]:
    """Processes that have `tag` among their arguments."""
    found: list[int] = []
    for pid, proc in snapshot().items():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if not proc.dead and tag.encode() in words:
            found.append(pid)
    return found


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(5):
        while not condition():
            await anyio.sleep(0.005)


async def test_output_and_exit_code(tmp_path: Path) -> None:
    done = await sh("echo out; echo err >&2; exit 7", tmp_path)
    assert (done.output, done.code, done.signal, done.why_ended) == (b"out\nerr\n", 7, 0, "exit")
    assert done.whole
    assert not done.left_running


async def test_arguments_go_without_a_shell(tmp_path: Path) -> None:
    done = await run([sys.executable, "-c", "import sys; print(sys.argv[1])", "a b; $x"], cwd=tmp_path, env=ENV)
    assert done.output == b"a b; $x\n"


async def test_a_signal_is_told(tmp_path: Path) -> None:
    done = await sh("kill -9 $$", tmp_path)
    assert (done.code, done.signal) == (137, 9)


async def test_a_short_command_returns_at_once(tmp_path: Path) -> None:
    await sh("true", tmp_path)
    times: list[float] = []
    for _ in range(10):
        started = time.perf_counter()
        await sh("exit", tmp_path)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.03  # a loop that looks every 50 ms could not


async def test_input_and_its_end(tmp_path: Path) -> None:
    data = os.urandom(300_000)
    done = await run(["cat"], cwd=tmp_path, env=ENV, stdin=data, keep=1 << 20)
    assert done.output == data


async def test_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    done = await run(["env"], cwd=tmp_path, env={"PATH": ENV["PATH"], "A": "1"})
    assert sorted(line.split(b"=")[0] for line in done.output.splitlines()) == [b"A", b"GONGFU_CALL", b"PATH"]


@pytest.mark.parametrize("bad", [["no-such-program-here"], ["a\0b"]])
async def test_what_cannot_be_started_says_so(tmp_path: Path, bad: list[str]) -> None:
    with pytest.raises((OSError, ValueError)):
        await run(bad, cwd=tmp_path, env=ENV)
    with pytest.raises(OSError, match="gone"):
        await run(["true"], cwd=tmp_path / "gone", env=ENV)


async def test_a_caller_sees_every_byte_and_the_file_holds_them(tmp_path: Path) -> None:
    seen = bytearray()
    spill = tmp_path / "spill"
    done = await sh("seq 1 200000", tmp_path, sink=seen.extend, spill=spill, keep=1000)
    whole = "".join(f"{n}\n" for n in range(1, 200001)).encode()
    assert bytes(seen) == whole == spill.read_bytes()
    assert (done.head, done.tail) == (whole[:500], whole[-500:])
    assert done.total_bytes == len(whole)
    assert not done.whole


async def test_a_fault_of_the_caller_ends_the_command_and_is_his(tmp_path: Path) -> None:
    def broken(data: bytes) -> None:
        raise RuntimeError(f"cannot take {data!r}")

    with pytest.raises(RuntimeError, match="cannot take"):
        await sh("echo x; exec -a sleep-broken sleep 60", tmp_path, sink=broken)
    assert not living("sleep-broken")


async def test_a_full_disk_does_not_end_the_command(tmp_path: Path) -> None:
    done = await sh("echo x; echo y", tmp_path, spill=Path("/dev/full"))
    assert done.output == b"x\ny\n"
    assert "space" in done.spill_problem


def python(*lines: str) -> str:
    """A command line that runs a few lines."""
    return shlex.join([sys.executable, "-c", "\n".join(("import socket, time", *lines))])


# --- limits ---------------------------------------------------------------------------------------------------------


async def test_a_silent_command_is_stopped_for_idleness(tmp_path: Path) -> None:
    done = await sh("exec -a idle-one sleep 60", tmp_path, idle=0.3)
    assert done.why_ended == "idle"
    assert 0.3 <= done.seconds < 2
    assert done.signal == signal.SIGTERM
    assert not living("idle-one")


BUSY = {
    "cpu": "while :; do :; done",
    "output": "while :; do echo x; sleep 0.02; done",
    "memory": python("x=[]", "while 1: x.append(b'x'*2000000); time.sleep(.02); len(x) > 40 and x.clear()"),
    "disk": python("f=open('big','wb',0)", "while 1: f.seek(0); f.write(bytes(200000)); time.sleep(.02)"),
    "network": python(
        "s=socket.create_server(('127.0.0.1',0)); b=socket.create_connection(s.getsockname()); a,_=s.accept()",
        "while 1: a.send(bytes(100)); b.recv(100); time.sleep(.02)",
    ),
}


@pytest.mark.parametrize("kind", BUSY)
async def test_each_kind_of_work_is_seen(tmp_path: Path, kind: str) -> None:
    child = Child(as_argv(BUSY[kind], ENV), cwd=tmp_path, env=ENV, on_output=lambda _: None, on_over=lambda: None)
    sampler = Sampler(child)
    before = sampler.sample()
    try:
        with anyio.fail_after(10):
            while kind not in activity(before, after := sampler.sample()):
                await anyio.sleep(0.05)
                before = after if after.at - before.at > 1 else before
    finally:
        await child.stop()


async def test_an_idle_process_is_seen_as_idle(tmp_path: Path) -> None:
    """A loop that waits by starting `sleep`, and an open connection on which nothing moves."""
    code = python(
        "s=socket.create_server(('127.0.0.1',0)); b=socket.create_connection(s.getsockname()); a,_=s.accept()",
        "print('up',flush=True); time.sleep(60)",
    )
    seen = bytearray()
    child = Child(
        as_argv(f"{code} & while :; do sleep 0.3; done", ENV), cwd=tmp_path, env=ENV, on_output=seen.extend,
        on_over=lambda: None,
    )  # fmt: skip
    try:
        await until(lambda: seen)
        sampler = Sampler(child)
        before = sampler.sample()
        await anyio.sleep(1.0)
        assert activity(before, sampler.sample()) == ()
    finally:
        await child.stop()


async def test_a_busy_command_is_let_on(tmp_path: Path) -> None:
    done = await sh("while :; do :; done", tmp_path, idle=0.5)
    assert done.why_ended == "timeout"
    assert done.seconds >= 2
    assert "cpu" in done.activity


@pytest.mark.parametrize("command", ["sleep 60", "while :; do echo x; done"])
async def test_the_callers_limit_is_obeyed(tmp_path: Path, command: str) -> None:
    done = await sh(command, tmp_path, timeout=0.2, idle=0.05)
    assert done.why_ended == "timeout"
    assert 0.2 <= done.seconds < 1.0


async def test_a_limit_beyond_the_idle_one_lets_a_silent_command_finish(tmp_path: Path) -> None:
    done = await sh("sleep 0.5; echo done", tmp_path, timeout=20, idle=0.1)
    assert (done.why_ended, done.output) == ("exit", b"done\n")


async def test_the_polite_signal_comes_first(tmp_path: Path) -> None:
    done = await sh("trap 'echo tidy; exit 3' TERM; while :; do sleep 0.01; done", tmp_path, timeout=0.3)
    assert done.output.endswith(b"tidy\n")
    assert done.code == 3


async def test_a_server_is_told_by_its_port(tmp_path: Path) -> None:
    serve = python("s=socket.create_server(('127.0.0.1',0))", "print(s.getsockname()[1],flush=True)", "time.sleep(60)")
    done = await sh(serve, tmp_path, idle=0.4)
    assert done.why_ended == "idle"
    assert done.ports == (int(done.output),)


# --- what a command leaves behind ---------------------------------------------------------------------------------


async def test_a_child_that_keeps_the_pipe_open_hangs_nobody(tmp_path: Path) -> None:
    started = time.perf_counter()
    done = await sh("bash -c 'exec -a left-open sleep 60' & echo x", tmp_path)
    assert time.perf_counter() - started < 2
    assert (done.output, done.left_running, done.code) == (b"x\n", True, 0)
    assert not living("left-open")


async def test_a_child_in_the_group_with_its_output_elsewhere_is_ended_too(tmp_path: Path) -> None:
    done = await sh("bash -c 'exec -a left-quiet sleep 60' >/dev/null 2>&1 & echo x", tmp_path)
    assert done.left_running
    assert not living("left-quiet")


async def test_a_child_that_writes_a_last_word_is_heard(tmp_path: Path) -> None:
    done = await sh("(sleep 0.02; echo late) & echo early", tmp_path)
    assert done.output == b"early\nlate\n"
    assert not done.left_running


async def test_what_is_left_can_be_taken_over(tmp_path: Path) -> None:
    adopted: list[Child] = []
    more = bytearray()
    done = await sh("bash -c 'sleep 0.3; echo more; sleep 60' & echo x", tmp_path, adopt=adopted.append)
    assert done.left_running
    child = adopted[0]
    child.on_output = more.extend
    await until(lambda: more)
    assert bytes(more) == b"more\n"
    assert child.lives()
    await child.stop()
    assert not child.lives()


async def cancelled(command: str, cwd: Path, ready: str) -> float:
    """Run, cancel once a process called `ready` lives; seconds from the cancel until `run` has given up."""
    times: list[float] = []

    async def task() -> None:
        try:
            await sh(command, cwd)
        finally:
            times.append(time.perf_counter())

    async with anyio.create_task_group() as group:
        group.start_soon(task)
        await until(lambda: living(ready))
        started = time.perf_counter()
        group.cancel_scope.cancel()
    return times[0] - started


@pytest.mark.parametrize(
    "command",
    [
        "exec -a {} sleep 60",
        "bash -c 'exec -a {} sleep 60'; true",
        "trap '' TERM; bash -c 'trap \"\" TERM; exec -a {} sleep 60'; sleep 60",
        "setsid bash -c 'exec -a {} sleep 60'",
        "setsid bash -c 'exec -a {} sleep 60' & sleep 60",
        "(setsid bash -c 'exec -a {} sleep 60' >/dev/null 2>&1 &); sleep 60",
        'setsid bash -c \'setsid bash -c "trap \\"\\" TERM; exec -a {} sleep 60" & exit\' >/dev/null 2>&1; sleep 60',
    ],
)
async def test_cancel_leaves_nothing_and_takes_half_a_second_at_most(tmp_path: Path, command: str) -> None:
    name = f"victim-{abs(hash(command))}"
    took = await cancelled(command.format(name), tmp_path, name)
    assert not living(name)
    assert took <= 0.5


async def test_a_stopped_process_dies_too(tmp_path: Path) -> None:
    took = await cancelled("bash -c 'kill -STOP $$; true' & exec -a frozen sleep 60", tmp_path, "frozen")
    assert took <= 0.5
    assert not living("frozen")


async def test_many_side_by_side_stay_apart(tmp_path: Path) -> None:
    results: dict[int, bytes] = {}

    async def one(number: int) -> None:
        results[number] = (await sh(f"echo {number}; sleep 0.0{number % 10}", tmp_path)).output

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(one, number)
    assert results == {n: f"{n}\n".encode() for n in range(40)}


async def test_no_file_is_left_open(tmp_path: Path) -> None:
    await sh("true", tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for command in ("true", "sleep 60 & echo x", "sleep 60"):
        await sh(command, tmp_path, timeout=0.3)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_without_the_watch_of_linux_a_thread_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(pid: int) -> int:
        raise OSError("not on this system")

    monkeypatch.setattr(child_module, "_pidfd_open", missing)
    assert (await sh("echo x; exit 4", tmp_path)).code == 4
    assert (await sh("sleep 60", tmp_path, timeout=0.1)).why_ended == "timeout"


async def test_the_threads_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path without readable pipes and process files, run here: same bytes, same ends, nothing left."""
    monkeypatch.setattr(child_module, "sys", SimpleNamespace(platform="win32"))
    done = await sh("seq 1 50000; exit 3", tmp_path, keep=1 << 20)
    assert (done.code, done.output) == (3, "".join(f"{n}\n" for n in range(1, 50001)).encode())
    assert (await sh("echo x; exec -a win-like sleep 60", tmp_path, timeout=0.2)).output == b"x\n"
    assert (await sh("bash -c 'exec -a win-like sleep 60' & echo y", tmp_path)).left_running
    assert await cancelled("exec -a win-like sleep 60", tmp_path, "win-like") < 0.5
    assert not living("win-like")


@pytest.mark.soak
async def test_three_hundred_commands_cancelled_at_random_moments(tmp_path: Path) -> None:
    dice = random.Random(7)
    name = f"soak-{os.getpid()}"
    shapes = (
        "exec -a {} sleep 60", "setsid bash -c 'exec -a {} sleep 60'", "yes & bash -c 'exec -a {} sleep 60' & wait",
        "for i in 1 2 3; do (setsid bash -c 'exec -a {} sleep 60' >/dev/null 2>&1 &); done; sleep 60",
        "trap '' TERM; while :; do bash -c 'exec -a {} sleep 0.01'; done",
    )  # fmt: skip
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(300):
        with anyio.move_on_after(dice.random() * 0.1):
            await sh(dice.choice(shapes).format(name), tmp_path)
        assert not living(name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_head_and_tail_never_overlap_and_stay_bounded() -> None:
    for size in (0, 1, 9, 10, 11, 25, 1000):
        data = bytes(n % 251 for n in range(size))
        for step in (1, 3, 7, 1000):
            kept = HeadTail(10)
            for at in range(0, size, step):
                kept.add(data[at : at + step])
            assert kept.head == data[:5]
            assert kept.tail == data[max(5, size - 5) :]
