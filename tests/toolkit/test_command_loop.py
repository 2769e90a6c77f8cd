"""The command tools, the todo list and questions through the real agent loop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

import gongfu
from gongfu.core.events import JobChanged, QuestionAsked, TodoChanged, ToolFinished, ToolOutput, TurnFinished
from gongfu.models.scripted import SCRIPTED, Call, Calls, Say, Scripted, serve
from tests.processes import living

pytestmark = pytest.mark.anyio


async def test_all_four_in_one_turn(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    name = f"loop-{os.getpid()}"
    todos = {"items": [{"text": "look", "status": "in_progress"}]}
    model = Scripted(
        [
            Calls((Call("todo", todos), Call("shell", {"command": "seq 1 20000"}))),
            Call("ask_user", {"question": "Which?", "default": "blue"}),
            Call("shell", {"command": f"echo up; exec -a {name} sleep 60", "background": True}),
            Call("shell_job", {"action": "list"}),
            Call("shell", {"command": "echo $FAKE_API_KEY; exit 3"}),
            Say("Done."),
        ]
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "FAKE_API_KEY": "sk-none"}
    events = []
    async with gongfu.open(
        tmp_path / "work", home=tmp_path / "g", env=env, model=SCRIPTED.ref, permission="full", answers="no",
        providers={SCRIPTED.ref: model},
    ) as app:  # fmt: skip
        session = await app.session()
        await session.prompt("Go")
        async with session.stream.subscribe(after=0) as entries:
            async for entry in entries:
                events.append(entry.event)
                if isinstance(entry.event, TurnFinished):
                    break
        assert living(name)
    assert not living(name)
    results = [e.result for e in events if isinstance(e, ToolFinished)]
    by_name = [(e.name, e.result.status) for e in events if isinstance(e, ToolFinished)]
    assert sorted(by_name[:2]) == [("shell", "done"), ("todo", "done")]
    assert [n for n, _ in by_name[2:]] == ["ask_user", "shell", "shell_job", "shell"]
    seq = next(r for r in results if "20000" in r.text)
    assert seq.artifact
    assert len(seq.text.encode()) <= 32_768
    assert f"recall id={seq.artifact} " in seq.text
    assert any("blue" in r.text for r in results)
    assert results[-1].text.strip() == "[exit code 3]"
    assert [e.items[0].text for e in events if isinstance(e, TodoChanged)] == ["look"]
    assert [e.state for e in events if isinstance(e, JobChanged)][:1] == ["running"]
    assert [e.text for e in events if isinstance(e, QuestionAsked)] == ["Which?"]
    assert any(isinstance(e, ToolOutput) for e in events)
    model.finish()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupt_leaves_no_process_behind(tmp_path: Path, sign: signal.Signals) -> None:
    """The real program with commands that ignore the polite signal and made sessions of their own."""
    (tmp_path / "work").mkdir()
    names = [f"interrupt-{sign}-{os.getpid()}-{n}" for n in range(3)]
    command = (
        "setsid bash -c 'trap \"\" TERM INT; exec -a {} sleep 60' & "
        "(setsid bash -c 'exec -a {} sleep 60' >/dev/null 2>&1 &) ; trap '' TERM INT; exec -a {} sleep 60"
    ).format(*names)
    async with serve([Call("shell", {"command": command})]) as server:
        env = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "GONGFU_HOME": str(tmp_path / "g"), "LANG": "C.UTF-8",
            "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-none", "GONGFU_MODEL": "bench-model",
            "GONGFU_CONTEXT_WINDOW": "100000", "NO_PROXY": "127.0.0.1",
        }  # fmt: skip
        program = subprocess.Popen(
            [sys.executable, "-m", "gongfu", "run", "--yes", "Go"], cwd=tmp_path / "work", env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        with anyio.fail_after(20):
            while not all(map(living, names)):
                assert program.poll() is None, program.communicate()
                await anyio.sleep(0.01)
        started = time.perf_counter()
        program.send_signal(sign)
        said = await anyio.to_thread.run_sync(program.communicate)
        took = time.perf_counter() - started
    assert not [name for name in names if living(name)]
    assert program.returncode == (130 if sign is signal.SIGINT else program.returncode), said
    assert took < 3
