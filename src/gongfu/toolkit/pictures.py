"""Images in files: their kind and size from the first bytes, without a library."""

from __future__ import annotations

import re

from gongfu.core.base import Base

_GIF = rb"GIF8[79]a"
_JPEG_SIZE = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


class Picture(Base, frozen=True):
    """What is known of an image; sizes in pixels, 0 when the file does not tell."""

    media_type: str
    width: int = 0
    height: int = 0


def picture_of(raw: bytes) -> Picture | None:
    """The image that `raw` is, if it is a PNG, JPEG, GIF or WebP; None for everything else."""
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture(media_type="image/png", width=_big(raw, 16, 4), height=_big(raw, 20, 4))
    if raw.startswith(b"\xff\xd8\xff"):
        width, height = _jpeg(raw)
        return Picture(media_type="image/jpeg", width=width, height=height)
    if re.match(_GIF, raw):
        return Picture(media_type="image/gif", width=_little(raw, 6, 2), height=_little(raw, 8, 2))
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        width, height = _webp(raw)
        return Picture(media_type="image/webp", width=width, height=height)
    return None


def _big(raw: bytes, at: int, size: int) -> int:
    return int.from_bytes(raw[at : at + size], "big")


def _little(raw: bytes, at: int, size: int) -> int:
    return int.from_bytes(raw[at : at + size], "little")


def _jpeg(raw: bytes) -> tuple[int, int]:
    """Width and height from the first frame header; segments before it are stepped over."""
    at = 2
    while at + 9 < len(raw):
        if raw[at] != 0xFF:
            at += 1
            continue
        marker = raw[at + 1]
        if marker in _JPEG_SIZE:
            return _big(raw, at + 7, 2), _big(raw, at + 5, 2)
        if marker == 0xFF:
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD9:
            at += 2
        else:
            at += 2 + max(2, _big(raw, at + 2, 2))
    return 0, 0


def _webp(raw: bytes) -> tuple[int, int]:
    match raw[12:16]:
        case b"VP8X":
            return _little(raw, 24, 3) + 1, _little(raw, 27, 3) + 1
        case b"VP8L":
            bits = _little(raw, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(raw, 26, 2) & 0x3FFF, _little(raw, 28, 2) & 0x3FFF
        case _:
            return 0, 0
