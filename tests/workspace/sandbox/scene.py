"""A person's machine in one folder, and commands that run in a sandbox there, as this user or as nobody.

`python -m tests.workspace.sandbox.scene FOLDER USER` runs the lines of `orders.json` and prints as
JSON what came of each.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil
import pytest

from gongfu.config.settings import Sandbox as Settings
from gongfu.workspace.environment import child_env
from gongfu.workspace.process import run
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox import landlock
from gongfu.workspace.sandbox.sandbox import Sandbox

NOBODY = 65534
KINDS = ("bwrap", "landlock")
USERS = ("root", "nobody") if os.getuid() == 0 else ("self",)
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable  # one that nobody may run
SHELL = ("/bin/bash", "--noprofile", "--norc", "-c")


def need(kind: str) -> None:
    """Skip where the machine cannot do it; on the machine that tests for everybody it must."""
    missing = not shutil.which("bwrap") if kind == "bwrap" else landlock.abi() < 6
    if missing and not os.environ.get("CI"):
        pytest.skip(f"{kind} is missing here")
    assert not missing, f"{kind} is missing here"


class Scene:
    """Folders: `work` (a repository), `home` (keys, Gongfu's own), `beside` (another project). All lie in `top`."""

    def __init__(self, top: Path, user: str = "self") -> None:
        self.top, self.user = top, user
        self.work, self.home, self.beside = top / "work", top / "home", top / "beside"
        for folder in (self.work, self.beside, self.home / ".ssh", self.home / ".gongfu"):
            folder.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text("TOP-SECRET-KEY")
        (self.home / ".gongfu" / "keys.yaml").write_text("TOP-SECRET-KEY")
        (self.home / ".netrc").write_text("TOP-SECRET-KEY")
        (self.home / ".bashrc").write_text("# plain\n")
        (self.home / "note.txt").write_text("to be seen")
        (self.beside / "file").write_text("beside")
        (self.work / "file").write_text("inside")
        (self.work / "out").symlink_to(self.beside)
        (self.work / "keys").symlink_to(self.home / ".ssh")
        (self.work / ".mcp.json").write_text("{}")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        for words in (("init", "-q"), ("config", "user.name", "Ann"), ("config", "user.email", "ann@example.org")):
            subprocess.run(["git", *words], cwd=self.work, env=env, check=True)
        if user == "nobody":
            for path in (top, *top.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def run(self, *lines: str, kind: str, **order: Any) -> list[dict[str, Any]]:
        """What came of each line: `code`, `text`, `left`, `aside`.

        Further settings: `network`, `hosts`, `writable`, `hidden`; `leave` are the arguments of `Sandbox.launch`,
        `env` more variables, `behind` lines that run meanwhile.
        """
        need(kind)
        orders = self.top / "orders.json"
        orders.write_text(json.dumps({"lines": lines, "kind": kind, **order}))
        command = [sys.executable, "-m", "tests.workspace.sandbox.scene", str(self.top), self.user]
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "SECRET_OF_PARENT": "TOP-SECRET-KEY",
        }
        cwd = Path(__file__).parents[3]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return json.loads(done.stdout)

    def one(self, line: str, *, kind: str, **order: Any) -> dict[str, Any]:
        return self.run(line, kind=kind, **order)[0]


async def _act(top: Path) -> list[dict[str, Any]]:
    orders = json.loads((top / "orders.json").read_text())
    work = top / "work"
    workspace = Workspace(work, work, (), (top / "home" / ".gongfu",))
    wanted = {k: orders[k] for k in ("kind", "network", "hosts", "writable", "hidden") if k in orders}
    env = {k: v for k, v in os.environ.items() if k != "SECRET_OF_PARENT"}
    sandbox = Sandbox(msgspec.convert(wanted, Settings), workspace, env)
    assert sandbox.kind == orders["kind"], sandbox.why
    told: list[dict[str, Any]] = []
    behind: list[subprocess.Popen[bytes]] = []
    try:
        for line in orders.get("behind", ()):
            start = await sandbox.launch((*SHELL, line), cwd=work, env=child_env(env, trusted=True))
            behind.append(
                subprocess.Popen(
                    start.argv, cwd=start.cwd, env=start.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
            )
        for line in orders["lines"]:
            variables = {**child_env(env, trusted=True), **orders.get("env", {})}
            start = await sandbox.launch((*SHELL, line), cwd=work, env=variables, **orders.get("leave", {}))
            done = await run(start.argv, cwd=start.cwd, env=start.env, box=start.box, timeout=30)
            text, aside = done.output.decode(errors="replace"), sandbox.settle(start)
            told.append({"code": done.code, "text": text, "left": done.left_running, "aside": aside})
    finally:
        for process in behind:
            for one in (*psutil.Process(process.pid).children(recursive=True), process):
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait()
        await sandbox.close()
    return told


def _become_nobody() -> None:
    """Give up being root, when all that is still to be imported is: nobody may not read everything."""
    import concurrent.futures.thread  # noqa: F401
    import encodings.idna  # noqa: F401

    from gongfu.workspace.sandbox import (  # noqa: F401
        bwrap,
        environment,
        loopback,
        masks,
        places,
        planted,
        probe,
        proxy,
        sandbox,
        temp,
    )  # fmt: skip

    sys.executable = PYTHON
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, as after starting a program


if __name__ == "__main__":
    if sys.argv[2] == "nobody":
        _become_nobody()
    print(json.dumps(anyio.run(_act, Path(sys.argv[1]))))
