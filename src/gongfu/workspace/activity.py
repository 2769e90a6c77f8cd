"""The smart time-out: how long a command that nobody limited may run."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base

LONGEST = 4  # a busy command gets at most so many idle limits
CPU_SHARE = 0.02  # of one core; a server that waits for work stays well below
MEMORY_STEP = 1 << 20
DISK_RATE = 32_768  # bytes a second; a loop that waits by starting `sleep` reads less
NETWORK_RATE = 64  # bytes a second; keep-alives stay below

Verdict: TypeAlias = Literal["run", "idle", "timeout"]


class Limits(Base, frozen=True):
    """`idle` seconds without activity end a command, busy ones end after `LONGEST` times that.

    `timeout` is the caller's own limit in seconds: it alone counts then, to the letter.
    """

    idle: float = 30.0
    timeout: float | None = None


class Sample(Base, frozen=True):
    """What a process tree has used up to `at` (seconds of a monotonic clock): counters that only rise.

    `cpu` is seconds; `memory` (taken or given back), `disk`, `network` and `output` are bytes.
    """

    at: float
    cpu: float = 0.0
    memory: int = 0
    disk: int = 0
    network: int = 0
    output: int = 0


class Watch(Base, frozen=True):
    """What is known of a running command: when it started, was busy last and by what."""

    started: float
    busy_at: float
    last: Sample
    kinds: tuple[str, ...] = ()


def begin(now: float) -> Watch:
    """The watch over a command that starts at `now`."""
    return Watch(started=now, busy_at=now, last=Sample(at=now))


def activity(before: Sample, after: Sample) -> tuple[str, ...]:
    """The kinds of activity between two samples: "output", "cpu", "memory", "disk", "network"."""
    seconds = max(after.at - before.at, 1e-9)
    busy = {
        "output": after.output != before.output,
        "cpu": (after.cpu - before.cpu) / seconds >= CPU_SHARE,
        "memory": after.memory - before.memory >= MEMORY_STEP,
        "disk": (after.disk - before.disk) / seconds >= DISK_RATE,
        "network": (after.network - before.network) / seconds >= NETWORK_RATE,
    }
    return tuple(kind for kind, yes in busy.items() if yes)


def observe(watch: Watch, sample: Sample, limits: Limits) -> tuple[Watch, Verdict]:
    """Take in a sample and decide whether the command goes on."""
    kinds = activity(watch.last, sample)
    seen = Watch(
        started=watch.started,
        busy_at=sample.at if kinds else watch.busy_at,
        last=sample,
        kinds=kinds or watch.kinds,
    )
    return seen, _judge(seen, sample.at, limits)


def _judge(watch: Watch, now: float, limits: Limits) -> Verdict:
    if limits.timeout is not None:
        return "timeout" if now - watch.started >= limits.timeout else "run"
    if now - watch.started >= limits.idle * LONGEST:
        return "timeout"
    return "idle" if now - watch.busy_at >= limits.idle else "run"


def next_look(watch: Watch, now: float, limits: Limits) -> float:
    """Seconds until the next sample is due: never later than a limit could be reached."""
    if limits.timeout is not None:
        return max(watch.started + limits.timeout - now, 0.0)
    step = min(1.0, limits.idle / 6)
    ends = min(watch.started + limits.idle * LONGEST, watch.busy_at + limits.idle)
    return max(min(step, ends - now), 0.001)
