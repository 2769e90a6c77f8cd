"""The layout of a request, most stable first: S0 tools and system prompt, S1 and S2 standing text, S3 recollection, S4
past pairs, S5 live units, S6 tail.

Between two epochs only the end grows: the messages of one request, without the tail, are a prefix of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gongfu.context.ledger import tool_tokens
from gongfu.core.base import Base
from gongfu.core.messages import Message, Part, ResultPart, TextPart
from gongfu.core.specs import ToolSpec
from gongfu.core.tokens import PER_MESSAGE, text_tokens

_STEP = 12  # messages between two places where a mark may stand inside a long tool round


class Layout(Base, frozen=True):
    """An assembled request. `marks` are indexes of messages whose end is worth a cache mark.

    `raw` is its estimate in tokens, `estimate` the same after calibration.
    """

    system: str
    standing: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    marks: tuple[int, ...]
    raw: int
    estimate: int


def stable_tokens(system: str, tools: Sequence[ToolSpec]) -> int:
    """Estimated tokens of S0."""
    return PER_MESSAGE + text_tokens(system) + tool_tokens(tools)


def marks_of(head: int, count: int) -> tuple[int, ...]:
    """Where a provider with explicit marks should cache: the end of S4, a place inside a long tool round, the end.

    `head` of the `count` messages are S3, S4 and the note. The place inside moves on every twelve messages only, so
    that the cache of an earlier request is found again when the end has moved far.
    """
    last = count - 1
    if last < 0:
        return ()
    inside = last - (last - head) % _STEP
    found = {last}
    if head:
        found.add(head - 1)
    if head < inside < last:
        found.add(inside)
    return tuple(sorted(found))


def with_tail(messages: tuple[Message, ...], tail: Sequence[str]) -> tuple[Message, ...]:
    """The messages with `tail` at the end of the last one, where it rides once and is never stored."""
    if not tail or not messages:
        return messages
    text = "\n".join(tail)
    last = messages[-1]
    parts: tuple[Part, ...]
    if last.role == "tool" and last.parts and isinstance(last.parts[-1], ResultPart):
        result = last.parts[-1]
        parts = (*last.parts[:-1], replace(result, text=f"{result.text}\n\n{text}"))
    else:
        parts = (*last.parts, TextPart(text=f"\n\n{text}"))
    return (*messages[:-1], replace(last, parts=parts))


def newest_turn(messages: Sequence[Message]) -> Sequence[Message]:
    """The newest words of the person and all that follows them."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "user" and messages[at].kind != "note":
            return messages[at:]
    return messages
