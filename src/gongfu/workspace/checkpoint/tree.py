"""What a checkpoint knows of a folder: names, kinds, modes and digests, and the status that tells a change quickly.

A tree is one MessagePack array: a `Header`, then one `Listing` for each folder. Digests stand in extension values of
type 1, several joined, so that a store finds them without knowing more than that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import UserError

VERSION = 1
DIGEST = 20
DIGESTS = 1
"""The type of extension values that hold digests."""

FILE, LINK, FOLDER, UNKEPT, IGNORED, ABSENT = range(6)
WHOLE, UNREADABLE, PARTLY = range(3)
UNSETTLED = -1
"""In place of an inode: the file changed too shortly before for its times to tell the next change."""


class Header(Base, frozen=True, array_like=True):
    """`absent` are paths that were asked for and did not exist. `narrow`: only what was asked for was looked at, as in
    `age` trees in a row before.
    """

    version: int = VERSION
    narrow: bool = False
    absent: list[bytes] = []
    age: int = 0


class Listing(Base, frozen=True, array_like=True):
    """One folder: `path` relative to the top (b"" the top itself) and, name by name, what is in it but folders.

    `state` WHOLE: every name in it is told. UNREADABLE: none is known. PARTLY: others than those told are ignored.
    `targets` and `digests` have one for each link and each file, in order; `inodes` may be UNSETTLED.
    """

    path: bytes
    mode: int
    state: int = WHOLE
    names: list[bytes] = []
    kinds: bytes = b""
    modes: list[int] = []
    sizes: list[int] = []
    times: list[int] = []
    changes: list[int] = []
    inodes: list[int] = []
    targets: list[bytes] = []
    digests: msgspec.msgpack.Ext = msgspec.msgpack.Ext(DIGESTS, b"")


class Item(NamedTuple):
    """One name. `mark` is what makes it what it is: a digest, a link's target, or the size and times of the rest."""

    kind: int
    mode: int
    size: int
    mark: bytes
    time: int = 0
    change: int = 0
    inode: int = UNSETTLED

    def same(self, other: Item) -> bool:
        """Whether both would be restored to the same."""
        return self.kind == other.kind and self.mark == other.mark and (self.kind == LINK or self.mode == other.mode)


def told(size: int, time: int, inode: int) -> bytes:
    """The mark of what is not kept."""
    return b"%d %d %d" % (size, time, inode)


def listed(listing: Listing) -> dict[bytes, Item]:
    """The names of one folder."""
    found: dict[bytes, Item] = {}
    links, at = iter(listing.targets), 0
    digests = bytes(listing.digests.data)
    columns = (listing.names, listing.kinds, listing.modes, listing.sizes, listing.times, listing.changes)
    for name, kind, mode, size, time, change, inode in zip(*columns, listing.inodes, strict=True):
        if kind == FILE:
            mark = digests[at : at + DIGEST]
            at += DIGEST
        elif kind == LINK:
            mark = next(links)
        else:
            mark = told(size, time, inode)
        found[name] = Item(kind, mode, size, mark, time, change, inode)
    return found


def listing_of(path: bytes, mode: int, state: int, items: list[tuple[bytes, Item]]) -> Listing:
    """The listing of a folder from its names in order, the reverse of `listed`."""
    return Listing(
        path=path,
        mode=mode,
        state=state,
        names=[name for name, _ in items],
        kinds=bytes(item.kind for _, item in items),
        modes=[item.mode for _, item in items],
        sizes=[item.size for _, item in items],
        times=[item.time for _, item in items],
        changes=[item.change for _, item in items],
        inodes=[item.inode for _, item in items],
        targets=[item.mark for _, item in items if item.kind == LINK],
        digests=msgspec.msgpack.Ext(DIGESTS, b"".join(item.mark for _, item in items if item.kind == FILE)),
    )


def encode(header: Header, listings: Sequence[Listing | msgspec.Raw]) -> bytes:
    """A tree as bytes."""
    return msgspec.msgpack.encode([header, *listings])


