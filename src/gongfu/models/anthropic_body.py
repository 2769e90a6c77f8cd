"""The body of a Messages request: what stays the same first, so that requests of a session share their beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gongfu.core.base import Base
from gongfu.core.jsonfix import scrub_text
from gongfu.core.messages import CallPart, ImagePart, Message, Part, ReasoningPart, ResultPart, TextPart
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.core.tokens import bytes_tokens
from gongfu.models.history import Memo, Profile, project
from gongfu.models.joined import Joined, Piece
from gongfu.models.protocol import Request
from gongfu.models.quirks import Quirks
from gongfu.models.schemas import wire_schema
from gongfu.models.window import output_limit
from gongfu.models.wire import count_at, dict_at, encode, image_surcharge, raw_json

_MARK = {"type": "ephemeral"}
_MARKS = 4
_LEAST_THINKING = 1024
_DEFAULT_OUTPUT = 8192
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_COMBINED = ("oneOf", "allOf", "anyOf")


class MessagesBody(Base, frozen=True):
    """The bytes, and what is needed to read the answer.

    `limit` is the output limit in tokens. `answer_tool` names the tool whose input is the answer when a schema was
    asked for; `wrapped` says that the schema was no object's and stands under "value" there.
    """

    data: bytes
    limit: int
    answer_tool: str = ""
    wrapped: bool = False


class MessagesWriter:
    """Writes the bodies of one model. What was encoded for one request is used again by the next."""

    def __init__(self, info: ModelInfo, quirks: Quirks) -> None:
        self._info = info
        self._quirks = quirks
        self._memo = Memo()
        self._joined = Joined(_piece)
        self._given: tuple[tuple[ToolSpec, ...], list[dict[str, Any]]] = ((), [])
        self.profile = Profile(
            model=info.ref,
            reasoning=quirks.reasoning_back or "always",
            unsigned="claude" not in info.name.lower(),  # only Claude refuses thinking that nobody signed
            images=info.images,
            result_images=True,
            ids=quirks.ids,
            id_size=quirks.id_size,
            unique_ids=True,
        )

    def write(self, request: Request) -> MessagesBody:
        """The body of a request. Cache marks: one behind tools and system, up to three behind given messages."""
        history = project(request.messages, self.profile, self._memo)
        tools, answer_tool, wrapped = self._tools(request)
        fields: dict[str, Any] = {"model": self._info.name}
        marked = bool(request.marks)
        blocks = [_system_block(t) for t in (request.system, request.standing) if t.strip()]
        if blocks:
            fields["system"] = [blocks[0] | {"cache_control": _MARK}, *blocks[1:]] if marked else blocks
        elif tools and marked:
            tools = [*tools[:-1], tools[-1] | {"cache_control": _MARK}]
        if tools:
            fields["tools"] = tools
        head = encode(fields)[:-1]
        messages = self._messages(history, self._ends(request, history))
        prompt = bytes_tokens(len(head) + sum(map(len, messages))) + self._joined.images[1]
        wanted = request.max_output or self._info.max_output or self._quirks.limit_always or _DEFAULT_OUTPUT
        limit = output_limit(wanted, self._info, prompt)
        tail = encode(self._tail(request, history, limit, answer_tool))[1:]
        return MessagesBody(
            data=b"".join((head, b',"messages":[', *messages, b"],", tail)),
            limit=limit,
            answer_tool=answer_tool,
            wrapped=wrapped,
        )

    # --- what may change with each request -----------------------------------------------------------------------

    def _tail(self, request: Request, history: Sequence[Message], limit: int, answer_tool: str) -> dict[str, Any]:
        fields: dict[str, Any] = {"max_tokens": limit, "stream": True}
        thinking = {} if answer_tool else self._thinking(request, history, limit)
        fields.update(thinking)
        free = "thinking" not in thinking or thinking["thinking"].get("type") == "disabled"
        if self._quirks.sampling and free:
            if request.temperature is not None:
                fields["temperature"] = min(request.temperature, self._quirks.temperature_max)
            elif request.top_p is not None:
                fields["top_p"] = request.top_p
        if stop := [s for s in request.stop if s.strip()]:
            fields["stop_sequences"] = stop
        if answer_tool:
            fields["tool_choice"] = {"type": "tool", "name": answer_tool}
        return {k: v for k, v in (fields | self._quirks.extra).items() if k not in self._quirks.leave_out}

    def _thinking(self, request: Request, history: Sequence[Message], limit: int) -> dict[str, Any]:
        """The fields that the setting of thinking stands for; a budget is kept below the output limit.

        With a budget, the answer that a tool loop goes on from must begin with thinking; where that was lost, as
        after a change of the model, this request goes without.
        """
        fields = dict(self._quirks.efforts.get(request.reasoning, {})) if self._thinks() else {}
        asked = dict_at(fields, "thinking")
        budget = min(count_at(asked, "budget_tokens"), limit // 2)
        if not budget:
            return fields
        last = next((m for m in reversed(history) if m.role == "assistant"), None)
        in_loop = last is not None and bool(last.calls)  # also with words behind the results
        thoughtless = in_loop and last is not None and not isinstance(last.parts[0], ReasoningPart)
        if budget < _LEAST_THINKING or thoughtless:
            return {k: v for k, v in fields.items() if k != "thinking"}
        return fields | {"thinking": {**asked, "budget_tokens": budget}}

    def _thinks(self) -> bool:
        return self._info.reasoning or not self._info.source

    # --- tools ---------------------------------------------------------------------------------------------------

    def _tools(self, request: Request) -> tuple[list[dict[str, Any]], str, bool]:
        tools = self._tool_list(request.tools) if self._info.tools else []
        if request.schema is None:
            return tools, "", False
        name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in request.schema_name)[:56]
        name = name or "answer"
        while any(tool["name"] == name for tool in tools):
            name += "_"
        schema = request.schema
        wrapped = schema.get("type") != "object"
        if wrapped:
            schema = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
        return [*tools, {"name": name, "description": "Give the answer.", "input_schema": schema}], name, wrapped

    def _tool_list(self, tools: tuple[ToolSpec, ...]) -> list[dict[str, Any]]:
        if self._given[0] != tools:
            self._given = (tools, [self._tool(tool) for tool in tools])
        return self._given[1]

    def _tool(self, tool: ToolSpec) -> dict[str, Any]:
        schema = wire_schema(tool.parameters, self._quirks)
        schema = {k: v for k, v in schema.items() if k not in _COMBINED}  # not taken at the top
        return {"name": tool.name, "description": scrub_text(tool.description), "input_schema": schema}

    # --- messages ------------------------------------------------------------------------------------------------

    def _ends(self, request: Request, history: Sequence[Message]) -> set[int]:
        """Where in the projected history the marked messages end."""
        marks = sorted({m for m in request.marks if 0 <= m < len(request.messages)})[-(_MARKS - 1) :]
        if len(self._memo.messages) == len(request.messages):
            return {self._memo.end_of(m) - 1 for m in marks}
        return {len(history) - 1} if marks else set()  # a history that had to be mended has other places

    def _messages(self, history: tuple[Message, ...], ends: set[int]) -> list[bytes]:
        """The messages as JSON without the outer brackets, in pieces to be joined; roles in turns, the user first and
        last."""
        self._joined.update(history)
        pieces = self._joined.pieces()
        for at in ends:
            if 0 <= at < len(history):
                pieces[at] = _parting(history[at], history[at - 1] if at else None) + _blocks(history[at], marked=True)
        if not history:
            pieces.append(b'{"role":"user","content":[' + _CONTINUE)
        elif history[-1].role == "assistant":
            pieces.append(b']},{"role":"user","content":[' + _CONTINUE)
        pieces.append(b"]}")
        return pieces


_CONTINUE = encode({"type": "text", "text": "Continue."})


def _piece(message: Message, before: Message | None) -> Piece:
    return _parting(message, before) + _blocks(message), 0, image_surcharge(message)


def _parting(message: Message, before: Message | None) -> bytes:
    """What stands between two messages: what is said by the same side is one message on the wire."""
    role = b"assistant" if message.role == "assistant" else b"user"
    if before is None:
        start = b'{"role":"user","content":[' + _CONTINUE + b"]}," if role == b"assistant" else b""
    elif (before.role == "assistant") == (role == b"assistant"):
        return b","
    else:
        start = b"]},"
    return start + b'{"role":"%b","content":[' % role


def _blocks(message: Message, *, marked: bool = False) -> bytes:
    blocks = _content(message)
    return b",".join(map(encode, _marked(blocks) if marked else blocks))


def _marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks with a mark on the last one that can bear it."""
    for at in range(len(blocks) - 1, -1, -1):
        if blocks[at]["type"] not in ("thinking", "redacted_thinking"):
            return [*blocks[:at], blocks[at] | {"cache_control": _MARK}, *blocks[at + 1 :]]
    return blocks


