"""Which processes belong to a command, and how each platform ends them: the logic, over made-up tables."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.workspace import process_groups, proctree
from gongfu.workspace.proctree import Proc, family, parse_stat, portable_snapshot, snapshot

ME = os.getpid()


def table(*procs: Proc) -> dict[int, Proc]:
    return {p.pid: p for p in (Proc(pid=1, parent=0), Proc(pid=ME, parent=1, group=ME, session=ME), *procs)}


def none(pid: int) -> bytes:
    return b""


def test_group_session_and_descendants_are_found() -> None:
    procs = table(
        Proc(pid=50, parent=ME, group=50, session=50),
        Proc(pid=51, parent=50, group=50, session=50),
        Proc(pid=52, parent=1, group=52, session=50),  # a group of its own, orphaned, same session
        Proc(pid=53, parent=51, group=53, session=53),  # a session of its own
        Proc(pid=54, parent=53, group=53, session=53),
        Proc(pid=60, parent=1, group=60, session=60),  # a stranger
    )
    assert family(procs, 50, environ=none) == {50, 51, 52, 53, 54}


def test_the_mark_finds_what_has_lost_its_parent_and_its_session() -> None:
    procs = table(
        Proc(pid=50, parent=ME, group=50, session=50),
        Proc(pid=70, parent=1, group=70, session=70),
        Proc(pid=71, parent=70, group=70, session=70),
        Proc(pid=80, parent=1, group=80, session=80),
    )
    environs = {70: b"A=1\0GONGFU_CALL=outer.1.,r_x.1.\0", 80: b"GONGFU_CALL=r_x.12.\0"}
    found = family(procs, 50, "r_x.1.", environ=lambda pid: environs.get(pid, b""))
    assert found == {50, 70, 71}


@given(st.permutations([(90, ME), (20, 90), (70, 20), (30, 20), (80, 30), (5, 1)]))
def test_parents_are_ended_before_what_they_wait_for(pairs: list[tuple[int, int]]) -> None:
    """Ids wrap around, so that a child may have a smaller one; else a shell went on with its next command."""
    procs = table(*(Proc(pid=pid, parent=parent) for pid, parent in pairs))
    order = proctree.parents_first(procs, [pid for pid, _ in pairs])
    assert sorted(order) == sorted(pid for pid, _ in pairs)
    assert all(parent not in order or order.index(parent) < order.index(pid) for pid, parent in pairs)


def test_the_dead_do_not_count() -> None:
    procs = table(Proc(pid=50, parent=ME, group=50, session=50, dead=True))
    assert family(procs, 50, environ=none) == frozenset()


def test_a_stranger_with_the_same_id_is_left_alone() -> None:
    procs = table(Proc(pid=50, parent=1, group=50, session=50), Proc(pid=51, parent=50, group=50, session=50))
    assert family(procs, 50, reaped=True, environ=none) == frozenset()
    left = table(Proc(pid=51, parent=1, group=50, session=50))
    assert family(left, 50, reaped=True, environ=none) == {51}


def test_this_process_and_those_above_it_are_never_members() -> None:
    procs = table(
        Proc(pid=50, parent=ME, group=50, session=50),
        Proc(pid=1, parent=0, group=50, session=50),
        Proc(pid=ME, parent=1, group=50, session=50),
    )
    assert family(procs, 50, "m", environ=lambda _: b"GONGFU_CALL=m\0") == {50}


pids = st.integers(2, 30)
rows = st.builds(
    lambda pid, parent, group, session, dead: Proc(pid=pid, parent=parent, group=group, session=session, dead=dead),
    pids, st.integers(0, 30), pids, pids, st.booleans(),
)  # fmt: skip


@given(procs=st.lists(rows, max_size=25), root=pids, reaped=st.booleans())
def test_any_table_gives_living_members_and_ends(procs: list[Proc], root: int, reaped: bool) -> None:
    """Loops of parents and missing ones included; with every child of a member a member too."""
    seen = table(*procs)
    found = family(seen, root, reaped=reaped, environ=none)
    assert found <= set(seen)
    assert not any(seen[pid].dead for pid in found)
    for proc in seen.values():
        if proc.parent in found and not proc.dead and proc.pid != ME:
            own_line = {1, 0} | {ME}
            assert proc.pid in found or proc.pid in own_line or proc.pid in proctree._line_up(seen, ME)


def test_a_line_of_proc_with_a_wild_name() -> None:
    rest = b" S 3 40 41 0 -1 4194560 1 2 3 4 150 50 25 25 20 0 1 0 999 1000 7 18446744073709551615"
    proc = parse_stat(b"42 (a) b (c)" + rest, 100, 4096)
    assert (proc.pid, proc.parent, proc.group, proc.session) == (42, 3, 40, 41)
    assert (proc.cpu, proc.started, proc.rss, proc.dead) == (2.5, 999.0, 7 * 4096, False)
    assert parse_stat(b"42 (x)" + rest.replace(b" S ", b" Z ", 1), 100, 4096).dead


def test_both_ways_of_looking_agree() -> None:
    """What macOS and Windows use tells the same as `/proc`."""
    one, other = snapshot()[ME], portable_snapshot()[ME]
    assert (one.pid, one.parent, one.group, one.session) == (other.pid, other.parent, other.group, other.session)
    assert abs(one.cpu - other.cpu) < 5
    assert other.rss > 1 << 20


def test_each_platform_gets_its_own_group() -> None:
    assert process_groups.popen_options("linux") == process_groups.popen_options("darwin")
    assert process_groups.popen_options("linux").session
    windows = process_groups.popen_options("win32")
    assert not windows.session
    assert windows.flags == 0x200 | 0x08000000
    assert process_groups.taskkill(5) == ["taskkill", "/T", "/F", "/PID", "5"]
    assert not process_groups.group_lives(5, "win32")


@pytest.mark.parametrize(
    ("function", "platform", "number"),
    [
        (process_groups.ask_to_end, "linux", signal.SIGTERM),
        (process_groups.ask_to_end, "darwin", signal.SIGTERM),
        (process_groups.ask_to_end, "win32", 1),
        (process_groups.end, "linux", signal.SIGKILL),
    ],
)
def test_the_signal_of_each_platform(monkeypatch: pytest.MonkeyPatch, function, platform: str, number: int) -> None:
    sent: list[tuple[int, int]] = []

    def kill(pid: int, what: int) -> None:
        sent.append((pid, what))
        if pid == 8:
            raise ProcessLookupError

    monkeypatch.setattr(process_groups.os, "kill", kill)
    function([7, 8, 9], platform)
    assert sent == [(7, number), (8, number), (9, number)]


def test_windows_ends_whole_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(process_groups.subprocess, "run", lambda argv, **_: ran.append(argv))
    process_groups.end([7, 8], "win32")
    assert ran == [process_groups.taskkill(7), process_groups.taskkill(8)]
