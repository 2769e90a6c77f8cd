"""OpenAI's Responses API, stateless: nothing is stored there, thinking travels encrypted and goes back in place."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from gongfu.core.errors import ProviderFault
from gongfu.core.specs import ModelInfo
from gongfu.models.assemble import Assembler
from gongfu.models.faults import fault_in_stream
from gongfu.models.learned import Learned
from gongfu.models.protocol import Answer, Delta, Request
from gongfu.models.quirks import Quirks, quirks_for
from gongfu.models.responses_body import ResponsesBody, ResponsesWriter
from gongfu.models.sse import ServerEvent
from gongfu.models.transport import Transport
from gongfu.models.usage import usage_of
from gongfu.models.wire import PLAIN, decode, dict_at, dicts_at, exchange, text_at

_PATH = "/responses"
_ENDS = ("response.completed", "response.incomplete", "response.done")
_FAILS = ("error", "response.failed", "response.error")


class OpenAIResponses:
    """One model behind a Responses endpoint. `transport` carries the key and further headers."""

    def __init__(self, info: ModelInfo, transport: Transport, quirks: Quirks | None = None) -> None:
        quirks = quirks or quirks_for(transport.base_url, info.name, api="openai_responses")
        self.info = info
        self._transport = transport
        self._learned = Learned(info, quirks, ResponsesWriter)

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """See `ModelProvider.complete`."""
        writer = self._learned.writer
        body = writer.write(request)
        reader = ResponsesReader(request, body, self.info.ref)
        try:
            async with aclosing(exchange(self._transport, _PATH, body.data, {}, reader, self.info.ref)) as deltas:
                async for delta in deltas:
                    yield delta
        except ProviderFault as fault:
            self._learned.heed(fault, body.data, writer)
            raise

    async def aclose(self) -> None:
        """Close the connections. May be called more than once."""
        await self._transport.aclose()


class ResponsesReader:
    """Reads the events of one answer."""

    def __init__(self, request: Request, body: ResponsesBody, ref: str) -> None:
        structured = request.schema is not None
        self._assembler = Assembler(
            request.tools, model=ref, limit=body.limit, style="off" if structured else "markers"
        )
        self._ref = ref
        self._sizes: dict[tuple[int, str], int] = {}  # what has arrived of each item, by its place and kind
        self._raw = ""
        self._refused = False
        self._dropped = 0
        self.done = False

    def event(self, event: ServerEvent) -> list[Delta]:
        """What an event adds. Unknown kinds add nothing."""
        fields = decode(event.data)
        if fields is None:
            self._dropped += 0 if event.data.strip() == "[DONE]" else len(event.data)
            return []
        kind = text_at(fields, "type") or event.event
        if kind in _FAILS or (kind in (PLAIN, "") and fields.get("error")):
            response = dict_at(fields, "response")
            raise fault_in_stream(dict_at(response, "error") or dict_at(fields, "error") or fields, self._ref)
        if kind in _ENDS:
            return self._end(dict_at(fields, "response"))
        if kind == PLAIN or (not kind and dicts_at(fields, "output")):
            return self._end(fields)
        if kind == "response.created":
            self._assembler.served_by(text_at(dict_at(fields, "response"), "model"))
            return []
        return self._piece(kind, fields)

    def flush(self) -> list[Delta]:
        """What was held back when the stream ended."""
        return self._assembler.flush()

    def answer(self) -> Answer | None:
        """The whole answer, or None when its last event never came."""
        if not self.done:
            return None
        answer = self._assembler.answer()
        return replace(answer, dropped=answer.dropped + self._dropped)

    def partial(self) -> Answer | None:
        """What had arrived, without calls."""
        return None if self._assembler.empty else self._assembler.partial()

    # --- events --------------------------------------------------------------------------------------------------

    def _piece(self, kind: str, fields: dict[str, Any]) -> list[Delta]:
        place, delta = _place(fields), text_at(fields, "delta")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._refused = self._refused or kind == "response.refusal.delta"
                return self._text(place, delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._thought(place, delta)
            case "response.reasoning_summary_part.added":
                return self._thought(place, "\n\n") if self._sizes.get((place, "thought")) else []
            case "response.function_call_arguments.delta":
                return self._arguments(place, delta)
            case "response.function_call_arguments.done":
                return self._rest_of_call(place, text_at(fields, "arguments"))
            case "response.output_item.added":
                return self._opened(place, dict_at(fields, "item"))
            case "response.output_item.done":
                return self._closed(place, dict_at(fields, "item"))
            case _:
                return []

    def _opened(self, place: int, item: dict[str, Any]) -> list[Delta]:
        match text_at(item, "type"):
            case "function_call":
                self._sizes[place, "call"] = 0
                return self._call(place, item)
            case "reasoning":
                self._assembler.close()
            case _:
                pass
        return []

    def _closed(self, place: int, item: dict[str, Any]) -> list[Delta]:
        """An item is whole: what its pieces did not bring is taken from it."""
        deltas: list[Delta] = []
        match text_at(item, "type"):
            case "message":
                if not self._sizes.get((place, "text")):
                    for part in dicts_at(item, "content"):
                        self._refused = self._refused or part.get("type") == "refusal"
                        deltas += self._text(place, text_at(part, "text") or text_at(part, "refusal"))
            case "reasoning":
                if not self._sizes.get((place, "thought")):
                    words = [text_at(p, "text") for p in (*dicts_at(item, "summary"), *dicts_at(item, "content"))]
                    deltas += self._thought(place, "\n\n".join(w for w in words if w))
                if sealed := text_at(item, "encrypted_content"):
                    self._assembler.signature(data=sealed, id=text_at(item, "id"))
                self._assembler.close()
            case "function_call":
                if (place, "call") not in self._sizes:
                    self._sizes[place, "call"] = 0
                    deltas += self._call(place, item)
                deltas += self._rest_of_call(place, text_at(item, "arguments"))
            case _:
                pass
        return deltas

    def _call(self, place: int, item: dict[str, Any]) -> list[Delta]:
        return self._assembler.call(id=text_at(item, "call_id"), index=place, name=text_at(item, "name"))

    def _arguments(self, place: int, piece: str) -> list[Delta]:
        if not piece:
            return []
        self._sizes[place, "call"] = self._sizes.get((place, "call"), 0) + len(piece)
        return self._assembler.call(index=place, arguments=piece)

    def _rest_of_call(self, place: int, arguments: str) -> list[Delta]:
        return [] if self._sizes.get((place, "call")) else self._arguments(place, arguments)

    def _text(self, place: int, piece: str) -> list[Delta]:
        self._sizes[place, "text"] = self._sizes.get((place, "text"), 0) + len(piece)
        return self._assembler.text(piece)

    def _thought(self, place: int, piece: str) -> list[Delta]:
        self._sizes[place, "thought"] = self._sizes.get((place, "thought"), 0) + len(piece)
        return self._assembler.reasoning(piece)

    def _end(self, response: dict[str, Any]) -> list[Delta]:
        status = text_at(response, "status")
        if status == "failed":
            raise fault_in_stream(dict_at(response, "error") or response, self._ref)
        deltas: list[Delta] = []
        for place, item in enumerate(dicts_at(response, "output") if self._assembler.empty else []):
            deltas += self._closed(place, item)
        self._assembler.served_by(text_at(response, "model"))
        self._assembler.count(usage_of(dict_at(response, "usage")))
        reason = text_at(dict_at(response, "incomplete_details"), "reason")
        self._assembler.finish(reason or ("refusal" if self._refused else status or "completed"))
        self.done = True
        return deltas


def _place(fields: dict[str, Any]) -> int:
    place = fields.get("output_index")
    return place if isinstance(place, int) else 0