def _content(message: Message) -> list[dict[str, Any]]:
    return [block for part in message.parts if (block := _block(part))]


def _block(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text} if text.strip() else {}
        case ImagePart():
            return _image(part)
        case ReasoningPart(data=data) if data:
            return {"type": "redacted_thinking", "data": data}
        case ReasoningPart(text=text, signature=signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case CallPart(id=id, name=name, arguments=arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": raw_json(arguments)}
        case ResultPart():
            return _result(part)
        case _:
            return {}


def _result(part: ResultPart) -> dict[str, Any]:
    content: Any = part.text
    if part.images:
        text = [{"type": "text", "text": part.text}] if part.text.strip() else []
        content = [*text, *map(_image, part.images)]
    fields: dict[str, Any] = {"type": "tool_result", "tool_use_id": part.call_id, "content": content}
    return fields if part.status == "done" else fields | {"is_error": True}


def _image(part: ImagePart) -> dict[str, Any]:
    media, data = part.media_type, part.data
    if not data and part.url.startswith("data:"):
        head, _, data = part.url.partition(",")
        media = head.removeprefix("data:").removesuffix(";base64")
    if not data:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    if media and media not in _IMAGES:
        return {"type": "text", "text": f"[an image of the type {media} was left out: it cannot be shown here]"}
    return {"type": "image", "source": {"type": "base64", "media_type": media or "image/png", "data": data}}


def unwrapped(text: str) -> str:
    """The answer out of an object that wraps it under "value"; the text itself when it is not that."""
    try:
        return bytes(msgspec.json.decode(text, type=dict[str, msgspec.Raw])["value"]).decode()
    except (msgspec.DecodeError, KeyError, RecursionError):
        return text


def _system_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": scrub_text(text)}
