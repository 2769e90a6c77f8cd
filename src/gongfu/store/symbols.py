"""What was found in source files, by the digest of their content: one SQLite file a workspace, made anew when damaged.

It only saves work: whatever goes wrong with it is never an error of the caller, and nothing in it is trusted unread.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from gongfu.core.base import Base
from gongfu.store.database import enter_wal, pragma_number

_SCHEMA: Final = 1
_APPLICATION: Final = 0x476F6E73
_BUSY_SECONDS: Final = 5.0
_SPARE: Final = 3_000
"""Contents kept that no file has now: of branches that were switched away from."""
_DAYS: Final = 30
_MOST_BYTES: Final = 1 << 30
_TABLES: Final = (
    "CREATE TABLE content (digest BLOB PRIMARY KEY, crc INTEGER NOT NULL, data BLOB NOT NULL)",
    (
        "CREATE TABLE file (path BLOB PRIMARY KEY, digest BLOB NOT NULL, size INTEGER NOT NULL,"
        " modified INTEGER NOT NULL, changed INTEGER NOT NULL, number BLOB NOT NULL) WITHOUT ROWID"
    ),
    "CREATE INDEX file_digest ON file (digest)",
)
_TROUBLE = (sqlite3.Error, OSError)


class FileRow(Base, frozen=True):
    """A file as it was when it was read: `digest` of its content, and what the system said of it."""

    path: str
    digest: bytes
    size: int
    modified: int
    changed: int
    number: int


class SymbolStore:
    """The open store. Threads may share it, other processes may have the same file open.

    Where nothing can be stored (a full or read-only disk) it goes on without: what is put is dropped.
    """

    def __init__(self, path: Path) -> None:
        """Open the store at `path`, made when missing; its folder must exist."""
        self.path: Final = path
        self._lock = threading.Lock()
        self._connection = self._open()

    def load(self) -> tuple[list[FileRow], dict[bytes, bytes]]:
        """All files, and the contents that they have; what is damaged is left out."""
        with self._lock:
            if self._connection is None:
                return [], {}
            try:
                rows = self._connection.execute("SELECT path, digest, size, modified, changed, number FROM file")
                files = [
                    FileRow(
                        path=os.fsdecode(p), digest=d, size=s, modified=m, changed=c, number=int.from_bytes(n, "big")
                    )
                    for p, d, s, m, c, n in rows
                ]
                contents = self._connection.execute(
                    "SELECT digest, crc, data FROM content WHERE digest IN (SELECT digest FROM file)"
                )
                return files, {d: data for d, crc, data in contents if zlib.crc32(data) == crc}
            except (*_TROUBLE, ValueError, TypeError):
                self._start_anew()
                return [], {}

    def get(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those of some contents that are there."""
        found: dict[bytes, bytes] = {}
        with self._lock:
            if self._connection is None:
                return found
            try:
                for digest in digests:
                    row = self._connection.execute(
                        "SELECT crc, data FROM content WHERE digest = ?", (digest,)
                    ).fetchone()
                    if row is not None and zlib.crc32(row[1]) == row[0]:
                        found[digest] = row[1]
            except (*_TROUBLE, TypeError):
                self._start_anew()
        return found

    def put(
        self, files: Iterable[FileRow], contents: Mapping[bytes, bytes], gone: Iterable[str], *, tidy: bool = False
    ) -> None:
        """Keep files and contents, and forget files that are gone; `tidy` also forgets contents of long ago.

        Waits for others at most some seconds.
        """
        rows = [
            (os.fsencode(f.path), f.digest, f.size, f.modified, f.changed, f.number.to_bytes(16, "big")) for f in files
        ]
        data = [(digest, zlib.crc32(one), one) for digest, one in contents.items()]
        with self._lock:
            if self._connection is None:
                return
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", data)
                self._connection.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?)", rows)
                self._connection.executemany("DELETE FROM file WHERE path = ?", [(os.fsencode(p),) for p in gone])
                if tidy:
                    self._connection.execute(
                        "DELETE FROM content WHERE rowid IN (SELECT rowid FROM content"
                        " WHERE digest NOT IN (SELECT digest FROM file) ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
                        (_SPARE,),
                    )
                self._connection.execute("COMMIT")
            except _TROUBLE as error:
                self._recover(error)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            if self._connection is not None:
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._connection.execute("DELETE FROM file")
                    self._connection.execute("DELETE FROM content")
                    self._connection.execute("COMMIT")
                except _TROUBLE as error:
                    self._recover(error)

    def size(self) -> int:
        """Bytes on disk, the log included."""
        return _size(self.path)

    def close(self) -> None:
        """Close it; closing twice is no error."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # --- inside -----------------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection | None:
        for again in (False, True):
            connection: sqlite3.Connection | None = None
            try:
                if not os.path.lexists(self.path):
                    os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
                connection = sqlite3.connect(
                    self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
                )
                _prepare(connection)
                return connection
            except (*_TROUBLE, ValueError) as error:
                if connection is not None:
                    connection.close()
                if again or not _is_damage(error):
                    return None
                _remove(self.path)
        return None

    def _recover(self, error: Exception) -> None:
        """After a failed transaction: roll back; what is damaged is made anew."""
        if self._connection is None:
            return
        with contextlib.suppress(*_TROUBLE):
            if self._connection.in_transaction:
                self._connection.rollback()
        if _is_damage(error):
            self._start_anew()

    def _start_anew(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(*_TROUBLE):
                self._connection.close()
        _remove(self.path)
        self._connection = self._open()


def store_path(folder: Path, root: Path) -> Path:
    """Where the store of the workspace at `root` lies in `folder`."""
    name = hashlib.blake2b(os.fsencode(root), digest_size=12).hexdigest()
    return folder / f"{name}.sqlite"


def forget_old(folder: Path, keep: Path, *, now: float | None = None) -> int:
    """Delete the stores of workspaces that were not opened for a month, and the oldest ones beyond a gigabyte in all;
    how many went. Opening one marks it as used: `keep` is marked and stays."""
    now = time.time() if now is None else now
    with contextlib.suppress(OSError):
        os.utime(keep, (now, now))
    found: list[tuple[float, Path]] = []
    try:
        found.extend((file.stat().st_mtime, file) for file in folder.glob("*.sqlite") if file != keep)
    except OSError:
        return 0
    total, gone = _size(keep), 0
    for used, file in sorted(found, reverse=True):
        total += _size(file)
        if now - used > _DAYS * 86_400 or total > _MOST_BYTES:
            _remove(file)
            gone += 1
    return gone


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")
    if pragma_number(connection, "user_version") != _SCHEMA:
        enter_wal(connection, _BUSY_SECONDS)
        connection.execute("BEGIN EXCLUSIVE")
        version = pragma_number(connection, "user_version")
        if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={_APPLICATION}")
            connection.execute(f"PRAGMA user_version={_SCHEMA}")
        connection.execute("COMMIT")
    if pragma_number(connection, "user_version") != _SCHEMA:
        raise ValueError("made by another version")
    if pragma_number(connection, "application_id") != _APPLICATION:
        raise ValueError("something else's file")
    connection.execute("SELECT digest FROM file LIMIT 1").fetchone()


def _is_damage(error: Exception) -> bool:
    """Whether a file is of no use any more, rather than busy or out of reach."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)
    return isinstance(error, ValueError)


def _remove(path: Path) -> None:
    for name in (str(path), f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108


def _size(path: Path) -> int:
    found = 0
    for name in (str(path), f"{path}-wal"):
        with contextlib.suppress(OSError):
            found += os.stat(name).st_size  # noqa: PTH116
    return found
