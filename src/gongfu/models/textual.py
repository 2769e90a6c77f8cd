"""Tools for models that cannot call them: described in the prompt, called in fenced JSON, answered in plain text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gongfu.core.messages import CallPart, Message, Part, TextPart
from gongfu.core.specs import ToolSpec

_INTRODUCTION = """

# Tools

You can use the tools below. To use one, end your message with one block of this form and write nothing after it:

```json
{"name": "NAME", "arguments": {...}}
```

The result comes in the next message. Use one tool at a time. When the task is done, answer without such a block.
"""


def described(system: str, tools: Sequence[ToolSpec]) -> str:
    """The system prompt with the tools in it; unchanged when there are none."""
    if not tools:
        return system
    lines = [
        f"\n## {t.name}\n{t.description}\nArguments (JSON Schema): {msgspec.json.encode(t.parameters).decode()}\n"
        for t in tools
    ]
    return system + _INTRODUCTION + "".join(lines)


def told(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history with calls as fenced JSON in the assistant's text, and results as messages of the user."""
    return tuple(_told(message) for message in messages)


def _told(message: Message) -> Message:
    if message.role == "tool":
        results = "\n\n".join(f"Result of the tool:\n{r.text}" for r in message.results)
        images: list[Part] = [i for r in message.results for i in r.images]
        return Message(role="user", parts=(TextPart(text=results), *images), kind="note")
    if not message.calls:
        return message
    parts = tuple(TextPart(text=_fenced(p)) if isinstance(p, CallPart) else p for p in message.parts)
    return Message(role="assistant", parts=parts, model=message.model)


def _fenced(call: CallPart) -> str:
    name = msgspec.json.encode(call.name).decode()
    return f'\n\n```json\n{{"name": {name}, "arguments": {call.arguments}}}\n```'
