"""Checkpoints on disk: trees, and the contents of files by their digest, in one SQLite file of its own."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.store.contents_file import check_room, connect, explain, vacuum_file

When: TypeAlias = Literal["before", "after", "restore"]
_DIGESTS = 1  # the type of extension values in a tree that hold digests, joined
_DIGEST = 20
_MANY = 500
_COLUMNS = "id, session, root, turn, kind, at, files, changed, bytes"
_SAVE = """
INSERT INTO checkpoint (id, session, root, turn, kind, at, files, changed, bytes, tree)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET session = excluded.session, root = excluded.root, turn = excluded.turn,
    kind = excluded.kind, at = excluded.at, files = excluded.files, changed = excluded.changed, bytes = excluded.bytes,
    tree = excluded.tree
"""
_WORTH = 64


class CheckpointRow(Base, frozen=True):
    """One checkpoint. `at` is in seconds since 1970, `bytes` were stored anew for it."""

    id: str
    session: str
    root: str
    turn: str = ""
    when: When = "before"
    at: float = 0.0
    files: int = 0
    changed: int = 0
    bytes: int = 0


class Contents:
    """The open store. Threads may share it, other processes may have the same file open.

    Every method raises UserError for what a person can put right, as `Database` does; what fails leaves nothing.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Use `open`."""
        self.path: Final = path
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: Path) -> Contents:
        """Open the store at `path`, made when missing. Its folder must exist."""
        return cls(path, connect(path))

    # --- contents ---------------------------------------------------------------------------------------------------

    def missing(self, digests: Collection[bytes]) -> set[bytes]:
        """Those of `digests` whose contents are not there."""
        left = set(digests)
        ordered = list(left)
        for start in range(0, len(ordered), _MANY):
            some = ordered[start : start + _MANY]
            marks = ",".join("?" * len(some))
            rows = self._read(f"SELECT digest FROM content WHERE digest IN ({marks})", tuple(some))  # noqa: S608
            left.difference_update(row[0] for row in rows)
        return left

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> int:
        """Keep contents by their digest; the bytes that were stored anew."""
        rows = [(digest, len(data), *_packed(data)) for digest, data in items]
        check_room(self.path, sum(len(row[3]) for row in rows))
        stored = 0
        with self._write() as connection:
            for row in rows:
                done = connection.execute(
                    "INSERT OR IGNORE INTO content (digest, size, packed, data) VALUES (?, ?, ?, ?)", row
                )
                stored += len(row[3]) if done.rowcount > 0 else 0
        return stored

    def get(self, digest: bytes) -> bytes:
        """The content of a digest. UserError when it is not there or no longer whole."""
        rows = self._read("SELECT size, packed, data FROM content WHERE digest = ?", (digest,))
        if not rows:
            raise UserError("checkpoints.content_gone", path=self.path, digest=digest.hex())
        size, packed, data = rows[0]
        return _unpacked(data, size, self.path) if packed else bytes(data)

    # --- checkpoints ------------------------------------------------------------------------------------------------

    def save(self, row: CheckpointRow, tree: bytes) -> None:
        """Keep a checkpoint; one of the same id is replaced.

        UserError `checkpoints.swept` when contents that it names were deleted meanwhile by `forget`: take it again
        with no known tree.
        """
        check_room(self.path, len(tree))
        parts = [bytes(part) for part in msgspec.msgpack.decode(tree, type=list[msgspec.Raw])]
        with self._write() as connection:
            numbers = [self._part(connection, part) for part in parts]
            values = (
                row.id, row.session, os.fsencode(row.root), row.turn, row.when, row.at, row.files, row.changed,
                row.bytes, msgspec.msgpack.encode(numbers),
            )  # fmt: skip
            connection.execute(_SAVE, values)

    def rows(self, *, session: str = "", root: str = "", limit: int = 1000) -> list[CheckpointRow]:
        """The newest `limit` checkpoints, newest first; of one session and of one root, where they are given."""
        where, values = _where(session=session, root=root)
        rows = self._read(f"SELECT {_COLUMNS} FROM checkpoint{where} ORDER BY number DESC LIMIT ?", (*values, limit))  # noqa: S608
        return [_row(row) for row in rows]

    def row(self, id: str) -> CheckpointRow:
        """One checkpoint by its id or by a part of it that no other has. UserError when there is none, or several."""
        exact = self._read(f"SELECT {_COLUMNS} FROM checkpoint WHERE id = ?", (id,))  # noqa: S608
        if exact:
            return _row(exact[0])
        like = id.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        found = self._read(
            f"SELECT {_COLUMNS} FROM checkpoint WHERE id LIKE ? ESCAPE '\\' ORDER BY number DESC LIMIT 4",  # noqa: S608
            (f"%{like}%",),
        )
        if not found or not id:
            raise UserError("checkpoints.unknown", id=id)
        if len(found) > 1:
            raise UserError("checkpoints.ambiguous", id=id, near=", ".join(str(row[0]) for row in found))
        return _row(found[0])

    def tree(self, id: str) -> bytes:
        """The tree of a checkpoint by its whole id, as it was saved."""
        rows = self._read("SELECT tree FROM checkpoint WHERE id = ?", (id,))
        if not rows:
            raise UserError("checkpoints.unknown", id=id)
        return self._joined(rows[0][0])

    def latest_tree(self, root: str) -> bytes | None:
        """The newest tree of a root in any session; None when there is none that can be read."""
        rows = self._read(
            "SELECT tree FROM checkpoint WHERE root = ? ORDER BY number DESC LIMIT 1", (os.fsencode(root),)
        )
        try:
            return self._joined(rows[0][0]) if rows else None
        except UserError:  # it only saves time: without it every file is read
            return None

    # --- deletion ---------------------------------------------------------------------------------------------------

    def forget(self, *, session: str = "", before: float = 0.0) -> int:
        """Delete the checkpoints of a session, or those older than `before` (seconds since 1970), or both together.

        Contents that nothing names any more go with them. The number of checkpoints that were deleted; neither given
        deletes none.
        """
        if not session and before <= 0:
            return 0
        where, values = _where(session=session)
        if before > 0:
            where, values = (f"{where} AND at < ?" if where else " WHERE at < ?"), (*values, before)
        with self._write() as connection:
            gone = connection.execute(f"DELETE FROM checkpoint{where}", values).rowcount  # noqa: S608
        if gone:
            self.sweep()
        return gone

    def drop(self, id: str) -> None:
        """Delete one checkpoint; contents that nothing names any more stay until the next `sweep`."""
        with self._write() as connection:
            connection.execute("DELETE FROM checkpoint WHERE id = ?", (id,))

    def sweep(self) -> int:
        """Delete the contents that no checkpoint names; how many."""
        with self._write() as connection:
            parts: set[int] = set()
            for (numbers,) in connection.execute("SELECT DISTINCT tree FROM checkpoint"):
                parts.update(_numbers(numbers))
            dead = [(n,) for (n,) in connection.execute("SELECT id FROM part") if n not in parts]
            connection.executemany("DELETE FROM part WHERE id = ?", dead)
            named: set[bytes] = set()
            for (data,) in connection.execute("SELECT data FROM part"):
                named.update(_digests(data))
            rows = connection.execute("SELECT number, digest FROM content")
            unnamed = [(number,) for number, digest in rows if digest not in named]
            connection.executemany("DELETE FROM content WHERE number = ?", unnamed)
        return len(unnamed)

    def vacuum(self) -> None:
        """Give the space of what was deleted back to the disk."""
        vacuum_file(self.path)

    def size(self) -> int:
        """Bytes on disk, the log included."""
        found = 0
        for name in (str(self.path), f"{self.path}-wal"):
            try:
                found += os.stat(name).st_size  # noqa: PTH116
            except OSError:
                continue
        return found

    def close(self) -> None:
        """Close it; closing twice is no error."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- inside -----------------------------------------------------------------------------------------------------

    def _part(self, connection: sqlite3.Connection, data: bytes) -> int:
        """The number of one part of a tree, kept once however many trees have it."""
        digest = _fingerprint(data)
        found = connection.execute("SELECT id FROM part WHERE digest = ?", (digest,)).fetchone()
        if found:
            return int(found[0])
        for named in _digests(data):
            if not connection.execute("SELECT 1 FROM content WHERE digest = ?", (named,)).fetchone():
                raise UserError("checkpoints.swept", path=self.path)
        done = connection.execute("INSERT INTO part (digest, data) VALUES (?, ?)", (digest, data))
        return int(done.lastrowid or 0)

    def _joined(self, numbers: bytes) -> bytes:
        ids = _numbers(numbers)
        found: dict[int, bytes] = {}
        for start in range(0, len(ids), _MANY):
            some = ids[start : start + _MANY]
            marks = ",".join("?" * len(some))
            found.update(self._read(f"SELECT id, data FROM part WHERE id IN ({marks})", tuple(some)))  # noqa: S608
        if any(number not in found for number in ids):
            raise UserError("checkpoints.tree_gone", path=self.path)
        return msgspec.msgpack.encode([msgspec.Raw(found[number]) for number in ids])

    def _read(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise explain(error, self.path) from error

    def _write(self) -> _Writing:
        return _Writing(self._lock, self._connection, self.path)


class _Writing:
    """A transaction that has the one writer's place from its start, and the connection for this thread alone."""

    def __init__(self, lock: threading.RLock, connection: sqlite3.Connection, path: Path) -> None:
        self._lock, self._connection, self._path = lock, connection, path

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            self._lock.release()
            raise explain(error, self._path) from error
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        failure = error
        try:
            if failure is None:
                try:
                    self._connection.execute("COMMIT")
                except sqlite3.Error as problem:
                    failure = problem
            if failure is not None and self._connection.in_transaction:
                self._connection.rollback()
        finally:
            self._lock.release()
        if isinstance(failure, sqlite3.Error):
            raise explain(failure, self._path) from failure


def _where(*, session: str = "", root: str = "") -> tuple[str, tuple[Any, ...]]:
    wanted: list[tuple[str, Any]] = []
    if session:
        wanted.append(("session = ?", session))
    if root:
        wanted.append(("root = ?", os.fsencode(root)))
    text = " AND ".join(clause for clause, _ in wanted)
    return (f" WHERE {text}" if text else ""), tuple(value for _, value in wanted)


def _row(row: tuple[Any, ...]) -> CheckpointRow:
    return CheckpointRow(
        id=row[0], session=row[1], root=os.fsdecode(row[2]), turn=row[3], when=row[4], at=row[5], files=row[6],
        changed=row[7], bytes=row[8],
    )  # fmt: skip


def _numbers(data: bytes) -> list[int]:
    return msgspec.msgpack.decode(data, type=list[int])


def _digests(part: bytes) -> Iterator[bytes]:
    """The digests that one part of a tree names."""
    for value in cast("list[Any]", msgspec.msgpack.decode(part)):
        if isinstance(value, msgspec.msgpack.Ext) and value.code == _DIGESTS:
            data = bytes(value.data)
            for at in range(0, len(data), _DIGEST):
                yield data[at : at + _DIGEST]


def _fingerprint(data: bytes) -> bytes:
    from hashlib import blake2b  # loads OpenSSL; a run that keeps no files can do without

    return blake2b(data, digest_size=_DIGEST).digest()


def _packed(data: bytes) -> tuple[int, bytes]:
    """Whether the content was compressed, and what to store: as it is where compressing does not pay."""
    if len(data) < _WORTH:
        return 0, data
    import zlib  # see `_fingerprint`

    small = zlib.compress(data, 1)
    return (1, small) if len(small) < len(data) * 0.9 else (0, data)


def _unpacked(data: bytes, size: int, path: Path) -> bytes:
    import zlib  # see `_fingerprint`

    try:
        found = zlib.decompress(data, bufsize=max(size, 1))
    except zlib.error as error:
        raise UserError("checkpoints.damaged", path=path, reason=error) from None
    return found
