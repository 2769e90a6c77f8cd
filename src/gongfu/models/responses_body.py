"""The body of a Responses request: stateless, what stays the same first, thinking sent back encrypted and in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gongfu.core.base import Base
from gongfu.core.jsonfix import scrub_text
from gongfu.core.messages import CallPart, ImagePart, Message, ReasoningPart, ResultPart, TextPart
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.core.tokens import bytes_tokens
from gongfu.models.history import Memo, Profile, project
from gongfu.models.joined import Joined, Piece
from gongfu.models.protocol import Request, whole_system
from gongfu.models.quirks import Quirks
from gongfu.models.schemas import is_strict, wire_schema
from gongfu.models.window import output_limit
from gongfu.models.wire import encode, image_surcharge, text_at


class ResponsesBody(Base, frozen=True):
    """The bytes of a body and the output limit in it (tokens, 0 for none)."""

    data: bytes
    limit: int


class ResponsesWriter:
    """Writes the bodies of one model. What was encoded for one request is used again by the next."""

    def __init__(self, info: ModelInfo, quirks: Quirks) -> None:
        self._info = info
        self._quirks = quirks
        self._memo = Memo()
        self._joined = Joined(_piece)
        self._tools: tuple[tuple[ToolSpec, ...], list[dict[str, Any]]] = ((), [])
        self.profile = Profile(
            model=info.ref,
            reasoning="never" if quirks.reasoning_back == "never" else "always",
            unsigned=False,
            images=info.images,
            result_images=True,
            ids="plain",
            id_size=64,
            unique_ids=True,
        )

    def write(self, request: Request) -> ResponsesBody:
        """The body of a request."""
        thinks = self._info.reasoning or not self._info.source
        fields: dict[str, Any] = {"model": self._info.name, "store": False, "stream": True}
        if thinks:
            fields["include"] = ["reasoning.encrypted_content"]
        if system := whole_system(request):
            fields["instructions"] = scrub_text(system)
        if request.tools and self._info.tools:
            fields["tools"] = self._tool_list(request.tools)
        head = encode({k: v for k, v in fields.items() if k not in self._quirks.leave_out})[:-1]
        self._joined.update(project(request.messages, self.profile, self._memo))
        limit = request.max_output or self._info.max_output
        if "max_output_tokens" in self._quirks.leave_out:
            limit = 0
        if limit:
            limit = output_limit(
                limit, self._info, bytes_tokens(len(head) + self._joined.size) + self._joined.images[1]
            )
        tail = encode(self._tail(request, limit, thinks=thinks))[1:-1]
        close = b"]," + tail + b"}" if tail else b"]}"
        return ResponsesBody(data=b"".join((head, b',"input":[', *self._joined.pieces(), close)), limit=limit)

    def _tail(self, request: Request, limit: int, *, thinks: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if limit:
            fields["max_output_tokens"] = limit
        if thinks:
            effort = text_at(self._quirks.efforts.get(request.reasoning, {}), "reasoning_effort")
            fields["reasoning"] = ({"effort": effort} if effort else {}) | {"summary": "auto"}
        if self._quirks.sampling and request.temperature is not None:
            fields["temperature"] = min(request.temperature, self._quirks.temperature_max)
        if self._quirks.sampling and request.top_p is not None:
            fields["top_p"] = request.top_p
        if request.schema is not None:
            schema = wire_schema(request.schema, self._quirks)
            named = {"name": request.schema_name, "schema": schema, "strict": is_strict(schema)}
            fields["text"] = {"format": {"type": "json_schema", **named}}
        return {k: v for k, v in fields.items() if k not in self._quirks.leave_out}

    def _tool_list(self, tools: tuple[ToolSpec, ...]) -> list[dict[str, Any]]:
        if self._tools[0] != tools:
            self._tools = (tools, [self._tool(tool) for tool in tools])
        return self._tools[1]

    def _tool(self, tool: ToolSpec) -> dict[str, Any]:
        return {
            "type": "function",
            "name": tool.name,
            "description": scrub_text(tool.description),
            "parameters": wire_schema(tool.parameters, self._quirks),
            "strict": False,
        }


def _piece(message: Message, before: Message | None) -> Piece:
    items = b",".join(map(encode, _wire(message)))
    return b"," + items if items and before else items, 0, image_surcharge(message)


def _wire(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "assistant":
        yield from _assistant(message)
    elif message.role == "tool":
        for result in message.results:
            yield {"type": "function_call_output", "call_id": result.call_id, "output": _output(result)}
    else:
        yield {"type": "message", "role": "user", "content": _content(message)}


def _content(message: Message) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            content.append({"type": "input_text", "text": part.text})
        elif isinstance(part, ImagePart):
            content.append(_image(part))
    return content


def _output(result: ResultPart) -> Any:
    if not result.images:
        return result.text
    text = [{"type": "input_text", "text": result.text}] if result.text else []
    return [*text, *map(_image, result.images)]


def _assistant(message: Message) -> Iterator[dict[str, Any]]:
    last = max((n for n, p in enumerate(message.parts) if isinstance(p, TextPart | CallPart)), default=-1)
    for number, part in enumerate(message.parts):
        match part:
            case ReasoningPart(data=data) if data and number < last:  # thinking must be followed by what it led to
                yield _reasoning(part)
            case TextPart(text=text):
                part_fields: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
                yield {"type": "message", "role": "assistant", "content": [part_fields]}
            case CallPart(id=id, name=name, arguments=arguments):
                yield {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
            case _:
                pass


def _reasoning(part: ReasoningPart) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    named = {"id": part.id} if part.id else {}
    return {"type": "reasoning", **named, "summary": summary, "encrypted_content": part.data}


def _image(part: ImagePart) -> dict[str, Any]:
    url = f"data:{part.media_type or 'image/png'};base64,{part.data}" if part.data else part.url
    return {"type": "input_image", "image_url": url, "detail": "auto"}
