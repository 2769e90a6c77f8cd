"""os_info and run_as_admin."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.machine import MachineTools
from gongfu.toolkit.programs import Programs
from gongfu.workspace import machine
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="shell scripts stand for programs")]


def tools(folder: Path, **env: str) -> MachineTools:
    return MachineTools(Programs(directory=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder), **env}))


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


async def test_the_machine_through_the_loop_where_only_reading_is_allowed(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    started = time.monotonic()
    played = await play(work, ("os_info", {}), permission="plan")
    assert played.status == "done"
    lines = dict(line.partition(": ")[::2] for line in played.text.splitlines())
    assert os.uname().release in lines["system"]
    assert "processor" in lines["hardware"]
    assert "free" in lines["disk of the working directory"]
    assert lines["shell"].startswith(("bash; also there: ", "sh; also there: "))
    assert "git 2." in lines["tools"]
    assert lines["display"].startswith("no; user: ")
    assert time.monotonic() - started < 10


async def test_no_secret_and_no_program_that_hangs(tmp_path: Path) -> None:
    script(tmp_path / "bin/git", "echo git version 9.8.7")
    script(tmp_path / "bin/node", "echo broken; exit 1")
    box = tools(
        tmp_path,
        PATH=f"{tmp_path}/bin:/usr/bin:/bin",
        OPENAI_API_KEY="sk-very-secret",
        LANG="xx_YY.UTF-8",
        TZ="Asia/Shanghai",
    )
    facts = await box.os_info.facts({})
    assert facts.command.startswith("git --version; ")
    text = (await box.os_info.run({}, Ctx())).text
    assert "git 9.8.7" in text
    assert "node," in text or "node\n" in text
    assert "locale xx_YY.UTF-8, time zone Asia/Shanghai (UTC" in text
    assert "secret" not in text
    none = await tools(tmp_path, PATH="/nonexistent").os_info.facts({})
    assert (none.access, none.command) == (("read",), "")


def test_amounts() -> None:
    assert [machine.amount(n) for n in (0, 1023, 1024, 5 << 20, 3 << 40)] == [
        "0 B", "1023 B", "1.0 KiB", "5.0 MiB", "3.0 TiB",
    ]  # fmt: skip


# --- run_as_admin --------------------------------------------------------------------------------------------------


async def test_it_always_asks(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    for mode in ("ask", "edits", "auto"):
        played = await play(work, ("run_as_admin", {"command": "touch made"}), permission=mode)
        assert played.status == "refused"
        assert "it needs consent" in played.text
    assert not (work / "made").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to be root")
async def test_root_runs_it_as_it_is(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    played = await play(work, ("run_as_admin", {"command": "id -u | sed s/^/uid=/; exit 3"}))
    assert played.status == "failed"
    assert played.text == "uid=0\n[exit code 3]"
    assert played.finished[0].display["command"].startswith("sudo -n -- ")


async def test_sudo_without_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    script(tmp_path / "bin/sudo", 'echo "$1 $2 as root"; shift 2; exec "$@"')
    box = tools(tmp_path, PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    done = await box.run_as_admin.run({"command": "echo a | tr a b"}, Ctx())
    assert done.text == "-n -- as root\nb"
    assert done.status == "done"


async def test_where_nobody_can_give_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "platform", "linux")
    script(tmp_path / "bin/sudo", "echo 'sudo: a password is required'; exit 1")
    path = f"{tmp_path}/bin:/usr/bin:/bin"
    with pytest.raises(ToolFailure, match=r"sudo refused it .* Ask the user to run it: sudo apt-get install jq$"):
        await tools(tmp_path, PATH=path).run_as_admin.run({"command": "apt-get install jq"}, Ctx())
    with pytest.raises(ToolFailure, match=r"sudo is not installed, and no one can be asked"):
        await tools(tmp_path, PATH="/nonexistent").run_as_admin.run({"command": "true"}, Ctx())
    script(tmp_path / "bin/pkexec", 'echo asked; exec "$@"')
    done = await tools(tmp_path, PATH=path, DISPLAY=":9").run_as_admin.run({"command": "echo done"}, Ctx())
    assert done.text == "asked\ndone"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"command": "  "}, "the command is empty"), ({"command": "a\0b"}, "NUL"), ({"command": "\ud800"}, "surrogate"),
        ({"command": "true", "timeout": 0}, "more than 0 seconds"), ({"command": "true", "timeout": -5}, "more than 0"),
    ],
)  # fmt: skip
async def test_bad_commands(tmp_path: Path, args: dict[str, object], words: str) -> None:
    with pytest.raises(ToolFailure, match=words):
        await tools(tmp_path).run_as_admin.run(args, Ctx())
