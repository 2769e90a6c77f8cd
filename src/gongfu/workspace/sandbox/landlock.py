"""Landlock: a thread that has given up its rights starts the commands, which inherit its limits.

The numbers are those of linux/landlock.h and linux/prctl.h. The kernel's interface has versions; `abi` tells which.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from gongfu.core.base import Base
from gongfu.workspace.root import rest_below
from gongfu.workspace.sandbox.confinement import Confinement, Popen

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture
_VERSION = 1
_NO_NEW_PRIVS, _DROP_BOUND = 38, 24
_UNDER_PATH = 1
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_CHAR, _BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_TCP = 3  # to bind and to connect
_SCOPES = 3  # abstract sockets and signals
_KEPT_CAPS = {0, 1, 3, 4, 5, 6, 7}  # those of `bwrap`: chown, dac_override, fowner, fsetid, kill, setgid, setuid
_NEEDS_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL  # the rights that a rule on a file may have
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")


def abi() -> int:
    """The version of the kernel's interface; 0 when there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return max(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)), 0)
    except (OSError, AttributeError):
        return 0


def handled(version: int) -> tuple[int, int, int]:
    """The rights over files, over TCP and the scopes that a version can take away."""
    files = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        files |= right if version >= since else 0
    return files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0


class Rule(Base, frozen=True):
    """Rights over a file, or over a folder and all below it."""

    path: str
    rights: int


def rules(limits: Confinement, version: int) -> list[Rule]:
    """What is allowed: names of all folders, everything to be read save what is hidden, writing where it may be.

    The kernel knows no exceptions below a folder: where one holds a secret, what is there is let through piece by
    piece, and a file made later beside it can be written, but not read by the command that made it.
    """
    files, _, _ = handled(version)
    writing = files & ~(_CHAR | _BLOCK)
    unread = (*limits.hidden, *limits.masked)
    found = [Rule(path="/", rights=_LIST)]
    whole = [
        folder for folder in limits.writable if any(rest_below(path, folder) for path in unread)
    ]  # by itself below
    found += [Rule(path=path, rights=_READ | _EXECUTE) for path in visible("/", unread, skip=("/dev", *whole))]
    found += [Rule(path=f"/dev/{name}", rights=_READ | _WRITE | (files & _IOCTL)) for name in _DEVICES]
    found.append(Rule(path="/dev/pts", rights=_READ | _WRITE | (files & _IOCTL)))
    for folder in (*limits.writable, limits.temp):
        hidden = [path for path in unread if rest_below(path, folder)]
        if hidden:
            found += [Rule(path=path, rights=writing) for path in visible(folder, hidden)]
            if not any(rest_below(path, folder) for path in limits.hidden):
                found.append(Rule(path=folder, rights=writing & ~(_READ | _EXECUTE)))
        else:
            found.append(Rule(path=folder, rights=writing))
    return found


def visible(top: str, hidden: Sequence[str], *, skip: Sequence[str] = ()) -> list[str]:
    """The paths at and below `top` that together hold everything but `hidden` and `skip`: the siblings along the way.

    What is made later beside a hidden path is not among them.
    """
    barred = [path for path in (*hidden, *skip) if rest_below(path, top) is not None]
    if not barred:
        return [top]
    if top in barred:
        return []
    try:
        names = sorted(os.listdir(top))  # noqa: PTH208
    except OSError:
        return []
    found: list[str] = []
    for name in names:
        path = f"{top.rstrip('/')}/{name}"
        if not os.path.islink(path):  # noqa: PTH114 - what it leads to is judged by itself
            found += visible(path, barred)
    return found


def restrict(limits: Confinement, version: int) -> None:
    """Confine the calling thread, and whatever it starts, for good. OSError when the kernel refuses."""
    libc = _libc()
    files, tcp, scopes = handled(version)
    if limits.network == "on":
        tcp = 0
    fields = struct.pack("=QQQ", files, tcp, scopes)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _checked(libc.syscall(_CREATE, fields, ctypes.c_size_t(len(fields)), ctypes.c_uint32(0)))
    try:
        for rule in rules(limits, version):
            _add(libc, ruleset, rule, files)
        if os.geteuid() == 0:
            for cap in range(64):
                if cap not in _KEPT_CAPS:
                    libc.prctl(_DROP_BOUND, cap, 0, 0, 0)
        _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(libc.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    finally:
        os.close(ruleset)


def _add(libc: ctypes.CDLL, ruleset: int, rule: Rule, files: int) -> None:
    try:
        place = os.open(rule.path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:  # gone, or not to be reached by this user either
        return
    try:
        is_folder = os.path.isdir(rule.path)  # noqa: PTH112
        rights = rule.rights & files & (-1 if is_folder else _NEEDS_FILE)
        if rights:
            entry = struct.pack("=Qi", rights, place)
            _checked(
                libc.syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(_UNDER_PATH), entry, ctypes.c_uint32(0)),
                rule.path,
            )
    finally:
        os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, about: str = "") -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about or None)
    return result


class Spawner:
    """A thread with limits that starts processes for others. OSError when the limits cannot be had."""

    def __init__(self, limits: Confinement, version: int) -> None:
        self._limits = limits
        self._version = version
        self._todo: SimpleQueue[_Task | None] = SimpleQueue()
        ready = _Task(lambda: None)
        threading.Thread(target=self._serve, args=(ready,), daemon=True, name="gongfu-landlock").start()
        ready.result()

    def __call__(self, work: Callable[[], Popen]) -> Popen:
        """Run `work`, which starts one process, in the thread; gives back or raises what it does."""
        task = _Task(work)
        self._todo.put(task)
        process = task.result()
        if process is None:
            raise OSError("nothing was started")
        return process

    def close(self) -> None:
        """End the thread."""
        self._todo.put(None)

    def _serve(self, ready: _Task) -> None:
        ready.run(lambda: restrict(self._limits, self._version))
        while (task := self._todo.get()) is not None:
            task.run()


class _Task:
    def __init__(self, work: Callable[[], Popen | None]) -> None:
        self._work = work
        self._done: SimpleQueue[Popen | BaseException | None] = SimpleQueue()

    def run(self, work: Callable[[], None] | None = None) -> None:
        try:
            self._done.put(self._work() if work is None else work())
        except BaseException as error:  # noqa: BLE001 - the edge of a thread: whoever waits gets it
            self._done.put(error)

    def result(self) -> Popen | None:
        found = self._done.get()
        if isinstance(found, BaseException):
            raise found
        return found
