"""The tool file_info."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.entries import Entries, Entry
from gongfu.toolkit.pictures import picture_of
from gongfu.toolkit.places import explained
from gongfu.toolkit.reading import lines_of, notes_on
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.checkpoint.names import Cover
from gongfu.workspace.files import MAX_TEXT, NotText, as_text, open_regular, read_bytes
from gongfu.workspace.moves import entries
from gongfu.workspace.names import show_name
from gongfu.workspace.root import Located, Workspace

_MOST = 100_000
_LONGEST_HASH = 4 * 1024 * 1024 * 1024
_HEAD = 4096
_LARGEST = 10
_KINDS = (
    (b"PK\x03\x04", "application/zip"), (b"\x1f\x8b", "application/gzip"), (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"), (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"), (b"\x7fELF", "application/x-elf"),
    (b"MZ", "application/vnd.microsoft.portable-executable"), (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"ID3", "audio/mpeg"), (b"OggS", "application/ogg"), (b"fLaC", "audio/flac"), (b"\0asm", "application/wasm"),
    (b"wOFF", "font/woff"), (b"wOF2", "font/woff2"), (b"\0\1\0\0", "font/ttf"), (b"BM", "image/bmp"),
    (b"\x1aE\xdf\xa3", "video/x-matroska"), (b"%!PS", "application/postscript"), (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"), (b"\xca\xfe\xba\xbe", "application/java-vm"), (b"Rar!\x1a\x07", "application/vnd.rar"),
)  # fmt: skip
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"META-INF/", "application/java-archive"), (b"application/epub+zip", "application/epub+zip"),
    (b"application/vnd.oasis", "application/vnd.oasis.opendocument"),
)  # fmt: skip


class InfoTools:
    """file_info of one session. `env` tells where the person's own git settings are."""

    def __init__(self, workspace: Workspace, env: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._entries = Entries(workspace)
        self._env = env

    async def _facts(self, args: dict[str, Any]) -> Facts:
        entry = self._entries.judge(args["path"])
        located = self._entries.places.judge(args["path"])
        paths = tuple(dict.fromkeys([str(entry.path), *self._entries.places.paths(located)]))
        return Facts(access=("read",), paths=paths, title=entry.shown)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path)),)

    @tool(access="read", facts=_facts, claims=_claims)
    async def file_info(self, path: str, sha256: bool = False) -> Outcome:
        entry = self._entries.again(path)
        located = self._entries.places.again(path)
        self._entries.there(entry, path)
        lines, kind = await anyio.to_thread.run_sync(self._told, entry, located, sha256, abandon_on_cancel=True)
        if kind == "application/pdf":
            lines.append(await _pdf_pages(located))
        return Outcome(text="\n".join(lines), display=text_display("\n".join(lines), lines[0].partition(": ")[2]))

    def _told(self, entry: Entry, located: Located, sha256: bool) -> tuple[list[str], str]:
        """What is to be said, and the kind of the content ("" for what is no regular file)."""
        with explained(located):
            own = os.lstat(entry.path)
            lines: list[str] = []
            if stat.S_ISLNK(own.st_mode):
                lines.append(f"{entry.shown}: a link to {show_name(os.readlink(entry.path))}")  # noqa: PTH115
                if not located.path.exists():
                    return [*lines, "which leads nowhere", *self._git(entry, folder=False)], ""
                lines.append(f"which leads to {located.shown}")
            status = located.path.stat()
            if stat.S_ISDIR(status.st_mode):
                said, kind = _folder(located), ""
            elif not stat.S_ISREG(status.st_mode):
                said, kind = [f"{located.shown}: a {_odd(status.st_mode)}"], ""
            else:
                said, kind = _file(located, status)
                if sha256:
                    said.append(f"sha256: {_hash(located.path, status.st_size)}")
            lines += said
            lines.append(_owner(status))
            lines.append(f"changed {_when(status.st_mtime)}, read {_when(status.st_atime)}")
            return [*lines, *self._git(entry, folder=stat.S_ISDIR(status.st_mode))], kind

    def _git(self, entry: Entry, *, folder: bool) -> list[str]:
        """What git holds of it, without running git."""
        cover = Cover.of(entry.path.parent, self._env)
        if cover.tracked is None or ".git" in entry.path.parts:
            return []
        if cover.tracks(entry.path.name, folder=folder):
            return ["git: tracked"]
        return ["git: ignored" if cover.ignores(entry.path.name, folder=folder) else "git: not tracked"]


