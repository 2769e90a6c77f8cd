"""Rows 44 and 45: commands that want a person, and commands that write without end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from gongfu.toolkit.shell import ShellTools
from gongfu.tools.protocol import Leave, Outcome
from gongfu.workspace.jobs import Jobs
from tests.bugs.traps import git, person, plain_repository
from tests.processes import living
from tests.toolkit.kit import Ctx, Store, shell_tools

pytestmark = pytest.mark.anyio


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return person(tmp_path / "home")


async def sh(tools: ShellTools, command: str, **more) -> Outcome:
    ctx = Ctx()
    ctx.leave = Leave(network=True)  # the tests bring servers of their own
    return await tools.shell.run({"command": command, **more}, ctx)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("cat", "(no output)"),
        ("python3", "(no output)"),
        ("read x; echo \"got [$x]\"", "got []"),
        ("less f", "line 1"),
        ("more f < /dev/null; man ls > /dev/null 2>&1; true", ""),
        ("git commit", "empty commit message"),
        ("git commit --amend", "first line"),
        ("git push", "terminal prompts disabled"),
        ("git push ssh", ""),
        ("git log", "second"),
        ("git rebase -i HEAD~1", "uccessfully rebased"),
        ("git add -p", ""),
        ("sudo true", ""),
        ("sudo -S true", ""),
        ("ssh -p 9 127.0.0.1 true", ""),
        ("cat /dev/tty", "No such device"),
        ("head -c1 < /dev/tty || echo none", "none"),
        ("python3 -c 'input()'", "EOFError"),
        ("python3 -c 'import getpass; getpass.getpass()'", ""),
        ("$PAGER f | wc -l; $EDITOR f; $VISUAL f; $MANPAGER f | wc -l", "3"),
        ("bash -i -c 'read y' ; echo over", "over"),
        ("sh", "(no output)"),
        ("bc -q", ""),
    ],
)  # fmt: skip
async def test_44_nothing_waits_for_a_person(tmp_path: Path, env: dict[str, str], command: str, says: str) -> None:
    repository = plain_repository(tmp_path / "repo", env)
    (repository / "f").write_text("line 1\nline 2\nline 3\n")
    (repository / "a.txt").write_text("staged\n")
    git(repository, env, "add", "a.txt")
    if "rebase" in command or "log" in command:
        git(repository, env, "reset", "-q", "--hard")
    async with asking_server() as port:
        git(repository, env, "remote", "add", "origin", f"http://127.0.0.1:{port}/x.git")
        git(repository, env, "remote", "add", "ssh", "ssh://127.0.0.1:9/x.git")
        git(repository, env, "config", "push.default", "current")
        async with shell_tools(repository, env, idle=20) as tools:
            started = time.perf_counter()
            outcome = await sh(
                tools, command.replace("--amend", "--amend --allow-empty && git log -1 && echo first line")
            )
            took = time.perf_counter() - started
    assert says in outcome.text
    assert "stopped" not in outcome.text
    assert took < 5, outcome.text


class asking_server:
    """An HTTP server that always asks for a name and a password."""

    async def __aenter__(self) -> int:
        self._listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._listener.serve, self._answer)
        return self._listener.extra(anyio.abc.SocketAttribute.local_port)

    async def _answer(self, stream: anyio.abc.SocketStream) -> None:
        head = b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        async with stream:
            await stream.receive()
            await stream.send(head)

    async def __aexit__(self, *_: object) -> None:
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)
        await self._listener.aclose()


async def test_44_cancel_kills_the_whole_group_and_who_has_left_it(tmp_path: Path, env: dict[str, str]) -> None:
    names = [f"row44-{os.getpid()}-{kind}" for kind in ("front", "back", "setsid", "double")]
    command = (
        "bash -c 'exec -a {1} sleep 60' & setsid bash -c 'exec -a {2} sleep 60' & "
        "(setsid bash -c 'exec -a {3} sleep 60' >/dev/null 2>&1 &); trap '' TERM; exec -a {0} sleep 60"
    ).format(*names)
    async with shell_tools(tmp_path, env) as tools:
        async with anyio.create_task_group() as group:
            group.start_soon(sh, tools, command)
            with anyio.fail_after(5):
                while not all(map(living, names)):
                    await anyio.sleep(0.01)
            started = time.perf_counter()
            group.cancel_scope.cancel()
        took = time.perf_counter() - started
        assert not [name for name in names if living(name)]
        assert took <= 0.5


# --- 45 -----------------------------------------------------------------------------------------------------------

MEASURE = """
import anyio, json, os, sys
from pathlib import Path
from tests.processes import living
from tests.toolkit.kit import Ctx, Store
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.shell import ShellTools
from gongfu.workspace.jobs import Jobs
from tests.processes import living

def peak():
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM"))

