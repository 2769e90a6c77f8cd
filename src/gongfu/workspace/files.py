"""Text files, faithful to the byte: what an edit does not mean to change stays as it was."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.encodings import Encoding, detect
from gongfu.workspace.folder import open_folder
from gongfu.workspace.writing import StaleFile, digest, write_atomic

__all__ = [
    "MAX_TEXT", "NotText", "StaleFile", "TextFile", "as_text", "digest", "encode_span", "encode_whole", "open_regular",
    "read_bytes",
    "read_text_file", "with_spans", "write_atomic",
]  # fmt: skip

MAX_TEXT = 64 * 1024 * 1024
_NEWLINE = r"\r\n|\n|\r"
_MAGIC = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"), (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an office document"), (b"\x1f\x8b", "gzip data"), (b"\x7fELF", "a program"),
    (b"MZ", "a program"), (b"\xcf\xfa\xed\xfe", "a program"), (b"BZh", "bzip2 data"), (b"\xfd7zXZ", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"), (b"7z\xbc\xaf", "a 7z archive"), (b"SQLite format 3", "a SQLite database"),
    (b"RIFF", "a WebP image, sound or video"), (b"ID3", "sound"), (b"OggS", "sound or video"), (b"BM", "an image"),
    (b"\0asm", "WebAssembly"), (b"\xca\xfe\xba\xbe", "compiled code"), (b"wOF", "a font"), (b"\0\1\0\0", "a font"),
)  # fmt: skip


class NotText(ToolFailure):
    """The file is no text, or too large to be handled as one."""


class TextFile(Base, frozen=True):
    """A text file as it is on disk.

    `text` is what `raw` says in `encoding` without its mark, with its own line ends. `newline` is the most frequent of
    them ("" when there is none), `mixed` tells that there are others. `mode` are the permission bits.
    """

    path: Path
    raw: bytes
    text: str
    encoding: Encoding
    newline: str
    mixed: bool
    digest: str
    mode: int = 0o644


def open_regular(path: Path) -> BinaryIO:
    """A regular file open for reading, by its resolved path; no link is followed any more.

    NotText when it is something else that could be opened; OSError as the system raises it.
    """
    with open_folder(path.parent) as folder:
        descriptor = folder.open(path.name, os.O_RDONLY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")  # noqa: PTH123 - a descriptor, handed on
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise NotText(f"{path.name} is not a regular file but a device, a pipe or a socket; it is left alone")


def read_bytes(path: Path, limit: int = MAX_TEXT) -> tuple[bytes, os.stat_result]:
    """A regular file's bytes and status, by its resolved path, see `open_regular`; NotText beyond `limit` bytes too."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if status.st_size > limit:
            raise NotText(f"{path.name} has {status.st_size:,} bytes, more than the {limit:,} that are handled at once")
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise NotText(f"{path.name} has more than the {limit:,} bytes that are handled at once")
    return raw, status


def read_text_file(path: Path, limit: int = MAX_TEXT) -> TextFile:
    """A text file by its resolved path. NotText for binaries; otherwise as `read_bytes`."""
    raw, status = read_bytes(path, limit)
    return as_text(path, raw, stat.S_IMODE(status.st_mode))


def as_text(path: Path, raw: bytes, mode: int = 0o644) -> TextFile:
    """The text that `raw` holds. NotText when it holds none."""
    encoding = detect(raw)
    if encoding is None:
        kind = next((words for magic, words in _MAGIC if raw.startswith(magic)), "binary data")
        raise NotText(f"{path.name} is {kind} ({len(raw):,} bytes), not text")
    text = encoding.decode(raw)
    newline, mixed = newline_style(text)
    return TextFile(
        path=path, raw=raw, text=text, encoding=encoding, newline=newline, mixed=mixed, digest=digest(raw), mode=mode
    )


