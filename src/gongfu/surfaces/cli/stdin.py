"""Text from standard input: the task itself, or something that is added to it."""

from __future__ import annotations

import os
import stat
from typing import TextIO

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli

PATIENCE = 3.0


def piped_text(cli: Cli, *, optional: bool) -> str:
    """What is piped into the program, or "" when standard input is a terminal, closed or empty.

    With `optional` (a task was given already) an open pipe that says nothing for three seconds is left alone, with a
    note: it may be one that nobody will ever write to or close. Raises UsageError for what is no text.
    """
    stream = cli.stdin
    if stream is None or stream.closed or _is_terminal(stream):
        return ""
    try:
        data = _read_patiently(cli, stream) if optional and _may_stay_silent(stream) else _read(stream)
    except OSError as error:
        raise UsageError("cli.stdin_unreadable", reason=error.strerror or error) from error
    return decode(data)


def decode(data: bytes) -> str:
    """UTF-8, else UTF-16 with a mark, else the likeliest encoding. Raises UsageError for binary data."""
    for encoding in ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            break
        if "\0" in text:
            raise UsageError("cli.stdin_binary")
        return text
    if b"\0" in data[:8192]:
        raise UsageError("cli.stdin_binary")
    from charset_normalizer import from_bytes  # rare: text in an old encoding

    best = from_bytes(data).best()
    if best is None:
        raise UsageError("cli.stdin_binary")
    return str(best)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return True


def _may_stay_silent(stream: TextIO) -> bool:
    """Whether reading could wait for ever: pipes and sockets, but neither files nor the null device."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _read(stream: TextIO) -> bytes:
    buffer = getattr(stream, "buffer", None)
    return stream.read().encode("utf-8", "surrogateescape") if buffer is None else buffer.read()


def _read_patiently(cli: Cli, stream: TextIO) -> bytes:
    from threading import Thread  # a pipe cannot be waited for with a limit in a way that Windows knows too

    first: list[bytes | OSError] = []

    def read() -> None:
        try:
            first.append(os.read(stream.fileno(), 65536))
        except OSError as error:
            first.append(error)

    reader = Thread(target=read, daemon=True)
    reader.start()
    reader.join(PATIENCE)
    if not first:
        cli.note(cli.say("stdin_silent", seconds=int(PATIENCE)))
        return b""
    chunk = first[0]
    if isinstance(chunk, OSError):
        raise chunk
    chunks = [chunk]
    while chunks[-1]:
        chunks.append(os.read(stream.fileno(), 1 << 20))
    return b"".join(chunks)
