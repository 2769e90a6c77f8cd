"""Hooks that fail, hang, flood, leave processes behind, or do not start."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import (
    HookRan,
    TurnFinished,
    TurnStarted,
    WarningRaised,
)
from gongfu.models.scripted import Call, Say

from .hooks import Place, lives, prompt, stored, until

pytestmark = pytest.mark.anyio
WRITE = Call("write_file", {"path": "new.txt", "content": "x"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("command", [["no-such-program-here"], "'unclosed", "./not/there"])
async def test_a_watcher_that_cannot_be_started_makes_the_call_be_asked_for(place: Place, command: Any) -> None:
    place.command("before_tool", command)
    app, _ = place.open(WRITE, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        (warning,) = stored(app, session, WarningRaised)
        (ran,) = stored(app, session, HookRan)
    assert not (place.work / "new.txt").exists()
    assert warning.key == "hooks.failed_ask"
    assert (ran.code, ran.decision) == (None, "ask")


async def test_other_hooks_that_cannot_be_started_are_passed_over(place: Place) -> None:
    place.command("prompt", ["no-such-program-here"])
    app, _ = place.open(Say("ok"))
    async with app:
        session = await app.session()
        assert (await prompt(session)).status == "done"
        assert [w.key for w in stored(app, session, WarningRaised)] == ["hooks.failed"]


async def test_one_that_takes_too_long_is_stopped_with_its_children(place: Place) -> None:
    pids = place.home / "pids"
    body = f"""
import subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(600)
"""
    place.hook("before_tool", body, seconds=0.5)
    app, _ = place.open(WRITE, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        (warning,) = stored(app, session, WarningRaised)
        assert warning.values["detail"] == "stopped after 0.5 s"
        assert not any(lives(int(pid)) for pid in pids.read_text().split())
    assert not (place.work / "new.txt").exists()


async def test_a_cancel_stops_a_hook_at_once(place: Place) -> None:
    pids = place.home / "pids"
    body = f"""
import subprocess
child = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 600 & wait"])
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(600)
"""
    for event in ("prompt", "before_tool", "turn_end"):
        pids.unlink(missing_ok=True)
        place._hooks = []
        place.hook(event, body)
        app, _ = place.open(WRITE, Say("ok"))
        async with app:
            session = await app.session()
            handle = await session.prompt("Go")
            await until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
            began = time.monotonic()
            await session.cancel()
            with anyio.fail_after(10):
                end = await handle
            assert time.monotonic() - began < 0.5
            assert (end.status, end.reason) == ("cancelled", "engine.cancelled")
            assert not any(lives(int(pid)) for pid in pids.read_text().split())
            assert len(stored(app, session, TurnStarted)) == len(stored(app, session, TurnFinished)) == 1


async def test_a_flood_is_cut_and_said_so(place: Place) -> None:
    place.hook("prompt", "sys.stdout.write('é' * 5_000_000); sys.stderr.write('e' * 5_000_000)")
    app, model = place.open(Say("ok"))
    async with app:
        await prompt(await app.session())
    note = model.requests[0].messages[-1].text
    assert len(note.encode()) < 66_000
    assert "more bytes of the hook were dropped" in note
    assert "\ufffd" not in note


async def test_one_that_reads_nothing_and_one_that_gets_much(place: Place) -> None:
    place.command("before_tool", ["true"])
    place.hook("before_tool", "sys.exit(0 if len(event['tool_input']['content']) == 2_500_000 else 2)")
    big = Call("write_file", {"path": "new.txt", "content": "é" * 2_500_000})
    app, _ = place.open(big, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        assert [h.code for h in stored(app, session, HookRan)] == [0, 0]
    assert (place.work / "new.txt").stat().st_size == 5_000_000


async def test_a_daemon_that_a_hook_leaves_is_ended_with_the_session(place: Place) -> None:
    pid = place.home / "pid"
    body = f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3):
            os.close(fd)
        open({str(pid)!r}, "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
print("started")
"""
    place.hook("session_start", body)
    app, model = place.open(Say("ok"))
    async with app:
        await prompt(await app.session())
        await until(lambda: pid.exists() and bool(pid.read_text()))
    assert "started" in model.requests[0].messages[1].text
    assert not lives(int(pid.read_text()))


async def test_no_shell_unless_asked_for(place: Place) -> None:
    place.command("prompt", "echo 'a b' $HOME; true")
    place.command("prompt", "echo \"$(basename $GONGFU_PROJECT_DIR)\" 'a  b' && pwd && echo $MY_TOKEN", shell=True)
    app, model = place.open(Say("ok"))
    async with app:
        await prompt(await app.session())
    plain, shell = (m.text for m in model.requests[0].messages[-2:])
    assert "a b $HOME; true" in plain
    assert f"work a  b\n{place.work}\nof the person" in shell
