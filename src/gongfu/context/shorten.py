"""Texts made shorter: head and tail, masks for results, arguments without their long values."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gongfu.core.jsonfix import scrub_text
from gongfu.core.messages import CallPart, ResultPart
from gongfu.core.tokens import text_tokens

LONG_VALUE = 400  # characters of one argument that a masked call still shows
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
    except msgspec.DecodeError:
        return call
    short = {key: _short(value, call.id) for key, value in values.items()}
    arguments = msgspec.json.encode(short).decode()
    if len(arguments) > 4 * LONG_VALUE:
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


def masked_result(result: ResultPart, label: str, name: str) -> ResultPart:
    """The result replaced by its label and where the whole of it is."""
    said = " ".join((label or name).split())[:_LABEL]
    where = f"recall id={result.call_id}"
    ended = "" if result.status == "done" else f", {result.status}"
    text = f"[{said}{ended}: result of {text_tokens(result.text):,} tokens left out; {where}]"
    return msgspec.structs.replace(result, text=text, images=())
