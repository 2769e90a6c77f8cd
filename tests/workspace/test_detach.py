"""A detached program lives on by itself and knows only what it is told."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from gongfu.workspace.detach import spawn_detached
from gongfu.workspace.proctree import MARK

LIVES_ON = """
import sys
from pathlib import Path
from gongfu.workspace.detach import spawn_detached
import os
print(spawn_detached([sys.executable, "-c", "import time; time.sleep(60)"], dict(os.environ), Path(sys.argv[1])))
"""


def ended(pid: int) -> bool:
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
                continue
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False


def test_it_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    starter = [sys.executable, "-c", LIVES_ON, str(tmp_path / "log")]
    pid = int(subprocess.run(starter, capture_output=True, text=True, check=True).stdout)
    try:
        assert psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    finally:
        psutil.Process(pid).kill()


def test_it_has_exactly_the_environment_without_the_mark_and_no_input(tmp_path: Path) -> None:
    code = "import os, sys; print(sorted(os.environ), repr(sys.stdin.read()), file=sys.stderr)"
    env = {"PATH": os.environ.get("PATH", ""), "ONE": "1", MARK: "c_1"}
    log = tmp_path / "log"
    log.write_text("of an earlier run")
    assert ended(spawn_detached([sys.executable, "-c", code], env, log))  # and it is no zombie while we live
    said = log.read_text()
    assert "'ONE'" in said
    assert MARK not in said
    assert said.endswith("''\n")
    assert "earlier" not in said


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_its_log_is_for_the_owner_only(tmp_path: Path) -> None:
    spawn_detached([sys.executable, "-c", ""], dict(os.environ), tmp_path / "log")
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


def test_what_cannot_be_started_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-such-program"):
        spawn_detached([str(tmp_path / "no-such-program")], {}, tmp_path / "log")