def _file(located: Located, status: os.stat_result) -> tuple[list[str], str]:
    size = status.st_size
    with open_regular(located.path) as file:
        head = file.read(_HEAD)
    kind = kind_of(head)
    picture = picture_of(head)
    if kind == "application/pdf":
        return [f"{located.shown}: {kind}, {size:,} bytes"], kind
    if picture is not None:
        if not picture.width and size > len(head):
            picture = picture_of(read_bytes(located.path)[0]) or picture
        pixels = f", {picture.width}x{picture.height} pixels" if picture.width else ""
        return [f"{located.shown}: {picture.media_type}{pixels}, {size:,} bytes"], picture.media_type
    if size > MAX_TEXT:
        return [f"{located.shown}: {kind or 'unknown content'}, {size:,} bytes"], kind
    try:
        text = as_text(located.path, read_bytes(located.path)[0])
    except NotText:
        return [f"{located.shown}: {kind or 'application/octet-stream'}, {size:,} bytes"], kind
    count = len(lines_of(text.text))
    ends = {"": "no line ends", "\n": "LF", "\r\n": "CRLF", "\r": "CR"}[text.newline]
    mark = ", with a BOM" if text.encoding.bom else ""
    lines = [
        f"{located.shown}: {_text_kind(located.path.name)}, {size:,} bytes, {count:,} line{'s' * (count != 1)}",
        f"encoding {text.encoding.codec}{mark}, line ends {'mixed, mostly ' if text.mixed else ''}{ends}",
    ]
    odd = [n for n in notes_on(text) if not n.startswith(("encoding", "mixed", "CRLF", "CR "))]
    return [*lines, *odd], "text/plain"


def kind_of(head: bytes) -> str:
    """The media type of content by its first bytes; "" when they do not tell."""
    picture = picture_of(head)
    if picture is not None:
        return picture.media_type
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if head[257:262] == b"ustar":
        return "application/x-tar"
    if head[4:8] == b"ftyp":
        return "image/avif" if head[8:12] in (b"avif", b"avis") else "video/mp4"
    if head[:4] == b"RIFF":
        return "audio/wav" if head[8:12] == b"WAVE" else "video/x-msvideo"
    kind = next((kind for magic, kind in _KINDS if head.startswith(magic)), "")
    if kind == "application/zip":
        return next((office for mark, office in _OFFICE if mark in head), kind)
    return kind


def _text_kind(name: str) -> str:
    import mimetypes  # loads the tables of the system

    kind, _ = mimetypes.guess_type(name)
    return kind if kind and not kind.startswith(("image/", "audio/", "video/")) else "text/plain"


def _folder(located: Located) -> list[str]:
    files = folders = links = size = 0
    largest: list[tuple[int, str]] = []
    more = ""
    for count, (path, status) in enumerate(entries(located.path)):
        if count > _MOST:
            more = "more than "
            break
        if stat.S_ISDIR(status.st_mode):
            folders += count > 0
        elif stat.S_ISLNK(status.st_mode):
            links += 1
        else:
            files += 1
            size += status.st_size
            largest.append((status.st_size, str(path.relative_to(located.path))))
            if len(largest) > 200:
                largest = sorted(largest, reverse=True)[:_LARGEST]
    parts = [f"{files:,} file{'s' * (files != 1)}", f"{folders:,} folder{'s' * (folders != 1)}"]
    if links:
        parts.append(f"{links:,} link{'s' * (links != 1)}")
    lines = [f"{located.shown}: a folder with {more}{', '.join(parts)}, {size:,} bytes in all"]
    top = sorted(largest, reverse=True)[:3]
    if top and files > 1:
        lines.append("largest: " + ", ".join(f"{show_name(name)} ({count:,})" for count, name in top))
    return lines


def _odd(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISCHR, "device"), (stat.S_ISBLK, "disk"))
    return next((name for test, name in kinds if test(mode)), "special file")


def _owner(status: os.stat_result) -> str:
    mode = f"mode {stat.S_IMODE(status.st_mode):04o} ({stat.filemode(status.st_mode)})"
    if not hasattr(os, "getuid"):
        return mode
    import pwd  # exists on POSIX only

    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        name = str(status.st_uid)
    return f"{mode}, owner {name}"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")


def _hash(path: Path, size: int) -> str:
    from hashlib import sha256  # loads OpenSSL

    if size > _LONGEST_HASH:
        raise ToolFailure(f"the file has {size:,} bytes; its SHA-256 takes too long here, use sha256sum in shell")
    whole = sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            whole.update(block)
    return whole.hexdigest()


async def _pdf_pages(located: Located) -> str:
    from gongfu.toolkit.pdf import MAX_PDF, pdf_text  # only for a PDF

    try:
        raw, _ = await anyio.to_thread.run_sync(read_bytes, located.path, MAX_PDF)
        read = await pdf_text(raw, located.shown, limit=1, seconds=10.0)
    except (ToolFailure, OSError) as failure:
        return f"pages: unknown ({failure})"
    return f"pages: {read.total:,}"
