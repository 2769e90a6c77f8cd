"""Commands of one app reach what others of it serve, and nothing else of them; without it each is by itself."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from gongfu.workspace.sandbox.bwrap import Style
from gongfu.workspace.sandbox.loopback import Loopback
from tests.workspace.sandbox.scene import PYTHON, USERS, Scene, need

SERVER = f"""exec {PYTHON} -c '
import socket
with socket.create_server(("127.0.0.1", 8123)) as server:
    while True:
        near, _ = server.accept()
        near.sendall(b"served")
        near.close()
'"""
ASK = "for i in $(seq 100); do cat < /dev/tcp/127.0.0.1/8123 && exit; sleep 0.05; done 2>/dev/null; exit 1"


@pytest.fixture(params=USERS)
def scene(request: pytest.FixtureRequest, scene_folder: Path) -> Scene:
    if not shutil.which("nsenter"):
        pytest.skip("nsenter is missing here")
    return Scene(scene_folder, request.param)


def test_a_server_is_reached_by_the_next_command_and_by_nobody_else(scene: Scene) -> None:
    with socket.create_server(("127.0.0.1", 0)) as host:
        port = host.getsockname()[1]
        told = scene.run(
            ASK,
            f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached",
            "ls /proc | grep -c '^[0-9]'; tail -n +3 /proc/net/dev | wc -l; grep CapEff /proc/self/status",
            "ip link add x type dummy || ip link set lo down || nsenter -t 1 -n true || unshare -n true && echo done",
            "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done",
            "kill -9 -1; echo",
            ASK,
            kind="bwrap",
            behind=[SERVER],
        )
    assert (told[0]["code"], told[0]["text"]) == (0, "served")
    assert "reached" not in told[1]["text"]
    processes, devices, _ = told[2]["text"].splitlines()[:3]
    assert int(processes) <= 6
    assert devices == "1"
    assert "create_server" not in told[4]["text"]
    assert told[6]["text"] == "served"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", 8123), 1)


def test_the_network_of_the_machine_is_not_shared(scene: Scene) -> None:
    told = scene.run(ASK.replace("seq 100", "seq 2"), kind="bwrap", behind=[SERVER], leave={"network": True})
    assert told[0]["code"] == 1


def test_a_list_of_hosts_holds_for_several_commands_at_once(scene: Scene) -> None:
    line = "echo $HTTPS_PROXY $https_proxy; exec 3<>/dev/tcp/127.0.0.1/${HTTPS_PROXY##*:} && echo there"
    told = scene.run(ASK, line, kind="bwrap", behind=[SERVER, "sleep 60"], network="list", hosts=["example.org"])
    assert told[0]["text"] == "served"
    first, second = told[1]["text"].splitlines()[0].split()
    assert first == second
    assert "there" in told[1]["text"]


def test_nothing_is_left_open(tmp_path: Path) -> None:
    need("bwrap")
    bwrap, nsenter = shutil.which("bwrap") or "", shutil.which("nsenter") or ""
    assert Loopback(Style(program=bwrap)).join == ()
    assert Loopback(Style(program="/nowhere", nsenter=nsenter)).join == ()
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert Loopback(Style(program=str(broken), nsenter=nsenter)).join == ()
    shared = Loopback(Style(program=bwrap, nsenter=nsenter))
    assert shared.join
    assert subprocess.run([*shared.join, "/bin/true"], check=False).returncode == 0
    shared.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
