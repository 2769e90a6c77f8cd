"""What goes in and comes out of checkpoints, and the store that they work over."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from gongfu.core.base import Base


class Store(Protocol):
    """Where contents are kept by their digest, see `gongfu.store.contents.Contents`."""

    def missing(self, digests: Collection[bytes]) -> set[bytes]:
        """Those of `digests` whose contents are not there."""
        ...

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> int:
        """Keep contents by their digest; the bytes that were stored anew."""
        ...

    def get(self, digest: bytes) -> bytes:
        """The content of a digest. UserError when it is not there."""
        ...


class Limits(Base, frozen=True):
    """How much is kept: `files` and `total` bytes in all, `file` bytes of one, `ignored` of one that is ignored."""

    files: int = 100_000
    total: int = 2 << 30
    file: int = 50 << 20
    ignored: int = 10 << 20


class Taken(Base, frozen=True):
    """A tree of the files as they are. `files` are in it, `changed` differ from the known tree, `stored` bytes are new.

    `uncovered` names what is not kept (too large, unreadable, no regular file) and is new or changed since the known
    tree. `narrow` tells that the folder is too large: only what the file tools touched is kept.
    """

    tree: bytes
    files: int = 0
    changed: int = 0
    stored: int = 0
    uncovered: tuple[str, ...] = ()
    narrow: bool = False


class Changes(Base, frozen=True):
    """How two trees differ, by paths relative to the root with forward slashes.

    Folders end in "/". `uncovered` changed and cannot be restored: too large, unreadable, no regular file, a `.git`
    that is gone. `ignored` are the ignored files and folders that were seen to change.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All that restoring would touch, in order."""
        return tuple(sorted((*self.added, *self.removed, *self.changed)))


class Restored(Base, frozen=True):
    """What was given back. `paths` are those that were `written` or `deleted`.

    `kept` were left since they are not (any more) as the tree of now has them, or are not covered; `failed` tells path
    and reason of what could not be done: all the rest is done, and restoring again goes on from there. `unlinked` had
    other names (hard links), which still have the old content.
    """

    written: int = 0
    deleted: int = 0
    paths: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    unlinked: tuple[str, ...] = ()
