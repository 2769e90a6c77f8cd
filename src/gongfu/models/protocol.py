"""The seam between the engine and every model endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol, TypeAlias

from gongfu.core.base import Base
from gongfu.core.events import Finish
from gongfu.core.messages import Message
from gongfu.core.specs import ModelInfo, ToolSpec, Usage


class Request(Base, frozen=True):
    """One request, neutral of any provider.

    `messages` hold no system message: that is `system`, and `standing` behind it (rules and memories, which change less
    often than the messages and more often than `system`). `max_output` is tokens (0: the provider's own limit).
    `marks` are the indexes of messages at whose end a prompt cache should be marked (providers with explicit marks).
    `schema`, when given, is a JSON Schema that the whole answer must follow. `purpose` names who asks.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int = 0
    temperature: float | None = None
    top_p: float | None = None
    reasoning: str = "auto"
    stop: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    schema_name: str = "answer"
    marks: tuple[int, ...] = ()
    purpose: str = "main"
    standing: str = ""


def whole_system(request: Request) -> str:
    """System prompt and what stands behind it, as one text."""
    return "\n\n".join(t for t in (request.system, request.standing) if t.strip())


class Prepared(Base, frozen=True):
    """The exact bytes of the body, yielded before they are sent; closing the generator here sends nothing."""

    body: bytes


class Text(Base, frozen=True):
    """More text of the answer."""

    text: str


class Reasoning(Base, frozen=True):
    """More thinking."""

    text: str


class CallProgress(Base, frozen=True):
    """A tool call is being written; nothing runs before the answer is whole."""

    name: str
    size: int


class Answer(Base, frozen=True):
    """The whole answer, last of the stream, exactly once.

    Calls in `message` have ids from `new_id`-like uniqueness left empty: the engine names them. `finish` is already
    judged (calls win over "stop"; a cut by the output limit is "length" and every call then carries a `problem`).
    `raw_finish` is the provider's word. `dropped` counts bytes of garbage that were thrown away, for the log.
    """

    message: Message
    finish: Finish
    usage: Usage = Usage()
    raw_finish: str = ""
    model: str = ""
    dropped: int = 0


Delta: TypeAlias = Prepared | Text | Reasoning | CallProgress | Answer


class ModelProvider(Protocol):
    """One model at one endpoint.

    `complete` yields deltas and ends with exactly one `Answer`, or raises one `ProviderFault`; it never retries.
    It is consumed under `contextlib.aclosing`; closing it aborts the request at once.
    """

    info: ModelInfo

    def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]: ...

    async def aclose(self) -> None:
        """Close connections. May be called more than once."""
        ...


Dialect: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "local", "scripted"]
