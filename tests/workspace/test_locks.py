"""A lock excludes, and a kill releases it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gongfu.workspace.detach import spawn_detached
from gongfu.workspace.locks import FileLock

HOLD = "import sys,time\nfrom pathlib import Path\nfrom gongfu.workspace.locks import FileLock\n"
HOLD += "FileLock(Path(sys.argv[1])).try_acquire() and print('held', flush=True)\ntime.sleep(60)"


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "x"), FileLock(tmp_path / "x", timeout=0.05)
    assert one.try_acquire()
    assert one.try_acquire()
    assert one.held
    assert not two.try_acquire()
    with pytest.raises(TimeoutError, match="locked"), two:
        pass
    one.release()
    one.release()
    with two:
        assert two.held
        assert not one.try_acquire()
    assert not two.held
    with FileLock(tmp_path / "y"):
        assert one.try_acquire()


def test_a_kill_releases_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    lock = FileLock(path, timeout=5)
    assert not lock.try_acquire()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert lock.try_acquire()
    lock.release()


def test_a_child_does_not_inherit_it(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "x")
    assert lock.try_acquire()
    child = subprocess.Popen(["sleep", "60"], close_fds=False)
    lock.release()
    assert FileLock(tmp_path / "x").try_acquire()
    child.kill()
    child.wait()


def test_a_place_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        FileLock(tmp_path / "gone" / "x").try_acquire()


def test_a_detached_process_has_a_session_and_a_log_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import os,sys,time; print(os.getsid(0) == os.getpid(), sys.stdin.read() == '', flush=True); time.sleep(60)"
    pid = spawn_detached([sys.executable, "-c", code], os.environ, log)
    try:
        for _ in range(2000):
            if log.read_bytes():
                break
            os.sched_yield()
            signal.sigtimedwait([], 0.005)
        assert log.read_text() == "True True\n"
        assert log.stat().st_mode & 0o777 == 0o600
    finally:
        os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # it may be waited for already
            os.waitpid(pid, 0)
