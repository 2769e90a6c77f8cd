"""Events that are only shown live and never stored."""

from __future__ import annotations

from typing import Any

from gongfu.core.event_base import Live


class AgentEvent(Live, frozen=True, tag="agent_event"):
    """Something happened in a child session: its own event, as it was shown there, live or durable."""

    agent: str
    session: str
    event: dict[str, Any] = {}


class TextDelta(Live, frozen=True, tag="text_delta"):
    text: str


class ReasoningDelta(Live, frozen=True, tag="reasoning_delta"):
    text: str


class CallDelta(Live, frozen=True, tag="call_delta"):
    """A call is being written: its name once known and the size of its arguments so far."""

    name: str
    size: int = 0


class ToolOutput(Live, frozen=True, tag="tool_output"):
    call: str
    text: str


class MessagePartial(Live, frozen=True, tag="message_partial"):
    """What a subscriber that joins in the middle of an answer gets first: the text so far."""

    text: str
    reasoning: str = ""
