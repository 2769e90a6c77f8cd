"""Texts made shorter: head and tail, masks for results, arguments without their long values."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gongfu.core.jsonfix import scrub_text
from gongfu.core.messages import CallPart, ImagePart, Message, Part, ResultPart, TextPart
from gongfu.core.tokens import image_tokens, text_tokens

LONG_VALUE = 400  # characters of one argument that a masked call still shows
WORTH = 200  # characters of a result that masking would not make shorter
LONG_TEXT = 4096  # tokens of a text that a fold cuts to head and tail
CUT_TEXT = 4096  # bytes that are left of it
_IMAGE = 3  # bytes for which a token of an image stands where a result has room for so many bytes
_LONGEST_MASK = 400  # characters, more than any has
_SHOWN = 80
_LABEL = 160


def head_tail(text: str, size: int, hint: str) -> str:
    """`text` cut to about `size` bytes of UTF-8: half from its head, half from its tail, `hint` in the gap.

    Cut at line ends where there are some near; never inside a character. Short texts come back as they are.
    """
    data = scrub_text(text).encode()
    if len(data) <= size:
        return text
    half = max(1, (size - len(hint) - 24) // 2)
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    if (end := head.rfind("\n")) > len(head) // 2:
        head = head[: end + 1]
    if -1 < (start := tail.find("\n")) < len(tail) // 2:
        tail = tail[start + 1 :]
    left = len(data) - len(head.encode()) - len(tail.encode())
    between = "" if head.endswith("\n") else "\n"
    return f"{head}{between}[… {left:,} bytes left out; {hint} …]\n{tail}"


def masked_call(call: CallPart) -> CallPart:
    """The call with long values of its arguments left out; it stays a strict JSON object."""
    if len(call.arguments) <= LONG_VALUE:
        return call
    try:
        values = msgspec.json.decode(call.arguments, type=dict[str, Any])
        short = {key: _short(value, call.id) for key, value in values.items()}
        if short == values and len(call.arguments) <= 4 * LONG_VALUE:
            return call
        arguments = msgspec.json.encode(short).decode()
    except msgspec.DecodeError:
        return call
    except RecursionError:  # nested beyond measure
        arguments = ""
    if not arguments or len(arguments) > 4 * LONG_VALUE:
        arguments = msgspec.json.encode(
            {"left_out": f"{len(call.arguments):,} characters: recall id={call.id}"}
        ).decode()
    return msgspec.structs.replace(call, arguments=arguments, raw="")


def _short(value: Any, call: str) -> Any:
    if isinstance(value, str):
        if len(value) <= LONG_VALUE:
            return value
        return f"{value[:_SHOWN]}[… {len(value) - _SHOWN:,} characters left out: recall id={call}]"
    if isinstance(value, list):
        return [_short(v, call) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {k: _short(v, call) for k, v in cast("dict[str, Any]", value).items()}
    return value


def cut_message(message: Message, at: int) -> Message:
    """The message with its long texts cut to head and tail, its images left out; `at` is its place in the history."""
    parts: list[Part] = []
    images = 0
    for part in message.parts:
        if isinstance(part, ImagePart):
            images += 1
        elif isinstance(part, TextPart) and text_tokens(part.text) > LONG_TEXT // 2:
            parts.append(TextPart(text=head_tail(part.text, CUT_TEXT, f"recall id=u{at}")))
        else:
            parts.append(part)
    if images:
        parts.append(TextPart(text=f"\n[{_counted(images)} left out here to save room]"))
    return msgspec.structs.replace(message, parts=tuple(parts))


def trimmed_message(message: Message, at: int) -> Message:
    """The message with its long texts and the long arguments of its calls cut."""
    parts = tuple(masked_call(part) if isinstance(part, CallPart) else part for part in message.parts)
    return cut_message(msgspec.structs.replace(message, parts=parts), at)


def shown_bytes(result: ResultPart) -> int:
    """The bytes of a result, an image as those for which it stands in `shrunk_result`."""
    images = sum(image_tokens(i.width, i.height) for i in result.images)
    return len(result.text.encode("utf-8", "surrogatepass")) + images * _IMAGE


def _counted(images: int) -> str:
    return "1 image" if images == 1 else f"{images} images"


def worth_masking(result: ResultPart) -> bool:
    """Whether a mask is shorter than the result, which is not one already."""
    text = result.text
    if len(text) <= WORTH:
        return bool(result.images)
    return len(text) > _LONGEST_MASK or not text.endswith(f"recall id={result.call_id}]")


def shrunk_result(result: ResultPart, size: int) -> ResultPart:
    """The result cut to about `size` bytes: head and tail of its text, and of its images the first that fit."""
    text = scrub_text(result.text)
    left = size - min(len(text.encode()), size // 2)
    kept: list[ImagePart] = []
    for image in result.images:
        left -= image_tokens(image.width, image.height) * _IMAGE
        if left < 0:
            break
        kept.append(image)
    if len(kept) == len(result.images):
        spent = sum(image_tokens(i.width, i.height) for i in kept) * _IMAGE
        short = head_tail(result.text, size - spent, f"recall id={result.call_id}")
        return result if short == result.text else msgspec.structs.replace(result, text=short)
    text = head_tail(result.text, size // 2, f"recall id={result.call_id}")
    gone = _counted(len(result.images) - len(kept))
    return msgspec.structs.replace(
        result, text=f"{text}\n[{gone} left out: no room in this context]", images=tuple(kept)
    )


def masked_result(result: ResultPart, label: str) -> ResultPart:
    """The result replaced by its label and where the whole of it is."""
    said = " ".join((label or "tool").split())[:_LABEL]
    where = f"recall id={result.call_id}"
    ended = "" if result.status == "done" else f", {result.status}"
    text = f"[{said}{ended}: result of {len(result.text):,} characters left out; {where}]"
    return msgspec.structs.replace(result, text=text, images=())
