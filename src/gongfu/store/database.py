"""One SQLite database: opened, migrated, written in transactions, checkpointed beside the loop."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from gongfu.core.errors import UserError

SCHEMA: Final = 6
"""The newest migration that this version knows."""

APPLICATION: Final = 0x476F6E67
"""Marks the file as Gongfu's (`PRAGMA application_id`, "Gong")."""

WAL_LIMIT: Final = 4 << 20
"""Bytes of write-ahead log from which `Database.checkpoint` has something to do."""
_SLICE: Final = 0.1  # seconds


class Database:
    """An open store. It belongs to the thread that opened it; other processes may have the same file open.

    Every method raises UserError for what a person can put right: a store that is locked for longer than the
    time-out, damaged, newer than this version, on a full or a read-only disk. A transaction that fails leaves nothing.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, busy_seconds: float) -> None:
        """Use `open`; this only holds what it made."""
        self.path: Final = path
        self.connection: Final = connection
        self.busy_seconds: Final = busy_seconds
        self._write = Transaction(self)
        self._checkpointing = False

    @classmethod
    def open(cls, path: Path, *, busy_seconds: float = 10) -> Database:
        """Open the store at `path`, made when missing and brought to the newest schema.

        Waits at most `busy_seconds` for other processes, here and in every later transaction. Its folder must exist.
        """
        connection: sqlite3.Connection | None = None
        try:
            connection = _connect(path, busy_seconds)
            version = pragma_number(connection, "user_version")
            if version < SCHEMA:
                _prepare(connection, path, busy_seconds)
            else:
                _check_version(connection, path, version)
            # Readable at all? The first page of the file may be whole and the schema not.
            connection.execute("SELECT number FROM session LIMIT 1").fetchone()
        except (sqlite3.Error, UserError) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, UserError):
                raise
            raise explain(error, path, busy_seconds) from error
        connection.execute(f"PRAGMA busy_timeout={int(min(busy_seconds, _SLICE) * 1000)}")
        return cls(path, connection, busy_seconds)

    def write(self) -> Transaction:
        """A transaction as a context manager that gives the connection; committed at its end, else rolled back."""
        return self._write

    def execute(self, sql: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        """Run one statement that gives no rows, in a transaction of its own: it is committed when this returns."""
        try:
            return self.connection.execute(sql, values)
        except sqlite3.Error as error:
            return self._again(sql, values, error)

    def _again(self, sql: str, values: tuple[Any, ...], error: sqlite3.Error) -> sqlite3.Cursor:
        """Wait on for the other process, in slices: between them Python hears signals, which SQLite does not."""
        deadline = time.monotonic() + self.busy_seconds - _SLICE
        while getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY and time.monotonic() < deadline:
            try:
                return self.connection.execute(sql, values)
            except sqlite3.Error as next_one:
                error = next_one
        raise explain(error, self.path, self.busy_seconds) from error

    def read(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of one query."""
        cursor = self.execute(sql, values)
        try:
            return cursor.fetchall()
        except sqlite3.Error as error:
            raise explain(error, self.path, self.busy_seconds) from error

    @property
    def wal_bytes(self) -> int:
        """Size of the write-ahead log; 0 when there is none."""
        try:
            return os.stat(f"{self.path}-wal").st_size  # noqa: PTH116 - no Path is made where this is asked often
        except OSError:
            return 0

    async def checkpoint(self, *, over: int = WAL_LIMIT) -> bool:
        """Bring the log into the database in a thread when it has more than `over` bytes; True when that was done.

        Appending goes on meanwhile. What another process holds up is left for the next time.
        """
        if self._checkpointing or self.wal_bytes <= over:
            return False
        from anyio import to_thread  # not at import: a one-shot run rarely comes here

        self._checkpointing = True
        try:
            await to_thread.run_sync(checkpoint, self.path)
        except sqlite3.Error as error:
            raise explain(error, self.path, self.busy_seconds) from error
        finally:
            self._checkpointing = False
        return True

    async def vacuum(self) -> None:
        """Give the space of deleted rows back to the disk, in a thread."""
        from anyio import to_thread  # see `checkpoint`

        try:
            await to_thread.run_sync(_vacuum, self.path, self.busy_seconds)
        except sqlite3.Error as error:
            raise explain(error, self.path, self.busy_seconds) from error

    def close(self) -> None:
        """Close it; closing twice is no error."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Transaction:
    """`with database.write() as connection:` holds the one writer's place from the start to the end of the block."""

    __slots__ = ("_connection", "_database")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection

    def __enter__(self) -> sqlite3.Connection:
        self._database.execute("BEGIN IMMEDIATE", ())
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        failure = error
        if error is None:
            try:
                self._connection.execute("COMMIT")
            except sqlite3.Error as problem:
                failure = problem
        if failure is None:
            return
        if self._connection.in_transaction:  # a full disk may have rolled it back already
            self._connection.rollback()
        if isinstance(failure, sqlite3.Error):
            raise explain(failure, self._database.path, self._database.busy_seconds) from failure


