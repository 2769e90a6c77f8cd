"""The private temporary folder of an app's commands, and what is left of those of apps that were killed."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from gongfu.core.base import Base
from gongfu.core.ids import new_id

_START = "gongfu-t_"
_LOCK = ".lock"
_YOUNG = 60.0  # seconds in which whoever makes a folder has surely locked it


class Temp(Base, frozen=True):
    """A folder of this user alone, with `tmp` in it, which stands for /tmp: anybody inside may write. It is its
    owner's as long as the file `lock` is open."""

    path: str
    lock: int


def new_temp() -> Temp:
    """A new folder where this machine keeps temporary ones. What dead ones left there goes meanwhile."""
    import threading  # not at import: only when a command runs

    base = _base()
    made = f"{base}/gongfu-{new_id('t')}"
    os.mkdir(made, 0o700)  # noqa: PTH102
    lock = _locked(f"{made}/{_LOCK}", os.O_CREAT | os.O_EXCL)
    inside = f"{made}/tmp"  # noqa: S108
    os.mkdir(inside)  # noqa: PTH102
    os.chmod(inside, 0o1777)  # noqa: PTH101, S103 - its parent lets nobody else in
    left = [path for path in _others(base) if path != made]
    if left:
        threading.Thread(target=remove_dead, args=(left,), daemon=True, name="gongfu-temp").start()
    return Temp(path=made, lock=lock)


def remove_temp(temp: Temp) -> None:
    """Remove the folder and all in it."""
    _remove(temp.path)
    os.close(temp.lock)


def remove_dead(paths: list[str]) -> None:
    """Remove those of the folders whose owner has ended, if they are this user's."""
    for path in paths:
        with suppress(OSError):
            info = os.lstat(path)
            if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
                continue
            if time.time() - os.lstat(f"{path}/{_LOCK}").st_mtime < _YOUNG:
                continue
            lock = _locked(f"{path}/{_LOCK}", 0)
            _remove(path)
            os.close(lock)


def _base() -> str:
    base = next((p for p in (os.environ.get("TMPDIR", ""), "/tmp") if p.startswith("/") and os.path.isdir(p)), "/tmp")  # noqa: PTH112, S108
    return os.path.realpath(base)


def _others(base: str) -> list[str]:
    try:
        with os.scandir(base) as entries:
            return [entry.path for entry in entries if entry.name.startswith(_START)]
    except OSError:
        return []


def _locked(path: str, flags: int) -> int:
    """The file, open and locked: the system lets go of it however the process ends. OSError when another has it."""
    import fcntl  # not on every platform

    lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove(path: str) -> None:
    """Remove a folder, its lock last: what is cut short here goes on another time."""
    try:
        for folder, _, _ in os.walk(f"{path}/tmp", topdown=False):  # noqa: S108
            os.rmdir(folder)  # noqa: PTH106 - mostly nothing was left but folders in which something was mounted
        os.unlink(f"{path}/{_LOCK}")  # noqa: PTH108
        os.rmdir(path)  # noqa: PTH106
    except OSError:
        import shutil  # takes 3 ms to load

        shutil.rmtree(f"{path}/tmp", ignore_errors=True)  # noqa: S108
        shutil.rmtree(path, ignore_errors=True)
