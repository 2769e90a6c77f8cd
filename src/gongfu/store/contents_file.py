"""The SQLite file of the checkpoints: opened, made, and what goes wrong with it in words."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from gongfu.core.errors import UserError
from gongfu.store import database
from gongfu.store.database import enter_wal, pragma_number

_SCHEMA = 1
_APPLICATION = 0x476F6E63
_BUSY_SECONDS = 20.0
_RESERVE = 256 << 10  # bytes
_OWN = {"store.damaged": "checkpoints.damaged", "store.foreign": "checkpoints.foreign"}
_TABLES = """
CREATE TABLE content (
    number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, packed INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE part (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE checkpoint (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, root BLOB NOT NULL,
    turn TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, files INTEGER NOT NULL, changed INTEGER NOT NULL,
    bytes INTEGER NOT NULL, tree BLOB NOT NULL
);
CREATE INDEX checkpoint_root ON checkpoint (root, number);
CREATE INDEX checkpoint_session ON checkpoint (session, number);
"""


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the file at `path`, which is made when missing, readable by its owner only."""
    connection: sqlite3.Connection | None = None
    try:
        if not os.path.lexists(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous=NORMAL")
        version = pragma_number(connection, "user_version")
        if version != _SCHEMA:
            _prepare(connection, path)
        connection.execute("SELECT number FROM checkpoint LIMIT 1").fetchone()
    except OSError as error:
        raise UserError("store.not_writable", path=path, reason=error.strerror) from None
    except (sqlite3.Error, UserError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, UserError):
            raise
        raise explain(error, path) from error
    return connection


def check_room(path: Path, size: int) -> None:
    """UserError when `size` more bytes would take the last room on the disk, which others need to go on: the log of
    SQLite has them, too, and it does not shrink where there is none."""
    if not hasattr(os, "statvfs"):
        return
    try:
        disk = os.statvfs(path.parent)
    except OSError:  # writing will tell
        return
    if disk.f_blocks and disk.f_bavail * disk.f_frsize < 2 * size + _RESERVE:
        raise UserError("store.full", path=path)


def explain(error: sqlite3.Error, path: Path) -> Exception:
    """The UserError for what a person can put right; anything else comes back as it is."""
    found = database.explain(error, path, _BUSY_SECONDS)
    if isinstance(found, UserError) and found.key in _OWN:
        return UserError(_OWN[found.key], path=path, reason=error)
    return found


def vacuum_file(path: Path) -> None:
    """Give the space of what was deleted back to the disk."""
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise explain(error, path) from error
    finally:
        if connection is not None:
            connection.close()


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of an empty file; of many processes one does it, the others wait and find it done."""
    enter_wal(connection, _BUSY_SECONDS)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        version = pragma_number(connection, "user_version")
        if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={_APPLICATION}")
            connection.execute(f"PRAGMA user_version={_SCHEMA}")
        elif pragma_number(connection, "application_id") != _APPLICATION:
            raise UserError("checkpoints.foreign", path=path)
        elif version > _SCHEMA:
            raise UserError("store.newer", path=path, found=version, known=_SCHEMA)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise
