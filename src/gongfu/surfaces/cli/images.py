"""Image files for a prompt."""

from __future__ import annotations

from pathlib import Path

from gongfu.core.errors import UsageError, UserError
from gongfu.core.messages import ImagePart
from gongfu.toolkit.pictures import picture_of

LARGEST = 20_000_000


def read_image(name: str) -> ImagePart:
    """The image in a file, known by its first bytes. Raises UserError for what cannot be read or is no image."""
    import base64

    path = Path(name)
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError("cli.image_large", path=name, limit=LARGEST // 1_000_000)
        data = path.read_bytes()
    except OSError as error:
        raise UserError("cli.file_unreadable", path=name, reason=error.strerror or error) from error
    picture = picture_of(data)
    if picture is None:
        raise UsageError("cli.image_unknown", path=name)
    text = base64.b64encode(data).decode()
    return ImagePart(media_type=picture.media_type, data=text, width=picture.width, height=picture.height)
