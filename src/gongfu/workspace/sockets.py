"""TCP sockets of this machine with the bytes that went through them, as the Linux kernel counts them."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterable, Iterator

from gongfu.core.base import Base

LISTENING = 10
_NETLINK, _DIAG = 16, 4  # AF_NETLINK, NETLINK_SOCK_DIAG: sock_diag(7)
_BY_FAMILY, _DUMP, _DONE, _ERROR, _INFO = 20, 0x301, 3, 2, 2
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI48s")
_ANSWER = struct.Struct("=BBBB48sIIIII")
_ATTRIBUTE = struct.Struct("=HH")
_BYTES = struct.Struct("=QQ")
_BYTES_AT = 120  # of bytes_acked and bytes_received in struct tcp_info
_INODE = re.compile(r"socket:\[(\d+)\]")


class TcpSocket(Base, frozen=True):
    """One socket by its `inode`. `moved` is bytes sent (and acknowledged) plus bytes received."""

    inode: int
    state: int
    port: int
    moved: int = 0


def tcp_sockets() -> list[TcpSocket]:
    """All TCP sockets of this network namespace; [] where the kernel does not tell."""
    found: list[TcpSocket] = []
    try:
        with socket.socket(_NETLINK, socket.SOCK_RAW, _DIAG) as link:
            link.settimeout(1.0)
            for family in (socket.AF_INET, socket.AF_INET6):
                body = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, 0xFFFFFFFF, bytes(48))
                link.send(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _DUMP, 1, 0) + body)
                found.extend(_answers(link))
    except OSError:  # no such protocol here, or it is forbidden: then network use cannot be seen
        return []
    return found


def _answers(link: socket.socket) -> Iterator[TcpSocket]:
    while True:
        data = link.recv(1 << 17)
        at = 0
        while at + _HEADER.size <= len(data):
            size, kind, *_ = _HEADER.unpack_from(data, at)
            if kind in (_DONE, _ERROR) or size < _HEADER.size:
                return
            yield parse_answer(data[at + _HEADER.size : at + size])
            at += (size + 3) & ~3
        if not data:
            return


def parse_answer(body: bytes) -> TcpSocket:
    """Read one `inet_diag_msg` with its attributes."""
    _, state, _, _, address, _, _, _, _, inode = _ANSWER.unpack_from(body)
    moved = 0
    at = _ANSWER.size
    while at + _ATTRIBUTE.size <= len(body):
        size, kind = _ATTRIBUTE.unpack_from(body, at)
        if size < _ATTRIBUTE.size:
            break
        if kind == _INFO and size >= _ATTRIBUTE.size + _BYTES_AT + _BYTES.size and state != LISTENING:
            moved = sum(_BYTES.unpack_from(body, at + _ATTRIBUTE.size + _BYTES_AT))
        at += (size + 3) & ~3
    return TcpSocket(inode=inode, state=state, port=int.from_bytes(address[:2], "big"), moved=moved)


def listening_in(pid: int) -> list[TcpSocket]:
    """The TCP sockets that listen in the network namespace of a process, as `/proc/<pid>/net/tcp` tells."""
    found: list[TcpSocket] = []
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{name}", encoding="ascii") as table:  # noqa: PTH123
                rows = [line.split() for line in table.read().splitlines()[1:]]
        except OSError:
            continue
        found.extend(
            TcpSocket(inode=int(row[9]), state=LISTENING, port=int(row[1].rpartition(":")[2], 16))
            for row in rows
            if len(row) > 9 and int(row[3], 16) == LISTENING
        )
    return found


def inodes_of(pids: Iterable[int]) -> set[int]:
    """The inodes of all sockets that the processes hold open."""
    found: set[int] = set()
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208  (half the cost of Path.iterdir)
        except OSError:
            continue
        for name in names:
            try:
                match = _INODE.match(os.readlink(f"{folder}/{name}"))  # noqa: PTH115  (thousands of them)
            except OSError:
                continue
            if match:
                found.add(int(match[1]))
    return found
