"""Bubblewrap: the arguments that confine one command by namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from gongfu.core.base import Base
from gongfu.workspace.root import rest_below
from gongfu.workspace.sandbox.confinement import Confinement

# What root keeps: it has to work on files of other users. None of them reaches beyond the mounts.
_CAPS = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETUID", "CAP_SETGID", "CAP_KILL")

_SWITCHES = ("sys", "sysrq-trigger", "irq", "bus", "acpi")
_COVERED = ("sysrq-trigger", "irq", "bus")  # by bubblewrap itself where they can be written


class Style(Base, frozen=True):
    """How bubblewrap works here. `user`: by a namespace of users also for root, who cannot make the others else.
    `nsenter` is the program that lets commands share a network, if that works."""

    program: str
    user: bool = False
    nsenter: str = ""


def arguments(
    style: Style, limits: Confinement, sockets: Sequence[str], cwd: str, join: Sequence[str] = ()
) -> list[str]:
    """The program and its arguments up to `--`; the command follows. `join` leads into the network that it shares.

    Later mounts cover earlier ones, so the order is: everything read-only, private places, what programs need, what
    may be written, what may not in it, what is hidden.
    """
    return [
        *join,
        style.program,
        *_namespaces(style, limits, joined=bool(join)),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *_switches(style),
        *_mounts(limits, sockets),
        *("--chdir", cwd, "--"),
    ]


def _namespaces(style: Style, limits: Confinement, *, joined: bool) -> Iterator[str]:
    yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    if limits.network != "on" and not joined:
        yield "--unshare-net"
    if style.user:
        yield "--unshare-user"
    if os.getuid() == 0:
        yield from ("--cap-drop", "ALL")
        if not style.user:
            for cap in _CAPS:
                yield from ("--cap-add", cap)


def _switches(style: Style) -> Iterator[str]:
    """Root may turn the switches of the kernel even without any capability: they are its files."""
    if os.getuid() == 0:
        for name in _SWITCHES:
            path = f"/proc/{name}"
            if not style.user and name in _COVERED and os.access(path, os.W_OK):
                continue  # each mount costs 0.2 ms
            if os.path.exists(path):  # noqa: PTH110
                yield from ("--ro-bind", path, path)


def _mounts(limits: Confinement, sockets: Sequence[str]) -> Iterator[str]:
    yield from ("--bind", limits.temp, "/tmp", "--bind", limits.temp, "/var/tmp")  # noqa: S108
    for path in _outer_first(limits.shown):
        if not any(rest_below(path, folder) is not None for folder in limits.writable):  # else it is mounted next
            yield from ("--ro-bind", path, path)
    for path in _outer_first((*limits.writable, *limits.pinned)):
        yield from ("--bind", path, path)
    for path in _outer_first(limits.read_only):
        yield from ("--ro-bind-try", path, path)
    for path in _outer_first((*limits.hidden, *limits.masked, *sockets)):
        if _is_gone(path, limits):
            continue
        if os.path.isdir(path):  # noqa: PTH112
            yield from ("--perms", "0555", "--tmpfs", path, "--remount-ro", path)
        else:
            yield from ("--ro-bind", "/dev/null", path)


def _is_gone(path: str, limits: Confinement) -> bool:
    """Whether a path lies in a temporary folder that is another one inside, and so is not there to be hidden."""
    if not any(rest_below(path, folder) is not None for folder in ("/tmp", "/var/tmp", "/dev")):  # noqa: S108
        return False
    return not any(rest_below(path, folder) is not None for folder in (*limits.writable, *limits.shown))


def _outer_first(paths: Sequence[str]) -> list[str]:
    return sorted(dict.fromkeys(paths), key=lambda path: (path.count("/"), path))
