"""The language server protocol on the wire: frames, positions in text, and names of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import quote, unquote, urlsplit

import msgspec

Unit: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
MAX_BODY = 64 * 1024 * 1024
_MAX_NOISE = 256 * 1024
_HEADER = rb"(?i)content-length *: *(\d{1,12}) *\r?\n"
_ENDS = r"\r\n|\n|\r"


class BadFrame(Exception):
    """What came is not the protocol, or too large."""


class Framer:
    """Cuts what a server writes into messages.

    Lines that are no header (some servers print) are skipped up to a bound; a body that is no JSON object is dropped.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._need = -1
        self._noise = 0

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The messages that are whole now. BadFrame when this is no server."""
        self._data += data
        while True:
            if self._need < 0 and not self._header():
                return
            if len(self._data) < self._need:
                return
            body = bytes(self._data[: self._need])
            del self._data[: self._need]
            self._need = -1
            try:
                message = msgspec.json.decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError):
                self._noisy(len(body) or 1)
                continue
            if isinstance(message, dict):
                yield cast("dict[str, Any]", message)

    def _header(self) -> bool:
        """Take a whole header, and the noise before it, from what has come."""
        match = re.search(_HEADER, self._data)
        if match is None:
            if len(self._data) > 8192:  # a header is short: what lies before it can be none
                self._noisy(len(self._data) - 4096)
                del self._data[:-4096]
            return False
        end = re.search(rb"\r?\n\r?\n", self._data[match.start() : match.end() + 4096])
        if end is None:
            if len(self._data) - match.start() > 4096:
                raise BadFrame("a header without an end")
            return False
        if match.start():
            self._noisy(match.start())
        self._need = int(match[1])
        if self._need > MAX_BODY:
            raise BadFrame(f"a message of {self._need:,} bytes")
        del self._data[: match.start() + end.end()]
        return True

    def _noisy(self, size: int) -> None:
        self._noise += size
        if self._noise > _MAX_NOISE:
            raise BadFrame("it writes what is not the protocol")


def frame(message: dict[str, Any]) -> bytes:
    """A message as it is sent."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def lines_of(text: str) -> list[str]:
    """The lines of a text, ended as the protocol ends them."""
    return re.split(_ENDS, text)


def to_units(line: str, column: int, unit: Unit) -> int:
    """A column of characters in the units of a server."""
    return _length(line[:column], unit)


def from_units(line: str, units: int, unit: Unit) -> int:
    """A column of a server in characters; one in the middle of a character means its begin."""
    if unit == "utf-32" or line.isascii():
        return min(units, len(line))
    passed = 0
    for at, character in enumerate(line):
        passed += _length(character, unit)
        if passed > units:
            return at
    return len(line)


def _length(text: str, unit: Unit) -> int:
    if unit == "utf-32" or text.isascii():
        return len(text)
    if unit == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(1 for c in text if c > "\uffff")


def to_uri(path: Path) -> str:
    """The address of a file."""
    text = path.as_posix()
    if not text.startswith("/"):
        text = f"/{text}"  # a drive of Windows
    return f"file://{quote(os.fsencode(text), safe='/:')}"


def from_uri(uri: str) -> Path | None:
    """The file of an address, None when it is another one."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or "\0" in unquote(parts.path):
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if os.name == "nt":
        path = path.removeprefix("/")
    return Path(path) if path else None
