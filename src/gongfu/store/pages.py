"""Rows of a SQLite file read page by page, past what is damaged.

Follows the file format as published (sqlite.org/fileformat2.html): leaf pages of tables, their records and overflow
chains, and the committed frames of a write-ahead log laid over them. The trees above the leaves are not needed.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

Value: TypeAlias = int | float | str | bytes | None

_LEAF: Final = 0x0D
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


class Pages:
    """The pages of a database file with the committed part of its log laid over them."""

    def __init__(self, path: Path) -> None:
        """Raises OSError when the file cannot be read."""
        self._file = _mapped(path)
        wal = path.with_name(f"{path.name}-wal")
        self._wal = _mapped(wal) if wal.exists() else b""
        self.size, reserved = self._sizes()
        self.usable = self.size - reserved
        self._newer = dict(self._frames())

    def _sizes(self) -> tuple[int, int]:
        """Page size and the bytes kept free at a page's end; the log knows the size, too, when the header is gone."""
        if self._file[:15] == b"SQLite format 3":
            size = int.from_bytes(self._file[16:18], "big")
            return (65536 if size == 1 else size), self._file[20]
        size = int.from_bytes(self._wal[8:12], "big") if len(self._wal) >= 32 else 4096
        return (size if size in {512 << shift for shift in range(8)} else 4096), 0

    def _frames(self) -> Iterator[tuple[int, int]]:
        """(page, offset in the log) of the frames up to the last commit."""
        salt = self._wal[16:24]
        waiting: list[tuple[int, int]] = []
        for start in range(32, len(self._wal) - self.size - 23, self.size + 24):
            page, commit = struct.unpack_from(">II", self._wal, start)
            if self._wal[start + 8 : start + 16] != salt:
                return
            waiting.append((page, start + 24))
            if commit:
                yield from waiting
                waiting.clear()

    def page(self, number: int) -> bytes:
        """The bytes of page `number` (from 1), shorter or empty when the file was cut."""
        start = self._newer.get(number)
        if start is not None:
            return self._wal[start : start + self.size]
        return self._file[(number - 1) * self.size : number * self.size]

    def rows(self) -> Iterator[tuple[int, list[Value]]]:
        """(rowid, columns) of every record of every table that can be read whole."""
        for number in range(1, max(-(-len(self._file) // self.size), *self._newer, 0) + 1):
            page = self.page(number)
            start = 100 if number == 1 else 0
            if len(page) < start + 8 or page[start] != _LEAF:
                continue
            for index in range(int.from_bytes(page[start + 3 : start + 5], "big")):
                place = start + 8 + 2 * index
                try:
                    yield self._cell(page, int.from_bytes(page[place : place + 2], "big"))
                except (IndexError, ValueError, struct.error):  # this record is damaged; the next may be whole
                    continue

    def _cell(self, page: bytes, at: int) -> tuple[int, list[Value]]:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        most = self.usable - 35
        if length <= most:
            payload = page[at : at + length]
        else:
            least = (self.usable - 12) * 32 // 255 - 23
            here = least + (length - least) % (self.usable - 4)
            here = here if here <= most else least
            follow = int.from_bytes(page[at + here : at + here + 4], "big")
            payload = page[at : at + here] + self._overflow(follow, length - here)
        if len(payload) != length:
            raise ValueError("cut record")
        return rowid, _record(payload)

    def _overflow(self, number: int, length: int) -> bytes:
        parts: list[bytes] = []
        while length > 0:
            page = self.page(number) if number else b""
            part = page[4 : min(self.usable, 4 + length)]
            if not part:
                raise ValueError("cut chain")
            parts.append(part)
            length -= len(part)
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def _mapped(path: Path) -> mmap.mmap | bytes:
    """The bytes of a file, however large it is."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.seek(0, 2) else b""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, next place) of a variable-length integer of 1 to 9 bytes."""
    value = 0
    for count in range(9):
        byte = data[at + count]
        if count == 8:
            value = value << 8 | byte
            return (value - (1 << 64) if value >= 1 << 63 else value), at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    raise ValueError("no integer")


def _record(payload: bytes) -> list[Value]:
    end, at = _varint(payload, 0)
    place = end
    values: list[Value] = []
    while at < end:
        kind, at = _varint(payload, at)
        value, place = _value(payload, place, kind)
        values.append(value)
    return values


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return int.from_bytes(_exactly(payload, at, size), "big", signed=True), at + size
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        return None, at
    size = (kind - 12) // 2
    data = _exactly(payload, at, size)
    return (data.decode("utf-8", "replace") if kind % 2 else data), at + size


def _exactly(payload: bytes, at: int, size: int) -> bytes:
    data = payload[at : at + size]
    if len(data) != size:
        raise ValueError("cut value")
    return data
