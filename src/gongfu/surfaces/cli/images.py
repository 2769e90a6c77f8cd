"""Image files for a prompt."""

from __future__ import annotations

from pathlib import Path

from gongfu.core.errors import UsageError, UserError
from gongfu.core.messages import ImagePart

LARGEST = 20_000_000


def read_image(name: str) -> ImagePart:
    """The image in a file, known by its first bytes. Raises UserError for what cannot be read or is no image."""
    import base64

    try:
        path = Path(name)
        if path.stat().st_size > LARGEST:
            raise UsageError("cli.image_large", path=name, limit=LARGEST // 1_000_000)
        data = path.read_bytes()
    except OSError as error:
        raise UserError("cli.file_unreadable", path=name, reason=error.strerror or error) from error
    kind = media_type(data)
    if not kind:
        raise UsageError("cli.image_unknown", path=name)
    width, height = _size(data, kind)
    return ImagePart(media_type=kind, data=base64.b64encode(data).decode(), width=width, height=height)


def media_type(data: bytes) -> str:
    """The media type of PNG, JPEG, GIF and WebP data, "" for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _size(data: bytes, kind: str) -> tuple[int, int]:
    """Width and height of a PNG or GIF; 0, 0 where they are not at a fixed place."""
    if kind == "image/png" and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if kind == "image/gif" and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    return 0, 0
