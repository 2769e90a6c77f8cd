"""What is known of a running server: a small file of mode 0600 that processes share."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from gongfu.core.base import Base

KEY_VARIABLE = "GONGFU_LOCAL_KEY"


class Record(Base, frozen=True):
    """A running server. `born` is the process's creation time (seconds since 1970), so that a reused pid is noticed."""

    pid: int
    born: float
    port: int
    key: str
    model: str

    @property
    def base_url(self) -> str:
        """Where it speaks the Chat Completions dialect."""
        return f"http://127.0.0.1:{self.port}/v1"


def read_record(path: Path) -> Record | None:
    """The record, or None when there is none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Write it whole or not at all, for the owner's eyes only."""
    fresh = path.with_name(f"{path.name}.{record.pid}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(record))
    fresh.replace(path)


def remove_record(path: Path, pid: int) -> None:
    """Remove the record if it is still the one of `pid`."""
    record = read_record(path)
    if record is not None and record.pid == pid:
        path.unlink(missing_ok=True)


def touch(path: Path) -> None:
    """Set a heartbeat: the server counts its idle time from here."""
    path.touch(mode=0o600)
