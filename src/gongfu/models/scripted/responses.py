"""The Responses API."""

from __future__ import annotations

from typing import Any, cast

from gongfu.core.specs import Usage
from gongfu.models.scripted.player import Seen
from gongfu.models.scripted.reply import Reply, pieces
from gongfu.models.scripted.wire import Dialect, Fields, Frame, after, items_of, openai_error, text_of


def _responses_usage(usage: Usage) -> Fields:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _responses_items(reply: Reply, uid: str) -> list[Fields]:
    items: list[Fields] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{uid}", "summary": summary, "encrypted_content": reply.signature})
    if reply.text:
        content: list[Fields] = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append(
            {"type": "message", "id": f"msg_{uid}", "role": "assistant", "status": "completed", "content": content}
        )
    for call in reply.calls:
        names = {"id": f"fc_{call.id}", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        items.append({"type": "function_call", "status": "completed"} | names)
    return items


def responses_whole(reply: Reply, usage: Usage, body: Fields, uid: str) -> Fields:
    """The body of an answer that is not streamed."""
    short = {"length": "max_output_tokens", "filter": "content_filter"}.get(reply.finish)
    return {
        "id": f"resp_{uid}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": body.get("model", ""),
        "status": "incomplete" if short else "completed",
        "incomplete_details": {"reason": short} if short else None,
        "error": None,
        "output": _responses_items(reply, uid),
        "usage": _responses_usage(usage),
    }


def responses_stream(reply: Reply, usage: Usage, body: Fields, uid: str) -> list[Frame]:
    """The events of a streamed answer."""
    whole = responses_whole(reply, usage, body, uid)
    frames: list[Frame] = []

    def event(kind: str, **fields: Any) -> None:
        frames.append(Frame(name=kind, data={"type": kind, "sequence_number": len(frames)} | fields))

    event("response.created", response=whole | {"status": "in_progress", "output": [], "usage": None})
    for n, item in enumerate(cast("list[Fields]", whole["output"])):
        at = {"output_index": n, "item_id": item["id"]}
        match item["type"]:
            case "reasoning":
                event("response.output_item.added", output_index=n, item=item | {"summary": []})
                for p in pieces(reply.reasoning):
                    event("response.reasoning_summary_text.delta", summary_index=0, delta=p, **at)
            case "message":
                event("response.output_item.added", output_index=n, item=item | {"content": []})
                for p in pieces(reply.text):
                    event("response.output_text.delta", content_index=0, delta=p, **at)
                event("response.output_text.done", content_index=0, text=reply.text, **at)
            case _:
                event("response.output_item.added", output_index=n, item=item | {"arguments": ""})
                for p in pieces(str(item["arguments"])):
                    event("response.function_call_arguments.delta", delta=p, **at)
                event("response.function_call_arguments.done", arguments=item["arguments"], **at)
        event("response.output_item.done", output_index=n, item=item)
    event("response.incomplete" if whole["incomplete_details"] else "response.completed", response=whole)
    return frames


def _responses_error_event(status: int, message: str) -> Frame:
    code = {429: "rate_limit_exceeded"}.get(status, "server_error" if status >= 500 else "invalid_prompt")
    response: Fields = {
        "id": "resp_failed",
        "status": "failed",
        "error": {"code": code, "message": message},
        "output": [],
    }
    return Frame(name="response.failed", data={"type": "response.failed", "response": response})


def responses_seen(body: Fields) -> Seen:
    """A Responses request."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else items_of(given)
    told = [i for i in items if i.get("role") in ("system", "developer")]
    rest = [i for i in items if i.get("role") not in ("system", "developer")]
    results = after(rest, lambda i: i.get("role") == "assistant" or i.get("type") == "function_call")
    return Seen(
        system="\n".join([str(body.get("instructions") or ""), *(text_of(i.get("content")) for i in told)]).strip(),
        texts=tuple(_responses_text(i) for i in rest),
        results=tuple(text_of(i.get("output")) for i in results if i.get("type") == "function_call_output"),
        tools=tuple(str(t.get("name", "")) for t in items_of(body.get("tools"))),
        model=str(body.get("model", "")),
    )


def _responses_text(item: Fields) -> str:
    if item.get("type") == "function_call":
        return f"{item.get('name')} {item.get('arguments')}"
    return text_of(item.get("content") or item.get("output") or item.get("summary") or "")


RESPONSES = Dialect(
    name="responses",
    whole=responses_whole,
    stream=responses_stream,
    error=openai_error,
    error_event=_responses_error_event,
    seen=responses_seen,
)
