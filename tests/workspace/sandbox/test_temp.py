"""Temporary folders of apps that were killed go with the next one; those of the living and of others stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gongfu.workspace.sandbox import temp
from gongfu.workspace.sandbox.temp import new_temp, remove_dead, remove_temp

OWNER = """
import sys
from gongfu.workspace.sandbox.temp import new_temp
print(new_temp().path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _all_are_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(temp, "_YOUNG", -1.0)


def test_a_folder_goes_when_its_owner_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().decode().strip())
        (folder / "tmp" / "deep").mkdir()
        remove_dead([str(folder)])
        assert (folder / "tmp" / "deep").is_dir()
        owner.send_signal(signal.SIGKILL)
    mine = new_temp()  # it looks for those of the dead in a thread, which may have taken hold of it first
    ends = time.monotonic() + 10
    while len(list(tmp_path.iterdir())) > 1 and time.monotonic() < ends:
        remove_dead([str(p) for p in tmp_path.iterdir()])
    assert [str(p) for p in tmp_path.iterdir()] == [mine.path]
    remove_temp(mine)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_such_folder_or_another_users_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    (other / "tmp").mkdir(parents=True)
    (other / ".lock").touch()
    (tmp_path / "gongfu-t_link").symlink_to(other)
    (tmp_path / "gongfu-t_bare" / "tmp").mkdir(parents=True)
    (tmp_path / "gongfu-t_file").touch()
    everything = sorted(tmp_path.rglob("*"))
    remove_dead([str(p) for p in tmp_path.iterdir() if p != other])
    assert sorted(tmp_path.rglob("*")) == everything
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    remove_dead([str(other)])
    assert sorted(tmp_path.rglob("*")) == everything
    monkeypatch.undo()
    monkeypatch.setattr(temp, "_YOUNG", 60.0)
    remove_dead([str(other)])
    assert sorted(tmp_path.rglob("*")) == everything