class Tree:
    """A tree read from its bytes, folder by folder as they are asked for. UserError when they make no sense."""

    __slots__ = ("_absent", "_items", "_listings", "_raw", "header")

    def __init__(self, data: bytes) -> None:
        try:
            parts = msgspec.msgpack.decode(data, type=list[msgspec.Raw])
            self.header = msgspec.msgpack.decode(parts[0], type=Header)
            if self.header.version != VERSION:
                raise UserError("checkpoints.newer_tree", found=self.header.version, known=VERSION)
            self._raw = {msgspec.msgpack.decode(part, type=_Named).path: part for part in parts[1:]}
        except (msgspec.DecodeError, IndexError) as error:
            raise UserError("checkpoints.bad_tree", reason=error) from None
        self._absent = frozenset(self.header.absent)
        self._listings: dict[bytes, Listing] = {}
        self._items: dict[bytes, dict[bytes, Item]] = {}

    @property
    def folders(self) -> dict[bytes, msgspec.Raw]:
        """Each folder's path, with its listing as it is written."""
        return self._raw

    def listing(self, folder: bytes) -> Listing | None:
        """The listing of a folder; None when it is not in the tree."""
        found = self._listings.get(folder)
        if found is None and (raw := self._raw.get(folder)) is not None:
            try:
                found = self._listings[folder] = msgspec.msgpack.decode(raw, type=Listing)
            except msgspec.DecodeError as error:
                raise UserError("checkpoints.bad_tree", reason=error) from None
        return found

    def is_at(self, folder: bytes, mode: int, state: int) -> bool:
        """Whether a folder is in the tree with this mode and state."""
        found = self.listing(folder)
        return found is not None and (found.mode, found.state) == (mode, state)

    def items(self, folder: bytes) -> dict[bytes, Item]:
        """The names in a folder, folders left out; none when the folder is not in the tree."""
        found = self._items.get(folder)
        if found is None:
            listing = self.listing(folder)
            try:
                found = self._items[folder] = listed(listing) if listing is not None else {}
            except (ValueError, StopIteration) as error:
                raise UserError("checkpoints.bad_tree", reason=error) from None
        return found

    def item(self, path: bytes) -> Item | None:
        """What is at a path: a name, a folder, or ABSENT where it is known that nothing was; None when not told."""
        listing = self.listing(path)
        if listing is not None:
            return Item(FOLDER, listing.mode, 0, b"")
        folder, _, name = path.rpartition(b"/")
        return self.items(folder).get(name) or (_NOTHING if path in self._absent else None)

    def knows(self, path: bytes) -> bool:
        """Whether the tree tells for sure what is, or that nothing is, at a path."""
        found = self.item(path)
        if found is not None:
            return found.kind in (FILE, LINK, FOLDER, ABSENT)
        folder = path
        while folder:
            folder = folder.rpartition(b"/")[0]
            listing = self.listing(folder)
            if listing is not None:
                return listing.state == WHOLE and not self.header.narrow
            found = self.item(folder)
            if found is not None:
                return found.kind in (FILE, LINK, ABSENT)
        return False

    def paths(self) -> Iterator[tuple[bytes, Item]]:
        """Everything in the tree but its top, folders before what is in them."""
        for folder in self._raw:
            if folder:
                listing = self.listing(folder)
                if listing is not None:
                    yield folder, Item(FOLDER, listing.mode, 0, b"")
            for name, item in self.items(folder).items():
                yield inside(folder, name), item


class _Named(Base, frozen=True, array_like=True):
    path: bytes


_NOTHING = Item(ABSENT, 0, 0, b"")


def inside(folder: bytes, name: bytes) -> bytes:
    """The path of a name in a folder; the top is b""."""
    return folder + b"/" + name if folder else name


def to_bytes(path: str) -> bytes:
    """A path relative to the top as trees hold it."""
    return os.fsencode(path.replace(os.sep, "/") if os.sep != "/" else path)


def to_text(path: bytes) -> str:
    """A path as people and callers see it: relative to the top, with forward slashes."""
    return path.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
