"""The sandbox as a person sees it: above a turn, in `doctor`, and in what commands may do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server
from tests.surfaces.cli.conftest import Program
from tests.surfaces.cli.test_pty import Terminal
from tests.workspace.sandbox.scene import KINDS, need

Serve = Callable[..., Server]


@pytest.mark.parametrize("kind", KINDS)
def test_what_may_run_without_asking_runs_confined(program: Program, serve: Serve, kind: str) -> None:
    need(kind)
    program.call("config", "set", "sandbox.kind", kind)
    outside = program.home.parent / "outside"
    outside.mkdir()
    server = serve(Call("shell", {"command": f"echo in > inside.txt; echo out > {outside}/file"}), Say("Done."))
    assert program.call("run", "--yes", "do it").code == 0
    assert (program.folder / "inside.txt").read_text() == "in\n"
    assert list(outside.iterdir()) == []
    assert "it ran in a sandbox: no network" in str(server.requests[-1].body)


def test_doctor_tells_what_confines_commands(program: Program) -> None:
    need("bwrap")
    found = {c["name"]: c for c in json.loads(program.call("doctor", "--json").out)["checks"]}["sandbox"]
    assert (found["level"], found["fix"]) == ("ok", "")
    assert found["detail"].startswith("bubblewrap, network off. Not covered: ")


def test_doctor_tells_when_secrets_cannot_be_looked_for_everywhere(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("bwrap")
    monkeypatch.setattr("gongfu.workspace.sandbox.masks._MOST_FOLDERS", 1)
    (program.folder / "deep").mkdir()
    found = {c["name"]: c for c in json.loads(program.call("doctor", "--json").out)["checks"]}["sandbox"]
    assert "too large to look for secrets everywhere" in found["detail"]


def test_doctor_says_plainly_that_there_is_none(program: Program) -> None:
    program.call("config", "set", "sandbox.kind", "off")
    found = {c["name"]: c for c in json.loads(program.call("doctor", "--json").out)["checks"]}["sandbox"]
    assert found["detail"] == "none: commands run with all your rights. Switched off in the settings."
    program.call("config", "set", "language", "zh")
    assert "无：命令以你的全部权限运行" in program.call("doctor").out


def test_the_line_above_a_turn_says_that_full_uses_no_sandbox(program: Program, serve: Serve) -> None:
    need("bwrap")
    serve(Call("shell", {"command": "echo out > ../outside"}), Say("Done."))
    terminal = Terminal(program, "run", "--permission", "full", "do it")
    assert terminal.end() == 0
    assert (program.folder.parent / "outside").read_text() == "out\n"
    assert "no sandbox in mode full: commands run with all your rights" in terminal.plain
    assert "sandbox: " not in terminal.plain


def test_without_a_sandbox_the_line_above_a_turn_says_so(program: Program, serve: Serve) -> None:
    serve(Say("Done."), Say("Done."), Say("Done."))
    before = Terminal(program, "run", "do it")
    assert before.end() == 0
    assert re.search("sandbox: \\w+, network off|no sandbox: commands", before.plain)
    program.call("config", "set", "sandbox.kind", "off")
    terminal = Terminal(program, "run", "do it")
    assert terminal.end() == 0
    assert "no sandbox: commands run with all your rights" in terminal.plain
    assert "sandbox" not in program.call("run", "--json", "do it").err