def explain(error: sqlite3.Error, path: Path, busy_seconds: float) -> Exception:
    """The UserError for what a person can put right; anything else (a bug) comes back as it is."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return UserError("store.busy", path=path, seconds=f"{busy_seconds:g}")
    if code == sqlite3.SQLITE_FULL:
        return UserError("store.full", path=path)
    if code == sqlite3.SQLITE_IOERR:
        return UserError("store.full" if _disk_full(path) else "store.io", path=path, reason=error)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return UserError("store.full" if _disk_full(path) else "store.not_writable", path=path, reason=error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return UserError("store.damaged", path=path, reason=error)
    return error


def _disk_full(path: Path) -> bool:
    """Whether the disk of `path` has no room for the few pages that opening a store needs."""
    import shutil  # only when something has already failed

    try:
        return shutil.disk_usage(path.parent).free < 1 << 16
    except OSError:
        return False


def _connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        # NORMAL suffices for `kill -9`: a commit has reached the operating system, which outlives the process.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def pragma_number(connection: sqlite3.Connection, pragma: str) -> int:
    """The value of a pragma that is a whole number."""
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _check_version(connection: sqlite3.Connection, path: Path, version: int) -> None:
    if pragma_number(connection, "application_id") != APPLICATION:
        raise UserError("store.foreign", path=path)
    if version > SCHEMA:
        raise UserError("store.newer", path=path, found=version, known=SCHEMA)


def _prepare(connection: sqlite3.Connection, path: Path, busy_seconds: float) -> None:
    """Bring an empty or older store to `SCHEMA`; of many processes one does it, the others wait and find it done."""
    enter_wal(connection, busy_seconds)
    os.chmod(path, 0o600)  # noqa: PTH101 - what was said in a session is nobody else's business
    connection.execute("BEGIN EXCLUSIVE")
    try:
        version = pragma_number(connection, "user_version")
        tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        if tables or version:
            _check_version(connection, path, version)
        for number, script in _migrations(after=version):
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={number}")
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def enter_wal(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Switch to the write-ahead log. SQLite does not wait by itself for others that do the same: so wait here."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _migrations(*, after: int) -> Iterator[tuple[int, str]]:
    """The scripts that come after schema number `after`, in order."""
    folder = Path(__file__).with_name("migrations")
    for file in sorted(folder.glob("*.sql")):
        number = int(file.name[:4])
        if after < number <= SCHEMA:
            yield number, file.read_text(encoding="utf-8")


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would commit between them."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def checkpoint(path: Path) -> None:
    """Move the log of the store at `path` into the database; for a thread of its own.

    The bulk goes while others write; then, if nobody is in the way at that moment, the log is cut to nothing.
    """
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
    finally:
        connection.close()


def _vacuum(path: Path, busy_seconds: float) -> None:
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        connection.execute("VACUUM")
    finally:
        connection.close()
    checkpoint(path)
