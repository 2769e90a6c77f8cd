"""The tools `shell` and `shell_job`: what the model and the person are told."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.core.events import JobChanged
from gongfu.toolkit.ask import ask_user
from gongfu.toolkit.plan import todo
from gongfu.toolkit.shell import ShellTools
from gongfu.tools.protocol import Outcome
from gongfu.tools.registry import Registry
from gongfu.tools.validate import validate
from tests.bugs.traps import person, plain_repository
from tests.toolkit.kit import Ctx, Store, shell_tools

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


async def sh(tools: ShellTools, command: str, ctx: Ctx | None = None, **more) -> Outcome:
    args = {"command": command, **more}
    assert validate(tools.shell.spec.parameters, args).problem == ""
    return await tools.shell.run(args, ctx or Ctx())


async def job(tools: ShellTools, action: str, **more) -> str:
    args = {"action": action, **more}
    assert validate(tools.shell_job.spec.parameters, args).problem == ""
    return (await tools.shell_job.run(args, Ctx())).text


async def test_the_four_tools_stay_within_600_tokens(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        registry = Registry([tools, (todo, ask_user)])
    assert registry.names == ("ask_user", "shell", "shell_job", "todo")
    sizes = [
        len(
            json.dumps(
                {"name": s.name, "description": s.description, "parameters": s.parameters}, separators=(",", ":")
            )
        )
        for s in registry.specs
    ]
    assert sum(sizes) / 4 <= 600


# --- foreground ---------------------------------------------------------------------------------------------------


async def test_success_is_only_its_output(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        outcome = await sh(tools, "pwd; echo err >&2")
        assert (outcome.text, outcome.status, outcome.spill) == (f"{tmp_path}\nerr\n", "done", "")
        assert outcome.display["summary"] == "exit 0, 2 lines"
        assert (await sh(tools, "true")).text == "(no output)"


@pytest.mark.parametrize(
    ("command", "text", "summary"),
    [
        ("echo x; exit 3", "x\n[exit code 3]", "exit 3, 1 line"),
        ("exit 1", "[exit code 1]", "exit 1"),
        ("printf x; exit 2", "x\n[exit code 2]", "exit 2"),
        ("kill -9 $$", "[exit code 137 (killed by signal 9)]", "exit 137"),
        ("no-such-command-here 2>/dev/null", "[exit code 127]", "exit 127"),
    ],
)
async def test_a_failure_tells_its_code(tmp_path: Path, command: str, text: str, summary: str) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        outcome = await sh(tools, command)
    assert (outcome.text, outcome.status, outcome.display["summary"]) == (text, "failed", summary)


async def test_directory_and_variables(tmp_path: Path) -> None:
    (tmp_path / "sub dir").mkdir()
    async with shell_tools(tmp_path, {**ENV, "A": "old", "MY_API_KEY": "secret"}, keep_env=("KEPT_TOKEN",)) as tools:
        outcome = await sh(tools, "pwd; echo $A$B$MY_API_KEY", cwd="sub dir", env={"A": "it's", "B": " new"})
        assert outcome.text == f"{tmp_path}/sub dir\nit's new\n"
        assert (await sh(tools, "cd 'sub dir'; export B=1; pwd")).text.endswith("sub dir\n")
        assert (await sh(tools, "pwd; echo $B")).text == f"{tmp_path}\n\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"command": "  \n"}, "command is empty"),
        ({"command": "echo \0"}, "NUL"),
        ({"command": "true", "cwd": "nowhere"}, "no directory"),
        ({"command": "true", "cwd": "file"}, "no directory"),
        ({"command": "true", "cwd": "a\0b"}, "no directory"),
        ({"command": "true", "cwd": "~nobody-of-that-name/x"}, "no directory"),
        ({"command": "true", "cwd": "loop"}, "no directory"),
        ({"command": "echo \ud800"}, "could not be started"),
        ({"command": "true", "timeout": 0}, "more than 0"),
        ({"command": "true", "env": {"A=B": "x"}}, "'A=B'"),
        ({"command": "true", "env": {"": "x"}}, "''"),
        ({"command": ": " + "x" * 200_000}, "too long"),
    ],
)
async def test_a_bad_call_says_what_is_wrong(tmp_path: Path, args: dict, says: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    async with shell_tools(tmp_path, ENV) as tools:
        with pytest.raises(ToolFailure, match=says):
            await tools.shell.run(args, Ctx())


async def test_output_is_shown_as_it_comes(tmp_path: Path) -> None:
    ctx = Ctx()
    async with shell_tools(tmp_path, ENV) as tools, anyio.create_task_group() as group:
        (tmp_path / "go").touch()
        group.start_soon(
            sh, tools, "echo first; while [ -e go ]; do sleep 0.01; done; printf 'se\\xe4'; printf '\\xbd\\xa0'", ctx
        )
        with anyio.fail_after(5):
            while ctx.shown != "first\n":
                await anyio.sleep(0.005)
        (tmp_path / "go").unlink()
    assert ctx.shown == "first\nse你"


async def test_a_flood_is_shown_in_few_pieces(tmp_path: Path) -> None:
    ctx = Ctx()
    async with shell_tools(tmp_path, ENV) as tools:
        started = time.perf_counter()
        await sh(tools, "seq 1 3000000", ctx)
        took = time.perf_counter() - started
    assert len(ctx.pieces) <= 3 + took * 10
    assert max(map(len, ctx.pieces)) <= 8 * 1024
    assert ctx.shown.endswith("2999999\n3000000\n")


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
async def test_chinese_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    text = "编译完成：一切正常。\nOK\n第二行文字\n"
    (tmp_path / "out").write_bytes(text.encode(encoding))
    ctx = Ctx()
    async with shell_tools(tmp_path, ENV) as tools:
        outcome = await sh(tools, "cat out", ctx)
    assert outcome.text.lstrip("\ufeff") == text
    assert ctx.shown.lstrip("\ufeff") == text


async def test_hooks_that_did_not_run_are_told(tmp_path: Path) -> None:
    env = person(tmp_path / "home")
    repository = plain_repository(tmp_path / "repo", env)
    commit = "git commit --allow-empty -qm x"
    for trusted, note, ran in ((None, "hooks of this repository did not run", False), (repository, "", True)):
        async with shell_tools(repository, env, trusted=trusted, store=Store(tmp_path)) as tools:
            assert (await sh(tools, commit)).text == "(no output)"
            hook = repository / ".git" / "hooks" / "pre-commit"
            hook.parent.mkdir(exist_ok=True)
            hook.write_text("#!/bin/sh\ntouch ran\n")
            hook.chmod(0o755)
            assert note in (await sh(tools, commit)).text
            assert "hooks" not in (await sh(tools, "git status")).text
            assert (repository / "ran").exists() == ran
            hook.unlink()


# --- limits -------------------------------------------------------------------------------------------------------


async def test_an_idle_command_is_told_with_advice(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV, idle=0.3) as tools:
        outcome = await sh(tools, "echo before; sleep 60")
    assert outcome.status == "failed"
    assert outcome.text.startswith("before\n[stopped after 0.")
    assert "timeout" in outcome.text
    assert "background=true" in outcome.text


@pytest.mark.parametrize(
    "server",
    [
        "import socket,time; s=socket.create_server(('127.0.0.1',0)); time.sleep(60)",
        "import time; print('Listening on unix:/tmp/x', flush=True); time.sleep(60)",
        "import time; print('  Local:   http://localhost:5173/', flush=True); time.sleep(60)",
    ],
)
async def test_a_server_in_the_foreground_is_sent_to_the_background(tmp_path: Path, server: str) -> None:
    async with shell_tools(tmp_path, ENV, idle=0.4) as tools:
        outcome = await sh(tools, f'{sys.executable} -c "{server}"')
    assert "looks like a server" in outcome.text
    assert "background=true" in outcome.text
    assert ("on port" in outcome.text) == ("socket" in server)


async def test_the_models_own_limit(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV, idle=0.1) as tools:
        outcome = await sh(tools, "sleep 60", timeout=0.4)
        assert "stopped at its limit of 0.4" in outcome.text
        assert (await sh(tools, "sleep 0.5; echo done", timeout=30)).text == "done\n"


# --- background ---------------------------------------------------------------------------------------------------


async def test_a_job_from_start_to_stop(tmp_path: Path) -> None:
    changes: list[JobChanged] = []
    async with shell_tools(tmp_path, ENV, changes=changes) as tools:
        assert await job(tools, "list") == "No background command was started."
        outcome = await sh(tools, "echo ready; while read l; do echo got $l; done; sleep 60", background=True)
        assert outcome.text.startswith("ready\n[job j1 running (pid ")
        assert outcome.status == "done"
        assert (await job(tools, "input", job="j1", text="hello", wait=5)).startswith("got hello\n[job j1 running")
        assert (await job(tools, "output", job="j1")).startswith("(no new output)\n") or "[job j1" in await job(
            tools, "output", job="j1"
        )
        assert await job(tools, "list") == f"j1 running (pid {changes_pid(tools)}): {changes[0].command}"
        assert "[job j1 stopped, exit code" in await job(tools, "stop", job="j1")
        assert "stopped" in await job(tools, "stop", job="j1")
        with pytest.raises(ToolFailure, match="takes no input"):
            await job(tools, "input", job="j1", text="x")
        with pytest.raises(ToolFailure, match="no job 'j9'; jobs are: j1"):
            await job(tools, "output", job="j9")
    assert [c.state for c in changes] == ["running", "stopped"]


def changes_pid(tools: ShellTools) -> int:
    found = tools._jobs.get("j1")
    assert found is not None
    return found.pid


async def test_a_job_that_fails_at_once_says_so(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        outcome = await sh(tools, "echo broken; exit 4", background=True)
    assert outcome.text == "broken\n[job j1 ended, exit code 4]"
    assert outcome.status == "failed"


async def test_a_job_with_a_limit_is_stopped_by_it(tmp_path: Path) -> None:
    changes: list[JobChanged] = []
    async with shell_tools(tmp_path, ENV, changes=changes) as tools:
        await sh(tools, "trap 'echo tidy' TERM; while :; do sleep 0.01; done", background=True, timeout=0.2)
        text = ""
        with anyio.fail_after(10):
            while "stopped" not in text:
                text += await job(tools, "output", job="j1", wait=1)
        assert (await sh(tools, "true", background=True, timeout=0.3)).text.endswith("[job j2 ended, exit code 0]")
    assert [c.state for c in changes] == ["running", "stopped", "running", "ended"]


async def test_waiting_for_news_ends_with_them(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        await sh(tools, "echo one; sleep 0.3; echo two; sleep 60", background=True)
        started = time.perf_counter()
        assert (await job(tools, "output", job="j1", wait=30)).startswith("two\n")
        assert time.perf_counter() - started < 5


async def test_what_a_command_leaves_running_becomes_a_job(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        outcome = await sh(tools, "(while :; do echo tick; sleep 0.05; done) & echo started")
        assert "started" in outcome.text.splitlines()  # the loop may have ticked before
        assert "now job j1" in outcome.text
        assert outcome.status == "done"
        assert "tick\n" in await job(tools, "output", job="j1", wait=5)


# --- what the policy sees -----------------------------------------------------------------------------------------


async def test_facts_and_claims(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with shell_tools(tmp_path, ENV) as tools:
        args = {"command": "make\nmake install", "cwd": "sub", "env": {"X": "a b; rm -rf /"}}
        facts = await tools.shell.facts(args)
        assert facts.command == "X='a b; rm -rf /'; make\nmake install"
        assert (facts.cwd, facts.paths) == (str(tmp_path / "sub"), (str(tmp_path / "sub"),))
        assert (facts.access, facts.title) == (("execute",), "make …")
        assert facts.preview["kind"] == "command"
        assert facts.preview["command"] == facts.command
        (claim,) = tools.shell.claims(args)
        assert (claim.resource, claim.write) == ("*", True)
        with pytest.raises(ToolFailure, match="directory"):
            await tools.shell.facts({"command": "x", "cwd": "gone"})


async def test_only_input_to_a_job_counts_as_running_something(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        await sh(tools, "bash", background=True)
        for action in ("list", "output", "stop"):
            assert (await tools.shell_job.facts({"action": action, "job": "j1"})).access == ("read",)
        facts = await tools.shell_job.facts({"action": "input", "job": "j1", "text": "rm -rf x"})
        assert facts.access == ("execute",)
        assert facts.command == "bash <<< 'rm -rf x'"