def newline_style(text: str) -> tuple[str, bool]:
    """The most frequent line end of `text` ("" when there is none) and whether there are others too."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    used = sorted((n for n in counts if counts[n]), key=lambda n: -counts[n])
    return (used[0], len(used) > 1) if used else ("", False)


def encode_span(file: TextFile, start: int, end: int, text: str) -> bytes:
    """The bytes of the file with characters `start` to `end` replaced by `text`, which is taken as it stands.

    All bytes outside the span stay. ToolFailure when the file's encoding cannot hold `text`.
    """
    return _spliced(file, ((start, end, text),))


def with_spans(file: TextFile, spans: Sequence[tuple[int, int, str]]) -> TextFile:
    """The file with each (start, end, text) of `spans` put in as `encode_span` does, ready for the next change.

    The spans are in order, do not overlap and count characters of the file as it is.
    """
    raw = _spliced(file, spans)
    pieces: list[str] = []
    at = 0
    for start, end, text in spans:
        pieces += [file.text[at:start], text]
        at = end
    whole = "".join([*pieces, file.text[at:]])
    newline, mixed = newline_style(whole)
    return TextFile(
        path=file.path, raw=raw, text=whole, encoding=file.encoding, newline=newline or file.newline, mixed=mixed,
        digest=digest(raw), mode=file.mode,
    )  # fmt: skip


def _spliced(file: TextFile, spans: Sequence[tuple[int, int, str]]) -> bytes:
    pieces: list[bytes] = []
    index, offset = 0, len(file.encoding.bom)
    written = 0
    for start, end, text in spans:
        first = byte_offset(file, start, index, offset)
        last = byte_offset(file, end, start, first)
        pieces += [file.raw[written:first], encode(file, text)]
        written, index, offset = last, end, last
    return b"".join([*pieces, file.raw[written:]])


def encode_whole(text: str, like: TextFile) -> bytes:
    """A new text for an existing file: in its encoding, with its mark and its line ends (mixed ones stay as given)."""
    if like.newline and not like.mixed:
        text = re.sub(_NEWLINE, like.newline, text)
    return like.encoding.bom + encode(like, text.removeprefix("\ufeff") if like.encoding.bom else text)


def encode(file: TextFile, text: str) -> bytes:
    """`text` in the file's encoding. ToolFailure, naming the characters, when it cannot hold them."""
    try:
        return text.encode(file.encoding.codec, file.encoding.errors)
    except UnicodeEncodeError:
        bad = "".join(dict.fromkeys(c for c in text if not _holds(file.encoding.codec, c)))
    names = " ".join(f"{c} (U+{ord(c):04X})" if c.isprintable() else f"U+{ord(c):04X}" for c in bad[:8])
    if any("\ud800" <= c <= "\udfff" for c in bad):
        raise ToolFailure(f"the new text has lone surrogates in it ({names}), which are no characters; leave them out")
    raise ToolFailure(
        f"{file.path.name} is in {file.encoding.codec}, which cannot hold {names}; nothing was changed. "
        "Use characters of that encoding, or convert the file to UTF-8 first if the user wants that."
    )


def _holds(codec: str, character: str) -> bool:
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def byte_offset(file: TextFile, index: int, known_index: int = 0, known_offset: int = -1) -> int:
    """Where character `index` of the text begins in the bytes of the file; where an earlier one does may be known."""
    codec, mark = file.encoding.codec, len(file.encoding.bom)
    if codec in ("latin-1", "cp1252") or (codec == "utf-8" and file.text.isascii()):
        return mark + index
    if index >= len(file.text):
        return len(file.raw)
    offset = mark if known_offset < 0 else known_offset
    try:
        piece = file.text[known_index:index].encode(codec, file.encoding.errors)
    except UnicodeEncodeError:
        return _count_bytes(file, index)
    if file.raw.startswith(piece, offset) and _is_edge(file, offset + len(piece), index):
        return offset + len(piece)
    return _count_bytes(file, index)


def _is_edge(file: TextFile, offset: int, index: int) -> bool:
    """Whether what follows `offset` decodes to what follows `index`; a few characters tell."""
    tail = file.raw[offset : offset + 64].decode(file.encoding.codec, "replace")
    wanted = file.text[index : index + 4]
    if file.encoding.errors == "strict":
        return tail[:4] == wanted[: len(tail)]
    return True


def _count_bytes(file: TextFile, index: int) -> int:
    """The same by decoding byte after byte, for the rare file whose bytes are not the only way to write its text."""
    make: Callable[..., codecs.IncrementalDecoder] = codecs.getincrementaldecoder(file.encoding.codec)
    decoder = make(file.encoding.errors)
    seen = 0
    for offset in range(len(file.encoding.bom), len(file.raw)):
        if seen >= index and decoder.getstate()[0] == b"":
            return offset
        seen += len(decoder.decode(file.raw[offset : offset + 1]))
    return len(file.raw)
