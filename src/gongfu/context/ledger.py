"""What messages and tools cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gongfu.core.messages import (
    CallPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
)
from gongfu.core.prefix import shared_start
from gongfu.core.specs import ToolSpec
from gongfu.core.tokens import PER_MESSAGE, image_tokens, text_tokens

WRAPPED = 10  # what a call costs more that is made through another tool: two keys and their punctuation
_LONG = 8  # messages; shorter sequences are no histories and are not remembered as one


def part_tokens(part: Part) -> int:
    """Estimated tokens of one part."""
    if isinstance(part, ResultPart):  # the frequent ones first: a fold prices thousands
        images = sum(image_tokens(i.width, i.height) for i in part.images) if part.images else 0
        return text_tokens(part.text) + PER_MESSAGE + images
    if isinstance(part, CallPart):
        wrapped = text_tokens(part.via) + WRAPPED if part.via else 0
        return text_tokens(part.name) + text_tokens(part.arguments) + PER_MESSAGE + wrapped
    if isinstance(part, TextPart):
        return text_tokens(part.text)
    match part:
        case ImagePart():
            return image_tokens(part.width, part.height)
        case ReasoningPart():
            return text_tokens(part.text) + text_tokens(part.signature) + text_tokens(part.data)
        case _:
            return 0  # what a newer version wrote is never sent


def message_tokens(message: Message, *, thinking: bool = True) -> int:
    """Estimated tokens of one message, the four of its frame included.

    Without `thinking` as for a model that is never sent its thoughts back; signatures of calls are no thoughts.
    """
    if thinking:
        return PER_MESSAGE + sum(map(part_tokens, message.parts))
    return PER_MESSAGE + sum(part_tokens(p) for p in message.parts if not isinstance(p, ReasoningPart) or not p.text)


def tool_tokens(tools: Iterable[ToolSpec]) -> int:
    """Estimated tokens of tool schemas as they stand on the wire."""
    from msgspec import json

    frame = 12  # {"type":"function","function":{…}} and a comma
    return sum(
        frame + text_tokens(t.name) + text_tokens(t.description) + text_tokens(json.encode(t.parameters).decode())
        for t in tools
    )


class Ledger:
    """Remembers what each message costs, so that a growing history is priced once a message.

    Messages are frozen; one is known by its identity, and is held so that the identity stays its own. Without
    `thinking` it is for models that are never sent their thoughts back, nor is thinking of the messages `silent`.
    """

    def __init__(self, *, thinking: bool = True, silent: Iterable[Message] = ()) -> None:
        self._thinking = thinking
        self._silent = {id(message): message for message in silent}
        self._known: dict[int, tuple[Message, int]] = {}
        self._summed: list[Message] = []
        self._sums: list[int] = []

    def forget_but(self, messages: Iterable[Message]) -> None:
        """Let go of all messages but these."""
        known = self._known
        self._known = {id(message): known[id(message)] for message in messages if id(message) in known}
        del self._summed[:], self._sums[:]

    def price(self, message: Message) -> int:
        """Estimated tokens of a message that may still change: it is not remembered."""
        return message_tokens(message, thinking=self._thinking and id(message) not in self._silent)

    def tokens(self, message: Message) -> int:
        """Estimated tokens of `message`."""
        known = self._known.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        tokens = self.price(message)
        self._known[id(message)] = (message, tokens)
        return tokens

    def total(self, messages: Sequence[Message]) -> int:
        """Estimated tokens of all `messages`. Of a history that has grown only what is new is looked at."""
        if len(messages) < _LONG:
            return sum(map(self.tokens, messages))
        known = shared_start(self._summed, messages)
        del self._summed[known:], self._sums[known:]
        total = self._sums[-1] if self._sums else 0
        for message in messages[known:]:
            total += self.tokens(message)
            self._summed.append(message)
            self._sums.append(total)
        return total
