"""The body of a Chat Completions request, whose beginning stays the same, byte for byte, through a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

import msgspec
from msgspec.structs import replace

from gongfu.core.messages import CallPart, ImagePart, Message, ReasoningPart, ResultPart, TextPart
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.core.tokens import bytes_tokens, image_tokens
from gongfu.models.history import Memo, Profile, project
from gongfu.models.joined import Joined, Piece
from gongfu.models.protocol import Request, whole_system
from gongfu.models.quirks import Quirks
from gongfu.models.schemas import is_strict, wire_schema
from gongfu.models.textual import described, told
from gongfu.models.wire import encode

_SPARE = 256  # tokens that are left free beside the prompt and the answer
_LEAST = 16  # tokens of output that are asked for even when the window seems full: the server then says how it is
_BACK: tuple[Literal["never", "tool_rounds", "always"], ...] = ("never", "tool_rounds", "always")
_json = msgspec.json.Encoder()


class Body(msgspec.Struct, frozen=True):
    """The bytes of a body and the output limit in it (tokens, 0 for none)."""

    data: bytes
    limit: int


class BodyWriter:
    """Writes the bodies of one model. What was encoded for one request is used again by the next."""

    def __init__(self, info: ModelInfo, quirks: Quirks) -> None:
        self._info = info
        self._quirks = quirks
        self.profile = self._profile()
        self._memo = Memo()
        self._joined = Joined(self._piece)
        self._tools: tuple[tuple[ToolSpec, ...], bytes] = ((), b"")

    def write(self, request: Request) -> Body:
        """The body: what stays the same first, then the messages, and last what may change with each request."""
        native = self._info.tools
        system = self._system(request)
        head = _fields(self._head(request))
        tools = self._tool_bytes(request.tools) if native else b""
        if tools:
            left = self._quirks.leave_out
            choice = self._quirks.tool_choice and "tool_choice" not in left
            parallel = self._quirks.parallel_calls and "parallel_tool_calls" not in left
            head += b',"tools":' + tools + (b',"tool_choice":"auto"' if choice else b"")
            head += b',"parallel_tool_calls":true' if parallel else b""
        messages = self._messages(request, system)
        limit = self._limit(request, len(head) + sum(map(len, messages)), self._joined.images)
        tail = _fields(self._tail(request, limit, tools=bool(tools)))
        close = b"]," + tail + b"}" if tail else b"]}"
        return Body(b"".join((b"{", head, b',"messages":[', *messages, close)), limit)

    # --- the fields ----------------------------------------------------------------------------------------------

    def _head(self, request: Request) -> dict[str, Any]:
        quirks = self._quirks
        fields: dict[str, Any] = {"model": self._info.name, "stream": quirks.stream}
        if quirks.stream_usage and quirks.stream:
            fields["stream_options"] = {"include_usage": True}
        if quirks.sampling and request.temperature is not None:
            fields["temperature"] = min(request.temperature, quirks.temperature_max)
        if quirks.sampling and request.top_p is not None:
            fields["top_p"] = request.top_p
        if request.stop and quirks.stop_words:
            fields["stop"] = request.stop[: quirks.stop_words]
        known_plain = bool(self._info.source) and not self._info.reasoning
        if not known_plain:
            fields.update(quirks.efforts.get(request.reasoning, {}))
        fields.update(quirks.extra)
        return {k: v for k, v in fields.items() if k not in quirks.leave_out}

    def _tail(self, request: Request, limit: int, *, tools: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if limit and self._quirks.limit:
            fields[self._quirks.limit] = limit
        kind = self._quirks.structured if self._quirks.structured_with_tools or not tools else ""
        if request.schema is not None and kind == "json_schema":
            schema = wire_schema(request.schema, self._quirks)
            named = {"name": request.schema_name, "schema": schema, "strict": is_strict(schema)}
            fields["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.schema is not None and kind == "json_object":
            fields["response_format"] = {"type": "json_object"}
        return {k: v for k, v in fields.items() if k not in self._quirks.leave_out}

    def _system(self, request: Request) -> str:
        system = whole_system(request)
        if request.schema is not None and self._quirks.structured != "json_schema":
            schema = _json.encode(request.schema).decode()
            system += f"\n\nAnswer with one JSON object that follows this JSON Schema, and with nothing else:\n{schema}"
        return system if self._info.tools else described(system, request.tools)

    def _limit(self, request: Request, size: int, images: tuple[int, int]) -> int:
        """The output limit: what was asked for or the model's own, but no more than the window leaves."""
        known = self._info.max_output
        wanted = min(request.max_output, known) if request.max_output and known else request.max_output or known
        wanted = wanted or self._quirks.limit_always
        if not wanted or not self._info.window or not self._quirks.limit:
            return wanted if self._quirks.limit else 0
        image_bytes, image_cost = images
        left = self._info.window - bytes_tokens(size - image_bytes) - image_cost - _SPARE
        return min(wanted, max(left, _LEAST))

    # --- tools ---------------------------------------------------------------------------------------------------

    def _tool_bytes(self, tools: tuple[ToolSpec, ...]) -> bytes:
        if not tools:
            return b""
        if self._tools[0] != tools:
            self._tools = (tools, _json.encode([self._tool(t) for t in tools]))
        return self._tools[1]

    def _tool(self, tool: ToolSpec) -> dict[str, Any]:
        schema = wire_schema(tool.parameters, self._quirks)
        function: dict[str, Any] = {"name": tool.name, "description": tool.description, "parameters": schema}
        if self._quirks.strict:
            function["strict"] = False
        return {"type": "function", "function": function}

    # --- messages ------------------------------------------------------------------------------------------------

    def _profile(self) -> Profile:
        """What this model may be sent of a history."""
        quirks, info = self._quirks, self._info
        return Profile(
            model=info.ref,
            reasoning=thinking_sent(info, quirks),
            demanded=quirks.reasoning_demanded,
            call_signatures=quirks.call_signatures,
            images=info.images,
            result_images=quirks.result_images,
            alternate=quirks.alternate,
            result_then_assistant=quirks.result_then_assistant,
            ids=quirks.ids,
            id_size=quirks.id_size,
        )

    def _messages(self, request: Request, system: str) -> list[bytes]:
        """The messages as JSON without the outer brackets, in pieces to be joined."""
        messages = request.messages if self._info.tools else told(request.messages)
        history = project(messages, self.profile, self._memo)
        self._joined.update(history)
        mark = self._quirks.cache_marks and bool(request.marks)
        pieces = self._joined.pieces()
        if mark and history:
            pieces[-1] = self._piece(history[-1], history[-2] if history[1:] else None, mark=True)[0]
        if system and self._quirks.system_role == "user" and history and history[0].role == "user":
            first = replace(history[0], parts=(TextPart(text=f"{system}\n\n"), *history[0].parts))
            pieces[0] = self._piece(first, None)[0]
        elif system:
            start = encode({"role": self._quirks.system_role, "content": _marked(system) if mark else system})
            pieces = [start, b"," if pieces else b"", *pieces]
        return pieces

    def _piece(self, message: Message, before: Message | None, *, mark: bool = False) -> Piece:
        fields = list(self._wire(message, before))
        if mark:
            fields[-1] = {**fields[-1], "content": _marked(fields[-1].get("content"))}
        data = b",".join(map(encode, fields))
        images = [p for p in message.parts if isinstance(p, ImagePart)]
        cost = sum(image_tokens(p.width, p.height) for p in images)
        return data if before is None else b"," + data, sum(len(p.data) for p in images), cost

    def _wire(self, message: Message, before: Message | None) -> Iterator[dict[str, Any]]:
        if message.role == "assistant":
            yield self._assistant(message)
        elif message.role == "tool":
            names = {c.id: c.name for c in before.calls} if before else {}
            for result in message.results:
                yield self._result(result, names)
        else:
            yield {"role": "user", "content": self._content(message)}

    def _result(self, result: ResultPart, names: dict[str, str]) -> dict[str, Any]:
        fields: dict[str, Any] = {"role": "tool", "tool_call_id": result.call_id}
        if self._quirks.result_name:
            fields["name"] = names.get(result.call_id, "")
        content: Any = result.text
        if result.images:
            content = [{"type": "text", "text": result.text}, *map(_image, result.images)]
        return {**fields, "content": content}

    def _content(self, message: Message) -> Any:
        images = [p for p in message.parts if isinstance(p, ImagePart)]
        if not images:
            return message.text
        parts: list[dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                parts.append({"type": "text", "text": part.text})
            elif isinstance(part, ImagePart) and (part.data or self._quirks.image_urls):
                parts.append(_image(part))
            elif isinstance(part, ImagePart):
                parts.append({"type": "text", "text": f"[image at {part.url}: this server takes no addresses]"})
        return parts

    def _assistant(self, message: Message) -> dict[str, Any]:
        text = "".join(_joined(message))
        calls = self._calls(message)
        thoughts = [p for p in message.parts if isinstance(p, ReasoningPart) and not _of_call(p)]
        fields: dict[str, Any] = {"role": "assistant"}
        if self._quirks.reasoning_field == "think" and thoughts:
            text = f"<think>\n{''.join(p.text for p in thoughts)}\n</think>\n\n{text}"
        if text or not calls:
            fields["content"] = text
        elif self._quirks.empty_content != "omit":
            fields["content"] = None if self._quirks.empty_content == "null" else ""
        if thoughts:
            fields.update(self._thoughts(thoughts))
        if calls:
            fields["tool_calls"] = calls
        return fields

    def _thoughts(self, thoughts: list[ReasoningPart]) -> dict[str, Any]:
        text = "".join(p.text for p in thoughts)
        match self._quirks.reasoning_field:
            case "reasoning_details":
                data = [p.data for p in thoughts if p.data]
                if data:
                    return {"reasoning_details": msgspec.Raw(data[0].encode())}
                return {"reasoning_details": [{"type": "reasoning.text", "text": text}]} if text else {}
            case "think":
                return {}
            case field:
                return {field: text}

    def _calls(self, message: Message) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        signature = family = ""
        for part in message.parts:
            if isinstance(part, ReasoningPart) and _of_call(part):
                signature, family = part.signature, part.data
            elif isinstance(part, CallPart):
                arguments: Any = part.arguments
                if self._quirks.object_arguments:
                    arguments = msgspec.Raw(part.arguments.encode())
                function = {"name": part.name, "arguments": arguments}
                call: dict[str, Any] = {"id": part.id, "type": "function", "function": function}
                signature = signature or (self._quirks.missing_signature if not calls else "")
                if signature:
                    call["extra_content"] = {family or "google": {"thought_signature": signature}}
                calls.append(call)
                signature = family = ""
        return calls


def thinking_sent(info: ModelInfo, quirks: Quirks) -> Literal["never", "tool_rounds", "always"]:
    """Which thinking goes back: what the catalog or the provider's oddities demand, whichever is more."""
    return _BACK[max(_BACK.index(info.reasoning_back), _BACK.index(quirks.reasoning_back or "never"))]


def _marked(content: Any) -> Any:
    """Content whose last text carries a cache mark."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list) or not parts or (content == ""):
        return content
    *before, last = cast("list[dict[str, Any]]", parts)
    return [*before, {**last, "cache_control": {"type": "ephemeral"}}]


def _of_call(part: ReasoningPart) -> bool:
    return bool(part.signature and part.id and not part.text)


def _joined(message: Message) -> Iterator[str]:
    """The texts of a message; two that were written apart stay apart."""
    last = ""
    for part in message.parts:
        if isinstance(part, TextPart):
            if last and not last[-1].isspace() and not part.text[:1].isspace():
                yield "\n\n"
            yield part.text
            last = part.text


def _image(part: ImagePart) -> dict[str, Any]:
    url = f"data:{part.media_type or 'image/png'};base64,{part.data}" if part.data else part.url
    return {"type": "image_url", "image_url": {"url": url}}


def _fields(fields: dict[str, Any]) -> bytes:
    return encode(fields)[1:-1]
