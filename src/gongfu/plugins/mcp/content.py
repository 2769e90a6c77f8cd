"""What a server answers, as text and images for the model. All of it is data: bounded, and named where not shown."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gongfu.core.base import Base
from gongfu.core.messages import ImagePart
from gongfu.plugins.mcp.offers import clean, line

if TYPE_CHECKING:
    from mcp_types import CallToolResult, GetPromptResult, ReadResourceResult

_PICTURES: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_MOST_PICTURES: Final = 8
_LARGEST: Final = 5 * 1024 * 1024  # bytes of one picture
_ALL: Final = 16 * 1024 * 1024  # characters of text


class Answer(Base, frozen=True):
    """The text and the images of an answer; `failed`: the server says that it is an error."""

    text: str
    images: tuple[ImagePart, ...] = ()
    failed: bool = False


def of_call(result: CallToolResult) -> Answer:
    """The result of a tool. What is only structured is told as JSON."""
    pieces, images = _blocks(result.content)
    if result.structured_content is not None and not any(b.type == "text" for b in result.content):
        pieces.append(_json(result.structured_content))
    text = "\n\n".join(piece for piece in pieces if piece) or (
        "(error without words)" if result.is_error else "(empty)"
    )
    return Answer(text=clean(text, _ALL), images=images, failed=bool(result.is_error))


def of_resource(result: ReadResourceResult) -> Answer:
    """The contents of a resource."""
    pieces: list[str] = []
    images: list[ImagePart] = []
    for one in result.contents:
        _resource(one, pieces, images, alone=len(result.contents) == 1)
    return Answer(text=clean("\n\n".join(pieces), _ALL) or "(empty)", images=tuple(images))


def of_prompt(result: GetPromptResult) -> Answer:
    """The messages of a prompt, one after the other; those that are not the user's are marked."""
    pieces: list[str] = []
    images: list[ImagePart] = []
    for message in result.messages:
        told, shown = _blocks([message.content])
        text = "\n\n".join(told)
        pieces.append(text if message.role == "user" else f"[{message.role}]\n{text}")
        images += shown
    return Answer(text=clean("\n\n".join(pieces), _ALL), images=tuple(images[:_MOST_PICTURES]))


def _blocks(blocks: Iterable[Any]) -> tuple[list[str], tuple[ImagePart, ...]]:
    pieces: list[str] = []
    images: list[ImagePart] = []
    for block in blocks:
        match block.type:
            case "text":
                pieces.append(block.text)
            case "image":
                _picture(block.data, block.mime_type, "image", pieces, images)
            case "audio":
                pieces.append(f"[audio {line(block.mime_type, 60)}, {_size(block.data)}: not shown]")
            case "resource_link":
                about = line(block.description or block.title or "")
                pieces.append(f"[resource {line(block.uri, 500)}: {line(block.name)}{f', {about}' if about else ''}]")
            case _:
                _resource(block.resource, pieces, images, alone=False)
    return pieces, tuple(images)


def _resource(one: Any, pieces: list[str], images: list[ImagePart], *, alone: bool) -> None:
    text = getattr(one, "text", None)
    if text is not None:
        pieces.append(text if alone else f"[resource {line(one.uri, 500)}]\n{text}")
        return
    _picture(one.blob, one.mime_type or "", f"resource {line(one.uri, 500)}", pieces, images)


def _picture(data: str, kind: str, what: str, pieces: list[str], images: list[ImagePart]) -> None:
    """Take a picture where it is one, else name it."""
    kind = kind.partition(";")[0].strip().lower()
    if kind in _PICTURES and len(images) < _MOST_PICTURES and len(data) * 3 // 4 <= _LARGEST and _is_base64(data):
        images.append(ImagePart(media_type=kind, data=data))
        pieces.append(f"[{what}]")
        return
    pieces.append(f"[{what}, {line(kind, 60) or 'unknown kind'}, {_size(data)}: not shown]")


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4:,} bytes"


def _json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    except (TypeError, ValueError, UnicodeEncodeError):
        return ascii(value)
