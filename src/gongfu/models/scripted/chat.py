"""Chat Completions."""

from __future__ import annotations

from typing import cast

from gongfu.core.specs import Usage
from gongfu.models.scripted.player import Seen
from gongfu.models.scripted.reply import Reply, pieces
from gongfu.models.scripted.wire import Dialect, Fields, Frame, after, items_of, openai_error, text_of

_CHAT_FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length", "filter": "content_filter"}


def _chat_usage(usage: Usage) -> Fields:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _chat_call(reply: Reply, index: int) -> Fields:
    call = reply.calls[index]
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_base(body: Fields, uid: str, kind: str) -> Fields:
    return {"id": f"chatcmpl-{uid}", "object": kind, "created": 1_700_000_000, "model": body.get("model", "")}


def chat_whole(reply: Reply, usage: Usage, body: Fields, uid: str) -> Fields:
    """The body of an answer that is not streamed."""
    message: Fields = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_chat_call(reply, i) for i in range(len(reply.calls))]
    choice = {"index": 0, "message": message, "finish_reason": _CHAT_FINISH.get(reply.finish, reply.finish)}
    return _chat_base(body, uid, "chat.completion") | {"choices": [choice], "usage": _chat_usage(usage)}


def chat_stream(reply: Reply, usage: Usage, body: Fields, uid: str) -> list[Frame]:
    """The events of a streamed answer. Usage comes when the request asks for it or the script plans it."""
    base = _chat_base(body, uid, "chat.completion.chunk")

    def event(delta: Fields, finish: str | None = None) -> Frame:
        return Frame(name="", data=base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    frames = [event({"role": "assistant", "content": ""})]
    frames += [event({"reasoning_content": p}) for p in pieces(reply.reasoning)]
    frames += [event({"content": p}) for p in pieces(reply.text)]
    for i, call in enumerate(reply.calls):
        head = _chat_call(reply, i)
        head["function"]["arguments"] = ""
        frames.append(event({"tool_calls": [{"index": i} | head]}))
        frames += [event({"tool_calls": [{"index": i, "function": {"arguments": p}}]}) for p in pieces(call.arguments)]
    frames.append(event({}, _CHAT_FINISH.get(reply.finish, reply.finish)))
    options = cast("Fields", body.get("stream_options") or {})
    if options.get("include_usage") or reply.usage is not None:
        frames.append(Frame(name="", data=base | {"choices": [], "usage": _chat_usage(usage)}))
    return [*frames, Frame(name="", data="[DONE]")]


def _chat_error_event(status: int, message: str) -> Frame:
    return Frame(name="", data=openai_error(status, message, ""))


def chat_seen(body: Fields) -> Seen:
    """A Chat Completions request."""
    messages = items_of(body.get("messages"))
    told = [m for m in messages if m.get("role") in ("system", "developer")]
    rest = [m for m in messages if m.get("role") not in ("system", "developer")]
    results = after(rest, lambda m: m.get("role") == "assistant")
    return Seen(
        system="\n".join(text_of(m.get("content")) for m in told),
        texts=tuple(_chat_text(m) for m in rest),
        results=tuple(text_of(m.get("content")) for m in results if m.get("role") == "tool"),
        tools=tuple(str((t.get("function") or t).get("name", "")) for t in items_of(body.get("tools"))),
        model=str(body.get("model", "")),
    )


def _chat_text(message: Fields) -> str:
    functions = [cast("Fields", c.get("function") or {}) for c in items_of(message.get("tool_calls"))]
    calls = [f"{f.get('name')} {f.get('arguments')}" for f in functions]
    return "\n".join([text_of(message.get("content")), *calls])


CHAT = Dialect(
    name="chat",
    whole=chat_whole,
    stream=chat_stream,
    error=openai_error,
    error_event=_chat_error_event,
    seen=chat_seen,
)
