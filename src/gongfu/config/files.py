"""Settings files as bytes: read with a clear error, written whole or not at all and for the user's eyes only."""

from __future__ import annotations

import os
from pathlib import Path

from gongfu.core.errors import ConfigError, UserError

_BOM = "\ufeff"


def read_text(path: Path) -> str | None:
    """The text of a settings file without its byte order mark; None when there is no such file.

    Raises ConfigError for a file that cannot be read or holds something else than UTF-8.
    """
    data = read_bytes(path)
    if data is None:
        return None
    try:
        return data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise ConfigError("config.not_utf8", file=path, line=line, column=column) from error


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a settings file; None when there is none. Raises ConfigError when it cannot be read."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError("config.unreadable", file=path, reason=error.strerror or error) from error


def write_private(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace the file at `path` at once by `data`, mode 0600. Raises UserError; then the old file is as it was.

    A link is followed, so that a settings file kept elsewhere stays there. `durable` waits for the disk.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        fresh.replace(target)
    except OSError as error:
        _forget(fresh)
        raise UserError("config.not_written", file=path, reason=error.strerror or error) from error


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
