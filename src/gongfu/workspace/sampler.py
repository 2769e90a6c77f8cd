"""What the processes of one command use: processor, memory, disk, network, output."""

from __future__ import annotations

import os
import sys
import time
from typing import Protocol

from gongfu.workspace.activity import Sample
from gongfu.workspace.proctree import family, read_small, snapshot


class Watched(Protocol):
    """A command as the sampler sees it."""

    pid: int
    mark: str
    total: int

    @property
    def code(self) -> int | None: ...


class Sampler:
    """Takes samples of one command."""

    def __init__(self, child: Watched) -> None:
        self._child = child

    def sample(self) -> Sample:
        """The sums over all its living processes now."""
        table = snapshot()
        alive = family(table, self._child.pid, reaped=self._child.code is not None)
        return Sample(
            at=time.monotonic(),
            cpu=sum(table[pid].cpu for pid in alive),
            rss=sum(table[pid].rss for pid in alive),
            disk=sum(_disk(pid) for pid in alive),
            output=self._child.total,
        )

    def ports(self) -> tuple[int, ...]:
        """The ports it listens on."""
        return ()


def _disk(pid: int) -> int:
    if sys.platform != "linux":
        return 0
    counts = dict(line.split(b": ") for line in read_small(f"/proc/{pid}/io").splitlines())
    return sum(int(counts.get(name, 0)) for name in (b"rchar", b"wchar"))


_ = os
