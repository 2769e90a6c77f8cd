"""The smart time-out, over made-up samples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.workspace.activity import (
    CPU_SHARE,
    DISK_RATE,
    LONGEST,
    MEMORY_STEP,
    NETWORK_RATE,
    Limits,
    Sample,
    Watch,
    activity,
    begin,
    next_look,
    observe,
)

BUSY = {
    "output": {"output": 1},
    "cpu": {"cpu": CPU_SHARE},
    "memory": {"memory": MEMORY_STEP},
    "disk": {"disk": DISK_RATE},
    "network": {"network": NETWORK_RATE},
}


@pytest.mark.parametrize("kind", BUSY)
def test_each_kind_of_activity_is_seen_alone(kind: str) -> None:
    assert activity(Sample(at=0.0), Sample(at=1.0, **BUSY[kind])) == (kind,)


def test_a_waiting_server_is_idle() -> None:
    after = Sample(at=1.0, cpu=0.005, memory=4096, disk=500, network=20)
    assert activity(Sample(at=0.0), after) == ()


def play(samples: list[Sample], limits: Limits) -> tuple[str, float, Watch]:
    """Feed samples until one ends the command; the last verdict and its time."""
    watch = begin(0.0)
    verdict, at = "run", 0.0
    for sample in samples:
        watch, verdict = observe(watch, sample, limits)
        at = sample.at
        if verdict != "run":
            break
    return verdict, at, watch


def seconds(limits: Limits, busy: set[int], count: int) -> list[Sample]:
    output = 0
    samples: list[Sample] = []
    for second in range(1, count + 1):
        output += second in busy
        samples.append(Sample(at=float(second), output=output))
    return samples


def test_what_does_nothing_is_stopped_after_the_idle_limit() -> None:
    assert play(seconds(Limits(idle=30), set(), 200), Limits(idle=30))[:2] == ("idle", 30.0)


def test_what_stops_working_gets_the_whole_idle_limit_again() -> None:
    assert play(seconds(Limits(idle=30), set(range(1, 41)), 200), Limits(idle=30))[:2] == ("idle", 70.0)


def test_what_is_always_busy_is_stopped_after_four_times_the_limit() -> None:
    verdict, at, watch = play(seconds(Limits(idle=30), set(range(500)), 500), Limits(idle=30))
    assert (verdict, at, watch.kinds) == ("timeout", 120.0, ("output",))


@pytest.mark.parametrize("busy", [set(), set(range(1000))])
@pytest.mark.parametrize("timeout", [3, 45, 600])
def test_the_callers_limit_alone_counts(busy: set[int], timeout: int) -> None:
    limits = Limits(idle=30, timeout=timeout)
    assert play(seconds(limits, busy, 1000), limits)[:2] == ("timeout", float(timeout))


flows = st.lists(
    st.builds(
        lambda gap, cpu, memory, disk, network, output: (gap, cpu, memory, disk, network, output),
        st.floats(0.01, 5.0),
        st.floats(0.0, 1.0),
        st.integers(0, 4 * MEMORY_STEP),
        st.integers(0, 10 * DISK_RATE),
        st.integers(0, 10_000),
        st.integers(0, 3),
    ),
    max_size=60,
)


def rising(flow: list[tuple[float, float, int, int, int, int]]) -> list[Sample]:
    at, cpu, memory, disk, network, output = 0.0, 0.0, 0, 0, 0, 0
    samples: list[Sample] = []
    for gap, c, m, d, n, o in flow:
        at, cpu, memory, disk, network, output = at + gap, cpu + c, memory + m, disk + d, network + n, output + o
        samples.append(Sample(at=at, cpu=cpu, memory=memory, disk=disk, network=network, output=output))
    return samples


@given(flow=flows, idle=st.floats(0.1, 60.0))
def test_it_runs_exactly_as_long_as_it_was_busy_within_the_limit(flow: list[tuple], idle: float) -> None:
    samples, limits = rising(flow), Limits(idle=idle)
    watch, before, busy_at = begin(0.0), Sample(at=0.0), 0.0
    for sample in samples:
        busy_at = sample.at if activity(before, sample) else busy_at
        watch, verdict = observe(watch, sample, limits)
        if sample.at >= idle * LONGEST:
            assert verdict == "timeout"
            return
        assert verdict == ("idle" if sample.at - busy_at >= idle else "run")
        assert watch.busy_at == busy_at
        if verdict == "idle":
            return
        before = sample


@given(flow=flows, idle=st.floats(0.1, 60.0), timeout=st.one_of(st.none(), st.floats(0.05, 100.0)))
def test_the_next_look_is_never_later_than_a_limit(flow: list[tuple], idle: float, timeout: float | None) -> None:
    limits = Limits(idle=idle, timeout=timeout)
    watch = begin(0.0)
    for sample in rising(flow):
        watch, verdict = observe(watch, sample, limits)
        if verdict != "run":
            return
        look = sample.at + next_look(watch, sample.at, limits)
        ends = timeout if timeout is not None else min(idle * LONGEST, watch.busy_at + idle)
        assert look <= max(ends, sample.at) + 0.0011
        assert look > sample.at or timeout is not None
