"""Reading an answer of Chat Completions, streamed or whole. No I/O: fed with the data of events."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gongfu.core.messages import Part, ReasoningPart, TextPart
from gongfu.models.assemble import Assembler
from gongfu.models.faults import fault_in_stream
from gongfu.models.protocol import Answer, Delta
from gongfu.models.quirks import Quirks
from gongfu.models.sse import ServerEvent
from gongfu.models.thinktags import ThinkSplitter, split_unopened
from gongfu.models.usage import usage_of
from gongfu.models.wire import read_json

_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thought")
_THINKING = frozenset((*_THOUGHTS, "reasoning_details"))


class ChatReader:
    """Turns events into deltas and fills `assembler` (see `wire.Reader`). What a server leaves out or writes as null
    is taken as not there."""

    def __init__(self, assembler: Assembler, quirks: Quirks, model: str) -> None:
        self._into = assembler
        self._quirks = quirks
        self._model = model
        self._tags = ThinkSplitter() if quirks.think_tags else None
        self._details: list[dict[str, Any]] = []
        self._text = ""  # all of it so far, kept only for servers whose pieces grow
        self._thought = ""
        self._chosen: Any = None  # the index of the one choice that is read
        self._whole = False
        self._ended = False
        self._counted = False
        self._done = False

    @property
    def done(self) -> bool:
        """Nothing can follow any more."""
        return self._done

    def event(self, event: ServerEvent) -> list[Delta]:
        """One event. Raises a ProviderFault for an error told in it; what is no JSON is passed over."""
        if event.data.strip() == "[DONE]":
            self._ended = self._done = True
            return []
        value = read_json(event.data)
        if isinstance(value, list):
            return [d for item in cast("list[Any]", value) for d in self._chunk(item, event.event)]
        return self._chunk(value, event.event)

    def flush(self) -> list[Delta]:
        """The stream is over: what was held back."""
        held = self._tags.flush() if self._tags else []
        deltas = [d for thinking, text in held for d in self._add(thinking, text)]
        if any(k in d for d in self._details for k in ("data", "signature", "id")):
            self._into.signature(data=msgspec.json.encode(self._details).decode())
        self._details = []
        return [*deltas, *self._into.flush()]

    def answer(self) -> Answer | None:
        """The whole answer; None when the server has not said in any way that it is at its end."""
        if not (self._ended or self._counted):
            return None
        self.flush()
        answer = self._into.answer()
        return _with_thinking(answer, self._model) if self._tags and "</think>" in answer.message.text else answer

    def partial(self) -> Answer | None:
        """What had arrived, or None for nothing."""
        return None if self._into.empty else self._into.partial()

    # --- one chunk -----------------------------------------------------------------------------------------------

    def _chunk(self, value: Any, name: str) -> list[Delta]:
        if not isinstance(value, dict):
            return []
        chunk = cast("dict[str, Any]", value)
        self._check(chunk, name)
        self._into.served_by(_string(chunk.get("model")))
        self._count(chunk.get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return []
        if not choices and isinstance(chunk.get("usage"), dict):
            self._counted = not self._into.empty  # the last chunk of a stream with usage, if nothing follows
            self._done = self._done or bool(self._into.raw_finish)
        deltas: list[Delta] = []
        for choice in cast("list[Any]", choices):
            if not isinstance(choice, dict):
                continue
            fields = cast("dict[str, Any]", choice)
            index = _index(fields.get("index")) or 0
            self._chosen = index if self._chosen is None else self._chosen
            if index == self._chosen:
                deltas += self._choice(fields)
        self._counted = self._counted and not deltas
        return deltas

    def _check(self, chunk: dict[str, Any], name: str) -> None:
        """Raise what a server tells in an event instead of answering."""
        error: Any = chunk.get("error")
        base: Any = chunk.get("base_resp")  # MiniMax
        if isinstance(base, dict) and cast("dict[str, Any]", base).get("status_code"):
            raise fault_in_stream(cast("dict[str, Any]", base), self._model)
        if error:
            raise fault_in_stream(_error(error), self._model)
        if name == "error" or (chunk.get("object") == "error" and "choices" not in chunk):
            raise fault_in_stream(chunk, self._model)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict) and usage:
            quirks = self._quirks
            fields = cast("dict[str, Any]", usage)
            read = usage_of(fields, cached_outside=quirks.cached_outside, output_from_total=quirks.output_from_total)
            if read.input or read.output or not self._into.usage.input:
                self._into.count(read)

    def _choice(self, choice: dict[str, Any]) -> list[Delta]:
        self._count(choice.get("usage"))  # Kimi
        deltas: list[Delta] = []
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict) and delta:
            deltas = self._delta(cast("dict[str, Any]", delta))
        elif isinstance(message, dict) and (self._into.empty or self._whole):
            self._whole = True
            deltas = self._delta(cast("dict[str, Any]", message))
        elif isinstance(choice.get("text"), str):
            deltas = self._content(choice["text"])
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and reason != "null":
            self._ended = True
            self._into.finish(reason)
        elif self._whole:
            self._ended = True
        return deltas

    def _delta(self, delta: dict[str, Any]) -> list[Delta]:
        deltas = self._thoughts(delta)
        deltas += self._content(delta.get("content"))
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._into.finish("refusal")
            deltas += self._into.text(refusal)
        calls: Any = delta.get("tool_calls")
        for call in cast("list[Any]", calls) if isinstance(calls, list) else [calls]:
            if isinstance(call, dict):
                deltas += self._call(cast("dict[str, Any]", call))
        old = delta.get("function_call")
        if isinstance(old, dict) and not calls:
            deltas += self._call({"index": 0, "function": old})
        return deltas

    # --- text and thinking ---------------------------------------------------------------------------------------

    def _content(self, content: Any) -> list[Delta]:
        deltas: list[Delta] = []
        for thinking, piece in _texts(content):
            if thinking:
                deltas += self._think(piece)
                continue
            text, self._text = self._news(piece, self._text)
            pieces = self._tags.feed(text) if self._tags and text else [(False, text)]
            for inside, part in pieces:
                deltas += self._add(inside, part)
        return deltas

    def _add(self, thinking: bool, text: str) -> list[Delta]:
        return self._into.reasoning(text) if thinking else self._into.text(text)

    def _thoughts(self, delta: dict[str, Any]) -> list[Delta]:
        if _THINKING.isdisjoint(delta):
            return []
        details: Any = delta.get("reasoning_details")
        if isinstance(details, list):
            self._gather(cast("list[Any]", details))
        for field in _THOUGHTS:
            value = delta.get(field)
            if value:
                return self._think("".join(text for _, text in _texts(value)))
        return self._think("".join(_detail_text(d) for d in cast("list[Any]", details))) if details else []

    def _think(self, text: str) -> list[Delta]:
        text, self._thought = self._news(text, self._thought)
        return self._add(True, text) if text else []

    def _news(self, piece: str, before: str) -> tuple[str, str]:
        """What is new in a piece, and all there is now, for servers whose pieces may repeat everything before."""
        if not self._quirks.growing:
            return piece, before
        if before and piece.startswith(before):
            return piece[len(before) :], piece
        return piece, before + piece

    def _gather(self, details: list[Any]) -> None:
        """Join the pieces of `reasoning_details` by type and index; they go back as they came."""
        for item in details:
            if not isinstance(item, dict):
                continue
            detail = cast("dict[str, Any]", item)
            last = self._details[-1] if self._details else {}
            if last and all(last.get(k) == detail.get(k) for k in ("type", "index")):
                for key, value in detail.items():
                    joined = key in ("text", "summary", "data", "signature") and isinstance(value, str)
                    last[key] = _string(last.get(key)) + value if joined else (value or last.get(key))
            else:
                self._details.append(dict(detail))

    # --- calls ---------------------------------------------------------------------------------------------------

    def _call(self, call: dict[str, Any]) -> list[Delta]:
        inner: Any = call.get("function")
        function = cast("dict[str, Any]", inner) if isinstance(inner, dict) else call
        arguments: Any = function.get("arguments")
        if arguments is None:
            arguments = function.get("parameters")
        if not isinstance(arguments, str | dict | None):
            arguments = msgspec.json.encode(arguments).decode()
        name = _string(function.get("name"))
        index = _index(call.get("index"))
        if not (name or arguments or call.get("id")):
            return []
        deltas = self._into.call(id=_id(call.get("id")), index=index, name=name, arguments=cast("Any", arguments))
        self._sign(call)
        return deltas

    def _sign(self, call: dict[str, Any]) -> None:
        """Gemini's signature rides on the call, under the name of the endpoint's family."""
        extra: Any = call.get("extra_content")
        for family in ("google", "vertex"):
            inner: Any = cast("dict[str, Any]", extra).get(family) if isinstance(extra, dict) else None
            if isinstance(inner, dict):
                signature = _string(cast("dict[str, Any]", inner).get("thought_signature"))
                self._into.call_signature(signature, family if family != "google" else "")


def _with_thinking(answer: Answer, model: str) -> Answer:
    """The answer with its text up to a closing tag as thinking: the opening one was in the prompt of some servers."""
    parts = answer.message.parts
    first = parts[0] if parts else None
    if not isinstance(first, TextPart):
        return answer
    thought, text = split_unopened(first.text)
    if not thought:
        return answer
    head: list[Part] = [ReasoningPart(text=thought, model=model)]
    if text.strip():
        head.append(TextPart(text=text))
    return replace(answer, message=replace(answer.message, parts=(*head, *parts[1:])))


def _texts(content: Any) -> list[tuple[bool, str]]:
    """(is thinking, text) of a content: a string, a part, or a list of parts."""
    if isinstance(content, str):
        return [(False, content)] if content else []
    if isinstance(content, list):
        return [t for item in cast("list[Any]", content) for t in _texts(item)]
    if not isinstance(content, dict):
        return []
    part = cast("dict[str, Any]", content)
    kind = _string(part.get("type"))
    inner = part.get("thinking", part.get("text", part.get("content", part.get("reasoning"))))
    thinking = kind in ("thinking", "reasoning", "reasoning.text", "thought")
    return [(thinking or inside, text) for inside, text in _texts(inner)]


def _detail_text(detail: Any) -> str:
    if not isinstance(detail, dict):
        return ""
    fields = cast("dict[str, Any]", detail)
    return _string(fields.get("text")) or _string(fields.get("summary"))


def _error(error: Any) -> dict[str, Any] | str:
    return cast("dict[str, Any]", error) if isinstance(error, dict) else str(error)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _id(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _index(value: Any) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    return int(value) if isinstance(value, str) and value.isdigit() else None
