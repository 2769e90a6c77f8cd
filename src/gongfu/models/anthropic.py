"""Anthropic's Messages API: streamed, with thinking that is signed, tools, images and cache marks."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from gongfu.core.errors import ProviderFault
from gongfu.core.specs import ModelInfo
from gongfu.models.anthropic_body import MessagesBody, MessagesWriter, unwrapped
from gongfu.models.assemble import Assembler
from gongfu.models.faults import fault_in_stream
from gongfu.models.learned import Learned
from gongfu.models.protocol import Answer, Delta, Request
from gongfu.models.quirks import Quirks, for_model, load_quirks
from gongfu.models.sse import ServerEvent
from gongfu.models.transport import Transport
from gongfu.models.usage import usage_of
from gongfu.models.wire import PLAIN, decode, dict_at, dicts_at, encode, exchange, text_at

_VERSION = {"anthropic-version": "2023-06-01"}
_CUT = "model_context_window_exceeded"
_NO_USAGE = {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 0}


class Anthropic:
    """One model behind a Messages endpoint. `transport` carries the key and further headers (such as betas)."""

    def __init__(self, info: ModelInfo, transport: Transport, quirks: Quirks | None = None) -> None:
        if quirks is None or quirks.api != "anthropic":
            quirks = for_model(load_quirks("anthropic"), info.name)
        self.info = info
        self._transport = transport
        self._learned = Learned(info, quirks, MessagesWriter)
        versioned = re.search(r"/v\d\w*/?(\?|$)", transport.base_url)
        self._path = quirks.path if versioned else f"/v1{quirks.path}"

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """See `ModelProvider.complete`."""
        writer = self._learned.writer
        body = writer.write(request)
        reader = MessagesReader(request, body, self.info.ref)
        try:
            async with aclosing(
                exchange(self._transport, self._path, body.data, _VERSION, reader, self.info.ref)
            ) as deltas:
                async for delta in deltas:
                    yield delta
        except ProviderFault as fault:
            self._learned.heed(fault, body.data, writer)
            raise

    async def aclose(self) -> None:
        """Close the connections. May be called more than once."""
        await self._transport.aclose()


class MessagesReader:
    """Reads the events of one answer."""

    def __init__(self, request: Request, body: MessagesBody, ref: str) -> None:
        structured = bool(body.answer_tool)
        self._assembler = Assembler(
            () if structured else request.tools, model=ref, limit=body.limit, style="off" if structured else "markers"
        )
        self._body = body
        self._ref = ref
        self._usage: dict[str, Any] = dict(_NO_USAGE)
        self._kinds: dict[int, str] = {}
        self._stop = ""
        self._dropped = 0
        self._aside: list[str] = []  # text beside a structured answer; used when the answer is missing
        self._structured: list[str] = []
        self.done = False

    def event(self, event: ServerEvent) -> list[Delta]:
        """What an event adds. Unknown kinds add nothing."""
        fields = decode(event.data)
        if fields is None:
            self._dropped += len(event.data)
            return []
        kind = text_at(fields, "type") or event.event
        if kind in ("error", PLAIN) or fields.get("error") or dict_at(fields, "base_resp").get("status_code"):
            return self._whole(fields)
        match kind:
            case "message":
                return self._message(fields)
            case "message_start":
                message = dict_at(fields, "message")
                self._assembler.served_by(text_at(message, "model"))
                self._count(dict_at(message, "usage"))
            case "content_block_start":
                return self._start(fields)
            case "content_block_delta":
                return self._delta(fields)
            case "content_block_stop":
                if self._kinds.pop(_index(fields), "") in ("thinking", "redacted_thinking"):
                    self._assembler.close()
            case "message_delta":
                self._stop = text_at(dict_at(fields, "delta"), "stop_reason") or self._stop
                self._count(dict_at(fields, "usage"))
            case "message_stop":
                self.done = True
            case _:
                pass
        return []

    def flush(self) -> list[Delta]:
        """What was held back: a structured answer that had to be unwrapped, or text where none was made."""
        deltas: list[Delta] = []
        if self._structured:
            deltas += self._assembler.text(unwrapped("".join(self._structured)))
        elif self._aside and self._assembler.empty:
            deltas += self._assembler.text("".join(self._aside))
        self._structured, self._aside = [], []
        return [*deltas, *self._assembler.flush()]

    def answer(self) -> Answer | None:
        """The whole answer; one whose reason to stop has been told counts as whole."""
        if not self.done and not self._stop:
            return None
        self._assembler.count(usage_of(self._usage))
        self._assembler.finish("max_tokens" if self._stop == _CUT else self._stop)
        answer = self._assembler.answer()
        return replace(answer, raw_finish=self._stop, dropped=answer.dropped + self._dropped)

    def partial(self) -> Answer | None:
        """What had arrived, without calls."""
        if self._assembler.empty:
            return None
        self._assembler.count(usage_of(self._usage))
        return self._assembler.partial()

    # --- events --------------------------------------------------------------------------------------------------

    def _whole(self, fields: dict[str, Any]) -> list[Delta]:
        """An answer that is no stream, or an error."""
        if text_at(fields, "type") != "error" and dicts_at(fields, "content"):
            return self._message(fields)
        fault = fault_in_stream(fields, self._ref)
        if fault.said:
            raise fault
        return []  # it says nothing: `wire.exchange` tells what it is

    def _message(self, message: dict[str, Any]) -> list[Delta]:
        deltas: list[Delta] = []
        self._assembler.served_by(text_at(message, "model"))
        for index, block in enumerate(dicts_at(message, "content")):
            deltas += self._start({"index": index, "content_block": block})
            if block.get("type") in ("thinking", "redacted_thinking"):
                self._assembler.close()
        self._stop = text_at(message, "stop_reason") or self._stop
        self._count(dict_at(message, "usage"))
        self.done = True
        return deltas

    def _start(self, fields: dict[str, Any]) -> list[Delta]:
        block, index = dict_at(fields, "content_block"), _index(fields)
        kind = self._kinds[index] = text_at(block, "type")
        match kind:
            case "text":
                return self._text(text_at(block, "text"))
            case "thinking":
                self._assembler.close()
                deltas = self._assembler.reasoning(text_at(block, "thinking"))
                if signature := text_at(block, "signature"):
                    self._assembler.signature(signature)
                return deltas
            case "redacted_thinking":
                self._assembler.close()
                self._assembler.signature(data=text_at(block, "data"))
                return []
            case "tool_use":
                return self._tool_use(block, index)
            case _:
                return []

    def _tool_use(self, block: dict[str, Any], index: int) -> list[Delta]:
        name, given = text_at(block, "name"), dict_at(block, "input")
        if self._body.answer_tool:
            self._kinds[index] = "answer"
            return self._answer_piece(encode(given).decode()) if given else []
        return self._assembler.call(id=text_at(block, "id"), index=index, name=name, arguments=given or "")

    def _delta(self, fields: dict[str, Any]) -> list[Delta]:
        delta, index = dict_at(fields, "delta"), _index(fields)
        match text_at(delta, "type"):
            case "text_delta":
                return self._text(text_at(delta, "text"))
            case "thinking_delta":
                return self._assembler.reasoning(text_at(delta, "thinking"))
            case "signature_delta":
                self._assembler.signature(text_at(delta, "signature"))
                return []
            case "input_json_delta":
                piece = text_at(delta, "partial_json")
                if self._kinds.get(index) == "answer":
                    return self._answer_piece(piece)
                return self._assembler.call(index=index, arguments=piece) if piece else []
            case _:
                return []

    def _text(self, piece: str) -> list[Delta]:
        if self._body.answer_tool:
            self._aside.append(piece)
            return []
        return self._assembler.text(piece)

    def _answer_piece(self, piece: str) -> list[Delta]:
        if self._body.wrapped:
            self._structured.append(piece)
            return []
        return self._assembler.text(piece)

    def _count(self, usage: dict[str, Any]) -> None:
        """Counts grow while an answer is written; servers leave out or zero what they have told before."""
        for name, value in usage.items():
            known = self._usage.get(name)
            if isinstance(value, int | float) and isinstance(known, int | float):
                self._usage[name] = max(known, value)
            elif value is not None:
                self._usage[name] = value


def _index(fields: dict[str, Any]) -> int:
    index = fields.get("index")
    return index if isinstance(index, int) else 0
