"""The layout of a request, most stable first: S0 tools and system prompt, S5 live units, S6 tail.

Between two requests only the end grows: the messages of one request, without the tail, are a prefix of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.context.budget import Budget
from gongfu.context.units import Ledger, tool_tokens
from gongfu.core.base import Base
from gongfu.core.errors import Refusal
from gongfu.core.messages import Message, ResultPart, TextPart
from gongfu.core.specs import ToolSpec
from gongfu.core.tokens import PER_MESSAGE, calibrated, text_tokens


class Layout(Base, frozen=True):
    """An assembled request. `marks` are indexes of messages whose end is worth a cache mark; `estimate` is tokens."""

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    marks: tuple[int, ...]
    estimate: int


def stable_tokens(system: str, tools: Sequence[ToolSpec]) -> int:
    """Estimated tokens of S0."""
    return PER_MESSAGE + text_tokens(system) + tool_tokens(tools)


def assemble(
    *,
    system: str,
    tools: tuple[ToolSpec, ...],
    fixed: int,
    history: Sequence[Message],
    ledger: Ledger,
    budget: Budget,
    tail: Sequence[str] = (),
    ratios: Sequence[float] = (),
) -> Layout:
    """Lay out a request, or raise `Refusal` with numbers when it cannot fit; nothing is left out silently.

    `fixed` is `stable_tokens` of the same system prompt and tools. `ratios` are real/estimated tokens of earlier
    requests to this model. `tail` rides at the end of the last message and is never stored.
    """
    raw = fixed + ledger.total(history) + sum(map(text_tokens, tail))
    estimate = calibrated(raw, ratios)
    if estimate > budget.total:
        newest = calibrated(fixed + sum(map(ledger.tokens, _newest_turn(history))), ratios)
        code = "current_turn_does_not_fit" if newest > budget.total else "request_exceeds_window"
        raise Refusal(
            f"context.{code}",
            tokens=estimate,
            budget=budget.total,
            window=budget.window,
            reserved=budget.output,
            newest=newest,
        )
    messages = tuple(history)
    marks = (len(messages) - 1,) if messages else ()
    return Layout(system=system, tools=tools, messages=_with_tail(messages, tail), marks=marks, estimate=estimate)


def _newest_turn(history: Sequence[Message]) -> Sequence[Message]:
    """The newest words of the person and all that follows them."""
    for at in range(len(history) - 1, -1, -1):
        if history[at].role == "user" and history[at].kind != "note":
            return history[at:]
    return history


def _with_tail(messages: tuple[Message, ...], tail: Sequence[str]) -> tuple[Message, ...]:
    if not tail or not messages:
        return messages
    text = "\n".join(tail)
    last = messages[-1]
    if last.role == "tool" and last.parts and isinstance(last.parts[-1], ResultPart):
        result = last.parts[-1]
        parts = (*last.parts[:-1], _longer(result, text))
    else:
        parts = (*last.parts, TextPart(text=f"\n\n{text}"))
    return (*messages[:-1], _with_parts(last, parts))


def _longer(result: ResultPart, text: str) -> ResultPart:
    from msgspec.structs import replace

    return replace(result, text=f"{result.text}\n\n{text}")


def _with_parts(message: Message, parts: tuple[object, ...]) -> Message:
    from msgspec.structs import replace

    return replace(message, parts=parts)
