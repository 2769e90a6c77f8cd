"""What the clipboard holds, for the input."""

from __future__ import annotations

from gongfu.core.errors import UserError
from gongfu.core.messages import ImagePart
from gongfu.surfaces.cli.images import LARGEST
from gongfu.toolkit.pictures import picture_of


def from_clipboard() -> tuple[ImagePart | None, str]:
    """The image in the clipboard, or else its text; it blocks. UserError says why neither can be had."""
    import base64

    from gongfu.workspace.clip_image import clipboard_image, clipboard_text

    data = clipboard_image()
    if not data:
        return None, clipboard_text()
    if len(data) > LARGEST:
        raise UserError("talk_edit.clipboard_large", limit=LARGEST // 1_000_000)
    picture = picture_of(data)
    if picture is None:
        return None, clipboard_text()
    text = base64.b64encode(data).decode()
    return ImagePart(media_type=picture.media_type, data=text, width=picture.width, height=picture.height), ""
