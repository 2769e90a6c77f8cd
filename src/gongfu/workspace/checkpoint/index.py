"""The names in git's index, read without git: they count also where they are ignored."""

from __future__ import annotations

import os
import re
import stat

from gongfu.workspace.root import joined

_MAX = 1 << 28
_SHARED = b"link"
_SHA256 = rb"(?i)objectformat\s*=\s*\"?sha256"
_NO_INDEX = "no index of git"


class Tracked:
    """The tracked names of one repository, relative to its top; the index is read when first asked about."""

    __slots__ = ("_folders", "_git_dir", "_names")

    def __init__(self, git_dir: str) -> None:
        self._git_dir = git_dir
        self._names: frozenset[bytes] | None = None
        self._folders: set[bytes] = set()

    def file(self, path: str) -> bool:
        """Whether a file or a link is tracked."""
        return os.fsencode(path) in self._read()

    def below(self, path: str) -> bool:
        """Whether anything in a folder is tracked."""
        return bool(self._read()) and os.fsencode(path) in self._folders

    def _read(self) -> frozenset[bytes]:
        if self._names is None:
            common = os.fsdecode(_bytes(joined(self._git_dir, "commondir")).strip())
            config = _bytes(joined(joined(self._git_dir, common) if common else self._git_dir, "config"))
            size = 32 if re.search(_SHA256, config) else 20
            self._names = frozenset(names_in(joined(self._git_dir, "index"), size))
            for name in self._names:
                while (name := name.rpartition(b"/")[0]) and name not in self._folders:
                    self._folders.add(name)
        return self._names


def names_in(file: str, size: int = 20) -> list[bytes]:
    """The names in an index file of git, versions 2 to 4, with those of the index that it shares; none when it is
    none. Its digests have `size` bytes: 20 for SHA-1, 32 for SHA-256.
    """
    raw = _bytes(file)
    try:
        names, end = _entries(raw, size)
        shared = _shared(raw, end, size)
    except (ValueError, IndexError):
        return []
    if shared:
        names += names_in(joined(os.path.dirname(file), f"sharedindex.{shared}"), size)  # noqa: PTH120
    return [name.rstrip(b"/") for name in names if name]


def _bytes(file: str) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):  # noqa: PTH116
            return b""
        with open(file, "rb") as stream:  # noqa: PTH123
            return stream.read(_MAX)
    except (OSError, ValueError):
        return b""


def _entries(raw: bytes, size: int) -> tuple[list[bytes], int]:
    """The names and where they end, by gitformat-index(5). ValueError when `raw` is no index with such digests."""
    version, count = int.from_bytes(raw[4:8], "big"), int.from_bytes(raw[8:12], "big")
    if raw[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(_NO_INDEX)
    names: list[bytes] = []
    at, before, find, end = 12, b"", raw.index, len(raw) - size
    for _ in range(count):
        flags = at + 40 + size
        name = flags + (4 if raw[flags] & 0x40 else 2)
        if version == 4:
            cut, name = _number(raw, name)
            stop = find(b"\0", name)
            before = before[: len(before) - cut] + raw[name:stop]
            at = stop + 1
        else:
            length = int.from_bytes(raw[flags : flags + 2], "big") & 0xFFF
            stop = name + length if length < 0xFFF and raw[name + length] == 0 else find(b"\0", name)
            before = raw[name:stop]
            at += (stop - at + 8) & ~7
        if at > end or b"\0" in before:
            raise ValueError(_NO_INDEX)
        names.append(before)
    return names, at


def _number(raw: bytes, at: int) -> tuple[int, int]:
    """A number as in pack offsets, and where it ends."""
    byte = raw[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = raw[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1


def _shared(raw: bytes, at: int, size: int) -> str:
    """The digest that names the shared index, "" for an index by itself. ValueError when the rest is no extensions."""
    while at + 8 <= len(raw) - size:
        kind, length = raw[at : at + 4], int.from_bytes(raw[at + 4 : at + 8], "big")
        if kind == _SHARED:
            return raw[at + 8 : at + 8 + size].hex()
        at += 8 + length
    if at != len(raw) - size:
        raise ValueError(_NO_INDEX)
    return ""