async def main():
    store = Store(Path(sys.argv[1]))
    jobs = Jobs(changed=lambda e: None, artifact=store.writer)
    tools = ShellTools(Programs(directory=Path(sys.argv[1]), env=os.environ), jobs=jobs, artifact=store.writer)
    await tools.shell.run({"command": "true"}, Ctx())
    before = peak()
    outcome = await tools.shell.run({"command": sys.argv[2], "timeout": 100}, Ctx())
    print(json.dumps({"grown": peak() - before, "text": outcome.text, "spill": outcome.spill}))

anyio.run(main)
"""


def measured(folder: Path, command: str) -> dict:
    """Run one command in a fresh process; what it said and how much its peak memory rose, in KiB."""
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": f"{root}:{root}/src"}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder), command], env=env, capture_output=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("seq 1 24000000 | head -c 200000000", 200_000_000),
        ("head -c 60000000 /dev/zero", 60_000_000),
        ("head -c 60000000 /dev/zero | tr '\\0' x", 60_000_000),
        pytest.param("head -c 200000000 /dev/zero", 200_000_000, marks=pytest.mark.soak),
        pytest.param("head -c 200000000 /dev/zero | tr '\\0' x", 200_000_000, marks=pytest.mark.soak),
    ],
)
def test_45_200_megabytes_in_bounded_memory(tmp_path: Path, command: str, size: int) -> None:
    found = measured(tmp_path, command)
    assert found["grown"] < 12_000
    assert len(found["text"].encode()) <= 32_768
    assert Path(found["spill"]).stat().st_size == size
    assert f"recall id={Path(found['spill']).name} offset=" in found["text"]
    if command.startswith("seq"):
        assert found["text"].startswith("1\n2\n3\n")
        lines = found["text"].splitlines()
        assert int(lines[-2]) > 23_000_000


async def test_45_head_and_tail_are_kept_and_the_whole_is_in_an_artifact(tmp_path: Path, env: dict[str, str]) -> None:
    async with shell_tools(tmp_path, env, limit=2000) as tools:
        outcome = await sh(tools, "seq 1 5000; echo the end >&2")
    assert outcome.text.startswith("1\n2\n")
    assert outcome.text.endswith("5000\nthe end\n")
    assert len(outcome.text.encode()) <= 2000
    whole = Path(outcome.spill).read_text()
    assert whole == "".join(f"{n}\n" for n in range(1, 5001)) + "the end\n"
    assert f"recall id={Path(outcome.spill).name} " in outcome.text


async def test_45_a_binary(tmp_path: Path, env: dict[str, str]) -> None:
    data = bytes(range(256)) * 40
    (tmp_path / "binary").write_bytes(data)
    async with shell_tools(tmp_path, env) as tools:
        outcome = await sh(tools, "echo before; cat binary; echo; echo after")
    assert outcome.text.startswith("before\n")
    assert outcome.text.endswith("after\n")
    assert "bytes that are no text" in outcome.text
    assert outcome.text.isprintable() or not set(outcome.text) & {chr(n) for n in range(32) if n not in (9, 10)}


async def test_45_colours_and_progress_bars(tmp_path: Path, env: dict[str, str]) -> None:
    script = tmp_path / "bar.py"
    script.write_text(
        "import sys\nw = sys.stdout.write\nw('\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07plain\\n')\n"
        "for n in range(0, 100001): w(f'\\r\\x1b[2Kdownload {n/1000:.1f}% ' + '#' * (n // 2000))\n"
        "w('\\nA\\bB\\r\\nend\\n')\n"
    )
    ctx = Ctx()
    async with shell_tools(tmp_path, env, limit=2000) as tools:
        outcome = await tools.shell.run({"command": f"{sys.executable} bar.py"}, ctx)
    bar = f"download 100.0% {'#' * 50}"
    assert outcome.text == f"red plain\n{bar}\nB\nend\n"
    assert "\x1b" not in ctx.shown
    assert "red plain" in ctx.shown
    assert ctx.shown.endswith(f"{bar}\nB\nend\n".replace("B", "AB"))


async def test_45_a_full_disk_loses_only_the_artifact(tmp_path: Path, env: dict[str, str]) -> None:
    async with shell_tools(tmp_path, env, limit=2000, store=Store(tmp_path, full=True)) as tools:
        outcome = await sh(tools, "seq 1 400000; echo the end")
    assert outcome.text.startswith("1\n2\n")
    assert "the end" in outcome.text
    assert "could not be kept" in outcome.text
    assert outcome.status == "done"


async def test_45_a_job_that_writes_without_end(tmp_path: Path, env: dict[str, str]) -> None:
    async with shell_tools(tmp_path, env, limit=4000) as tools:
        text = (await sh(tools, "seq 1 1000000; echo the end; sleep 60", background=True)).text
        with anyio.fail_after(20):
            while "the end" not in text:
                text = (await tools.shell_job.run({"action": "output", "job": "j1", "wait": 5}, Ctx())).text
        assert len(text.encode()) <= 4000
        assert "recall id=a1" in text
        store: Jobs = tools._jobs
        job = store.get("j1")
        assert job is not None
        assert job.sink.path.read_text().endswith("1000000\nthe end\n")
