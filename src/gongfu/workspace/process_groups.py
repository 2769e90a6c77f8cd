"""The one place that knows how each platform groups, signals and ends processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

import anyio

from gongfu.core.base import Base
from gongfu.workspace.proctree import any_marked, family, parents_first, snapshot

_NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP
_NO_WINDOW = 0x08000000  # CREATE_NO_WINDOW
_CTRL_BREAK = 1  # signal.CTRL_BREAK_EVENT, which exists on Windows only


class Group(Base, frozen=True):
    """How `Popen` gives a command its own group and no terminal: a session on POSIX, flags on Windows."""

    session: bool = False
    flags: int = 0


def popen_options(platform: str = sys.platform) -> Group:
    """The arguments for this platform."""
    return Group(flags=_NEW_GROUP | _NO_WINDOW) if platform == "win32" else Group(session=True)


def group_lives(pid: int, platform: str = sys.platform) -> bool:
    """True when the group that the waited-for process `pid` led still has a member. Windows has no such group."""
    if platform == "win32":
        return False
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # what is left runs as somebody else, such as behind sudo
    return True


def members(pid: int, mark: str, *, reaped: bool) -> tuple[int, ...]:
    """The living processes of the command `pid` with its `mark`, parents first: see `proctree.family`."""
    table = snapshot()
    return parents_first(table, family(table, pid, mark, reaped=reaped))


def ask_to_end(pids: Iterable[int], platform: str = sys.platform) -> None:
    """Send the polite signal: SIGTERM, on Windows a break to each group."""
    _send(pids, _CTRL_BREAK if platform == "win32" else signal.SIGTERM)


def end(pids: Iterable[int], platform: str = sys.platform) -> None:
    """End the processes for good: SIGKILL, on Windows `taskkill` with the whole tree of each."""
    if platform == "win32":
        for pid in pids:
            subprocess.run(taskkill(pid), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return
    _send(pids, signal.SIGKILL)


def taskkill(pid: int) -> list[str]:
    """The command that ends a tree of processes on Windows."""
    return ["taskkill", "/T", "/F", "/PID", str(pid)]


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):  # gone, of somebody else, or on Windows no leader of a group
            os.kill(pid, number)


async def sweep(mark: str, *, polite: float = 0.2) -> None:
    """End every process that carries `mark` in its environment: first asked, after `polite` seconds made to."""
    if not any_marked(mark):
        return
    ends = time.monotonic() + polite
    if alive := members(-1, mark, reaped=True):
        ask_to_end(alive)
    while alive and time.monotonic() < ends:
        await anyio.sleep(0.01)
        alive = members(-1, mark, reaped=True)
    for _ in range(20):
        if not alive:
            return
        end(alive)
        await anyio.sleep(0.005)
        alive = members(-1, mark, reaped=True)
