"""What the processes of one command use: processor, memory, disk, network, output.

Linux reads `/proc`: processor time and memory of each process; what it reads and writes through files and pipes
(`rchar`, `wchar`); and, since bytes of sockets are not among those, the counters of its TCP sockets. Other systems ask
psutil; where a system has no counters for single processes, those of the whole machine count while the command has
an open connection.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Protocol

from gongfu.workspace.activity import Sample
from gongfu.workspace.proctree import Proc, Table, family, read_small, snapshot
from gongfu.workspace.sockets import LISTENING, inodes_of, listening_in, tcp_sockets


class Watched(Protocol):
    """A command as the sampler sees it."""

    pid: int
    mark: str
    total: int

    @property
    def code(self) -> int | None: ...


class Sampler:
    """Takes samples of one command. All counters only rise, also when processes and connections come and go."""

    def __init__(self, child: Watched) -> None:
        self._child = child
        self._procs: Mapping[int, Proc] = {}
        self._disk: Mapping[int, int] = {}
        self._net: Mapping[int, int] = {}
        self._cpu_used = 0.0
        self._memory_moved = self._disk_moved = self._net_moved = 0

    def sample(self) -> Sample:
        """What its processes have used up to now."""
        table = snapshot()
        procs = {pid: table[pid] for pid in self._alive(table)}
        before, self._procs = self._procs, procs
        self._cpu_used += sum(max(p.cpu - (before[pid].cpu if pid in before else 0.0), 0.0) for pid, p in procs.items())
        self._memory_moved += sum(abs(p.rss - before[pid].rss) for pid, p in procs.items() if pid in before)
        disk, net = _disk(procs), _network(procs)
        self._disk_moved += _risen(self._disk, disk)
        self._net_moved += _risen(self._net, net)
        self._disk, self._net = disk, net
        return Sample(
            at=time.monotonic(),
            cpu=self._cpu_used,
            memory=self._memory_moved,
            disk=self._disk_moved,
            network=self._net_moved,
            output=self._child.total,
        )

    def ports(self) -> tuple[int, ...]:
        """The TCP ports that its processes listen on."""
        pids = self._alive(snapshot())
        if sys.platform != "linux":
            return _portable_ports(pids)
        inodes = inodes_of(pids)
        all_sockets = [*tcp_sockets(), *(s for pid in _one_of_each_network(pids) for s in listening_in(pid))]
        return tuple(sorted({s.port for s in all_sockets if s.state == LISTENING and s.inode in inodes}))

    def _alive(self, table: Table) -> frozenset[int]:
        return family(table, self._child.pid, reaped=self._child.code is not None)


def _one_of_each_network(pids: frozenset[int]) -> list[int]:
    """One process of each network namespace that is not our own: a sandbox gives commands one of theirs."""
    found: dict[str, int] = {}
    for pid in ("self", *pids):
        try:
            found.setdefault(os.readlink(f"/proc/{pid}/ns/net"), 0 if pid == "self" else int(pid))  # noqa: PTH115
        except OSError:
            continue
    return [pid for pid in found.values() if pid]


def _risen(before: Mapping[int, int], now: Mapping[int, int]) -> int:
    return sum(max(value - before.get(key, 0), 0) for key, value in now.items())


def _disk(pids: Mapping[int, Proc]) -> dict[int, int]:
    return (
        {pid: moved(read_small(f"/proc/{pid}/io")) for pid in pids} if sys.platform == "linux" else _psutil_disk(pids)
    )


def moved(text: bytes) -> int:
    """The bytes read and written according to `/proc/<pid>/io` (proc(5)); 0 when it was not readable."""
    counts = dict(line.split(b": ", 1) for line in text.splitlines() if b": " in line)
    return sum(int(counts.get(name, b"0")) for name in (b"rchar", b"wchar"))


def _network(pids: Mapping[int, Proc]) -> dict[int, int]:
    if sys.platform != "linux":
        return _psutil_network(pids)
    inodes = inodes_of(pids)
    return {s.inode: s.moved for s in tcp_sockets() if s.inode in inodes} if inodes else {}


def _psutil_disk(pids: Mapping[int, Proc]) -> dict[int, int]:
    import psutil  # not at import: 25 ms

    found: dict[int, int] = {}
    for pid in pids:
        try:
            counters = getattr(psutil.Process(pid), "io_counters", None)
            if counters is not None:  # macOS has none; on Windows "other" holds the network
                c = counters()
                found[pid] = c.read_bytes + c.write_bytes + getattr(c, "other_bytes", 0)
        except psutil.Error:
            continue
    return found


def _psutil_network(pids: Mapping[int, Proc]) -> dict[int, int]:
    import psutil  # not at import: 25 ms

    for pid in pids:
        try:
            if any(c.raddr for c in psutil.Process(pid).net_connections("inet")):
                total = psutil.net_io_counters()
                return {0: total.bytes_sent + total.bytes_recv}
        except psutil.Error:
            continue
    return {}


def _portable_ports(pids: frozenset[int]) -> tuple[int, ...]:
    import psutil  # not at import: 25 ms

    ports: set[int] = set()
    for pid in pids:
        try:
            ports.update(c.laddr.port for c in psutil.Process(pid).net_connections("tcp") if c.status == "LISTEN")
        except psutil.Error:
            continue
    return tuple(sorted(ports))
