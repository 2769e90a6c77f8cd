"""What every format of an export does alike: pictures as files, outputs cut to what a page holds."""

from __future__ import annotations

import base64
import binascii

from gongfu.core.messages import ImagePart
from gongfu.core.words import Language, say

_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_LONG = 20_000  # characters of one output on a page


def suffix_of(image: ImagePart) -> str:
    """The suffix of a picture that can be shown; "" for any other, and for one that is known by its address alone."""
    return _SUFFIXES.get(image.media_type, "") if image.data else ""


def bytes_of(image: ImagePart) -> bytes | None:
    """The bytes of a picture; None when what it holds is no base64."""
    try:
        return base64.b64decode(image.data)
    except (binascii.Error, ValueError):
        return None


def bounded(text: str, language: Language) -> str:
    """An output with its middle left out where it is too long for a page."""
    if len(text) <= _LONG:
        return text
    half = _LONG // 2
    return f"{text[:half]}\n{say('export.cut', language, count=f'{len(text) - _LONG:,}')}\n{text[-half:]}"
