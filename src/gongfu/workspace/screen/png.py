"""Pictures as rows of red, green and blue: cut, made smaller and written as PNG, without a library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from operator import add, itemgetter

from gongfu.core.base import Base


class Pixels(Base, frozen=True):
    """`width` x `height` pixels of three bytes, row by row without gaps."""

    width: int
    height: int
    rgb: bytes

    def cut(self, left: int, top: int, width: int, height: int) -> Pixels:
        """The part inside these edges; they are moved inside the picture first."""
        left, top = min(max(left, 0), self.width - 1), min(max(top, 0), self.height - 1)
        width, height = max(1, min(width, self.width - left)), max(1, min(height, self.height - top))
        row = self.width * 3
        rows = (self.rgb[y * row + left * 3 : y * row + (left + width) * 3] for y in range(top, top + height))
        return Pixels(width=width, height=height, rgb=b"".join(rows))

    def smaller(self, longest: int) -> Pixels:
        """The picture with no side above `longest`; its proportions stay."""
        side = max(self.width, self.height)
        if side <= longest:
            return self
        squares = self._squares(side // longest)
        side = max(squares.width, squares.height)
        return squares if side <= longest else squares._between(longest / side)

    def _squares(self, by: int) -> Pixels:
        """Each pixel the mean of a square of `by` pixels a side."""
        if by <= 1:
            return self
        width, height, row = max(1, self.width // by), max(1, self.height // by), self.width * 3
        mean = bytes(total // (by * by) for total in range(255 * by * by + 1))
        lines: list[bytes] = []
        for y in range(height):
            sums = list(self.rgb[y * by * row : (y * by + 1) * row])
            for start in range((y * by + 1) * row, min((y + 1) * by, self.height) * row, row):
                sums = list(map(add, sums, self.rgb[start : start + row]))
            line = bytearray(width * 3)
            for colour in range(3):
                total = sums[colour : width * by * 3 : 3 * by]
                for more in range(1, min(by, self.width)):
                    total = list(map(add, total, sums[colour + 3 * more : width * by * 3 : 3 * by]))
                line[colour::3] = bytes(map(mean.__getitem__, total))
            lines.append(bytes(line))
        return Pixels(width=width, height=height, rgb=b"".join(lines))

    def _between(self, share: float) -> Pixels:
        """Less than twice smaller: each pixel the mean of the four around its place."""
        width, height = max(1, round(self.width * share)), max(1, round(self.height * share))
        row = self.width * 3
        left = [min(int(x * self.width / width), self.width - 1) for x in range(width)]
        first = _at(left)
        second = _at([min(x + 1, self.width - 1) for x in left])
        mean = bytes(total // 4 for total in range(255 * 4 + 1))
        lines: list[bytes] = []
        for y in range(height):
            top = min(int(y * self.height / height), self.height - 1)
            low = min(top + 1, self.height - 1)
            both = list(map(add, self.rgb[top * row : (top + 1) * row], self.rgb[low * row : (low + 1) * row]))
            lines.append(bytes(map(mean.__getitem__, map(add, first(both), second(both)))))
        return Pixels(width=width, height=height, rgb=b"".join(lines))

    def png(self) -> bytes:
        """The picture as a PNG file."""
        row = self.width * 3
        raw = b"".join(b"\0" + self.rgb[y * row : (y + 1) * row] for y in range(self.height))
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        return (
            b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(raw, 6)) + _chunk(b"IEND", b"")
        )


def _at(columns: list[int]) -> Callable[[list[int]], Iterable[int]]:
    """Picks the bytes of these columns from a row."""
    where = [3 * x + colour for x in columns for colour in range(3)]
    return itemgetter(*where)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def from_bgrx(width: int, height: int, raw: bytes | bytearray, stride: int = 0) -> Pixels:
    """A picture of four bytes a pixel (blue, green, red, one more); `stride` is the length of a row in bytes."""
    stride = stride or width * 4
    if stride != width * 4:
        raw = b"".join(raw[y * stride : y * stride + width * 4] for y in range(height))
    rgb = bytearray(width * height * 3)
    size = width * height * 4
    rgb[0::3], rgb[1::3], rgb[2::3] = raw[2:size:4], raw[1:size:4], raw[0:size:4]
    return Pixels(width=width, height=height, rgb=bytes(rgb))


def from_xwd(raw: bytes) -> Pixels:
    """The picture in a dump of X (what `xwd` writes, and the screen of `Xvfb -fbdir`). ValueError for one of another
    kind than 24 or 32 bits a pixel."""
    if len(raw) < 100:
        raise ValueError("the picture of the screen is empty")
    order = ">" if struct.unpack(">I", raw[4:8])[0] == 7 else "<"
    head = struct.unpack(f"{order}25I", raw[:100])
    size, depth, width, height = head[0], head[3], head[4], head[5]
    little, bits, stride, colours = head[7] == 0, head[11], head[12], head[19]
    data = raw[size + colours * 12 :][: stride * height]
    if bits != 32 or depth not in (24, 32) or not little or len(data) < stride * height:
        raise ValueError(f"the screen has {depth} colours bits in {bits}, which is not read")
    return from_bgrx(width, height, data, stride)


def from_ppm(raw: bytes) -> Pixels:
    """The picture in a binary PPM file. ValueError for another."""
    fields: list[bytes] = []
    at = 0
    while len(fields) < 4:
        end = at
        while end < len(raw) and raw[end] not in b" \t\r\n":
            end += 1
        if end > at:
            fields.append(raw[at:end])
        at = end + 1
        if at > len(raw):
            raise ValueError("the picture of the screen is empty")
    if fields[0] != b"P6" or fields[3] != b"255":
        raise ValueError("the picture of the screen is no PPM")
    width, height = int(fields[1]), int(fields[2])
    return Pixels(width=width, height=height, rgb=raw[at : at + width * height * 3])
