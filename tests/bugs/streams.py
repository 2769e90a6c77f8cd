"""Streams of Chat Completions for tests: written as data, read by the product, cut at every byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gongfu.core.messages import CallPart
from gongfu.core.specs import ToolSpec
from gongfu.models.assemble import Assembler
from gongfu.models.chat_stream import ChatReader
from gongfu.models.protocol import Answer, Delta, Reasoning, Text
from gongfu.models.quirks import Quirks, load_quirks
from gongfu.models.sse import ServerEvent, SSEDecoder

READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
    },
)
EDIT = ToolSpec(
    name="edit_file",
    description="Edit a file.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                    "required": ["old", "new"],
                },
            },
        },
        "required": ["path", "edits"],
    },
)
BASH = ToolSpec(
    name="bash",
    description="Run a command.",
    parameters={"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)
TODO = ToolSpec(
    name="todo", description="Show the list.", parameters={"type": "object", "properties": {"all": {"type": "boolean"}}}
)
TOOLS = (BASH, EDIT, READ, TODO)


def chunk(delta: dict[str, Any] | None = None, finish: Any = ..., **more: Any) -> dict[str, Any]:
    """One chunk with one choice."""
    choice = {"delta": delta} | ({"finish_reason": finish} if finish is not ... else {})
    return {"choices": [choice], **more}


def call(name: str | None = None, arguments: Any = "", **more: Any) -> dict[str, Any]:
    """An element of `tool_calls`."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"function": function, **more}


def usage(prompt: int = 100, output: int = 20) -> dict[str, Any]:
    """The last chunk, which holds nothing but usage."""
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": output}}


def sse(*chunks: dict[str, Any] | str, done: bool = True) -> bytes:
    """The bytes of a stream."""
    lines = [c if isinstance(c, str) else json.dumps(c, ensure_ascii=False) for c in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, *(["[DONE]"] if done else [])]).encode()


class Seen:
    """What came of a stream: `answer` (None when it did not say its end), and what was shown."""

    def __init__(self, deltas: list[Delta], answer: Answer | None) -> None:
        self.answer = answer
        self.text = "".join(d.text for d in deltas if isinstance(d, Text))
        self.thought = "".join(d.text for d in deltas if isinstance(d, Reasoning))

    @property
    def whole(self) -> Answer:
        assert self.answer is not None, "the stream did not say its end"
        return self.answer

    @property
    def calls(self) -> tuple[CallPart, ...]:
        return self.whole.message.calls

    @property
    def made(self) -> list[tuple[str, Any]]:
        """Name and decoded arguments of each call."""
        return [(c.name, json.loads(c.arguments)) for c in self.calls]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seen) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Seen({vars(self)!r})"


def read(
    *pieces: bytes,
    tools: tuple[ToolSpec, ...] = TOOLS,
    limit: int = 0,
    quirks: Quirks | None = None,
    style: str = "markers",
) -> Seen:
    """Read a stream that arrives in these pieces."""
    assembler = Assembler(tools, model="test/m", limit=limit, style=style)  # type: ignore[arg-type]
    reader = ChatReader(assembler, quirks or load_quirks("default"), "test/m")
    decoder = SSEDecoder()
    deltas: list[Delta] = []
    for piece in pieces:
        for event in decoder.feed(piece):
            deltas += reader.event(event)
    for event in decoder.flush():
        deltas += reader.event(event)
    deltas += reader.flush()
    return Seen(deltas, reader.answer())


def decoded(*pieces: bytes) -> list[ServerEvent]:
    """The events of a stream that arrives in these pieces."""
    decoder = SSEDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.flush()


def splits(data: bytes) -> Iterator[tuple[bytes, ...]]:
    """The stream cut in two at every position, and into single bytes."""
    for at in range(1, len(data)):
        yield data[:at], data[at:]
    yield tuple(data[n : n + 1] for n in range(len(data)))


def everywhere(data: bytes, **how: Any) -> Seen:
    """Read a stream whole; then cut everywhere, which must change nothing.

    What is read hangs on the events alone: where a cut leaves these as they were, there is nothing to read again.
    """
    whole = read(data, **how)
    events = decoded(data)
    for pieces in splits(data):
        if decoded(*pieces) != events or len(pieces) > 2:
            assert read(*pieces, **how) == whole, pieces
    return whole


def letter_by_letter(text: str, field: str = "content") -> list[dict[str, Any]]:
    """Chunks that bring `text` one character at a time, as a tokenizer may."""
    return [chunk({field: letter}) for letter in text]
