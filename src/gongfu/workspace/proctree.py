"""What runs on this machine, and which of it belongs to one command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from gongfu.core.base import Base

MARK = "GONGFU_CALL"


class Proc(Base, frozen=True):
    """One process. `cpu` is seconds, its finished children's included; `rss` is bytes; `started` only compares."""

    pid: int
    parent: int
    group: int = 0
    session: int = 0
    started: float = 0.0
    cpu: float = 0.0
    rss: int = 0
    dead: bool = False


Table: TypeAlias = Mapping[int, Proc]


def snapshot() -> dict[int, Proc]:
    """All processes that can be seen, by id. Linux reads `/proc` (about 15 us each), others ask psutil."""
    return _linux() if sys.platform == "linux" else portable_snapshot()


def _linux() -> dict[int, Proc]:
    tick = os.sysconf("SC_CLK_TCK")
    page = os.sysconf("SC_PAGE_SIZE")
    table: dict[int, Proc] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (half the cost of Path.iterdir)
        if name.isdigit() and (text := read_small(f"/proc/{name}/stat")):
            proc = parse_stat(text, tick, page)
            table[proc.pid] = proc
    return table


def parse_stat(text: bytes, tick: int, page: int) -> Proc:
    """Read one line of `/proc/<pid>/stat` (proc(5)); the name may hold blanks and brackets. `tick` is per second."""
    head, _, rest = text.rpartition(b")")
    f = rest.split()
    return Proc(
        pid=int(head.split(b" ", 1)[0]),
        parent=int(f[1]),
        group=int(f[2]),
        session=int(f[3]),
        started=float(f[19]),
        cpu=sum(int(x) for x in f[11:15]) / tick,
        rss=int(f[21]) * page,
        dead=f[0] in (b"Z", b"X"),
    )


def read_small(path: str) -> bytes:
    """The content of a file of `/proc`; empty when the process is gone or belongs to somebody else."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts: list[bytes] = []
        while part := os.read(fd, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(fd)


def portable_snapshot() -> dict[int, Proc]:
    """The same through psutil, for systems without `/proc`."""
    import psutil  # not at import: 25 ms

    table: dict[int, Proc] = {}
    for found in psutil.process_iter(["pid", "ppid", "create_time", "cpu_times", "memory_info", "status"]):
        info = found.info
        times, memory = info.get("cpu_times"), info.get("memory_info")
        table[found.pid] = Proc(
            pid=found.pid,
            parent=info.get("ppid") or 0,
            group=_group_of(found.pid),
            session=_session_of(found.pid),
            started=info.get("create_time") or 0.0,
            cpu=sum(times[:4]) if times else 0.0,
            rss=memory.rss if memory else 0,
            dead=info.get("status") == psutil.STATUS_ZOMBIE,
        )
    return table


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid) if hasattr(os, "getpgid") else 0
    except OSError:
        return 0


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid) if hasattr(os, "getsid") else 0
    except OSError:
        return 0


def environ_of(pid: int) -> bytes:
    """The environment a process was started with, entries ended by NUL; empty when it cannot be read."""
    if sys.platform == "linux":
        return read_small(f"/proc/{pid}/environ")
    import psutil  # not at import: 25 ms

    try:
        entries = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return b""
    return "".join(f"{k}={v}\0" for k, v in entries.items()).encode(errors="replace")


def any_marked(mark: str) -> bool:
    """True when some process carries `mark`: a quick look, without its state and its descendants."""
    needle = mark.encode()
    if sys.platform == "linux":
        names = (name for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208  (as above)
        return any(needle in read_small(f"/proc/{name}/environ") for name in names)
    return any(needle in environ_of(pid) for pid in snapshot())


def family(
    table: Table,
    root: int,
    mark: str = "",
    *,
    reaped: bool = False,
    environ: Callable[[int], bytes] = environ_of,
) -> frozenset[int]:
    """The living processes that a command started, the command itself included.

    `root` led its own session and group; `mark` is what its environment carries under `GONGFU_CALL`. Members are those
    of its group or session, those that carry the mark (also when they made a session of their own and lost their
    parent), and the descendants of all these. `reaped` says that `root` was waited for: then a process of that id is a
    stranger, and group and session prove nothing. This process and its ancestors are never members.
    """
    own = _line_up(table, os.getpid())
    stranger = reaped and root in table
    found = {
        p.pid for p in table.values() if not stranger and (p.pid == root or root in (p.group, p.session)) and p.pid > 1
    }
    if mark:
        needle = mark.encode()
        rest = (p for p in table.values() if p.pid not in found and p.pid not in own and not p.dead)
        found.update(p.pid for p in rest if needle in environ(p.pid))
    found = _with_descendants(table, found)
    return frozenset(pid for pid in found if pid not in own and not table[pid].dead)


def parents_first(table: Table, pids: Iterable[int]) -> tuple[int, ...]:
    """`pids` so that none comes before the process that started it.

    In this order they are to be ended: a shell that outlives the command it waits for goes on with the next one.
    """
    return tuple(sorted(pids, key=lambda pid: (len(_line_up(table, pid)), pid)))


def _line_up(table: Table, pid: int) -> set[int]:
    line: set[int] = set()
    while pid in table and pid not in line:
        line.add(pid)
        pid = table[pid].parent
    return line


def _with_descendants(table: Table, roots: Iterable[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for proc in table.values():
        children.setdefault(proc.parent, []).append(proc.pid)
    seen: set[int] = set()
    todo = list(roots)
    while todo:
        pid = todo.pop()
        if pid not in seen:
            seen.add(pid)
            todo.extend(children.get(pid, ()))
    return seen
