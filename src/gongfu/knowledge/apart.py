"""Reading many files in processes of their own, or a few in a thread."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec

from gongfu.core.base import Base
from gongfu.knowledge.languages import is_deep
from gongfu.knowledge.model import Facts
from gongfu.knowledge.worker import Frame, Order
from gongfu.workspace.process import run

FEW = 16
"""Files that are read in a thread rather than in processes of their own, whose start takes longer."""
_TAME = 256 << 10
_MOST_PROCESSES = 4
_MOST_STARTS = 20
_DECODER = msgspec.msgpack.Decoder(Frame)


class Wanted(Base, frozen=True):
    """A file to read: where it lies, its name, its language and how many bytes it has."""

    path: str
    name: str
    language: str
    size: int


def is_tame(raw: bytes) -> bool:
    """Whether a file may be parsed in this process: small, and not nested so deep that a parser could fail."""
    return len(raw) <= _TAME and not is_deep(raw)


async def read_apart(wanted: Sequence[Wanted], env: Mapping[str, str]) -> dict[str, tuple[bytes, Facts]]:
    """The digest of each file as it was read, with its facts. A file that no process survives is "failed", its digest
    empty; those that cannot be read are left out."""
    found: dict[str, tuple[bytes, Facts]] = {}
    if not wanted:
        return found
    count = max(1, min(os.cpu_count() or 1, _MOST_PROCESSES, len(wanted) // FEW + 1))
    shares: list[list[Wanted]] = [[] for _ in range(count)]
    sizes = [0] * count
    for one in sorted(wanted, key=lambda w: -w.size):
        least = sizes.index(min(sizes))
        shares[least].append(one)
        sizes[least] += one.size + 2_000
    async with anyio.create_task_group() as tasks:
        for share in shares:
            tasks.start_soon(_share, share, env, found)
    return found


async def _share(share: list[Wanted], env: Mapping[str, str], found: dict[str, tuple[bytes, Facts]]) -> None:
    """Read some files; when the process ends at one of them, the others go to a new one."""
    for _ in range(_MOST_STARTS):
        if not share:
            return
        frames = await _process(share, env)
        for number, digest, facts in frames:
            if digest:
                found[share[number].path] = (digest, facts)
        if len(frames) < len(share):
            culprit = share[len(frames)]
            found[culprit.path] = (b"", Facts(language=culprit.language, lines=0, problem="failed"))
        share = share[len(frames) + 1 :]


async def _process(share: Sequence[Wanted], env: Mapping[str, str]) -> list[Frame]:
    order: Order = [(os.fsencode(w.path), w.name, w.language) for w in share]
    frames: list[Frame] = []
    waiting = bytearray()

    def take(data: bytes) -> None:
        waiting.extend(data)
        while len(waiting) >= 4:
            end = 4 + int.from_bytes(waiting[:4], "big")
            if len(waiting) < end:
                return
            frames.append(_DECODER.decode(waiting[4:end]))
            del waiting[:end]

    # -P: nothing is imported from the folder that is read; -W: a warning would stand between the frames
    argv = [sys.executable, "-P", "-W", "ignore", "-m", "gongfu.knowledge.worker"]
    home = Path(__file__).parent
    # where it cannot be started, or says something else, the file at hand counts as one that it did not survive
    with suppress(OSError, msgspec.DecodeError):
        await run(argv, cwd=home, env=env, timeout=60.0 + len(share), stdin=msgspec.msgpack.encode(order), sink=take)
    return frames
