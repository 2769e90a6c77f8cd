"""Anthropic's Messages API."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gongfu.core.specs import Usage
from gongfu.models.scripted.player import Seen
from gongfu.models.scripted.reply import Reply, pieces
from gongfu.models.scripted.wire import Dialect, Fields, Frame, after, items_of, text_of

_MESSAGES_STOP = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filter": "refusal"}


def _messages_usage(usage: Usage) -> Fields:
    return {
        "input_tokens": usage.input - usage.cached - usage.cache_write,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
    }


def _messages_blocks(reply: Reply) -> list[tuple[Fields, list[Fields]]]:
    """Each block as it opens, with the deltas that fill it."""
    blocks: list[tuple[Fields, list[Fields]]] = []
    if reply.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(reply.reasoning)]
        deltas.append({"type": "signature_delta", "signature": reply.signature})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces(reply.text)]))
    for call in reply.calls:
        deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces(call.arguments)]
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas))
    return blocks


def messages_whole(reply: Reply, usage: Usage, body: Fields, uid: str) -> Fields:
    """The body of an answer that is not streamed. Arguments that are no JSON object become an empty one here."""
    content: list[Fields] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": reply.signature})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [{"type": "tool_use", "id": c.id, "name": c.name, "input": _object(c.arguments)} for c in reply.calls]
    return {
        "id": f"msg_{uid}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": content,
        "stop_reason": _MESSAGES_STOP.get(reply.finish, reply.finish),
        "stop_sequence": None,
        "usage": _messages_usage(usage),
    }


def _object(text: str) -> Fields:
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
    return cast("Fields", value) if isinstance(value, dict) else {}


def messages_stream(reply: Reply, usage: Usage, body: Fields, uid: str) -> list[Frame]:
    """The events of a streamed answer."""
    whole = messages_whole(reply, usage, body, uid)
    counted = _messages_usage(usage)
    start: Fields = whole | {"content": [], "stop_reason": None, "usage": counted | {"output_tokens": 1}}
    frames: list[Frame] = []

    def event(kind: str, **fields: Any) -> None:
        frames.append(Frame(name=kind, data={"type": kind} | fields))

    event("message_start", message=start)
    for n, (block, deltas) in enumerate(_messages_blocks(reply)):
        event("content_block_start", index=n, content_block=block)
        for delta in deltas:
            event("content_block_delta", index=n, delta=delta)
        event("content_block_stop", index=n)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    event("message_delta", delta=stop, usage={"output_tokens": usage.output})
    event("message_stop")
    return frames


def _messages_error(status: int, message: str, code: str) -> Fields:
    kinds = {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = code or kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _messages_error_event(status: int, message: str) -> Frame:
    return Frame(name="error", data=_messages_error(status, message, ""))


def messages_seen(body: Fields) -> Seen:
    """A Messages request."""
    messages = items_of(body.get("messages"))
    latest = after(messages, lambda m: m.get("role") == "assistant")
    blocks = [b for m in latest for b in items_of(m.get("content")) if b.get("type") == "tool_result"]
    return Seen(
        system=text_of(body.get("system")),
        texts=tuple(_messages_text(m.get("content")) for m in messages),
        results=tuple(text_of(b.get("content")) for b in blocks),
        tools=tuple(str(t.get("name", "")) for t in items_of(body.get("tools"))),
        model=str(body.get("model", "")),
    )


def _messages_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    words: list[str] = []
    for block in items_of(content):
        if block.get("type") == "tool_use":
            words.append(f"{block.get('name')} {msgspec.json.encode(block.get('input')).decode()}")
        else:
            words.append(text_of(block.get("text") or block.get("thinking") or block.get("content") or ""))
    return "\n".join(words)


MESSAGES = Dialect(
    name="messages",
    whole=messages_whole,
    stream=messages_stream,
    error=_messages_error,
    error_event=_messages_error_event,
    seen=messages_seen,
)
