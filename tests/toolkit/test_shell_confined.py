"""The tools `shell` and `shell_job` in a sandbox: all that holds without one, and what the model is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.config.settings import Sandbox as Settings
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.shell import ShellTools
from gongfu.tools.protocol import Leave
from gongfu.workspace.jobs import Jobs
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox.sandbox import Sandbox
from tests.toolkit import kit
from tests.toolkit.kit import Ctx, Store, shell_tools
from tests.toolkit.test_shell import *  # noqa: F403 - each of its tests again, confined
from tests.toolkit.test_shell import ENV, sh
from tests.workspace.sandbox.scene import PYTHON, need

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _confined(monkeypatch: pytest.MonkeyPatch) -> None:
    need("bwrap")
    monkeypatch.setattr(kit, "SANDBOX", "bwrap")


def _with(**leave: bool) -> Ctx:
    ctx = Ctx()
    ctx.leave = Leave(**leave)
    return ctx


async def test_a_denial_is_explained_once_and_nothing_else_is(tmp_path: Path) -> None:
    note = (
        "[it ran in a sandbox: no network, only the workspace is writable (not .git/config or .git/hooks), "
        "keys are hidden]"
    )
    async with shell_tools(tmp_path, ENV) as tools:
        assert (await sh(tools, "touch /usr/x")).text.splitlines()[-1] == note
        assert (await sh(tools, "exit 3")).text == "[exit code 3]"
        assert (await sh(tools, "touch /usr/x; true")).text.count("sandbox") == 0
        assert (await sh(tools, "echo Permission denied; false", _with(free=True))).text.count("sandbox") == 0


async def test_a_call_goes_as_far_as_its_leave(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    async with shell_tools(tmp_path / "work", ENV) as tools:
        await sh(tools, "touch ../b")  # into the private /tmp
        assert (await sh(tools, "touch ../a", _with(free=True))).status == "done"
        assert (await sh(tools, "touch b", _with(write=False))).status == "failed"
        count = "tail -n +3 /proc/net/dev | wc -l"
        assert (await sh(tools, count)).text == "1\n"
        assert (await sh(tools, count, _with(network=True))).text == (await sh(tools, count, _with(free=True))).text
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "artifacts") == ["a", "work"]


async def test_temporary_files_stay_for_the_next_command_and_go_with_the_session(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        await sh(tools, "echo kept > /tmp/one; echo kept > $TMPDIR/two; echo kept > /var/tmp/three")
        assert (await sh(tools, "cat /tmp/one /tmp/two /var/tmp/three; ls /tmp | wc -l")).text.startswith(
            "kept\nkept\nkept\n"
        )
    assert not Path("/tmp/one").exists()


async def test_the_models_own_limit(tmp_path: Path) -> None:
    """Without the exact time, which it takes a little longer to end at."""
    async with shell_tools(tmp_path, ENV) as tools:
        assert "stopped at its limit of" in (await sh(tools, "while :; do echo x; done", timeout=0.4)).text


async def test_a_server_in_the_background_is_told_where_it_listens(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        for leave, told in ((Leave(), True), (Leave(network=True), False), (Leave(free=True), False)):
            ctx = Ctx()
            ctx.leave = leave
            text = (await sh(tools, "echo up; sleep 60", ctx, background=True)).text
            assert ("other commands here reach its ports" in text) is told, text


@pytest.mark.parametrize("leave", [Leave(), Leave(free=True)])
async def test_where_one_is_required_nothing_runs_without(tmp_path: Path, leave: Leave) -> None:
    store = Store(tmp_path)
    jobs = Jobs(changed=lambda _: None, artifact=store.writer)
    sandbox = Sandbox(Settings(kind="bwrap", required=True), Workspace(tmp_path, tmp_path), ENV)
    sandbox.__dict__["_found"] = _nothing()
    tools = ShellTools(Programs(directory=tmp_path, env=ENV, sandbox=sandbox), jobs=jobs, artifact=store.writer)
    ctx = Ctx()
    ctx.leave = leave
    for background in (False, True):
        with pytest.raises(ToolFailure, match="require a sandbox"):
            await tools.shell.run({"command": "touch x", "background": background}, ctx)
    assert not (tmp_path / "x").exists()


def _nothing() -> object:
    from gongfu.workspace.sandbox.probe import Found

    return Found(kind="none", why="no_bwrap")


async def test_what_git_would_obey_outside_is_set_aside_and_told(tmp_path: Path) -> None:
    async with shell_tools(tmp_path, ENV) as tools:
        await sh(tools, "git init -q")
        told = await sh(tools, "echo x > .git/commondir")
        assert told.text.startswith("[no command may make what git obeys outside the sandbox; renamed to *.refused: ")
        assert (await sh(tools, "git status --short -uno")).status == "done"
        await sh(tools, "while [ ! -e go ]; do sleep 0.05; done; echo x > .git/commondir; sleep 60", background=True)
        await sh(tools, "touch go; until [ -e .git/commondir ]; do sleep 0.05; done")
        assert (await sh(tools, "git status --short -uno")).status == "done"
    assert sorted(p.name for p in (tmp_path / ".git").glob("commondir*")) == ["commondir.refused", "commondir.refused2"]


async def test_a_server_left_running_is_reached_by_the_next_command(tmp_path: Path) -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 8124)); s.accept()[0].sendall(b'served')"
    ask = "for i in $(seq 100); do cat < /dev/tcp/127.0.0.1/8124 && break; sleep 0.05; done 2>/dev/null"
    async with shell_tools(tmp_path, ENV) as tools:
        await sh(tools, f'{PYTHON} -c "{serve}" > log 2>&1 &')
        assert "served" in (await sh(tools, f"bash -c '{ask}'")).text
